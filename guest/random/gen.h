/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internals of the generator: declarations that items share. */
#ifndef GUEST_RANDOM_GEN_H
#define GUEST_RANDOM_GEN_H

#include "emit.h"
#include "program.h"

struct gen {
	struct code c;
	struct rng rng;
	struct program *program;
	unsigned int made;  /* functions that are complete and may be called */
	unsigned int depth; /* nesting depth of blocks */
	uint32_t table;	    /* next free offset for a jump table */
};

/*
 * An item emits code that may change all value registers, RSI, RDI, R12, R14 and the flags. It
 * takes fuel from R15, and preserves RCX, RSP, R13 and DF.
 */
typedef void item_fn(struct gen *g);

/* Emit a few items. Items with bodies call it; it bounds their nesting. */
void gen_block(struct gen *g);

/* Emit a few arithmetic instructions on the value registers, at most 60 bytes. */
void gen_arithmetic(struct gen *g);

/* Set the flags. Returns a condition that is true with some probability. */
enum cc gen_condition(struct gen *g);

/* Advance the generator in R14. */
void gen_scramble(struct gen *g);

/*
 * Emit code that takes fuel. The hole is the target of a branch that is taken if no fuel is left.
 */
hole gen_fuel(struct gen *g, uint8_t units);

enum reg gen_value_reg(struct gen *g);

/* Branches. */
item_fn gen_if, gen_if_else, gen_loop, gen_short_loop, gen_jrcxz, gen_storm, gen_backward;
item_fn gen_jump_table, gen_jump_reg;
/* Calls and returns. */
item_fn gen_call, gen_call_reg, gen_call_table, gen_deep_recursion, gen_ret_jump, gen_call_next;
item_fn gen_ret_imm, gen_skip_level;
/* Data. */
item_fn gen_memory, gen_string, gen_nops;
/* Events. */
item_fn gen_soft_int, gen_fault, gen_bad_jump, gen_cr3, gen_twin, gen_timer, gen_flags;
item_fn gen_ring3;

#endif /* GUEST_RANDOM_GEN_H */
