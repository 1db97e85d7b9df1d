/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of walks (walk.h). */
#ifndef TESTS_LIB_WALK_INSIDE_H
#define TESTS_LIB_WALK_INSIDE_H

#include "lib/walk.h"

#include <stdio.h>
#include <stdlib.h>

/* What a test cannot go on without; for programs without libcheck too. */
#define MUST(condition)                                                                 \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

enum { CR3_A = 0x1000, CR3_B = 0x2000, STACK_MAX = 512 };

enum {
	WALK_RAM_SIZE = 1 << 20,
	WALK_TABLES = 0x1000,	/* two tables of a page */
	WALK_REGION_0 = 0x10000 /* the first region, the others above it */
};

enum insn_kind {
	I_NONE,
	I_FILL,
	I_JCC,
	I_JMP,
	I_CALL,
	I_CALL_NEXT,
	I_JMP_IND,
	I_CALL_IND,
	I_RET,
	I_SYSCALL,
	I_SYSRET,
	I_IRET,
	I_INT,
	I_MOV_CR3,
	I_WRMSR,
	I_VMENTER, /* VMLAUNCH, VMRESUME */
	I_VMPTRLD,
	I_VMCALL,
	I_CPUID,
	I_PTWRITE,
	I_SLEEP, /* HLT, MWAIT */
	I_FLAG,	 /* CLI, STI */
	I_XBEGIN,
	I_XEND,
	I_XABORT,
};

struct insn {
	uint8_t kind;
	uint8_t size;
	uint32_t target; /* offset in the code */
};

struct walker {
	const struct walk_config *config;
	struct walk_result *out;
	struct vpt_caps caps;
	struct vpt_pt pt;
	struct vpt_context ctx;
	struct vpt_clock clock;
	uint64_t random, noise;
	struct insn insns[WALK_CODE_SIZE]; /* by offset */
	uint32_t starts[WALK_CODE_SIZE];   /* offsets that hold an instruction */
	uint32_t start_count;
	uint32_t ip; /* offset */
	uint64_t stack[STACK_MAX];
	unsigned int depth;
	size_t capacity, value_capacity;
	uint32_t fallback; /* of the transaction */
	uint64_t tsc_left; /* what a clock's worth of TSC did not come to */
	/* VMX operation */
	bool guest;
	struct vpt_context other; /* of the side that does not run */
	uint64_t guest_ctl;
	/* the account */
	bool tracing, arrived, context, filter, stopped;
	bool gap; /* something ran that is not in the account */
	/* output */
	uint64_t region[WALK_REGIONS];
	uint8_t stage[256];
	uint8_t ram[WALK_RAM_SIZE];
};

uint32_t walk_rnd(struct walker *w, uint32_t below);
/* Do the targets in the packets agree with the account? Else `why` says where not. */
bool walk_targets(const struct walk_config *config, const struct walk_result *walk, char *why,
		  size_t size);
/* Make the code. */
void walk_make_code(struct walker *w);
uint32_t walk_start(struct walker *w);

/* Output: set it up before TraceEn is first set; what CTL needs for it; bytes so far. */
void walk_output_init(struct walker *w);
uint64_t walk_output_ctl(const struct walker *w);
size_t walk_bytes(struct walker *w);
/* The walk is over: is memory as it should be, and what of the trace is in it? */
void walk_output_end(struct walker *w);
extern const struct vpt_mem_ops walk_mem;

#endif /* TESTS_LIB_WALK_INSIDE_H */
