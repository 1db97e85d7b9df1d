/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack outside 64-bit mode: SS has a base, a limit and a size. These may fault,
 * all but soft_move_sp(), and change nothing but memory.
 */
#ifndef VMM_SOFT_STACK_H
#define VMM_SOFT_STACK_H

#include "soft/soft.h"

/* SP, ESP or RSP plus `offset`, as a linear address that `size` bytes may be at. */
uint64_t soft_stack(struct soft *c, const struct soft_uop *u, int64_t offset, unsigned int size);
/* The value `size` bytes wide at the top. */
uint64_t soft_peek(struct soft *c, const struct soft_uop *u, unsigned int size);
/* Add to as much of RSP as the stack's size says. */
void soft_move_sp(struct soft *c, int64_t offset);
/* Store below the top, then move SP. */
void soft_push(struct soft *c, const struct soft_uop *u, unsigned int size, uint64_t value);

#endif /* VMM_SOFT_STACK_H */
