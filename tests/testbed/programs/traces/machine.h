/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine whose guest works by a plan, see payload.S. */
#ifndef BED_TRACES_MACHINE_H
#define BED_TRACES_MACHINE_H

#include "../kvm-bugs/vm.h"
#include "plan.h"

/* Guest-physical, beside those of vm.h. */
enum {
	TRACES_TOP = VM_PAGES + PLAN_CR3_FLIP, /* of the second address space */
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
	uint64_t code;	   /* where it is */
	unsigned int outs; /* exits to userspace */
};

/* What ends the program if it fails is in vm.h. */
void machine_open(struct machine *machine, unsigned int vm_flags, uint64_t what, uint64_t rounds);
/* Have the code elsewhere, and not where it was. */
void machine_place(struct machine *machine, uint64_t code);
void machine_close(struct machine *machine);
/* To the end of a list of MSRs that the guest writes. */
void machine_begin(struct machine *machine, uint32_t msr, uint64_t value);
void machine_end(struct machine *machine, uint32_t msr, uint64_t value);

/* Have the guest trace itself, to a single range; to that and with ToPA. */
void machine_trace(struct machine *machine, uint64_t ctl);
struct machine_topa {
	unsigned int regions;
	uint64_t address; /* of the first one; they are pages, one after the other */
	uint64_t entry;	  /* more bits of each entry */
};
void machine_trace_topa(struct machine *machine, uint64_t ctl, const struct machine_topa *topa);

/* Run from the plan's begin to its end, or to the next exit to userspace: true if there
 * is one. What is no end fails. */
void machine_start(struct machine *machine);
bool machine_step(struct machine *machine);
void machine_run(struct machine *machine);

/* The bytes of the trace as the guest's registers tell; a ToPA that went round once or
 * more is not told from one that did not. */
size_t machine_trace_size(const struct machine *machine);

/* Bits of IA32_RTIT_CTL, less TraceEn: as machine_trace() adds it. */
#define CTL_BRANCHES (CTL_TRACE & ~VPT_CTL_MASK(TRACE_EN))

extern const uint8_t traces_code[], traces_code_end[], traces_main[], traces_syscall[],
	traces_int3[], traces_ud[], traces_nmi[];

void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
