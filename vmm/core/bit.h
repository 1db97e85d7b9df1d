/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Named bits of a word of state. */
#ifndef VMM_CORE_BIT_H
#define VMM_CORE_BIT_H

#include <stdbool.h>
#include <stdint.h>

/* Set @bits of *@word to @set. */
static inline void core_put_bit(uint32_t *word, uint32_t bits, bool set)
{
	*word = (*word & ~bits) | (set ? bits : 0);
}

#endif /* VMM_CORE_BIT_H */
