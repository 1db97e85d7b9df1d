/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal interface of walks (walk.h). */
#ifndef TESTS_LIB_WALK_INSIDE_H
#define TESTS_LIB_WALK_INSIDE_H

#include "lib/walk.h"

#include <stdio.h>
#include <stdlib.h>

/* Abort unless the condition holds; also for programs without libcheck. */
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
	I_ENCLU,
};

struct insn {
	uint8_t kind;
	uint8_t size;
	uint32_t target; /* offset in the code */
};

struct walker;

/* The trace unit of a walk, and its account. */
struct walk_unit {
	/* Adds the item at w->ip to the account if it is traced. */
	void (*account)(struct walker *w, enum walk_kind kind);
	void (*event)(struct walker *w, const struct vpt_event *event);
	/* Updates the enables by the manual's rules. Execution has just reached w->ip. */
	void (*look)(struct walker *w, bool cr3_written);
	/* Executes a WRMSR at CPL 0. The unit chooses the register. */
	void (*wrmsr)(struct walker *w);
	void (*vm_exit)(struct walker *w);
	void (*vmx_insn)(struct walker *w, enum insn_kind kind);
	/*
	 * Called between two instructions: may the walk continue, and was another event executed
	 * instead of the next instruction?
	 */
	bool (*goes_on)(const struct walker *w);
	bool (*instead)(struct walker *w);
	void (*between)(struct walker *w);
};

struct walk_recorder;

struct walker {
	const struct walk_config *config;
	const struct walk_unit *unit;
	struct walk_recorder *recorder; /* walk_atom.c */
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
	bool enclave;	   /* in an enclave; ctx has its kind */
	uint64_t tsc_left; /* the fraction of a TSC tick left over */
	/* VMX operation; in the guest */
	bool guest;
	struct vpt_context other; /* of the side that does not run */
	uint64_t guest_ctl;
	/* the account */
	bool tracing, arrived, context, filter, stopped;
	bool gap; /* code ran that is not in the account */
	/* output */
	uint64_t region[WALK_REGIONS];
	uint8_t stage[256];
	uint8_t ram[WALK_RAM_SIZE];
};

uint32_t walk_rnd(struct walker *w, uint32_t below);
/* Do the targets in the packets match the account? If not, `why` describes the difference. */
bool walk_targets(const struct walk_config *config, const struct walk_result *walk, char *why,
		  size_t size);
/* Add the item at w->ip, or a PTWRITE value of the item, to the account if it is traced. */
void walk_account(struct walker *w, enum walk_kind kind);
void walk_account_value(struct walker *w, uint64_t value);
/* Report an event of the instruction at w->ip. */
void walk_report(struct walker *w, enum vpt_event_kind kind, unsigned int flags, uint32_t to);
/* Continue at `to`. @arrived: a branch or an event leads there. */
void walk_go(struct walker *w, uint32_t to, bool arrived);
void walk_fall_through(struct walker *w);
bool walk_filters(const struct walker *w);
/*
 * Execute a branch, or deliver an interrupt before the instruction or a fault of the instruction.
 */
void walk_transfer(struct walker *w, enum vpt_event_kind kind, uint32_t to);
void walk_event(struct walker *w, enum vpt_event_kind kind);
/* Let clocks pass; return a random number that does not change the path of the walk. */
void walk_pass(struct walker *w, uint64_t clocks);
uint32_t walk_noise(struct walker *w, uint32_t below);

/* walk_atom.c: walk, and record the walk to a file. */
void walk_atom_record(const struct walk_config *config, const char *path, struct walk_seen *seen);

/* Make the code and choose the start; then execute the configured number of instructions. */
void walk_begin(struct walker *w, const struct walk_config *config);
void walk_execute(struct walker *w);

/* walk_vmx.c */
uint64_t walk_traced_ctl(const struct walker *w);
/* Is the running side traced? */
bool walk_is_traced_side(const struct walker *w);
void walk_vm_exit(struct walker *w);
void walk_vmx_insn(struct walker *w, enum insn_kind kind);

/* walk_extra.c */
void walk_ptwrite(struct walker *w);
void walk_sleep(struct walker *w);
void walk_flag(struct walker *w);
bool walk_aborts(struct walker *w, const struct insn *insn);
void walk_abort(struct walker *w);
void walk_tsx(struct walker *w, const struct insn *insn);
void walk_smi(struct walker *w);
void walk_enclu(struct walker *w);
bool walk_leaves_enclave(const struct insn *insn);
void walk_user_interrupt(struct walker *w);
void walk_block(struct walker *w);
void walk_xsaves(struct walker *w);
void walk_save_load(struct walker *w);

/* Make the code. */
void walk_make_code(struct walker *w);
uint32_t walk_start(struct walker *w);

/*
 * Output: set up the output before TraceEn is first set, or again for a new vpt_pt; return CTL's
 * output bits; return the bytes so far.
 */
void walk_output_init(struct walker *w);
void walk_output_stream(struct walker *w);
uint64_t walk_output_ctl(const struct walker *w);
size_t walk_bytes(struct walker *w);
/* End the walk: check the output in memory, and collect the trace from it. */
void walk_output_end(struct walker *w);
extern const struct vpt_mem_ops walk_mem;

#endif /* TESTS_LIB_WALK_INSIDE_H */
