// SPDX-License-Identifier: GPL-2.0-or-later
/* Control and debug registers (SDM vol. 3, 2.5, 18.2). */
#include "soft/operand.h"
#include "soft/system.h"
#include "soft/tlb.h"

#define NOINLINE __attribute__((noinline))

#define CR0_NW	  (1ull << 29)
#define CR0_CD	  (1ull << 30)
#define CR0_KNOWN 0xe005003full
#define CR3_FLAGS 0xfffull
#define CR3_KEEP  (1ull << 63) /* with PCIDE: flush nothing; the bit is not stored */
#define CR8_MAX	  15u
#define DR6_FIXED 0xffff0ff0ull
#define DR6_KNOWN 0x0000e00full
#define DR6_BD	  (1ull << 13)
#define DR7_FIXED 0x400ull
#define DR7_KNOWN 0xffff23ffull
#define DR7_GD	  (1ull << 13)

static _Noreturn void gp(struct soft *c, const struct soft_uop *u)
{
	soft_raise_code(c, u, X86_VEC_GP, 0);
}

static uint64_t source(const struct soft *c, const struct soft_uop *u)
{
	return c->bits == 64 ? SOFT_REG(c, u->src, uint64_t) : SOFT_REG(c, u->src, uint32_t);
}

/* Returns true if paging may be turned on or off in this state (SDM vol. 3, 4.1.2). */
static bool paging_change_ok(const struct soft *c, uint64_t value)
{
	bool on = value & X86_CR0_PG, was = c->s.cr0 & X86_CR0_PG;

	if (on && !(value & X86_CR0_PE))
		return false;
	if (on && !was && c->s.efer & X86_EFER_LME)
		return c->s.cr4 & X86_CR4_PAE && !(c->s.cs.ar & X86_AR_L);
	if (!on && was)
		return !(soft_long_mode(c) && (c->bits == 64 || c->s.cr4 & SOFT_CR4_PCIDE));
	return true;
}

static NOINLINE void do_write_cr0(struct soft *c, const struct soft_uop *u)
{
	uint64_t value = source(c, u);

	if (value >> 32 || (value & CR0_NW && !(value & CR0_CD)) || !paging_change_ok(c, value))
		gp(c, u);
	c->s.cr0 = (value & CR0_KNOWN) | X86_CR0_ET;
}

static NOINLINE void do_write_cr3(struct soft *c, const struct soft_uop *u)
{
	uint64_t value = source(c, u);
	bool keep = c->s.cr4 & SOFT_CR4_PCIDE && value & CR3_KEEP;

	if (keep)
		value &= ~CR3_KEEP;
	if (soft_long_mode(c) && value >> c->paging.max_phy_addr)
		gp(c, u);
	c->s.cr3 = c->paging.cr3 = value;
	if (!keep)
		soft_flush_pcid(c, soft_pcid(c));
	soft_enter_space(c);
}

/* Return the CR4 bits whose features CPUID enumerates. */
static uint64_t cr4_known(const struct soft *c)
{
	static const struct {
		uint32_t leaf;
		uint8_t reg, bit; /* reg: EAX, EBX, ECX, EDX */
		uint64_t cr4;
	} row[] = {
		{1, 3, 1, SOFT_CR4_VME | SOFT_CR4_PVI},
		{1, 3, 4, SOFT_CR4_TSD},
		{1, 3, 2, SOFT_CR4_DE},
		{1, 3, 3, X86_CR4_PSE},
		{1, 3, 6, X86_CR4_PAE},
		{1, 3, 7, SOFT_CR4_MCE},
		{1, 3, 13, SOFT_CR4_PGE},
		{1, 3, 24, X86_CR4_OSFXSR},
		{1, 3, 25, X86_CR4_OSXMMEXCPT},
		{1, 2, 17, SOFT_CR4_PCIDE},
		{1, 2, 26, X86_CR4_OSXSAVE},
		{7, 1, 0, SOFT_CR4_FSGSBASE},
		{7, 1, 7, X86_CR4_SMEP},
		{7, 1, 20, X86_CR4_SMAP},
		{7, 2, 2, X86_CR4_UMIP},
		{7, 2, 3, SOFT_CR4_PKE},
		{7, 2, 16, X86_CR4_LA57},
	};
	uint64_t known = X86_CR4_PCE;
	unsigned int i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct engine_cpuid_entry *e = soft_cpuid(c, row[i].leaf, 0);
		uint32_t reg;

		if (!e)
			continue;
		reg = row[i].reg == 1 ? e->ebx : row[i].reg == 2 ? e->ecx : e->edx;
		if (reg >> row[i].bit & 1)
			known |= row[i].cr4;
	}
	return known;
}

static NOINLINE void do_write_cr4(struct soft *c, const struct soft_uop *u)
{
	uint64_t value = source(c, u), set = value & ~c->s.cr4, changed = value ^ c->s.cr4;

	if (value & ~cr4_known(c))
		gp(c, u);
	if (soft_long_mode(c) && (!(value & X86_CR4_PAE) || changed & X86_CR4_LA57))
		gp(c, u);
	if (set & SOFT_CR4_PCIDE && (!soft_long_mode(c) || c->s.cr3 & CR3_FLAGS))
		gp(c, u);
	/* soft_derive() flushes the TLB if a bit that translations depend on has changed. */
	c->s.cr4 = value;
}

static NOINLINE void do_write_cr8(struct soft *c, const struct soft_uop *u)
{
	uint64_t value = source(c, u);

	if (value > CR8_MAX)
		gp(c, u);
	if (c->base.bus.set_cr8)
		c->base.bus.set_cr8(c->base.bus.opaque, value);
}

static NOINLINE void do_read_cr8(struct soft *c, const struct soft_uop *u)
{
	const struct engine_bus *bus = &c->base.bus;

	soft_put64(c, u->dst, bus->get_cr8 ? bus->get_cr8(bus->opaque) : 0);
}

#define CHANGES_MODE(name)                \
	SOFT_UOP(name)                    \
	{                                 \
		do_##name(c, u);          \
		return soft_resume(c, u); \
	}
CHANGES_MODE(write_cr3)
CHANGES_MODE(write_cr4)
/* An interrupt may be pending that the old priority blocked. */
CHANGES_MODE(write_cr8)

/* The core reports a change of paging as an event. */
SOFT_UOP(write_cr0)
{
	if (c->gate && (source(c, u) ^ c->s.cr0) & X86_CR0_PG)
		return soft_leave(c, u, false, ENGINE_EXIT_CORE);
	do_write_cr0(c, u);
	return soft_resume(c, u);
}

SOFT_UOP(write_cr2)
{
	c->s.cr2 = source(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(read_cr0)
{
	soft_put64(c, u->dst, c->s.cr0);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(read_cr2)
{
	soft_put64(c, u->dst, c->bits == 64 ? c->s.cr2 : (uint32_t)c->s.cr2);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(read_cr3)
{
	soft_put64(c, u->dst, c->bits == 64 ? c->s.cr3 : (uint32_t)c->s.cr3);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(read_cr4)
{
	soft_put64(c, u->dst, c->s.cr4);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(read_cr8)
{
	do_read_cr8(c, u);
	return SOFT_NEXT(c, u);
}

/* DR4 and DR5 are aliases of DR6 and DR7, or undefined. aux is the register. */
static unsigned int debug_register(struct soft *c, const struct soft_uop *u)
{
	unsigned int n = u->aux;

	if ((n == 4 || n == 5) && c->s.cr4 & SOFT_CR4_DE)
		soft_raise(c, u, X86_VEC_UD);
	if (c->dr[7] & DR7_GD) {
		c->dr[6] |= DR6_BD;
		c->dr[7] &= ~DR7_GD;
		soft_raise(c, u, X86_VEC_DB);
	}
	return n == 4 || n == 5 ? n + 2 : n;
}

static NOINLINE void do_write_dr(struct soft *c, const struct soft_uop *u)
{
	unsigned int n = debug_register(c, u);
	uint64_t value = source(c, u);

	if (n >= 6 && value >> 32)
		gp(c, u);
	if (n == 6)
		value = (value & DR6_KNOWN) | DR6_FIXED;
	else if (n == 7)
		value = (value & DR7_KNOWN) | DR7_FIXED;
	c->dr[n] = value;
}
CHANGES_MODE(write_dr)

static NOINLINE void do_read_dr(struct soft *c, const struct soft_uop *u)
{
	uint64_t value = c->dr[debug_register(c, u)];

	soft_put64(c, u->dst, c->bits == 64 ? value : (uint32_t)value);
}

SOFT_UOP(read_dr)
{
	do_read_dr(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(clts)
{
	c->s.cr0 &= ~X86_CR0_TS;
	return soft_resume(c, u);
}

/* LMSW can set PE but not clear it. */
SOFT_UOP(lmsw)
{
	uint64_t low = SOFT_REG(c, u->src, uint16_t) & 0xf;

	c->s.cr0 = (c->s.cr0 & ~0xeull) | low;
	return soft_resume(c, u);
}

SOFT_UOP(smsw)
{
	c->r[SOFT_R_T0] = c->s.cr0;
	return SOFT_NEXT(c, u);
}

static bool to_control(struct soft_translation *t, unsigned int n)
{
	static const soft_uop_fn fn[] = {write_cr0, NULL, write_cr2, write_cr3, write_cr4,
					 NULL,	    NULL, NULL,	     write_cr8};

	if (n >= sizeof(fn) / sizeof(fn[0]) || !fn[n])
		return false;
	/* The core reports MOV to CR3 as an event. */
	if (n == 3)
		soft_tr_leave(t);
	soft_tr_emit(t, fn[n])->src = soft_tr_gpr(t, 1);
	t->ends = n != 2;
	return true;
}

static bool from_control(struct soft_translation *t, unsigned int n)
{
	static const soft_uop_fn fn[] = {read_cr0, NULL, read_cr2, read_cr3, read_cr4,
					 NULL,	   NULL, NULL,	   read_cr8};

	if (n >= sizeof(fn) / sizeof(fn[0]) || !fn[n])
		return false;
	soft_tr_emit(t, fn[n])->dst = soft_tr_gpr(t, 0);
	return true;
}

static bool debug(struct soft_translation *t, bool to)
{
	ZydisRegister reg = t->op[to ? 0 : 1].reg.value;
	struct soft_uop *u;

	if (reg > ZYDIS_REGISTER_DR7)
		return false;
	u = soft_tr_emit(t, to ? write_dr : read_dr);
	u->aux = (uint32_t)(reg - ZYDIS_REGISTER_DR0);
	if (to)
		u->src = soft_tr_gpr(t, 1);
	else
		u->dst = soft_tr_gpr(t, 0);
	t->ends = to;
	return true;
}

static bool mov(struct soft_translation *t)
{
	unsigned int n = soft_tr_is_gpr(t, 0) ? 1 : 0;
	ZydisRegister reg = t->op[n].reg.value;

	if (ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_DEBUG)
		return debug(t, n == 0);
	return n == 0 ? to_control(t, (unsigned int)(reg - ZYDIS_REGISTER_CR0))
		      : from_control(t, (unsigned int)(reg - ZYDIS_REGISTER_CR0));
}

bool soft_tr_control(struct soft_translation *t)
{
	uint8_t src;

	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return mov(t);
	case ZYDIS_MNEMONIC_CLTS:
		soft_tr_emit(t, clts);
		t->ends = true;
		return true;
	case ZYDIS_MNEMONIC_LMSW:
		src = soft_tr_source16(t, 0);
		soft_tr_emit(t, lmsw)->src = src;
		t->ends = true;
		return true;
	case ZYDIS_MNEMONIC_SMSW:
		soft_tr_emit(t, smsw);
		soft_tr_put_t0(t, 0);
		return true;
	default:
		return false;
	}
}
