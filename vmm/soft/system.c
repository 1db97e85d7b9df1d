// SPDX-License-Identifier: GPL-2.0-or-later
/* Translate system instructions. Those without a file of their own are executed here. */
#include "soft/system.h"
#include "soft/tlb.h"

#include "soft/access.h"
#include "soft/flagcond.h"
#include "soft/operand.h"

#define NOINLINE __attribute__((noinline))
#define T0	 (SOFT_R_T0 * 8)

/* Leave to the core. During step() the core has already declined this instruction. */
SOFT_UOP(unable)
{
	return soft_leave(c, u, false, c->call & SOFT_STEP ? ENGINE_EXIT_UNABLE : ENGINE_EXIT_CORE);
}

SOFT_UOP(into)
{
	if (!(c->fl & SOFT_F_OF))
		return SOFT_NEXT(c, u);
	return soft_leave(c, u, false, c->call & SOFT_STEP ? ENGINE_EXIT_UNABLE : ENGINE_EXIT_CORE);
}

bool soft_tr_core(struct soft_translation *t)
{
	if (t->insn->mnemonic == ZYDIS_MNEMONIC_INTO) {
		soft_tr_emit(t, into);
		return true;
	}
	soft_tr_emit(t, unable);
	t->ends = true;
	return true;
}

SOFT_UOP(load16)
{
	c->r[SOFT_R_T0] = soft_load16(c, u, soft_ea(c, u));
	return SOFT_NEXT(c, u);
}

SOFT_UOP(store16)
{
	soft_store16(c, u, soft_ea(c, u), (uint16_t)c->r[SOFT_R_T0]);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(put16)
{
	soft_put16(c, u->dst, (uint16_t)c->r[SOFT_R_T0]);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(put32)
{
	soft_put32(c, u->dst, (uint32_t)c->r[SOFT_R_T0]);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(put64)
{
	soft_put64(c, u->dst, c->r[SOFT_R_T0]);
	return SOFT_NEXT(c, u);
}

uint8_t soft_tr_source16(struct soft_translation *t, unsigned int n)
{
	struct soft_address a;

	if (!soft_tr_is_mem(t, n))
		return soft_tr_gpr(t, n);
	a = soft_tr_address(t, n, 2, false);
	soft_tr_put_address(soft_tr_emit(t, load16), &a);
	return T0;
}

void soft_tr_put_t0(struct soft_translation *t, unsigned int n)
{
	unsigned int size = soft_tr_size(t, n);
	struct soft_address a;

	if (soft_tr_is_mem(t, n)) {
		a = soft_tr_address(t, n, 2, true);
		soft_tr_put_address(soft_tr_emit(t, store16), &a);
		return;
	}
	soft_tr_emit(t, size == 2 ? put16 : size == 4 ? put32 : put64)->dst = soft_tr_gpr(t, n);
}

/* Return true if the current privilege level may change RFLAGS.IF. */
static bool has_iopl(const struct soft *c)
{
	return c->cpl <= (c->r[SOFT_R_RFLAGS] >> 12 & 3) || !(c->s.cr0 & X86_CR0_PE);
}

SOFT_UOP(cli)
{
	if (vpt_unlikely(!has_iopl(c)))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	if (vpt_unlikely(soft_watches_if(c)) && c->r[SOFT_R_RFLAGS] & X86_FL_IF) {
		c->r[SOFT_R_RFLAGS] &= ~X86_FL_IF;
		return soft_resume_if(c, u);
	}
	c->r[SOFT_R_RFLAGS] &= ~X86_FL_IF;
	return SOFT_NEXT(c, u);
}

/* STI holds interrupts back until the next instruction has retired. */
SOFT_UOP(sti)
{
	if (vpt_unlikely(!has_iopl(c)))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	if (c->r[SOFT_R_RFLAGS] & X86_FL_IF)
		return SOFT_NEXT(c, u);
	c->r[SOFT_R_RFLAGS] |= X86_FL_IF;
	c->base.state |= ENGINE_SHADOW;
	return soft_resume_if(c, u);
}

/* u->imm is the new RFLAGS.AC, in its place. */
SOFT_UOP(set_ac)
{
	uint64_t rflags = c->r[SOFT_R_RFLAGS];

	if ((rflags & X86_FL_AC) == u->imm)
		return SOFT_NEXT(c, u);
	c->r[SOFT_R_RFLAGS] = rflags ^ X86_FL_AC;
	return soft_resume(c, u);
}

/* u->imm is the next RIP. While a trace is on, the core executes HLT and reports it. */
SOFT_UOP(hlt)
{
	if (c->gate)
		return soft_leave(c, u, false, ENGINE_EXIT_CORE);
	c->r[SOFT_R_RIP] = u->imm;
	return soft_leave(c, u, true, ENGINE_EXIT_HLT);
}

SOFT_UOP(nothing)
{
	(void)c;
	return SOFT_NEXT(c, u);
}

/* EA is the offset, u->aux the segment. FS and GS have a base in 64-bit mode too. */
static NOINLINE void do_invlpg(struct soft *c, const struct soft_uop *u)
{
	uint64_t base = 0, va;

	if (c->bits != 64 || u->aux >= SOFT_SEG_FS)
		base = soft_seg_cache(c, u->aux)->base;
	va = base + c->r[SOFT_R_EA];
	soft_flush_page(c, soft_long_mode(c) ? va : (uint32_t)va, soft_pcid(c), true);
}

SOFT_UOP(invlpg)
{
	do_invlpg(c, u);
	return soft_resume(c, u);
}

/* u->src is the register that has the type. */
static NOINLINE void do_invpcid(struct soft *c, const struct soft_uop *u)
{
	uint64_t type =
		c->bits == 64 ? SOFT_REG(c, u->src, uint64_t) : SOFT_REG(c, u->src, uint32_t);
	uint64_t what[2];

	soft_read(c, u, soft_ea(c, u), what, sizeof(what));
	if (type > 3 || what[0] >> 12 || (type == 0 && !soft_canonical(c, what[1])) ||
	    (type < 2 && what[0] && !(c->s.cr4 & SOFT_CR4_PCIDE)))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	switch (type) {
	case 0:
		soft_flush_page(c, what[1], (unsigned int)what[0], false);
		break;
	case 1:
		soft_flush_pcid(c, (unsigned int)what[0]);
		break;
	case 2:
		soft_flush_tlb(c);
		break;
	default:
		soft_flush_local(c);
		break;
	}
}

SOFT_UOP(invpcid)
{
	do_invpcid(c, u);
	return soft_resume(c, u);
}

SOFT_UOP(check_umip)
{
	if (c->s.cr4 & X86_CR4_UMIP)
		soft_raise_code(c, u, X86_VEC_GP, 0);
	return SOFT_NEXT(c, u);
}

/* Translate SGDT, SIDT, SLDT, STR or SMSW. CR4.UMIP denies them to CPL 3. */
static bool stores(struct soft_translation *t, soft_translate_fn fn)
{
	if (t->mode & SOFT_BLOCK_USER)
		soft_tr_emit(t, check_umip);
	return fn(t);
}

static bool loads(struct soft_translation *t)
{
	if (t->mode & SOFT_BLOCK_USER) {
		soft_tr_raise(t, X86_VEC_GP);
		return true;
	}
	return soft_tr_tables(t);
}

static bool ac(struct soft_translation *t, uint64_t value)
{
	if (t->mode & SOFT_BLOCK_USER)
		return false;
	soft_tr_emit(t, set_ac)->imm = value;
	return true;
}

static bool flush_page(struct soft_translation *t)
{
	soft_tr_offset(t, 0);
	soft_tr_emit(t, invlpg)->aux = (uint32_t)(t->op[0].mem.segment - ZYDIS_REGISTER_ES);
	t->ends = true;
	return true;
}

static bool flush_context(struct soft_translation *t)
{
	struct soft_address a = soft_tr_address(t, 1, 16, false);
	struct soft_uop *u = soft_tr_emit(t, invpcid);

	soft_tr_put_address(u, &a);
	u->src = soft_tr_gpr(t, 0);
	t->ends = true;
	return true;
}

static bool emit(struct soft_translation *t, soft_uop_fn fn, uint64_t imm, bool ends)
{
	soft_tr_emit(t, fn)->imm = imm;
	t->ends = ends;
	return true;
}

bool soft_tr_system(struct soft_translation *t)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_CLI:
		return emit(t, cli, 0, false);
	case ZYDIS_MNEMONIC_STI:
		return emit(t, sti, 0, false);
	case ZYDIS_MNEMONIC_STAC:
		return ac(t, X86_FL_AC);
	case ZYDIS_MNEMONIC_CLAC:
		return ac(t, 0);
	case ZYDIS_MNEMONIC_HLT:
		return emit(t, hlt, t->next, true);
	case ZYDIS_MNEMONIC_INVD:
	case ZYDIS_MNEMONIC_WBINVD:
		return emit(t, nothing, 0, false);
	case ZYDIS_MNEMONIC_INVLPG:
		return flush_page(t);
	case ZYDIS_MNEMONIC_INVPCID:
		return flush_context(t);
	case ZYDIS_MNEMONIC_SMSW:
		return stores(t, soft_tr_control);
	case ZYDIS_MNEMONIC_SGDT:
	case ZYDIS_MNEMONIC_SIDT:
	case ZYDIS_MNEMONIC_SLDT:
	case ZYDIS_MNEMONIC_STR:
		return stores(t, soft_tr_tables);
	case ZYDIS_MNEMONIC_LGDT:
	case ZYDIS_MNEMONIC_LIDT:
	case ZYDIS_MNEMONIC_LLDT:
	case ZYDIS_MNEMONIC_LTR:
		return loads(t);
	default:
		return soft_tr_control(t);
	}
}
