// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Insertions (33.5.2.3): the generator, run on a guest's registers for as long as an
 * emulated operation takes. An insertion begins as a VM entry that sets TraceEn does and
 * ends as a VM exit that clears it.
 */
#include "vpt/insert.h"

#include "gen_control.h"

static bool resume(struct vpt_pt *pt, const struct vpt_rtit *guest, const struct vpt_caps *caps,
		   const struct vpt_pt_ops *ops, void *opaque, uint32_t controls, uint64_t vmcs,
		   struct vpt_context *ctx)
{
	vpt_pt_init(pt, caps, ops, opaque);
	pt->rtit = *guest;
	pt->vmx.on = true;
	pt->vmx.non_root = true;
	pt->vmx.vmcs = vmcs;
	pt->vmx.controls = controls & VPT_VMX_CONTROLS;
	return vpti_gen_start(pt, ctx);
}

/* Returns true if code at `ip` is traced. */
static bool reaches(const struct vpt_pt *pt, uint64_t ip)
{
	return pt->context_en && vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, ip));
}

bool vpt_insert_begin(struct vpt_pt *pt, const struct vpt_rtit *guest, const struct vpt_caps *caps,
		      const struct vpt_pt_ops *ops, void *opaque, uint32_t controls, uint64_t vmcs,
		      uint64_t ip)
{
	struct vpt_context ctx;

	if (!vpt_trigger_en(guest))
		return false;
	/* [VMX-INSERT] A PSB+ that is due does not wait: the entry that comes would not know
	 * that it is owed. Timing packets would say nothing where nothing follows them. */
	if (resume(pt, guest, caps, ops, opaque, controls, vmcs, &ctx)) {
		vpti_gen_describe(pt, &ctx, ip, reaches(pt, ip));
		vpti_gen_trace_from(pt, &ctx, ip);
	}
	return true;
}

void vpt_insert_end(struct vpt_pt *pt, uint64_t next_ip, struct vpt_rtit *guest)
{
	uint64_t ctl = pt->rtit.ctl;

	vpti_gen_now(pt);
	vpti_gen_set_ctl(pt, 0, next_ip, next_ip);
	*guest = pt->rtit;
	guest->ctl = ctl;
}

void vpt_insert_pip(struct vpt_pt *pt, struct vpt_rtit *guest, const struct vpt_caps *caps,
		    const struct vpt_pt_ops *ops, void *opaque, uint32_t controls, uint64_t vmcs)
{
	const uint64_t kept = VPT_STATUS_MASK(FILTER_EN) | VPT_STATUS_MASK(TRIGGER_EN);
	uint64_t status = guest->status & kept;
	struct vpt_context ctx;

	if (!vpt_trigger_en(guest))
		return;
	/* [VMX-INSERT-PIP] */
	if (resume(pt, guest, caps, ops, opaque, controls, vmcs, &ctx))
		vpti_gen_pip(pt, &ctx);
	vpti_gen_end(pt);
	*guest = pt->rtit;
	guest->status = (guest->status & ~kept) | status;
	if (!vpt_trigger_en(guest))
		guest->status &= ~VPT_STATUS_MASK(TRIGGER_EN);
}

uint64_t vpt_insert_cr3_match(uint64_t match, uint64_t guest_cr3, uint64_t shadow, bool pae)
{
	/* [VMX-CR3-MATCH] As wide as the comparison of the guest's paging mode. */
	uint64_t compared = VPT_MASK64(63, pae ? 5 : 12);

	if ((match ^ guest_cr3) & compared)
		shadow ^= VPT_BIT64(12);
	return shadow & VPT_MASK64(63, 5);
}
