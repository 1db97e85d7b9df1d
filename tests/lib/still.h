/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU on an engine that holds registers and executes nothing, unless the test sets `step`. It
 * tests what the core itself emulates. Only one exists at a time.
 */
#ifndef TESTS_LIB_STILL_H
#define TESTS_LIB_STILL_H

#include "core/emulate.h"
#include "core/vcpu.h"

extern struct core_vm vm;
extern struct core_vcpu v;
extern struct x86_regs regs;
extern struct x86_sregs sregs;
extern struct engine_exception raised; /* for run(), as a default */

/* The engine's state, which a test may set and read. */
extern struct still {
	uint64_t star, lstar, fmask, sysenter_cs, sysenter_esp, sysenter_eip;
	uint64_t umwait_control;
	uint64_t dr[8];
	unsigned int wrote;   /* calls of vm_wrote() */
	uint64_t wrote_first; /* lowest reported address */
	uint64_t wrote_end;   /* highest reported address, plus one */
	void (*step)(struct engine_exit *exit);
} still;

/*
 * Create the vCPU, all zero, with `ram` bytes of RAM. `software`: the engine has all capabilities
 * of enum engine_can.
 */
void still_create(uint64_t ram, bool software);
void still_destroy(void);

void put64(uint64_t gpa, uint64_t value);
void put32(uint64_t gpa, uint32_t value);
void put16(uint64_t gpa, uint16_t value);
void put_bytes(uint64_t gpa, const void *bytes, size_t len);
uint64_t get64(uint64_t gpa);
uint32_t get32(uint64_t gpa);
uint16_t get16(uint64_t gpa);

/* Decode the bytes as an instruction in the current mode; run() also emulates it. */
struct core_insn decode(const char *code, size_t len);
enum core_done run(const char *code, size_t len, struct engine_exception *e);
#define RUN(code, e) run(code, sizeof(code) - 1, e)

/* Check the result of run(): the instruction retired, or raised this exception. */
#define EXPECT_RETIRED(done) ck_assert_int_eq(done, CORE_DONE_RETIRED)
#define EXPECT_FAULT(done, vector_, error_)                \
	do {                                               \
		ck_assert_int_eq(done, CORE_DONE_FAULT);   \
		ck_assert_uint_eq(raised.vector, vector_); \
		ck_assert_uint_eq(raised.error, error_);   \
	} while (0)
/* Run code, and check that it retired or faulted. */
#define RETIRES(code)		      EXPECT_RETIRED(RUN(code, &raised))
#define RAISES(code, vector_, error_) EXPECT_FAULT(RUN(code, &raised), vector_, error_)
/* Check RIP and RSP. */
#define EXPECT_AT(rip_, rsp_)                      \
	do {                                       \
		ck_assert_uint_eq(regs.rip, rip_); \
		ck_assert_uint_eq(regs.rsp, rsp_); \
	} while (0)

/* Check the fault of a row of a table, which @name names. */
void check_raised(const char *name, enum core_done done, uint8_t vector, uint32_t error);
/* Check @count words of @size bytes each (2, 4 or 8). */
void check_words(uint64_t gpa, unsigned int size, const uint64_t *word, unsigned int count);

#endif /* TESTS_LIB_STILL_H */
