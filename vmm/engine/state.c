// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of a vCPU's state that all engines convert the same way. */
#include "engine/state.h"

#include "vpt/base.h"
#include "x86/msr.h"

VPT_STATIC_ASSERT(sizeof(struct x86_regs) == 144, "without padding");
VPT_STATIC_ASSERT(sizeof(struct engine_state) == 16 + 144 + 16 * ENGINE_STATE_SEGMENTS + 24 + 40 +
							 64 + 56 + 8 + 64 + 2048 +
							 ENGINE_STATE_X87_BYTES + 16,
		  "without padding");

#define FOUR(msr) (msr), (msr) + 1, (msr) + 2, (msr) + 3

const uint32_t engine_state_msr[] = {
	X86_MSR_UMWAIT_CONTROL,
	X86_MSR_SPEC_CTRL,
	X86_MSR_SYSENTER_CS,
	X86_MSR_SYSENTER_ESP,
	X86_MSR_SYSENTER_EIP,
	X86_MSR_MISC_ENABLE,
	X86_MSR_DEBUGCTL,
	X86_MSR_PAT,
	X86_MSR_MTRR_DEF_TYPE,
	X86_MSR_XSS,
	X86_MSR_STAR,
	X86_MSR_LSTAR,
	X86_MSR_CSTAR,
	X86_MSR_FMASK,
	X86_MSR_KERNEL_GS_BASE,
	X86_MSR_TSC_AUX,
	FOUR(X86_MSR_MTRR_PHYSBASE0),
	FOUR(X86_MSR_MTRR_PHYSBASE0 + 4),
	FOUR(X86_MSR_MTRR_PHYSBASE0 + 8),
	FOUR(X86_MSR_MTRR_PHYSBASE0 + 12),
	X86_MSR_MTRR_FIX64K_00000,
	X86_MSR_MTRR_FIX16K_80000,
	X86_MSR_MTRR_FIX16K_A0000,
	FOUR(X86_MSR_MTRR_FIX4K_C0000),
	FOUR(X86_MSR_MTRR_FIX4K_C0000 + 4),
};

#undef FOUR

const size_t engine_state_msr_count = sizeof(engine_state_msr) / sizeof(engine_state_msr[0]);
VPT_STATIC_ASSERT(sizeof(engine_state_msr) / sizeof(engine_state_msr[0]) <= ENGINE_STATE_MSRS,
		  "room");

bool engine_state_time_ok(const struct engine_state *state, const struct engine_time *own)
{
	return state->time.ticks == own->ticks && state->time.clocks <= UINT8_MAX &&
	       !state->time.ticks == !state->time.clocks && state->time.retired <= state->retired;
}

bool engine_state_msrs_ok(const struct engine_state_msr *msr, uint32_t count)
{
	size_t i, n = 0;

	for (i = 0; n < count && i < engine_state_msr_count; i++)
		n += msr[n].index == engine_state_msr[i];
	return n == count;
}

/* Attributes of one bit, whose places in a snapshot differ from those in the access rights. */
static const struct {
	uint32_t ar;
	enum engine_state_attributes bit;
} attribute_bits[] = {
	{X86_AR_S, ENGINE_STATE_S},
	{X86_AR_P, ENGINE_STATE_PRESENT},
	{X86_AR_L, ENGINE_STATE_LONG},
	{X86_AR_DB, ENGINE_STATE_DB},
	{X86_AR_G, ENGINE_STATE_G},
	{X86_AR_AVL, ENGINE_STATE_AVL},
	{X86_AR_UNUSABLE, ENGINE_STATE_UNUSABLE},
};

#define ATTRIBUTE_BITS (sizeof(attribute_bits) / sizeof(attribute_bits[0]))

static uint16_t attributes(const struct x86_segment *s)
{
	unsigned int bits = (unsigned int)x86_segment_type(s) << ENGINE_STATE_TYPE |
			    (unsigned int)x86_segment_dpl(s) << ENGINE_STATE_DPL;
	unsigned int i;

	for (i = 0; i < ATTRIBUTE_BITS; i++)
		if (s->ar & attribute_bits[i].ar)
			bits |= 1u << attribute_bits[i].bit;
	return (uint16_t)bits;
}

static uint32_t access_rights(uint16_t bits)
{
	uint32_t ar = (bits >> ENGINE_STATE_TYPE & 15u) | (bits >> ENGINE_STATE_DPL & 3u)
								  << X86_AR_DPL_SHIFT;
	unsigned int i;

	for (i = 0; i < ATTRIBUTE_BITS; i++)
		if (bits >> attribute_bits[i].bit & 1)
			ar |= attribute_bits[i].ar;
	return ar;
}

static struct engine_state_segment save_segment(const struct x86_segment *s)
{
	return (struct engine_state_segment){
		.base = s->base,
		.limit = s->limit,
		.selector = s->selector,
		.attributes = attributes(s),
	};
}

static struct x86_segment load_segment(const struct engine_state_segment *s)
{
	return (struct x86_segment){
		.base = s->base,
		.limit = s->limit,
		.selector = s->selector,
		.ar = access_rights(s->attributes),
	};
}

void engine_state_put_sregs(struct engine_state *state, const struct x86_sregs *s)
{
	state->segment[ENGINE_STATE_CS] = save_segment(&s->cs);
	state->segment[ENGINE_STATE_DS] = save_segment(&s->ds);
	state->segment[ENGINE_STATE_ES] = save_segment(&s->es);
	state->segment[ENGINE_STATE_FS] = save_segment(&s->fs);
	state->segment[ENGINE_STATE_GS] = save_segment(&s->gs);
	state->segment[ENGINE_STATE_SS] = save_segment(&s->ss);
	state->segment[ENGINE_STATE_TR] = save_segment(&s->tr);
	state->segment[ENGINE_STATE_LDT] = save_segment(&s->ldt);
	state->gdt_base = s->gdt.base;
	state->gdt_limit = s->gdt.limit;
	state->idt_base = s->idt.base;
	state->idt_limit = s->idt.limit;
	state->cr0 = s->cr0;
	state->cr2 = s->cr2;
	state->cr3 = s->cr3;
	state->cr4 = s->cr4;
	state->efer = s->efer;
}

void engine_state_get_sregs(const struct engine_state *state, struct x86_sregs *s)
{
	*s = (struct x86_sregs){
		.cs = load_segment(&state->segment[ENGINE_STATE_CS]),
		.ds = load_segment(&state->segment[ENGINE_STATE_DS]),
		.es = load_segment(&state->segment[ENGINE_STATE_ES]),
		.fs = load_segment(&state->segment[ENGINE_STATE_FS]),
		.gs = load_segment(&state->segment[ENGINE_STATE_GS]),
		.ss = load_segment(&state->segment[ENGINE_STATE_SS]),
		.tr = load_segment(&state->segment[ENGINE_STATE_TR]),
		.ldt = load_segment(&state->segment[ENGINE_STATE_LDT]),
		.gdt = {state->gdt_base, state->gdt_limit},
		.idt = {state->idt_base, state->idt_limit},
		.cr0 = state->cr0,
		.cr2 = state->cr2,
		.cr3 = state->cr3,
		.cr4 = state->cr4,
		.efer = state->efer,
	};
}
