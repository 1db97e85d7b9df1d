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

/* The numbers of the compared fields (lockstep_fields.def). */
enum core_lockstep_field {
#define CORE_FIELD(id, name, value)	CORE_LS_##id,
#define CORE_FIELD_DR(id, name, number) CORE_LS_##id,
#define CORE_FIELD_MSR(id, name, index) CORE_LS_##id,
#include "core/lockstep_fields.def"
	CORE_LS_FIELDS
};

struct core_lockstep_state {
	uint64_t value[CORE_LS_FIELDS];
	/* value[] is valid: the engine has the field, and it was read */
	bool known[CORE_LS_FIELDS];
};

/* lockstep_state.c */
struct core_lockstep_side;
const char *core_lockstep_name(enum core_lockstep_field field);
/* Read the state of a side. With @all, also read MSRs and debug registers. */
void core_lockstep_capture(const struct core_lockstep_side *side, bool all,
			   struct core_lockstep_state *state);
/* Returns the bits of a field that differ, or 0 if a side does not know the field. */
uint64_t core_lockstep_differs(const struct core_lockstep_state *a,
			       const struct core_lockstep_state *b, enum core_lockstep_field field);
bool core_lockstep_equal(const struct core_lockstep_state *a, const struct core_lockstep_state *b);
/* Find the first byte of RAM that differs. Returns false if there is none. */
bool core_lockstep_memory(const struct x86_mem *a, const struct x86_mem *b, uint64_t *gpa);

/* A row of lockstep_overrides.def (lockstep_override.c). */
struct core_lockstep_override {
	const char *name, *reason;
	uint32_t opcode, mask;
	uint8_t selector, registers;
	uint32_t value;
};
const struct core_lockstep_override *core_lockstep_overrides(size_t *count);
/* Returns the row for an instruction that is about to run, or NULL if it has none. */
const struct core_lockstep_override *core_lockstep_override_for(const struct core_insn_bytes *bytes,
								uint8_t bits,
								const struct x86_regs *regs);
/* Returns true if the second engine must not execute the instruction. */
bool core_lockstep_instead(const struct core_lockstep_override *row);
/*
 * After a fault on both sides: apply @row to @to, if the row is for faults. Returns false if the
 * row did not apply.
 */
bool core_lockstep_override_fault(const struct core_lockstep_override *row, struct core_vcpu *from,
				  struct core_vcpu *to);
/*
 * After the instruction has run: apply @row to the registers @to. Returns false if the row did not
 * apply.
 */
bool core_lockstep_override(const struct core_lockstep_override *row,
			    const struct core_insn_bytes *bytes, uint8_t bits,
			    const struct x86_regs *from, struct x86_regs *to);

struct core_lockstep_config {
	const struct engine *engine[2];
	const struct engine_probe *probe[2];
	const struct vpt_caps *caps;
	enum trace_owner owner;
	uint64_t mem_bytes;
	void (*console)(void *to, char c); /* receives the guest's output; may be NULL */
	void *console_to;
	uint64_t every;	      /* steps from one comparison to the next */
	uint64_t every_all;   /* steps from one comparison of everything to the next */
	uint64_t exact_from;  /* from this step on, everything is compared after each step */
	uint64_t max_insns;   /* 0: no limit */
	bool (*tick)(void *); /* returns true to end the run */
};

struct core_lockstep_side {
	struct core_vm vm;
	struct engine ops; /* the engine's operations, except for step() of the second side */
	void (*console)(void *to, char c);
	void *console_to;
	uint64_t printed;
	uint32_t printed_crc;
};

/* A step of the first engine. */
struct core_lockstep_step {
	uint64_t insns; /* instructions that retired before it */
	uint64_t ip;
	struct core_insn_bytes bytes;
	uint8_t bits, cpl;
	uint8_t len; /* 0: no valid instruction */
};

#define CORE_LOCKSTEP_HISTORY 8

enum core_lockstep_end {
	CORE_LOCKSTEP_RUNNING = 0,
	CORE_LOCKSTEP_DONE, /* the guest ended in the same way on both sides */
	CORE_LOCKSTEP_DIVERGED,
	CORE_LOCKSTEP_UNABLE, /* an engine cannot continue: side[unable].vm.stop */
	CORE_LOCKSTEP_LIMIT,  /* max_insns was reached, or tick() returned true */
};

struct core_lockstep {
	struct core_lockstep_config config;
	struct core_lockstep_side side[2];
	enum core_lockstep_end end;
	unsigned int unable;
	uint64_t steps;	   /* instructions and deliveries */
	uint64_t all_good; /* the last step after which everything was compared */
	/* step n has index n % CORE_LOCKSTEP_HISTORY */
	struct core_lockstep_step history[CORE_LOCKSTEP_HISTORY];
	struct core_lockstep_state state[2]; /* the last captured states */
	bool memory_differs;
	uint64_t gpa;		 /* the address of the first difference in RAM */
	uint64_t overridden[32]; /* uses of each row */
};

/*
 * Create both VMs. Returns 0 or -errno; after an error nothing is left to destroy. The caller then
 * loads the guest into both.
 */
int core_lockstep_create(struct core_lockstep *l, const struct core_lockstep_config *config);
void core_lockstep_destroy(struct core_lockstep *l);
void core_lockstep_run(struct core_lockstep *l);

#endif /* VMM_CORE_LOCKSTEP_H */
