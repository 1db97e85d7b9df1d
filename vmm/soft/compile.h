/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of plain micro-operations as host code. Such a run takes the place of its first
 * one's function and goes on, as that did, with the micro-operation after it; whatever
 * is not plain, a page that the TLB does not know, say, it leaves to the function that
 * was there before.
 */
#ifndef VMM_SOFT_COMPILE_H
#define VMM_SOFT_COMPILE_H

#include "soft/soft.h"

struct vpt_compiler;

/* NULL: errno. */
struct vpt_compiler *vpt_compiler_create(void);
void vpt_compiler_destroy(struct vpt_compiler *g);

/* Is there room for one more block? If not, drop all blocks, then reset. */
bool vpt_compiler_has_room(const struct vpt_compiler *g);
void vpt_compiler_reset(struct vpt_compiler *g);

/* Is this host code, not a function in C? */
bool vpt_compiler_made(const struct vpt_compiler *g, vpt_uop_fn fn);

/* Compile what can be of a block. */
void vpt_soft_compile(struct vpt_soft *c, struct vpt_block *b);

/* Run from u on, until something returns NULL. Host code uses registers that functions
 * have to preserve, so it is entered by this only. */
void vpt_soft_enter(struct vpt_soft *c, const struct vpt_uop *u);

#endif /* VMM_SOFT_COMPILE_H */
