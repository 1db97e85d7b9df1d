/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside the compiler (compile.h). A unit is a set of blocks that are compiled together, because links
 * lead from one to the next. In a unit that has such links, guest registers stay in host registers
 * from block to block.
 *
 * RDI points to the processor. RAX, R10 and R11 are free between micro-operations, and the others
 * but RSP can hold guest registers. Changes are stored at the end of each block, and where the code
 * leaves a block early. So the state in memory is right wherever other code sees it.
 */
#ifndef VMM_SOFT_COMPILER_H
#define VMM_SOFT_COMPILER_H

#include "soft/emit.h"
#include "soft/kind.h"
#include "soft/region.h"

#define SOFT_AT(member)	     ((int32_t)offsetof(struct soft, member))
#define SOFT_AT_GATE(member) ((int32_t)offsetof(struct vpt_gate, member))
#define SOFT_AT_LOG(member)  ((int32_t)offsetof(struct engine_log, member))
#define SOFT_AT_LINK(member) ((int32_t)offsetof(struct soft_link, member))
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

#define SOFT_UNIT_BLOCKS 16u /* the most blocks of a unit */
#define SOFT_UNIT_UOPS	 512u
#define SOFT_POOL	 11u /* host registers that can hold guest registers */

/* Code out of line that leaves a block for the function of a micro-operation. */
struct soft_exit {
	uint8_t *from; /* of the jump: see e_aim() */
	const struct soft_uop *u;
	uint32_t dirty;
	uint8_t slot[SOFT_POOL];
};

/* Code out of line that leaves along a link that is not valid, or whose block exceeds the budget. */
struct soft_stale {
	uint8_t *from[2]; /* [1]: the budget was taken, NULL if there is no such jump */
	const struct soft_link *link;
	uint64_t to;
	uint32_t insns;
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

/*
 * Bytes in RAM of which the TLB has been asked: [lo, hi) from what a register was then. Nothing
 * between micro-operations of a run changes the TLB.
 */
struct soft_reach {
	int64_t lo, hi; /* equal if there are none */
	int64_t moved;	/* how far the register has moved since */
	uint8_t slot;
	bool write;
};

/* Jumps to code that gives up what the code before them began: see e_aim(). */
struct soft_slow {
	uint8_t *from[12];
	unsigned int count;
};

struct soft_compiler {
	struct soft_region region;
	struct soft_emit e;
	unsigned int after; /* soft_compile_after() */

	/* The unit in progress. */
	struct soft_block *block[SOFT_UNIT_BLOCKS];
	uint8_t *label[SOFT_UNIT_BLOCKS];
	unsigned int blocks;
	struct soft_exit exit[2 * SOFT_UNIT_UOPS];
	struct soft_stale stale[2 * SOFT_UNIT_BLOCKS];
	struct soft_entry entry[SOFT_UNIT_UOPS];
	struct soft_fixup fixup[2 * SOFT_UNIT_BLOCKS];
	unsigned int exits, stales, entries, fixups;

	/* The slots that hold[0] and so on always have in a fixed run: see soft_hold_begin(). */
	uint8_t fixed_slot[SOFT_POOL];
	unsigned int fixed_slots;

	/* Of the run in progress: the registers that the host holds. */
	uint8_t slot[SOFT_POOL]; /* the slot of the guest register, SOFT_R_SLOTS if none */
	uint32_t used[SOFT_POOL], clock;
	uint32_t dirty;	    /* a bit for each that differs from memory */
	unsigned int fixed; /* how many are fixed */
	bool live;	    /* the host's flags are the guest's */
	bool traced;	    /* SOFT_BLOCK_TRACED */
	struct soft_reach reach;
	const struct soft_uop *end; /* of the run */
};

/* hold.c */
/* Choose the fixed registers of the unit, if it has links from block to block. */
void soft_hold_choose(struct soft_compiler *g, bool linked);
/* Begin a run. All fixed registers are loaded, if `fixed`. No other register is. */
void soft_hold_begin(struct soft_compiler *g, const struct soft_uop *end, bool fixed);
/* Return the host register for a guest register, and load its value if `load`. */
unsigned int soft_hold(struct soft_compiler *g, unsigned int slot, bool load);
/* A guest register, which is held, has changed in its host register. */
void soft_hold_changed(struct soft_compiler *g, unsigned int slot);
/* RSP += distance. */
void soft_hold_move_rsp(struct soft_compiler *g, int32_t distance);
/* Store what has changed, now or in an exit. */
void soft_hold_flush(struct soft_compiler *g);
void soft_hold_store(struct soft_compiler *g, const uint8_t *slot, uint32_t dirty);
void soft_hold_load_fixed(struct soft_compiler *g);
/* Save, load or restore the arithmetic flags. */
void soft_hold_save_flags(struct soft_compiler *g);
void soft_hold_load_flags(struct soft_compiler *g);
void soft_hold_load_carry(struct soft_compiler *g);
/* Leave for the function of u if this condition of the host's flags holds. */
void soft_leave_if(struct soft_compiler *g, unsigned int cc, const struct soft_uop *u);

/* plain.c */
/* Returns true if the compiler has code for the micro-operation. */
bool soft_is_plain(const struct soft_uop *u);
/* Emit it. `end` is the end of its run, or of the block. */
void soft_emit_plain(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end);

/* reach.c */
/* R11 := the linear address of the memory operand; LEA of 1 << size bytes. */
void soft_address(struct soft_compiler *g, unsigned int size, const struct soft_uop *u);
/* Translate the address in R11 from linear to host. Leave for u's function if the TLB has no entry. */
void soft_to_host(struct soft_compiler *g, const struct soft_uop *u, unsigned int size, bool write);
/* R11 := the host's address of the memory operand. */
void soft_operand(struct soft_compiler *g, const struct soft_uop *u, unsigned int size, bool write);
/*
 * R11 := the host's address of what u accesses by this base, if one look-up serves several accesses.
 * Returns false if it does not, and emits nothing.
 */
bool soft_reach(struct soft_compiler *g, const struct soft_uop *u, unsigned int slot);

/* flow.c */
/* Emit the end of a block: K_JCC, K_JMP, K_NEXT. */
void soft_emit_end(struct soft_compiler *g, const struct soft_uop *u);
/* Follow the link of a block to `to`. */
void soft_emit_follow(struct soft_compiler *g, const struct soft_uop *u, unsigned int link,
		      uint64_t to);
/* RAX := the gate. Returns the jump that is taken if it is closed. */
uint8_t *soft_emit_gate(struct soft_compiler *g);
/* Emit the code out of line of all stale links of the unit. */
void soft_emit_stale(struct soft_compiler *g);
/* Jump to a function, with RDI and RSI as its arguments. */
void soft_emit_jump(struct soft_compiler *g, const void *fn);

/* tip.c */
/*
 * Put a TIP to the address in R11 into the output of the gate in RAX. Changes RCX, RDX, RSI, R8 and R9,
 * and keeps the others. If the code does not do it, it takes one of the jumps and has changed nothing
 * else.
 */
void soft_emit_tip(struct soft_compiler *g, struct soft_slow *slow);

/* calls.c */
/* Emit the end of a block: K_CALL, K_RET, K_JUMP_TO, K_CALL_TO. */
void soft_emit_far_end(struct soft_compiler *g, const struct soft_uop *u);

/* unit.c */
/* Fill in g->block with the blocks that links lead to from `head`, which is the first. */
bool soft_unit_collect(struct soft *c, struct soft_compiler *g, struct soft_block *head);
/* Return the number of a block in the unit, g->blocks if it is not in it. */
unsigned int soft_unit_index(const struct soft_compiler *g, const struct soft_block *b);
/* Return the block that the end of another leads to, if it is in the unit, by link 0 or 1. */
unsigned int soft_unit_next(const struct soft_compiler *g, const struct soft_uop *end,
			    unsigned int link);

#endif /* VMM_SOFT_COMPILER_H */
