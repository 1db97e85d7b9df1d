/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of the code in VMX root operation. This VMM is a process and has no code that PT could
 * trace. A page of x86 code in the shape of an exit handler replaces it, and a table leads
 * execution through the page. A decoder finds the same page, so that it decodes the root side of a
 * trace like any other code.
 *
 * The code has no effects. vmm/core and hv.c do the work of an exit handler.
 */
#ifndef VMM_PT_ROOT_H
#define VMM_PT_ROOT_H

#include <stdbool.h>
#include <stdint.h>

#include "vpt/base.h"

#define TRACER_ROOT_PAGE 4096u
/*
 * The linear and host-physical address of the page. The latter is below 1 << 36, and beyond the
 * memory of any guest.
 */
#define TRACER_ROOT_CODE 0xffffffff8f000000ull
#define TRACER_ROOT_GPA	 0xff0100000ull
#define TRACER_ROOT_CR3	 0xff0000000ull

/* The kind of an instruction of the page. */
enum tracer_root_kind {
	TRACER_ROOT_PLAIN,
	TRACER_ROOT_COND,
	TRACER_ROOT_JMP,
	TRACER_ROOT_JMP_INDIRECT,
	TRACER_ROOT_CALL,
	TRACER_ROOT_CALL_INDIRECT,
	TRACER_ROOT_RET,
	TRACER_ROOT_WRMSR, /* writes the next queued MSR */
	TRACER_ROOT_VMXON,
	TRACER_ROOT_VMCLEAR, /* clears the current VMCS */
	TRACER_ROOT_VMPTRLD,
	TRACER_ROOT_VMXOFF,
	TRACER_ROOT_ENTRY, /* VMLAUNCH, VMRESUME */
	TRACER_ROOT_HLT,   /* the end of root code */
};

/* Bits of tracer_root_input.flags. */
enum tracer_root_flags {
	TRACER_ROOT_INJECT = 1 << 0, /* the next VM entry injects an event */
	TRACER_ROOT_OVER = 1 << 1,   /* the guest does not resume */
};

/* The input that decides the path of root code. */
struct tracer_root_input {
	uint32_t reason; /* the basic reason of the last VM exit */
	uint32_t count;	 /* the number of loop turns, such as the bytes of I/O */
	uint32_t msrs;	 /* the number of MSRs left to write */
	uint32_t flags;	 /* enum tracer_root_flags */
};

struct tracer_root_insn {
	enum tracer_root_kind kind;
	uint64_t ip, next, to;
	bool taken; /* COND */
};

#define TRACER_ROOT_CALLS 8
#define TRACER_ROOT_ROWS  128

struct tracer_root {
	uint8_t page[TRACER_ROOT_PAGE];
	uint16_t at[TRACER_ROOT_ROWS]; /* the offsets of the instructions */
	unsigned int row;	       /* the next row */
	uint32_t turns;		       /* the remaining turns of the current loop */
	unsigned int call[TRACER_ROOT_CALLS], calls;
};

/* Start at the beginning, before VMXON. */
void tracer_root_init(struct tracer_root *root);

/* Move to the entry point of VM exits. Returns its IP. */
uint64_t tracer_root_exit(struct tracer_root *root);

/*
 * Execute the next instruction. `root` is then at insn->to, where execution resumes after a failed
 * ENTRY.
 */
void tracer_root_step(struct tracer_root *root, const struct tracer_root_input *in,
		      struct tracer_root_insn *insn);

/* Return the IP of the next instruction. */
uint64_t tracer_root_ip(const struct tracer_root *root);

/* Return the name of a function, for symbols. Returns NULL after the last function. */
const char *tracer_root_symbol(unsigned int i, uint64_t *ip, uint64_t *bytes);

#endif /* VMM_PT_ROOT_H */
