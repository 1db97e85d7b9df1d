// SPDX-License-Identifier: GPL-2.0-or-later
/* Accesses to the stack through the stack pointer. */
#include "soft/stack.h"

#include "soft/access.h"
#include "soft/system.h"

uint64_t soft_stack(struct soft *c, const struct soft_uop *u, int64_t offset, unsigned int size)
{
	uint64_t sp = c->r[SOFT_R_RSP] + (uint64_t)offset;

	if (c->bits == 64)
		return sp;
	sp = c->s.ss.ar & X86_AR_DB ? (uint32_t)sp : (uint16_t)sp;
	if (!soft_permits(c, &c->s.ss, sp, size, false))
		soft_raise_code(c, u, X86_VEC_SS, 0);
	return (uint32_t)(sp + c->s.ss.base);
}

uint64_t soft_peek(struct soft *c, const struct soft_uop *u, unsigned int size)
{
	uint64_t value = 0;

	soft_read(c, u, soft_stack(c, u, 0, size), &value, size);
	return value;
}

void soft_move_sp(struct soft *c, int64_t offset)
{
	uint64_t sp = c->r[SOFT_R_RSP] + (uint64_t)offset;

	if (c->bits == 64)
		c->r[SOFT_R_RSP] = sp;
	else if (c->s.ss.ar & X86_AR_DB)
		c->r[SOFT_R_RSP] = (uint32_t)sp;
	else
		SOFT_REG(c, SOFT_R_RSP * 8, uint16_t) = (uint16_t)sp;
}

void soft_push(struct soft *c, const struct soft_uop *u, unsigned int size, uint64_t value)
{
	soft_write(c, u, soft_stack(c, u, -(int64_t)size, size), &value, size);
	soft_move_sp(c, -(int64_t)size);
}
