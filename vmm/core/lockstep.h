/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two engines with the same guest, an instruction at a time, and all that the
 * architecture can see of them compared after each.
 *
 * After every instruction: registers, segments, control registers, the state of PT,
 * what was delivered and what was printed. MSRs and debug registers now and then, at the
 * end, and after instructions that can change them; all of RAM
 * now and then and at the end. Which instruction made a difference of that kind is
 * found by running the guest again with `exact_from`: everything is exact in time.
 */
#ifndef VMM_CORE_LOCKSTEP_H
#define VMM_CORE_LOCKSTEP_H

#include "core/vcpu.h"

/* What is compared, as numbers: lockstep_fields.def. */
enum vpt_lockstep_field {
#define VPT_FIELD(id, name, value)     VPT_LS_##id,
#define VPT_FIELD_DR(id, name, number) VPT_LS_##id,
#define VPT_FIELD_MSR(id, name, index) VPT_LS_##id,
#include "core/lockstep_fields.def"
	VPT_LS_FIELDS
};

struct vpt_lockstep_state {
	uint64_t value[VPT_LS_FIELDS];
	bool known[VPT_LS_FIELDS]; /* the engine has it, and it was asked */
};

/* lockstep_state.c */
struct vpt_lockstep_side;
const char *vpt_lockstep_name(enum vpt_lockstep_field field);
/* `all`: what an engine is not asked for after every instruction, too. */
void vpt_lockstep_capture(const struct vpt_lockstep_side *side, bool all,
			  struct vpt_lockstep_state *state);
/* Bits that differ, where both know them. */
uint64_t vpt_lockstep_differs(const struct vpt_lockstep_state *a,
			      const struct vpt_lockstep_state *b, enum vpt_lockstep_field field);
bool vpt_lockstep_equal(const struct vpt_lockstep_state *a, const struct vpt_lockstep_state *b);
/* Address of the first byte that differs. False: none does. */
bool vpt_lockstep_memory(const struct vpt_mem *a, const struct vpt_mem *b, uint64_t *gpa);

/* lockstep_override.c: rows of lockstep_overrides.def. */
struct vpt_lockstep_override {
	const char *name, *reason;
	uint32_t opcode, mask;
	uint8_t selector, registers;
	uint32_t value;
};
const struct vpt_lockstep_override *vpt_lockstep_overrides(size_t *count);
/* The row for an instruction about to run, NULL: none. */
const struct vpt_lockstep_override *vpt_lockstep_override_for(const struct vpt_insn_bytes *bytes,
							      uint8_t bits,
							      const struct vpt_regs *regs);
/* Has the second engine to be kept from trying? */
bool vpt_lockstep_instead(const struct vpt_lockstep_override *row);
/* It faulted on both sides: take over what `row` says, if that is for faults. */
bool vpt_lockstep_override_fault(const struct vpt_lockstep_override *row, struct vpt_vcpu *from,
				 struct vpt_vcpu *to);
/* It has run: take over what `row` says. False: nothing. */
bool vpt_lockstep_override(const struct vpt_lockstep_override *row,
			   const struct vpt_insn_bytes *bytes, uint8_t bits,
			   const struct vpt_regs *from, struct vpt_regs *to);

/* lockstep_cpuid.c: what both tables have; the result is in `a`. */
void vpt_lockstep_cpuid(struct vpt_cpuid_entry *a, size_t *a_count, const struct vpt_cpuid_entry *b,
			size_t b_count);

struct vpt_lockstep_config {
	const struct vpt_engine *engine[2];
	const struct vpt_probe *probe[2];
	const struct vpt_caps *caps;
	enum vpt_owner owner;
	uint64_t mem_bytes;
	void (*console)(void *to, char c); /* what the guest prints; NULL: nowhere */
	void *console_to;
	uint64_t every;	      /* steps from one comparison to the next */
	uint64_t every_all;   /* steps from one comparison of everything to the next */
	uint64_t exact_from;  /* from this step on everything is compared each time */
	uint64_t max_insns;   /* 0: no limit */
	bool (*tick)(void *); /* true: end */
};

struct vpt_lockstep_side {
	struct vpt_vm vm;
	struct vpt_engine ops; /* the engine's, but for the time */
	void (*console)(void *to, char c);
	void *console_to;
	uint64_t printed;
	uint32_t printed_crc;
};

/* An instruction that ran; of the first engine. */
struct vpt_lockstep_step {
	uint64_t insns; /* that retired before it */
	uint64_t ip;
	struct vpt_insn_bytes bytes;
	uint8_t bits, cpl;
	uint8_t len; /* 0: not an instruction */
};

#define VPT_LOCKSTEP_HISTORY 8

enum vpt_lockstep_end {
	VPT_LOCKSTEP_RUNNING = 0,
	VPT_LOCKSTEP_DONE, /* the guest ended, the same for both */
	VPT_LOCKSTEP_DIVERGED,
	VPT_LOCKSTEP_UNABLE, /* an engine cannot go on here: side[unable].vm.stop */
	VPT_LOCKSTEP_LIMIT,  /* max_insns, or tick() said so */
};

struct vpt_lockstep {
	struct vpt_lockstep_config config;
	struct vpt_lockstep_side side[2];
	enum vpt_lockstep_end end;
	unsigned int unable;
	uint64_t steps;	   /* instructions and deliveries */
	uint64_t all_good; /* the last step after which everything was compared */
	struct vpt_lockstep_step history[VPT_LOCKSTEP_HISTORY]; /* step n is in n % this */
	struct vpt_lockstep_state state[2];			/* at the end */
	bool memory_differs;
	uint64_t gpa;		 /* if so */
	uint64_t overridden[32]; /* how often, by row */
};

/* 0 or -errno; on failure nothing is left to destroy. The guest is the caller's to load
 * into both. */
int vpt_lockstep_create(struct vpt_lockstep *l, const struct vpt_lockstep_config *config);
void vpt_lockstep_destroy(struct vpt_lockstep *l);
void vpt_lockstep_run(struct vpt_lockstep *l);

#endif /* VMM_CORE_LOCKSTEP_H */
