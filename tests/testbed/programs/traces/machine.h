/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine whose guest follows a plan: see payload.S. */
#ifndef BED_TRACES_MACHINE_H
#define BED_TRACES_MACHINE_H

#include "../kvm-bugs/vm.h"
#include "plan.h"

/* Guest-physical addresses, in addition to those of vm.h. */
enum {
	TRACES_TOP = VM_PAGES + PLAN_CR3_FLIP, /* the top table of the second address space */
	TRACES_PLAN = 0x50000,
	TRACES_CODE = 0x60000,
	TRACES_CODE_SIZE = 0x1000,
	TRACES_CODE_ELSEWHERE = 0x68000,
	TRACES_TIMES = 0x70000,
	TRACES_TIMES_MAX = 0x10000 / 8,
};

struct machine {
	struct vm vm;
	struct plan *plan;
	uint64_t code;	   /* the address of the guest's code */
	unsigned int outs; /* exits to userspace */
};

/* These functions exit the program on failure. */
void machine_open(struct machine *machine, unsigned int vm_flags, uint64_t what, uint64_t rounds);
/* Move the guest's code to @code, and clear its old place. */
void machine_place(struct machine *machine, uint64_t code);
void machine_close(struct machine *machine);
/* Append an MSR to the list that the guest writes first, or to the list that it writes last. */
void machine_begin(struct machine *machine, uint32_t msr, uint64_t value);
void machine_end(struct machine *machine, uint32_t msr, uint64_t value);

/* Make the guest trace itself, to a single range or with ToPA. */
void machine_trace(struct machine *machine, uint64_t ctl);
struct machine_topa {
	unsigned int regions;
	uint64_t address; /* of the first region; the regions are consecutive pages */
	uint64_t entry;	  /* additional bits of each entry */
};
void machine_trace_topa(struct machine *machine, uint64_t ctl, const struct machine_topa *topa);

/*
 * Run the plan from its begin to its end, or one step to the next exit to userspace.
 * machine_step() returns false at the end of the plan. Unexpected exits exit the program.
 */
void machine_start(struct machine *machine);
bool machine_step(struct machine *machine);
void machine_run(struct machine *machine);

/*
 * Return the size of the trace by the guest's registers. They do not show whether a ToPA has
 * wrapped.
 */
size_t machine_trace_size(const struct machine *machine);

/* Bits of IA32_RTIT_CTL without TraceEn, which machine_trace() adds. */
#define CTL_BRANCHES (CTL_TRACE & ~VPT_CTL_MASK(TRACE_EN))

extern const uint8_t traces_code[], traces_code_end[], traces_main[], traces_syscall[],
	traces_int3[], traces_ud[], traces_nmi[];

void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
