/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of plain micro-operations as host code. A run replaces the function of its first
 * micro-operation and continues with the one behind its last. In rare cases, such as a page that is
 * not in the TLB, it calls the function that was there before.
 */
#ifndef VMM_SOFT_COMPILE_H
#define VMM_SOFT_COMPILE_H

#include "soft/soft.h"

struct soft_compiler;

/* NULL: errno. */
struct soft_compiler *soft_compiler_create(void);
void soft_compiler_destroy(struct soft_compiler *g);

/* Is there room for one more block? If not, drop all blocks, then reset. */
bool soft_compiler_has_room(const struct soft_compiler *g);
void soft_compiler_reset(struct soft_compiler *g);

/* Is this host code, not a function in C? */
bool soft_compiler_made(const struct soft_compiler *g, soft_uop_fn fn);

/* Compile what can be of a block. */
void soft_compile(struct soft *c, struct soft_block *b);

/* Run from u on, until something returns NULL. Host code uses registers that functions
 * have to preserve, so it is entered by this only. */
void soft_enter(struct soft *c, const struct soft_uop *u);

#endif /* VMM_SOFT_COMPILE_H */
