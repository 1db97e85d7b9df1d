/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that a test moves between KVM and the software CPU, with core_switch(). The core's own
 * loops run the guest. A failed call fails the running test.
 */
#ifndef TESTS_LIB_TWOENGINES_H
#define TESTS_LIB_TWOENGINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/loop.h"
#include "core/vcpu.h"

/* The guest's memory. The first 4 MiB and the page of the APIC are mapped one to one, for ring 3 too. */
enum two_layout {
	TWO_RAM = 4 << 20,
	TWO_IDT = 0x10000,
	TWO_GDT = 0x11000,
	TWO_TSS = 0x12000,
	TWO_PML4 = 0x13000,
	TWO_PDPT = 0x14000,
	TWO_PD = 0x15000,
	TWO_PD_APIC = 0x16000,
	TWO_STACK0 = 0x20000, /* the end of the first vCPU's stack of ring 0 */
	TWO_STACK3 = 0x30000,
	TWO_STACKS = 0x2000, /* from a vCPU's stack to the next vCPU's */
	TWO_CODE = 0x100000,
	TWO_DATA = 0x180000,
};

#define TWO_CPUS 4u

/* The selectors of the GDT. */
enum two_selector {
	TWO_CODE0 = 0x08,
	TWO_DATA0 = 0x10,
	TWO_CODE3 = 0x18 | 3,
	TWO_DATA3 = 0x20 | 3,
	TWO_TR = 0x28,
	TWO_GDT_BYTES = 0x38,
};

struct two {
	struct core_vm vm;
	struct core_vcpu *v;
	struct core_loop loop;
	uint64_t seed;
	uint64_t waits; /* the refusals of two_switch() */
	int row;	/* for messages */
};

/* Returns why this machine has no KVM for vpt, or NULL. */
const char *two_problem(void);

/* Returns true if the guest has AVX and AVX2, because this machine's processor has them. */
bool two_has_avx(void);

/*
 * Create a machine in 64-bit mode and ring 0 at TWO_CODE, with interrupts off. KVM has it. XCR0
 * enables every component of the guest's CPUID.
 */
void two_create(struct two *t);
/*
 * The same with several vCPUs, up to TWO_CPUS. All but the first wait for a start-up IPI. two_start()
 * lets one run from an address, in the state of the first. Each has stacks of its own.
 */
void two_create_cpus(struct two *t, unsigned int cpus);
void two_start(struct two *t, unsigned int cpu, uint64_t at);
void two_destroy(struct two *t);

/* Copy code to an address of the guest, and point a gate of the IDT to an address. */
void two_code(struct two *t, uint64_t at, const char *start, const char *end);
void two_gate(struct two *t, uint8_t vector, uint64_t handler);
uint64_t two_get(struct two *t, uint64_t at);
void two_put(struct two *t, uint64_t at, uint64_t value);

/* Returns true if KVM has the guest. */
bool two_by_kvm(const struct two *t);
/*
 * Let the other engine run the guest. Waits while KVM refuses a TSC that is greater than the
 * host's. Resumes KVM in the middle of an exit or a delivery. Any other error fails the test.
 */
void two_switch(struct two *t);
/* Switch unless KVM, or the software CPU, already has the guest. */
void two_to_kvm(struct two *t);
void two_to_soft(struct two *t);

/* Run @count instructions on the software CPU, or less if the guest stops. */
void two_count(struct two *t, uint64_t count);
/* Run @ns on KVM, or less if the guest stops. */
void two_free(struct two *t, uint64_t ns);
/*
 * Run on the engine that has the guest, at most 10 s. Both functions end when the guest stops.
 * two_until() also ends when 8 bytes of memory are @value.
 */
void two_until(struct two *t, uint64_t at, uint64_t value);
void two_to_end(struct two *t);
/* Begin the guest once more, on the software CPU in ring 0, with zeroes at TWO_DATA. */
void two_restart(struct two *t, int row, uint64_t rflags);
/* Run to the end. Fails the test unless the guest ends with status 0. */
void two_finish(struct two *t);

uint64_t two_random(struct two *t);

#endif /* TESTS_LIB_TWOENGINES_H */
