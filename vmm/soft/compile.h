/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of plain micro-operations as host code. A run replaces the function of its first
 * micro-operation and continues with the one behind its last, or with the next block. In rare
 * cases, such as a page that is not in the TLB, it calls the function that was there before.
 *
 * The compiler is the folder compile/, and this header is its interface. Without the folder there is no
 * compiler, and each micro-operation runs by its function. SOFT_NO_COMPILER says so (vmm/build.mk).
 */
#ifndef VMM_SOFT_COMPILE_H
#define VMM_SOFT_COMPILE_H

#include "soft/soft.h"

struct soft_compiler;

#ifndef SOFT_NO_COMPILER

/* Returns NULL with errno set on failure. */
struct soft_compiler *soft_compiler_create(unsigned int index);
void soft_compiler_destroy(struct soft_compiler *g);
/*
 * Stop sharing the memory with another process. Then drop all blocks and reset. Returns 0 or -errno.
 */
int soft_compiler_own(struct soft_compiler *g);

/* Returns false if there is no room for one more block. Then drop all blocks and reset. */
bool soft_compiler_has_room(const struct soft_compiler *g);
void soft_compiler_reset(struct soft_compiler *g);

/* Returns true if the function is generated host code. */
bool soft_compiler_made(const struct soft_compiler *g, soft_uop_fn fn);

/* Compile blocks that have run 1 << bits times. New blocks obey; the default is 5. */
void soft_compile_after(struct soft *c, unsigned int bits);

/* Compile a block together with those that its links lead to. Does nothing if there is no room. */
void soft_compile(struct soft *c, struct soft_block *b);

/* Compile the block when it has run often. Its micro-operations are as they were made. */
void soft_unit_watch(const struct soft_compiler *g, struct soft_block *b);
/* Undo the compilation of a block, and of all that were compiled with it. */
void soft_unit_drop(const struct soft_compiler *g, struct soft_block *b);
/*
 * Undo the compilation of the block that has this link, because the link is about to lead to
 * another block. `l->inner` is not 0.
 */
void soft_unit_moved(const struct soft_compiler *g, struct soft_link *l);

/*
 * Run from u until a micro-operation returns NULL. Host code uses callee-saved registers, so it
 * must be entered through this function.
 */
void soft_enter(struct soft *c, const struct soft_uop *u);

#else

static inline struct soft_compiler *soft_compiler_create(unsigned int index)
{
	(void)index;
	return NULL;
}

static inline void soft_compiler_destroy(struct soft_compiler *g)
{
	(void)g;
}

static inline int soft_compiler_own(struct soft_compiler *g)
{
	(void)g;
	return 0;
}

static inline bool soft_compiler_has_room(const struct soft_compiler *g)
{
	(void)g;
	return true;
}

static inline void soft_compiler_reset(struct soft_compiler *g)
{
	(void)g;
}

static inline bool soft_compiler_made(const struct soft_compiler *g, soft_uop_fn fn)
{
	(void)g;
	(void)fn;
	return false;
}

static inline void soft_compile_after(struct soft *c, unsigned int bits)
{
	(void)c;
	(void)bits;
}

static inline void soft_compile(struct soft *c, struct soft_block *b)
{
	(void)c;
	(void)b;
}

static inline void soft_unit_watch(const struct soft_compiler *g, struct soft_block *b)
{
	(void)g;
	(void)b;
}

static inline void soft_unit_drop(const struct soft_compiler *g, struct soft_block *b)
{
	(void)g;
	(void)b;
}

static inline void soft_unit_moved(const struct soft_compiler *g, struct soft_link *l)
{
	(void)g;
	(void)l;
}

/* Functions of C keep callee-saved registers themselves. */
static inline void soft_enter(struct soft *c, const struct soft_uop *u)
{
	while (u)
		u = u->fn(c, u);
}

#endif /* SOFT_NO_COMPILER */
#endif /* VMM_SOFT_COMPILE_H */
