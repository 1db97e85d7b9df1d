// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* PT's component of the XSAVE feature set. */
#include "vpt/xsave.h"

#include "gen_control.h"

#define SLOT_BYTES  8u
#define FIRST_RANGE (VPT_XSAVE_FIXED / SLOT_BYTES)
#define SLOTS	    (FIRST_RANGE + 2 * VPT_MAX_RANGES)

VPT_STATIC_ASSERT(SLOTS *SLOT_BYTES <= VPT_XSAVE_BYTES, "all registers have a place");

/* [XSAVE-COMPONENT] */
static uint32_t msr_of(unsigned int slot)
{
	static const uint32_t fixed[FIRST_RANGE] = {
		VPT_MSR_CTL,	VPT_MSR_OUTPUT_BASE, VPT_MSR_OUTPUT_MASK_PTRS,
		VPT_MSR_STATUS, VPT_MSR_CR3_MATCH,
	};

	return slot < FIRST_RANGE ? fixed[slot] : VPT_MSR_ADDR0_A + (slot - FIRST_RANGE);
}

static void put_slot(uint8_t *state, unsigned int slot, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < SLOT_BYTES; i++)
		state[slot * SLOT_BYTES + i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_slot(const uint8_t *state, unsigned int slot)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < SLOT_BYTES; i++)
		value |= (uint64_t)state[slot * SLOT_BYTES + i] << 8 * i;
	return value;
}

/* Broadwell, the one generation with PT and without XSAVES. */
static bool is_broadwell(uint32_t signature)
{
	uint32_t family = signature >> 8 & 0xf;
	uint32_t model = (signature >> 12 & 0xf0) | (signature >> 4 & 0xf);

	return family == 6 && (model == 0x3d || model == 0x47 || model == 0x4f || model == 0x56);
}

unsigned int vpt_xsave_bytes(const struct vpt_caps *caps)
{
	if (!vpt_rtit_exists(caps, VPT_MSR_CTL) || is_broadwell(caps->signature))
		return 0;
	return VPT_XSAVE_BYTES;
}

/* [XSAVE-INIT] */
bool vpt_xsave_is_initial(const struct vpt_pt *pt)
{
	const struct vpt_rtit *now = &pt->rtit;
	struct vpt_rtit initial;
	uint64_t differs;
	unsigned int i;

	vpt_rtit_reset(&initial);
	differs = now->ctl | now->status | now->output_base | now->cr3_match |
		  (now->output_mask_ptrs ^ initial.output_mask_ptrs);
	for (i = 0; i < 2 * VPT_MAX_RANGES; i++)
		differs |= now->addr[i];
	return !differs;
}

/* [XSAVE-SAVE-ORDER PRES-XSAVES] What disabling leaves in STATUS and in the output's registers
 * is saved, or a restored trace would lose it. */
void vpt_pt_xsaves(struct vpt_pt *pt, void *state, uint64_t ip, uint64_t next_ip)
{
	uint64_t ctl = pt->rtit.ctl, value;
	uint8_t *to = (uint8_t *)state;
	unsigned int slot;

	if (VPT_CTL_GET(ctl, TRACE_EN)) {
		vpti_gen_now(pt);
		vpti_gen_set_ctl(pt, ctl & ~VPT_CTL_MASK(TRACE_EN), ip, next_ip);
	}
	vpt_memset(to, 0, VPT_XSAVE_BYTES);
	put_slot(to, 0, ctl);
	for (slot = 1; slot < SLOTS; slot++)
		if (vpt_pt_rdmsr(pt, msr_of(slot), &value) == VPT_FAULT_NONE)
			put_slot(to, slot, value);
}

/* [XSAVE-RESTORE-VALUES] Each register as WRMSR has it, but none of PT's own is written yet. */
static enum vpt_fault restored(const struct vpt_pt *pt, const uint8_t *state,
			       struct vpt_rtit *after)
{
	unsigned int slot;

	*after = pt->rtit;
	for (slot = 0; slot < SLOTS; slot++) {
		uint32_t msr = msr_of((slot + 1) % SLOTS); /* CTL last: its TraceEn locks others */

		if (vpt_rtit_exists(pt->caps, msr) &&
		    vpt_rtit_write(after, pt->caps, msr, get_slot(state, (slot + 1) % SLOTS),
				   VPT_ACCESS_GUEST) != VPT_FAULT_NONE)
			return VPT_FAULT_GP;
	}
	return VPT_FAULT_NONE;
}

static enum vpt_fault work_out(const struct vpt_pt *pt, const void *state, struct vpt_rtit *after)
{
	/* [XSAVE-RESTORE-LOCKED], and [VMX-NO-PT SMM-NOT-VMX] as for WRMSR. */
	if (VPT_CTL_GET(pt->rtit.ctl, TRACE_EN) || vpti_gen_ctl_is_locked(pt))
		return VPT_FAULT_GP;
	if (state)
		return restored(pt, (const uint8_t *)state, after);
	vpt_rtit_reset(after);
	return VPT_FAULT_NONE;
}

enum vpt_fault vpt_pt_xrstors_check(const struct vpt_pt *pt, const void *state)
{
	struct vpt_rtit after;

	return work_out(pt, state, &after);
}

/* [XSAVE-RESTORE-ORDER] */
enum vpt_fault vpt_pt_xrstors(struct vpt_pt *pt, const void *state, uint64_t ip, uint64_t next_ip)
{
	struct vpt_rtit after;
	uint64_t ctl;

	if (work_out(pt, state, &after) != VPT_FAULT_NONE)
		return VPT_FAULT_GP;
	ctl = after.ctl;
	after.ctl = pt->rtit.ctl;
	pt->rtit = after;
	vpti_gen_set_ctl(pt, ctl, ip, next_ip);
	return VPT_FAULT_NONE;
}
