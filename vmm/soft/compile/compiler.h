/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside the compiler (soft/compile.h). A unit is a set of blocks that are compiled together, because links
 * lead from one to the next. In a unit that has such links, guest registers stay in host registers
 * from block to block.
 *
 * RDI points to the processor. RAX, R10 and R11 are free between micro-operations, and the others
 * but RSP can hold guest registers. Changes are stored at the end of each block, and where the code
 * leaves a block early. So the state in memory is right wherever other code sees it.
 */
#ifndef VMM_SOFT_COMPILE_COMPILER_H
#define VMM_SOFT_COMPILE_COMPILER_H

#include "soft/compile/emit.h"
#include "soft/kind.h"
#include "soft/region.h"

#define SOFT_AT(member)	     ((int32_t)offsetof(struct soft, member))
#define SOFT_AT_GATE(member) ((int32_t)offsetof(struct vpt_gate, member))
#define SOFT_AT_PT(member)   ((int32_t)offsetof(struct vpt_pt, member))
#define SOFT_AT_LOG(member)  ((int32_t)offsetof(struct engine_log, member))
#define SOFT_AT_LINK(member) ((int32_t)offsetof(struct soft_link, member))
#define SOFT_AT_TLB(member)  ((int32_t)offsetof(struct soft_tlb, member))
#define SOFT_AT_SLOT(slot)   (SOFT_AT(r) + 8 * (int32_t)(slot))

enum {
	SOFT_SIZE64 = 3,
	SOFT_ALWAYS = 16,
	SOFT_JE = 4,
	SOFT_JNE = 5,
	SOFT_JB = 2,
	SOFT_JAE = 3,
	SOFT_JL = 12,
	SOFT_JG = 15
};

#define SOFT_UNIT_BLOCKS 32u /* the most blocks of a unit */
#define SOFT_UNIT_UOPS	 512u
#define SOFT_POOL	 11u   /* host registers that can hold guest registers */
#define SOFT_TNT	 H_R15 /* or the outcomes of the gate: see soft_held.tnt */

/* A step says what an instruction did to the flags. Its registers have not changed since. */
enum soft_step_kind {
	/* These set all flags. */
	SOFT_STEP_TEST,
	SOFT_STEP_CMP,
	SOFT_STEP_ADD,
	SOFT_STEP_SUB,
	/* These keep some. */
	SOFT_STEP_INC,
	SOFT_STEP_DEC,
	SOFT_STEP_ROL,
	SOFT_STEP_ROR,
	SOFT_STEP_BT,
};

struct soft_step {
	uint8_t kind, size;
	uint8_t a, b; /* host registers: the result or first operand, the second; H_NONE: imm */
	int32_t imm;
};

#define SOFT_STEPS 3u
#define SOFT_JUMPS 8u /* the most jumps to one place out of line */

/* The guest's flags: those in memory, changed by these steps in their order. */
struct soft_flags {
	struct soft_step step[SOFT_STEPS];
	unsigned int steps;
};

/* The places of the guest's registers and flags. */
struct soft_held {
	uint8_t slot[SOFT_POOL]; /* the slot of the guest register, SOFT_R_SLOTS if none */
	uint32_t dirty;		 /* a bit for each that may differ from memory */
	bool tnt; /* SOFT_TNT has the outcomes of soft.open, whose psb_bytes is old as well */
	struct soft_flags flags;
};

/* Code out of line that leaves the unit for a function with the arguments rdi, rsi and rdx. */
struct soft_exit {
	uint8_t *from[SOFT_JUMPS]; /* the jumps: see e_aim(); NULL if there is none */
	uint8_t *spent;		   /* the jump if the budget is */
	const void *fn;
	uint64_t rsi, rdx;
	int32_t taken; /* from the budget, to give back; -1: in R11 */
	struct soft_held held;
};

/* A place where code that is not of the unit enters it. */
struct soft_entry {
	struct soft_uop *u;
	const uint8_t *label;
	bool fixed; /* the fixed registers must be loaded */
};

/* A jump to the begin of a block of the unit. */
struct soft_fixup {
	uint8_t *from;
	uint32_t block;
};

/* The registers of an address. */
struct soft_base {
	uint8_t slot;
	uint8_t index, scale; /* SOFT_R_ZERO: there is no index */
};

/*
 * Bytes in RAM of which the TLB has been asked: [lo, hi) from what the registers were then. Nothing
 * between micro-operations of a run changes the TLB.
 */
struct soft_reach {
	int64_t lo, hi; /* equal if there are none */
	int64_t moved;	/* how far the base has moved since */
	struct soft_base by;
	bool write;
};

/* The host's address of an operand in memory: base + index + disp. index: H_NONE if there is none. */
struct soft_operand {
	uint8_t base, index;
	int32_t disp;
};

/* Jumps to code that gives up what the code before them began: see e_aim(). */
struct soft_slow {
	uint8_t *from[SOFT_JUMPS];
	unsigned int count;
};

/* Code out of line that copies an entry of the TLB to a site: site.c. */
struct soft_refill {
	uint8_t *from[2], *back; /* the jumps to it, and where it returns to */
	int32_t site;
	uint8_t base; /* of the address base + disp; H_NONE: the address is in R11 */
	int32_t disp;
	unsigned int bytes;
	unsigned int exit; /* if the TLB has no entry */
	bool write;
};

/* Code out of line that sends the outcomes: tnt.c. */
struct soft_full {
	uint8_t *from, *back;
	const uint8_t *other;	/* where it goes to if it cannot, or */
	struct soft_exit *exit; /* this, if it is not NULL */
	uint8_t by;		/* the register of the outcomes; other than SOFT_TNT: a copy */
	bool taken;
};

struct soft_compiler {
	struct soft_region region;
	struct soft_emit e;
	unsigned int after; /* soft_compile_after() */
	unsigned int sites; /* how many memory operands have got one */

	/* The unit in progress. */
	struct soft_block *block[SOFT_UNIT_BLOCKS];
	uint8_t *label[SOFT_UNIT_BLOCKS];
	unsigned int blocks;
	uint32_t copies; /* a bit for each block that is a copy: another unit has its entries */
	struct soft_exit exit[2 * SOFT_UNIT_UOPS + 32 * SOFT_UNIT_BLOCKS];
	struct soft_entry entry[SOFT_UNIT_UOPS];
	struct soft_fixup fixup[SOFT_LINKS * SOFT_UNIT_BLOCKS];
	struct soft_refill refill[SOFT_UNIT_UOPS + 8 * SOFT_UNIT_BLOCKS];
	/* A RET has one for each link, and one for other targets. */
	struct soft_full full[(SOFT_LINKS + 1) * SOFT_UNIT_BLOCKS];
	unsigned int exits, entries, fixups, refills, fulls;

	/*
	 * The slots that hold[0] and so on always have in a fixed run: see soft_hold_begin(). At the
	 * begin of a block those that a block of the unit changes can differ from memory.
	 */
	uint8_t fixed_slot[SOFT_POOL];
	unsigned int fixed_slots;
	uint32_t fixed_changed;

	/* Of the run in progress: the registers that the host holds. */
	struct soft_held held;
	uint32_t used[SOFT_POOL], clock;
	unsigned int pool;  /* how many host registers can hold guest registers */
	unsigned int fixed; /* how many are fixed */
	bool live;	    /* the host's flags are the guest's */
	uint32_t mode;	    /* of the unit's blocks */
	bool traced;	    /* SOFT_BLOCK_TRACED */
	struct soft_reach reach;
	struct soft_operand operand;
	const struct soft_uop *end; /* of the run */
};

/* hold.c */
/* Choose the fixed registers of the unit, if it has links from block to block. */
void soft_hold_choose(struct soft_compiler *g, bool linked);
/*
 * Begin a run. All fixed registers are loaded, if `fixed`. No other register is. `first`: it is the
 * begin of a block, where they can differ from memory.
 */
void soft_hold_begin(struct soft_compiler *g, const struct soft_uop *end, bool fixed, bool first);
/* Return the host register for a guest register, and load its value if `load`. */
unsigned int soft_hold(struct soft_compiler *g, unsigned int slot, bool load);
/* A guest register, which is held, has changed in its host register. */
void soft_hold_changed(struct soft_compiler *g, unsigned int slot);
/* RSP += distance. */
void soft_hold_move_rsp(struct soft_compiler *g, int32_t distance);
/* Store what has changed, the flags and the outcomes, before the code leaves the unit. */
void soft_hold_flush(struct soft_compiler *g);
/* Store what has changed except the fixed registers. Keeps the host's flags. */
void soft_hold_flush_rest(struct soft_compiler *g);
/* Load what all blocks of the unit have in registers: where code enters it. Changes RAX. */
void soft_hold_load_fixed(struct soft_compiler *g);
/* Returns true if this host register has the guest register. */
bool soft_holds(const struct soft_compiler *g, unsigned int slot, unsigned int host);
/* Return how many registers are neither fixed nor needed for flags. */
unsigned int soft_hold_spare(const struct soft_compiler *g);
/* Return the host register of this place in the pool. */
unsigned int soft_hold_host(unsigned int place);
/* Store those of these places of the pool that have changed. */
void soft_hold_store(struct soft_emit *e, const struct soft_held *held, uint32_t these);
/* Store SOFT_TNT if it has the outcomes, and count the bytes for the PSB. Changes RAX and SOFT_TNT. */
void soft_hold_store_tnt(struct soft_emit *e, const struct soft_held *held);
/*
 * SOFT_TNT := the outcomes for as long as a TIP takes, if a guest register is there. RAX is the gate when
 * it returns to that.
 */
void soft_hold_lend_tnt(struct soft_compiler *g);
void soft_hold_return_tnt(struct soft_compiler *g);

/* exit.c */
/* Leave for the function of u if this condition of the host's flags holds. */
void soft_leave_if(struct soft_compiler *g, unsigned int cc, const struct soft_uop *u);
/* Add an exit that stores what is held here. The caller sets the rest. */
struct soft_exit *soft_exit_add(struct soft_compiler *g, const void *fn, const void *rsi);
/* Emit the code out of line of all exits. */
void soft_exits_emit(struct soft_compiler *g);

/* defer.c */
/* Returns true if the flags before u can be read, by an exit or by code before `end`. */
bool soft_flags_matter(const struct soft_uop *u, const struct soft_uop *end);
/* Returns true if a block does not need the flags that are in memory when it begins. */
bool soft_flags_dead(const struct soft_block *b);
/*
 * `u` has set the host's flags, and the step says how. Returns false if they must be saved. The slots
 * are those of the step's registers.
 */
bool soft_flags_defer(struct soft_compiler *g, const struct soft_uop *u, const struct soft_step *s,
		      unsigned int slot_a, unsigned int slot_b);
/* The host's flags are all of the guest's: save them. Changes RAX, as do the next three. */
void soft_flags_save(struct soft_compiler *g);
/* Make the guest's flags, or the carry flag, the host's. Changes R10. */
void soft_flags_need(struct soft_compiler *g);
void soft_flags_need_carry(struct soft_compiler *g);
/* End the steps: the flags are in memory. Changes R10. */
void soft_flags_store(struct soft_compiler *g);
/* Returns true if a step has this host register. */
bool soft_flags_use(const struct soft_flags *flags, unsigned int host);
/* Emit what stores the flags in an exit. Changes RAX and R10. */
void soft_flags_emit(struct soft_emit *e, const struct soft_flags *flags);

/* plain.c */
/* Returns true if the compiler has code for the micro-operation. */
bool soft_is_plain(const struct soft_uop *u);
/* Emit it. `end` is the end of its run, or of the block. */
void soft_emit_plain(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end);

/* site.c */
/*
 * Check the TLB for u's memory operand: `bytes` from base + disp on, if `base` is a host register, or from the
 * address in R11. Leave for u's function if there is no entry of their page. Changes RAX, R10 and, if
 * there is a base, R11. Returns where the distance from linear to host addresses is: in memory, at a
 * place that is valid until RAX changes.
 */
struct soft_operand soft_check_tlb(struct soft_compiler *g, const struct soft_uop *u,
				   unsigned int base, int32_t disp, unsigned int bytes, bool write);
/* Emit the code out of line of all sites. */
void soft_sites_emit(struct soft_compiler *g);

/* reach.c */
/* R11 := the linear address of the memory operand; LEA of 1 << size bytes. */
void soft_address(struct soft_compiler *g, unsigned int size, const struct soft_uop *u);
/*
 * g->operand := the operand at the address in R11. Leave for u's function if the TLB has no entry. Until
 * it is used, R11 must not change.
 */
void soft_to_host(struct soft_compiler *g, const struct soft_uop *u, unsigned int size, bool write);
/* g->operand := the memory operand, as above. Until it is used, at most one more register is held. */
void soft_operand(struct soft_compiler *g, const struct soft_uop *u, unsigned int size, bool write);
/* g->operand := what u accesses on the stack, likewise. */
void soft_stack_operand(struct soft_compiler *g, const struct soft_uop *u);
/* Emit an instruction with reg and g->operand. */
void soft_emit_operand(struct soft_compiler *g, unsigned int size, unsigned int opcode,
		       unsigned int reg);

/* flow.c */
/* Emit the end of a block: K_JCC, K_JMP, K_NEXT. */
void soft_emit_end(struct soft_compiler *g, const struct soft_uop *u);
/* Follow the link of a block to `to`. */
void soft_emit_follow(struct soft_compiler *g, const struct soft_uop *u, unsigned int link,
		      uint64_t to);
/* Returns true if what this link of a block leads to needs the flags in memory. */
bool soft_needs_flags(const struct soft_compiler *g, const struct soft_uop *u, unsigned int link);
/* RAX := the gate, or a closed one. */
void soft_emit_open(struct soft_compiler *g);
/* The same. Returns the jump that is taken if it is closed. */
uint8_t *soft_emit_gate(struct soft_compiler *g);
/* Jump to a function, with RDI and RSI as its arguments. */
void soft_emit_jump(struct soft_compiler *g, const void *fn);

/* tnt.c */
/*
 * Append an outcome to SOFT_TNT, or with `by`, which is R10 or RCX, to those in memory. Changes RAX, `by`
 * and one of R10, R11 and RDX. If it makes a packet that the unit cannot take here, the code leaves by
 * `exit`, and has changed nothing but RAX and `by`. Without an exit it jumps to where
 * soft_outcomes_aim() is called.
 */
void soft_emit_outcome(struct soft_compiler *g, bool taken, struct soft_exit *exit,
		       unsigned int by);
/* Aim the jumps of those from number `first` on at the current place. */
void soft_outcomes_aim(struct soft_compiler *g, unsigned int first);
/* Emit the code out of line that sends whole packets. */
void soft_outcomes_emit(struct soft_compiler *g);

/* tip.c */
/*
 * Put a TIP to the address in R11 into the output of the gate in RAX. Changes RCX, RDX, RSI, R8 and R9,
 * and keeps the others. If the code does not do it, it takes one of the jumps and has changed nothing
 * else.
 */
void soft_emit_tip(struct soft_compiler *g, struct soft_slow *slow);
/* The same for a TIP to a known address and the outcomes in SOFT_TNT. Changes R10 and R11. */
void soft_emit_tip_to(struct soft_compiler *g, struct soft_slow *slow, uint64_t to);

/* calls.c */
/* Emit the end of a block: K_CALL, K_RET, K_JUMP_TO, K_CALL_TO. */
void soft_emit_far_end(struct soft_compiler *g, const struct soft_uop *u);

/* unit.c */
/* Fill in g->block with the blocks that links lead to from `head`, which is the first. */
bool soft_unit_collect(struct soft *c, struct soft_compiler *g, struct soft_block *head);
/* Return the number of a block in the unit, g->blocks if it is not in it. */
unsigned int soft_unit_index(const struct soft_compiler *g, const struct soft_block *b);
/* Return the block that ends with u. */
const struct soft_block *soft_unit_block(const struct soft_uop *u);
/*
 * Returns true if a 64-bit block, which ends with u, and a later one of the unit are in the same page
 * alone. Each loop has a link that is none of these.
 */
bool soft_unit_is_near(const struct soft_compiler *g, const struct soft_uop *u, unsigned int to);
/* Returns true if the end of a block leads to one of its unit. */
bool soft_unit_leads_inside(const struct soft_block *b);
/* Return the block that the end of another leads to by this link, if it is in the unit. */
unsigned int soft_unit_next(const struct soft_compiler *g, const struct soft_uop *end,
			    unsigned int link);

#endif /* VMM_SOFT_COMPILE_COMPILER_H */
