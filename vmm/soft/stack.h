/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses to the stack in any mode. Outside 64-bit mode SS has a base, a limit and a size. All
 * functions except soft_move_sp() may fault. A function that faults has not changed registers.
 */
#ifndef VMM_SOFT_STACK_H
#define VMM_SOFT_STACK_H

#include "soft/soft.h"

/* Return the linear address of `size` bytes at SP, ESP or RSP plus `offset`, if SS permits them. */
uint64_t soft_stack(struct soft *c, const struct soft_uop *u, int64_t offset, unsigned int size);
/* Return the value of `size` bytes at the top of the stack. */
uint64_t soft_peek(struct soft *c, const struct soft_uop *u, unsigned int size);
/* Add `offset` to SP, ESP or RSP, according to the size of the stack. */
void soft_move_sp(struct soft *c, int64_t offset);
/* Store below the top, then move SP. */
void soft_push(struct soft *c, const struct soft_uop *u, unsigned int size, uint64_t value);

#endif /* VMM_SOFT_STACK_H */
