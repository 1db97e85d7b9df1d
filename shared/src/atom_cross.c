// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packets that the Atom trace unit sends for a change of its enables and between instructions. */
#include "atom_gen.h"

/* [ATOM-E2] PacketEn is clear before and after. */
static bool sends_extra_pgd(const struct vpt_atom *a, const struct vpti_atom_before *before,
			    bool stop)
{
	const bool rose =
		(a->context_en && !before->context_en) || (a->trigger_en && !before->trigger_en);

	return vpti_atom_erratum(a, VPT_ATOM_E2) && a->trigger_en && rose &&
	       (stop || (before->filter_en && !a->filter_en));
}

/* [ATOM-PGE-IP ATOM-PGD-IP ATOM-WHEN-PGE ATOM-WHEN-PGD ATOM-STOP] */
void vpti_atom_cross(struct vpt_atom *a, const struct vpti_atom_before *before, bool stop,
		     uint64_t left, uint64_t to)
{
	if (before->packet_en) {
		if (!a->packet_en && a->trigger_en)
			vpti_atom_put_lip(a, VPT_ATOM_PKT_PGD, left);
	} else if (a->packet_en && !stop) {
		vpti_atom_put_lip(a, VPT_ATOM_PKT_PGE, to);
	} else if (sends_extra_pgd(a, before, stop)) {
		vpti_atom_put_lip(a, VPT_ATOM_PKT_PGD, left);
	}
	if (stop)
		vpti_atom_trace_stop(a);
}

/* [ATOM-OVF-CLEAR ATOM-WHEN-OVF ATOM-OVF-TNT] These packets fit into the smallest empty buffer. */
void vpti_atom_resolve(struct vpt_atom *a, uint64_t ip)
{
	const uint64_t lip = vpti_atom_lip(a, ip);
	const bool branched = a->buffer.branched && a->buffer.branched_to == lip;

	if (!vpti_atom_overflow(a) || a->buffer.fill || !a->trigger_en || !a->context_en)
		return;
	vpti_atom_set_overflow(a, false);
	vpti_atom_forget_lips(a);
	vpti_atom_put_lip(a, VPT_ATOM_PKT_BUF_OVF, lip);
	/* [ATOM-E5] */
	if (branched && vpti_atom_erratum(a, VPT_ATOM_E5))
		vpti_atom_put_lip(a, VPT_ATOM_PKT_TIP, lip);
	if (a->buffer.stop_held)
		vpti_atom_trace_stop(a);
}

void vpti_atom_finish(struct vpt_atom *a, uint64_t ip)
{
	vpti_atom_resolve(a, ip);
	vpti_atom_pcc(a, ip);
	a->buffer.branched = false;
}
