/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Run two engines with the same guest, one instruction at a time, and compare their architectural
 * state after each.
 *
 * Each instruction compares registers, segments, control registers, the state of PT, delivered
 * events and console output. MSRs, debug registers and RAM are compared at intervals and at the
 * end. MSRs and debug registers are compared after instructions that can change them, too.
 *
 * To find the instruction behind a difference in RAM, run the guest again with `exact_from`. Both
 * runs are identical, since time is virtual.
 */
#ifndef VMM_CORE_LOCKSTEP_H
#define VMM_CORE_LOCKSTEP_H

#include "core/vcpu.h"

/* The compared fields, as numbers (lockstep_fields.def). */
enum core_lockstep_field {
#define CORE_FIELD(id, name, value)	CORE_LS_##id,
#define CORE_FIELD_DR(id, name, number) CORE_LS_##id,
#define CORE_FIELD_MSR(id, name, index) CORE_LS_##id,
#include "core/lockstep_fields.def"
	CORE_LS_FIELDS
};

struct core_lockstep_state {
	uint64_t value[CORE_LS_FIELDS];
	bool known[CORE_LS_FIELDS]; /* the engine has it, and it was asked */
};

/* lockstep_state.c */
struct core_lockstep_side;
const char *core_lockstep_name(enum core_lockstep_field field);
/* `all`: what an engine is not asked for after every instruction, too. */
void core_lockstep_capture(const struct core_lockstep_side *side, bool all,
			   struct core_lockstep_state *state);
/* Bits that differ, where both know them. */
uint64_t core_lockstep_differs(const struct core_lockstep_state *a,
			       const struct core_lockstep_state *b, enum core_lockstep_field field);
bool core_lockstep_equal(const struct core_lockstep_state *a, const struct core_lockstep_state *b);
/* Address of the first byte that differs. False: none does. */
bool core_lockstep_memory(const struct x86_mem *a, const struct x86_mem *b, uint64_t *gpa);

/* lockstep_override.c: rows of lockstep_overrides.def. */
struct core_lockstep_override {
	const char *name, *reason;
	uint32_t opcode, mask;
	uint8_t selector, registers;
	uint32_t value;
};
const struct core_lockstep_override *core_lockstep_overrides(size_t *count);
/* The row for an instruction about to run, NULL: none. */
const struct core_lockstep_override *core_lockstep_override_for(const struct core_insn_bytes *bytes,
								uint8_t bits,
								const struct x86_regs *regs);
/* Has the second engine to be kept from trying? */
bool core_lockstep_instead(const struct core_lockstep_override *row);
/* It faulted on both sides: take over what `row` says, if that is for faults. */
bool core_lockstep_override_fault(const struct core_lockstep_override *row, struct core_vcpu *from,
				  struct core_vcpu *to);
/* It has run: take over what `row` says. False: nothing. */
bool core_lockstep_override(const struct core_lockstep_override *row,
			    const struct core_insn_bytes *bytes, uint8_t bits,
			    const struct x86_regs *from, struct x86_regs *to);

/* lockstep_cpuid.c: what both tables have; the result is in `a`. */
void core_lockstep_cpuid(struct engine_cpuid_entry *a, size_t *a_count,
			 const struct engine_cpuid_entry *b, size_t b_count);

struct core_lockstep_config {
	const struct engine *engine[2];
	const struct engine_probe *probe[2];
	const struct vpt_caps *caps;
	enum trace_owner owner;
	uint64_t mem_bytes;
	void (*console)(void *to, char c); /* what the guest prints; NULL: nowhere */
	void *console_to;
	uint64_t every;	      /* steps from one comparison to the next */
	uint64_t every_all;   /* steps from one comparison of everything to the next */
	uint64_t exact_from;  /* from this step on everything is compared each time */
	uint64_t max_insns;   /* 0: no limit */
	bool (*tick)(void *); /* true: end */
};

struct core_lockstep_side {
	struct core_vm vm;
	struct engine ops; /* the engine's, but for the time */
	void (*console)(void *to, char c);
	void *console_to;
	uint64_t printed;
	uint32_t printed_crc;
};

/* An instruction that ran; of the first engine. */
struct core_lockstep_step {
	uint64_t insns; /* that retired before it */
	uint64_t ip;
	struct core_insn_bytes bytes;
	uint8_t bits, cpl;
	uint8_t len; /* 0: not an instruction */
};

#define CORE_LOCKSTEP_HISTORY 8

enum core_lockstep_end {
	CORE_LOCKSTEP_RUNNING = 0,
	CORE_LOCKSTEP_DONE, /* the guest ended, the same for both */
	CORE_LOCKSTEP_DIVERGED,
	CORE_LOCKSTEP_UNABLE, /* an engine cannot go on here: side[unable].vm.stop */
	CORE_LOCKSTEP_LIMIT,  /* max_insns, or tick() said so */
};

struct core_lockstep {
	struct core_lockstep_config config;
	struct core_lockstep_side side[2];
	enum core_lockstep_end end;
	unsigned int unable;
	uint64_t steps;	   /* instructions and deliveries */
	uint64_t all_good; /* the last step after which everything was compared */
	struct core_lockstep_step history[CORE_LOCKSTEP_HISTORY]; /* step n is in n % this */
	struct core_lockstep_state state[2];			  /* at the end */
	bool memory_differs;
	uint64_t gpa;		 /* if so */
	uint64_t overridden[32]; /* how often, by row */
};

/* 0 or -errno; on failure nothing is left to destroy. The guest is the caller's to load
 * into both. */
int core_lockstep_create(struct core_lockstep *l, const struct core_lockstep_config *config);
void core_lockstep_destroy(struct core_lockstep *l);
void core_lockstep_run(struct core_lockstep *l);

#endif /* VMM_CORE_LOCKSTEP_H */
