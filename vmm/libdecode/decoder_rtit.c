// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* RTIT in the public decoder: its front end, and sessions. */
#include <string.h>

#include "libdecode/decoder.h"

static uint64_t on_space(void *context, uint64_t cr3)
{
	return dec_decoder_space(context, cr3, false, UINT64_MAX);
}

static const struct dec_rtit_ops rtit_ops = {.event = dec_decoder_event, .space = on_space};

void dec_decoder_start_rtit(struct vptd_decoder *d, const struct vptd_config *config)
{
	const struct dec_rtit_config rtit = {
		.errata = (uint8_t)config->rtit_errata,
		.guest = config->flags & VPTD_RTIT_GUEST,
	};

	dec_rtit_init(&d->rtit, &d->flow, &rtit, &rtit_ops, d);
	d->is_rtit = true;
	d->offset = &d->rtit.offset;
}

static void take_regs(const struct vptd_rtit_regs *from, struct vpt_atom_regs *regs)
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

enum vptd_status vptd_rtit_begin(struct vptd_decoder *d, const struct vptd_rtit_regs *from,
				 uint64_t count)
{
	struct vpt_atom_regs regs;

	if (!d->is_rtit)
		return VPTD_E_ARGUMENT;
	take_regs(from, &regs);
	dec_rtit_begin(&d->rtit, &regs, count);
	return dec_decoder_done(d);
}

enum vptd_status vptd_rtit_end(struct vptd_decoder *d, const struct vptd_rtit_regs *from,
			       uint64_t count, enum vptd_rtit_end end)
{
	struct vpt_atom_regs regs;

	if (!d->is_rtit || (unsigned int)end > VPTD_RTIT_CHANGED)
		return VPTD_E_ARGUMENT;
	take_regs(from, &regs);
	dec_rtit_end(&d->rtit, &regs, count, end);
	return dec_decoder_done(d);
}
