// SPDX-License-Identifier: GPL-2.0-or-later
#include "soft/stack.h"

#include "soft/access.h"
#include "soft/system.h"

uint64_t vpt_soft_stack(struct vpt_soft *c, const struct vpt_uop *u, int64_t offset,
			unsigned int size)
{
	uint64_t sp = c->r[VPT_R_RSP] + (uint64_t)offset;

	if (c->bits == 64)
		return sp;
	sp = c->s.ss.db ? (uint32_t)sp : (uint16_t)sp;
	if (!vpt_soft_permits(c, &c->s.ss, sp, size, false))
		vpt_soft_raise_code(c, u, VPT_VEC_SS, 0);
	return (uint32_t)(sp + c->s.ss.base);
}

uint64_t vpt_soft_peek(struct vpt_soft *c, const struct vpt_uop *u, unsigned int size)
{
	uint64_t value = 0;

	vpt_soft_read(c, u, vpt_soft_stack(c, u, 0, size), &value, size);
	return value;
}

void vpt_soft_move_sp(struct vpt_soft *c, int64_t offset)
{
	uint64_t sp = c->r[VPT_R_RSP] + (uint64_t)offset;

	if (c->bits == 64)
		c->r[VPT_R_RSP] = sp;
	else if (c->s.ss.db)
		c->r[VPT_R_RSP] = (uint32_t)sp;
	else
		VPT_REG(c, VPT_R_RSP * 8, uint16_t) = (uint16_t)sp;
}

void vpt_soft_push(struct vpt_soft *c, const struct vpt_uop *u, unsigned int size, uint64_t value)
{
	vpt_soft_write(c, u, vpt_soft_stack(c, u, -(int64_t)size, size), &value, size);
	vpt_soft_move_sp(c, -(int64_t)size);
}
