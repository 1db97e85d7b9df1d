// SPDX-License-Identifier: GPL-2.0-or-later
/* IN and OUT, and their permission checks (SDM vol. 1, 19.5). */
#include "soft/operand.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))

#define TSS_MAP	   102u /* the TSS field that has the offset of the map */
#define TYPE_TSS32 9u	/* available; 11 if the busy bit is set */

/* Returns true if the TSS's map has a bit set for one of the ports, or if there is no map. */
static bool denied(struct soft *c, const struct soft_uop *u, uint16_t port, unsigned int size)
{
	const struct x86_segment *tr = &c->s.tr;
	uint32_t ports = (1u << size) - 1;
	uint16_t map, bits;
	uint32_t at;

	if (!x86_segment_usable(tr) || (tr->ar & X86_AR_TYPE & ~2u) != TYPE_TSS32 ||
	    tr->limit < TSS_MAP + 1)
		return true;
	soft_system_read(c, u, tr->base + TSS_MAP, &map, sizeof(map));
	at = map + port / 8u;
	/* The processor always reads two bytes. */
	if (at + 1 > tr->limit)
		return true;
	soft_system_read(c, u, tr->base + at, &bits, sizeof(bits));
	return bits >> (port & 7) & ports;
}

void soft_check_port(struct soft *c, const struct soft_uop *u, uint16_t port, unsigned int size)
{
	uint64_t rflags = c->r[SOFT_R_RFLAGS];

	if (!(c->s.cr0 & X86_CR0_PE) || (!(rflags & X86_FL_VM) && c->cpl <= (rflags >> 12 & 3)))
		return;
	if (denied(c, u, port, size))
		soft_raise_code(c, u, X86_VEC_GP, 0);
}

/* The port is src + imm; aux is the size in bytes. */
static uint16_t checked_port(struct soft *c, const struct soft_uop *u)
{
	uint16_t port = (uint16_t)(SOFT_REG(c, u->src, uint16_t) + u->imm);

	soft_check_port(c, u, port, u->aux);
	return port;
}

static NOINLINE void do_in(struct soft *c, const struct soft_uop *u)
{
	uint16_t port = checked_port(c, u);
	uint32_t data = 0;

	c->r[SOFT_R_RIP] = u->ip;
	soft_bus_io(c, u, port, (uint8_t)u->aux, true, 1, &data);
	if (u->aux == 4)
		c->r[SOFT_R_RAX] = data;
	else
		memcpy(&c->r[SOFT_R_RAX], &data, u->aux);
}

static NOINLINE void do_out(struct soft *c, const struct soft_uop *u)
{
	uint16_t port = checked_port(c, u);
	uint32_t data = (uint32_t)c->r[SOFT_R_RAX];

	c->r[SOFT_R_RIP] = u->ip;
	soft_bus_io(c, u, port, (uint8_t)u->aux, false, 1, &data);
}

/* A device may have requested the end of run(), which then follows this instruction. */
SOFT_UOP(in)
{
	do_in(c, u);
	if (vpt_unlikely(c->base.state & ENGINE_ATTENTION))
		return soft_resume(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(out)
{
	do_out(c, u);
	if (vpt_unlikely(c->base.state & ENGINE_ATTENTION))
		return soft_resume(c, u);
	return SOFT_NEXT(c, u);
}

bool soft_tr_io(struct soft_translation *t)
{
	bool is_in = t->insn->mnemonic == ZYDIS_MNEMONIC_IN;
	unsigned int port = is_in ? 1 : 0;
	struct soft_uop *u = soft_tr_emit(t, is_in ? in : out);

	if (soft_tr_is_imm(t, port))
		u->imm = (uint8_t)soft_tr_imm(t, port);
	else
		u->src = SOFT_R_RDX * 8;
	u->aux = soft_tr_size(t, 1 - port);
	return true;
}
