// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Support RTIT in the public decoder: its front end, and sessions. */
#include <string.h>

#include "libdecode/decoder.h"

void dec_decoder_start_atom(struct vptd_decoder *d, const struct vptd_config *config)
{
	const struct dec_atom_config atom = {
		.errata = (uint8_t)config->rtit_errata,
		.guest = config->flags & VPTD_ATOM_GUEST,
	};

	dec_atom_init(&d->atom, &d->flow, &atom, &dec_report_rtit, d);
	d->is_atom = true;
	d->offset = &d->atom.offset;
}

static void take_regs(const struct vptd_atom_regs *from, struct vpt_atom_regs *regs)
{
	vpt_atom_regs_reset(regs);
	regs->ctl = from->ctl;
	regs->status = from->status;
	regs->events = from->events;
	regs->tnt_buff = from->tnt_buff;
	regs->last_lip = from->last_lip;
	regs->last_call_nlip = from->last_call_nlip;
	memcpy(regs->lip, from->lip, sizeof(regs->lip));
}

enum vptd_status vptd_atom_begin(struct vptd_decoder *d, const struct vptd_atom_regs *from,
				 uint64_t count)
{
	struct vpt_atom_regs regs;

	if (!d->is_atom)
		return VPTD_E_ARGUMENT;
	take_regs(from, &regs);
	dec_atom_begin(&d->atom, &regs, count);
	return dec_decoder_done(d);
}

enum vptd_status vptd_atom_end(struct vptd_decoder *d, const struct vptd_atom_regs *from,
			       uint64_t count, enum vptd_atom_end end)
{
	struct vpt_atom_regs regs;

	if (!d->is_atom || (unsigned int)end > VPTD_ATOM_CHANGED)
		return VPTD_E_ARGUMENT;
	take_regs(from, &regs);
	dec_atom_end(&d->atom, &regs, count, end);
	return dec_decoder_done(d);
}
