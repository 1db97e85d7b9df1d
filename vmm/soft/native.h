/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest instructions that the host executes. Each form becomes a small function, a stub. It loads
 * the registers that the instruction names from the guest's state, executes it, and stores the
 * results. The caller passes the address of the memory operand, if there is one.
 *
 * A stub is a micro-operation with one more argument, and continues with the next one.
 */
#ifndef VMM_SOFT_NATIVE_H
#define VMM_SOFT_NATIVE_H

#include "soft/access.h"
#include "soft/translate.h"

#define SOFT_VEC_MF 16
#define SOFT_VEC_XM 19

#define SOFT_MXCSR_FLAGS   0x3fu
#define SOFT_MXCSR_DEFAULT 0x1f80u
/* Bit 17, misaligned SSE, is not available to guests. */
#define SOFT_MXCSR_VALID 0xffffu

enum soft_recoded_how {
	SOFT_HOW_MEM = 1 << 0,	     /* there is a memory operand */
	SOFT_HOW_FLAGS_IN = 1 << 1,  /* arithmetic flags are read, or some are kept */
	SOFT_HOW_FLAGS_OUT = 1 << 2, /* arithmetic flags are written */
	SOFT_HOW_MXCSR = 1 << 3,     /* the instruction rounds or raises as MXCSR specifies */
	SOFT_HOW_VEX = 1 << 4,	     /* the upper parts of written registers are cleared */
	SOFT_HOW_EVEX = 1 << 5,
	SOFT_HOW_MMX = 1 << 6,
	SOFT_HOW_X87 = 1 << 7,
	SOFT_HOW_SAE = 1 << 8, /* with SOFT_HOW_MXCSR: all exceptions are masked */
};

enum soft_recoded_gpr {
	SOFT_GPR_READ = 1 << 0,
	SOFT_GPR_WRITTEN = 1 << 1,
};

/*
 * An instruction for the host, in 64-bit mode. Vector and mask registers are the guest's, and
 * general registers are replaced. Two instructions with the same content share a stub.
 */
struct soft_recoded {
	uint8_t bytes[16];
	uint8_t len;
	uint8_t gprs;
	struct {
		uint8_t offset; /* the offset in the register file */
		uint8_t host;	/* number of the host's register */
		uint8_t access; /* enum soft_recoded_gpr */
	} gpr[5];
	uint8_t pointer;    /* host register that points to the memory operand */
	uint8_t vector[32]; /* the number of bytes to load of each vector register */
	uint8_t k_used, k_written;
	uint8_t mm_used, mm_written;
	uint32_t vector_written;
	uint32_t how; /* enum soft_recoded_how */
};

/*
 * Encode an instruction for the host. Its register operands may be explicit or implied. Returns
 * false if the host cannot run the instruction in this way.
 */
bool soft_recode(const struct soft_translation *t, struct soft_recoded *r);

typedef const struct soft_uop *(*soft_native_fn)(struct soft *c, const struct soft_uop *u,
						 void *operand);

/* The features of the host that stubs depend on. */
struct soft_native_host {
	bool avx, avx512, avx512bw;
};

/*
 * The exit of a stub that changed nothing, because an unmasked MXCSR exception is due. The MXCSR
 * flags that it would have set are passed in place of the operand.
 */
const struct soft_uop *soft_native_trap(struct soft *c, const struct soft_uop *u, void *flags);
/* The target of a stub, before its instruction, if the guest has not masked underflow. */
const struct soft_uop *soft_native_tiny(struct soft *c, const struct soft_uop *u, void *operand);

/* The largest size of a stub. */
#define SOFT_STUB_MAX 1024u
/* Write the stub for `r` to `at`. The code runs at any address. Returns its length. */
size_t soft_stub_write(uint8_t *at, const struct soft_native_host *host,
		       const struct soft_recoded *r);

/* Create the stub memory of one processor. Returns NULL with errno set on failure. */
struct soft_native *soft_native_create(void);
void soft_native_destroy(struct soft_native *n);
/*
 * Stop sharing the memory with another process. Then drop all blocks and reset. Returns 0 or -errno.
 */
int soft_native_own(struct soft_native *n);
/*
 * Returns false if there is no room for the instructions of one more block. Then drop all blocks
 * and reset.
 */
bool soft_native_has_room(const struct soft_native *n);
void soft_native_reset(struct soft_native *n);

/* Return the stub for `r`, or NULL if there is no room. */
soft_native_fn soft_native_stub(struct soft_native *n, const struct soft_recoded *r);
/* Run u's stub alone and return. soft_native_scratch() has a page for its operand. */
void soft_native_call(struct soft *c, const struct soft_uop *u, void *operand);
void *soft_native_scratch(struct soft *c);

/* Return the index of the memory operand among the visible operands, or -1. */
int soft_native_memory(const struct soft_translation *t);
/*
 * Emit the micro-operation that runs the instruction. Its operands are registers, and at most one
 * contiguous memory operand, which must be aligned to `align` (a power of two).
 */
bool soft_native_emit(struct soft_translation *t, const struct soft_recoded *r, unsigned int align);
/*
 * The same with a handler from the caller. The address is filled in unless mem < 0. Returns NULL if
 * there is no room for the stub.
 */
struct soft_uop *soft_native_emit_by(struct soft_translation *t, const struct soft_recoded *r,
				     soft_uop_fn fn, int mem);

static inline const struct soft_uop *soft_native_run(struct soft *c, const struct soft_uop *u,
						     void *operand)
{
	return ((soft_native_fn)(uintptr_t)u->ptr)(c, u, operand);
}

/* Return a readable memory operand of u->aux bytes, in RAM or copied to scratch memory. */
void *soft_native_load_slow(struct soft *c, const struct soft_uop *u, uint64_t va);
static inline void *soft_native_load(struct soft *c, const struct soft_uop *u, uint64_t va)
{
	const struct soft_tlb *t = soft_find_tlb(c, va);

	if (SOFT_TLB_HIT(t->read, va, u->aux))
		return (void *)(t->host + va);
	return soft_native_load_slow(c, u, va);
}

/* x87.c: MMX instructions share its registers. */
/* Raise #MF if an exception is pending. */
void soft_x87_check(struct soft *c, const struct soft_uop *u);
/* Reorder the registers of the image: MM0 first, top of stack 0. */
void soft_x87_to_mmx(struct soft *c);
uint64_t soft_x87_mm(struct soft *c, unsigned int n);

/* vector.c: emit the #UD or #NM that CR0 and CR4 require, before any other micro-operation. */
enum soft_unit { SOFT_UNIT_X87, SOFT_UNIT_MMX, SOFT_UNIT_SSE, SOFT_UNIT_AVX, SOFT_UNIT_AVX512 };
void soft_tr_need(struct soft_translation *t, enum soft_unit unit);

/* xstate.c: returns true if the value is valid for XCR0. */
bool soft_xcr0_valid(const struct soft *c, uint64_t value);

/* element.c: emit an instruction whose memory operand is masked. Returns false if it is not. */
bool soft_element_emit(struct soft_translation *t, const struct soft_recoded *r,
		       unsigned int align);
/* gather.c */
bool soft_tr_gather(struct soft_translation *t);
bool soft_tr_maskmov(struct soft_translation *t);

#endif /* VMM_SOFT_NATIVE_H */
