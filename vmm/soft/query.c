// SPDX-License-Identifier: GPL-2.0-or-later
/* Queries of the processor: CPUID, its counters and its random numbers. */
#include "soft/flagcond.h"
#include "soft/operand.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))

#define LEAF_EXTENDED 0x80000000u
#define LEAF_XSAVE    0xdu
#define XSAVE_LEGACY  576u /* the legacy region and the header */

const struct engine_cpuid_entry *soft_cpuid(const struct soft *c, uint32_t leaf, uint32_t subleaf)
{
	size_t i;

	for (i = 0; i < c->cpuid_count; i++)
		if (c->cpuid[i].leaf == leaf &&
		    (!c->cpuid[i].by_subleaf || c->cpuid[i].subleaf == subleaf))
			return &c->cpuid[i];
	return NULL;
}

bool soft_has7(const struct soft *c, unsigned int ebx_bit)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 7, 0);

	return e && e->ebx >> ebx_bit & 1;
}

/* A leaf beyond the last returns the highest basic leaf (SDM vol. 2, CPUID). */
static uint32_t leaf_of(const struct soft *c, uint32_t leaf)
{
	const struct engine_cpuid_entry *basic = soft_cpuid(c, 0, 0);
	const struct engine_cpuid_entry *extended = soft_cpuid(c, LEAF_EXTENDED, 0);

	if (!basic || leaf <= basic->eax)
		return leaf;
	if (leaf >= LEAF_EXTENDED && extended && leaf <= extended->eax)
		return leaf;
	return basic->eax;
}

/*
 * Return the size in bytes of an XSAVE area with these components, in the standard or the compact
 * format.
 */
static uint32_t xsave_bytes(const struct soft *c, uint64_t components, bool compact)
{
	uint32_t bytes = XSAVE_LEGACY, i;

	for (i = 2; i < 63; i++) {
		const struct engine_cpuid_entry *e = soft_cpuid(c, LEAF_XSAVE, i);

		if (!(components >> i & 1) || !e)
			continue;
		if (!compact) {
			bytes = e->ebx + e->eax > bytes ? e->ebx + e->eax : bytes;
			continue;
		}
		if (e->ecx & 2)
			bytes = (bytes + 63) & ~63u;
		bytes += e->eax;
	}
	return bytes;
}

/* Update the bits of a leaf that follow from the processor's state. */
static void adapt(const struct soft *c, uint32_t leaf, uint32_t subleaf,
		  struct engine_cpuid_entry *e)
{
	if (leaf == 1) {
		e->ecx &= ~(1u << 27);
		e->ecx |= c->s.cr4 & X86_CR4_OSXSAVE ? 1u << 27 : 0;
	} else if (leaf == 7 && !subleaf) {
		e->ecx &= ~(1u << 4);
		e->ecx |= c->s.cr4 & SOFT_CR4_PKE ? 1u << 4 : 0;
	} else if (leaf == LEAF_XSAVE && !subleaf) {
		e->ebx = xsave_bytes(c, c->fpu.xcr0, false);
	} else if (leaf == LEAF_XSAVE && subleaf == 1 && e->eax & (2 | 8)) {
		e->ebx = xsave_bytes(c, c->fpu.xcr0 | c->msr.xss, true);
	} else if (leaf == LEAF_EXTENDED + 1 && c->bits != 64) {
		/* SYSCALL exists in 64-bit mode only. */
		e->edx &= ~(1u << 11);
	}
}

static NOINLINE void do_cpuid(struct soft *c)
{
	uint32_t leaf = leaf_of(c, (uint32_t)c->r[SOFT_R_RAX]),
		 subleaf = (uint32_t)c->r[SOFT_R_RCX];
	const struct engine_cpuid_entry *found = soft_cpuid(c, leaf, subleaf);
	struct engine_cpuid_entry e = {0};

	if (found) {
		e = *found;
		adapt(c, leaf, subleaf, &e);
	}
	c->r[SOFT_R_RAX] = e.eax;
	c->r[SOFT_R_RBX] = e.ebx;
	c->r[SOFT_R_RCX] = e.ecx;
	c->r[SOFT_R_RDX] = e.edx;
}

SOFT_UOP(cpuid)
{
	do_cpuid(c);
	return SOFT_NEXT(c, u);
}

/*
 * Return the exit with which run() ends before an RDTSC, or ENGINE_EXIT_NONE. Other vCPUs may have to
 * run before this one reads its clock, or the core may have to execute the instruction.
 */
static inline enum engine_exit_kind exit_before(const struct soft *c, const struct soft_uop *u)
{
	if (c->call & SOFT_STEP)
		return ENGINE_EXIT_NONE;
	if (vpt_unlikely(c->base.tsc_limit != UINT64_MAX) &&
	    engine_time_tsc(&c->base.time, soft_retired(c, u)) > c->base.tsc_limit)
		return ENGINE_EXIT_TURN;
	return vpt_unlikely(c->base.state & ENGINE_CORE_RDTSC) ? ENGINE_EXIT_CORE
							       : ENGINE_EXIT_NONE;
}

static inline void to_edx_eax(struct soft *c, const struct soft_uop *u)
{
	uint64_t tsc = engine_time_read(&c->base.time, soft_retired(c, u));

	if (vpt_unlikely(c->s.cr4 & SOFT_CR4_TSD && c->cpl))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	c->r[SOFT_R_RAX] = (uint32_t)tsc;
	c->r[SOFT_R_RDX] = tsc >> 32;
}

SOFT_UOP(rdtsc)
{
	const enum engine_exit_kind kind = exit_before(c, u);

	if (vpt_unlikely(kind))
		return soft_leave(c, u, false, kind);
	to_edx_eax(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(rdtscp)
{
	const enum engine_exit_kind kind = exit_before(c, u);

	if (vpt_unlikely(kind))
		return soft_leave(c, u, false, kind);
	to_edx_eax(c, u);
	c->r[SOFT_R_RCX] = (uint32_t)c->msr.tsc_aux;
	return SOFT_NEXT(c, u);
}

SOFT_UOP(rdpid)
{
	soft_put64(c, u->dst, (uint32_t)c->msr.tsc_aux);
	return SOFT_NEXT(c, u);
}

/* Store the next random number. CF is set, because a number is always available. */
static NOINLINE void do_random(struct soft *c, const struct soft_uop *u)
{
	uint64_t value = engine_random_next(&c->base.random);

	if (u->aux == 16)
		soft_put16(c, u->dst, (uint16_t)value);
	else if (u->aux == 32)
		soft_put32(c, u->dst, (uint32_t)value);
	else
		soft_put64(c, u->dst, value);
	c->fl = SOFT_F_CF | SOFT_F_FIXED;
}

/* RDRAND and RDSEED. aux is the size in bits. */
SOFT_UOP(rdrand)
{
	do_random(c, u);
	return SOFT_NEXT(c, u);
}

static void translate_random(struct soft_translation *t)
{
	struct soft_uop *u = soft_tr_emit(t, rdrand);

	u->dst = soft_tr_gpr(t, 0);
	u->aux = t->insn->operand_width;
}

/* The core has the counters. Without it the processor has none, whatever the value of ECX. */
SOFT_UOP(rdpmc)
{
	if (c->call & SOFT_STEP)
		soft_raise_code(c, u, X86_VEC_GP, 0);
	return soft_leave(c, u, false, ENGINE_EXIT_CORE);
}

bool soft_tr_query(struct soft_translation *t)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_CPUID:
		soft_tr_emit(t, cpuid);
		return true;
	case ZYDIS_MNEMONIC_RDTSC:
		soft_tr_emit(t, rdtsc);
		return true;
	case ZYDIS_MNEMONIC_RDTSCP:
		soft_tr_emit(t, rdtscp);
		return true;
	case ZYDIS_MNEMONIC_RDPID:
		soft_tr_emit(t, rdpid)->dst = soft_tr_gpr(t, 0);
		return true;
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
		translate_random(t);
		return true;
	case ZYDIS_MNEMONIC_RDPMC:
		soft_tr_emit(t, rdpmc);
		t->ends = true;
		return true;
	default:
		return false;
	}
}
