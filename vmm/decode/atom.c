// SPDX-License-Identifier: GPL-2.0-or-later
#include "atom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atom_inside.h"

static struct vpt_atom_decoder *of(struct vpt_decoder *d)
{
	return (struct vpt_atom_decoder *)d;
}

/* What was read and not used comes behind. */
static uint64_t used(const struct vpt_atom_decoder *a)
{
	return a->has_next ? a->next.at : a->stream.at;
}

static void fill(struct vpt_atom_decoder *a, struct vpt_item *item, enum vpt_item_kind kind)
{
	memset(item, 0, sizeof(*item));
	item->kind = (uint8_t)kind;
	item->session = (uint32_t)a->stream.session;
	item->offset = used(a);
}

void vpt_atomd_event_item(struct vpt_atom_decoder *a, struct vpt_item *item,
			  enum vpt_flow_event event)
{
	fill(a, item, VPT_ITEM_EVENT);
	item->event = (uint8_t)event;
}

void vpt_atomd_fail(struct vpt_atom_decoder *a, struct vpt_item *item, const char *text)
{
	snprintf(a->text, sizeof(a->text), "%s", text);
	fill(a, item, VPT_ITEM_ERROR);
	item->ip = a->enabled ? a->ip : 0;
	item->text = a->text;
	a->over = true;
}

void vpt_atomd_use(struct vpt_atom_decoder *a)
{
	a->has_next = false;
	a->stall = 0;
}

/* Behind a PSB a TIP tells where execution is, unless it leads out. */
static bool joins(const struct vpt_atom_decoder *a)
{
	struct vpt_atom_said said;

	if (!a->joins || a->no_tip)
		return false;
	vpt_atomd_behind(a, &said);
	return !vpt_atomd_is_packet(&said, VPT_ATOM_PKT_PGD);
}

static bool find(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	bool has_lip = a->next.has_lip, after_pgd = a->no_tip;

	a->no_tip = false;
	switch (a->next.packet.kind) {
	case VPT_ATOM_PKT_PGE:
		if (has_lip)
			return vpt_atomd_enabled_at(a, item);
		break;
	case VPT_ATOM_PKT_BUF_OVF:
		if (has_lip)
			return vpt_atomd_overflow(a, item);
		break;
	case VPT_ATOM_PKT_TIP:
		a->no_tip = after_pgd;
		if (has_lip && joins(a)) {
			a->enabled = true;
			a->ran = false;
			a->ip = a->next.lip;
			vpt_atomd_join(a);
		}
		a->no_tip = false;
		break;
	case VPT_ATOM_PKT_PGD:
		a->no_tip = true;
		break;
	case VPT_ATOM_PKT_PIP:
		return vpt_atomd_paging(a, item);
	case VPT_ATOM_PKT_TNT:
		a->stale = 0;
		break;
	default:
		break;
	}
	vpt_atomd_use(a);
	return false;
}

/* Read up to a packet that is not of time. True: `item` is of one that is. */
static bool read_on(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	for (;;) {
		vpt_atom_stream_read(&a->stream, &a->next);
		a->has_next = true;
		if (a->next.what != VPT_ATOM_SAYS_PACKET ||
		    a->next.packet.kind == VPT_ATOM_PKT_PIP ||
		    vpt_atomd_is_flow(a->next.packet.kind))
			return false;
		vpt_atomd_use(a);
		/* [ATOM-DEC-PSB] To a decoder in step it says nothing. */
		if (a->next.packet.kind == VPT_ATOM_PKT_PSB)
			a->joins = a->lost;
		/* [ATOM-DEC-PSB] A PSB is no event. */
		if (a->next.packet.kind != VPT_ATOM_PKT_STS)
			continue;
		vpt_atomd_event_item(a, item, VPT_FLOW_CBR);
		item->value = a->next.packet.aux & 0xff;
		return true;
	}
}

/* What is no packet. */
static bool say_else(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	bool lost;

	if (a->next.what == VPT_ATOM_SAYS_OUT) {
		a->over = true;
		return false;
	}
	if (a->next.what == VPT_ATOM_SAYS_BAD) {
		vpt_atomd_use(a);
		vpt_atom_stream_skip(&a->stream);
		vpt_atomd_fail(a, item, "no packet begins like this");
		return true;
	}
	if (a->wait != VPT_ATOM_WAIT_NONE)
		return vpt_atomd_settle(a, item);
	if (a->enabled)
		return vpt_atomd_tail(a, item);
	/* FUP.PGE and what came behind it may be lost. */
	lost = vpt_atomd_ends_lost(a);
	if (lost)
		vpt_atomd_event_item(a, item, VPT_FLOW_OVERFLOW);
	vpt_atomd_leave_session(a);
	return lost;
}

/* One step. True: `item` is what it came to. */
static bool step(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	if (a->enabled && a->noutcomes && a->wait == VPT_ATOM_WAIT_NONE)
		return vpt_atomd_walk(a, item);
	if (!a->has_next && read_on(a, item))
		return true;
	if (a->next.what != VPT_ATOM_SAYS_PACKET)
		return say_else(a, item);
	if (a->lost)
		return find(a, item);
	if (vpt_atom_pkt_has_lip(a->next.packet.kind) && !a->next.has_lip) {
		vpt_atomd_use(a);
		vpt_atomd_fail(a, item, "a LIP leans on one that is not known");
		return true;
	}
	if (a->wait != VPT_ATOM_WAIT_NONE)
		return vpt_atomd_settle(a, item);
	return a->enabled ? vpt_atomd_inside(a, item) : vpt_atomd_outside(a, item);
}

static void next(struct vpt_decoder *d, struct vpt_item *item)
{
	struct vpt_atom_decoder *a = of(d);

	while (!a->over) {
		if (step(a, item))
			return;
	}
	fill(a, item, VPT_ITEM_END);
}

/* A file without sessions: no register is known, and nothing before a PSB. */
static void begin_blind(struct vpt_atom_decoder *a)
{
	struct vpt_atom_stream *s = &a->stream;

	vpt_atom_regs_reset(&s->regs);
	s->limit = s->len;
	s->at = vpt_atom_packet_find_psb(s->bytes, s->len);
	a->lost = true;
}

static bool sync(struct vpt_decoder *d, uint64_t *offset)
{
	struct vpt_atom_decoder *a = of(d);
	struct vpt_atom_stream *s = &a->stream;

	a->over = false;
	a->no_code = false;
	if (!a->begun) {
		a->begun = true;
		if (s->nperiods) {
			s->at = s->periods[0].start->offset - s->offset;
			vpt_atomd_enter_afresh(a, 0);
		} else {
			begin_blind(a);
		}
	} else {
		vpt_atomd_forget_flow(a);
		a->lost = true;
		a->joins = false;
	}
	*offset = used(a);
	return used(a) < s->len || s->nperiods;
}

static bool unknown_packet(const struct vpt_decoder *d)
{
	/* There is nothing that it does not know: what is said of bad bytes is all. */
	(void)d;
	return false;
}

/* The decoder allocates nothing. */
static bool no_memory(const struct vpt_decoder *d)
{
	(void)d;
	return false;
}

static bool no_code(const struct vpt_decoder *d)
{
	return ((const struct vpt_atom_decoder *)d)->no_code;
}

static void retry(struct vpt_decoder *d)
{
	of(d)->over = false;
	of(d)->no_code = false;
}

static void free_decoder(struct vpt_decoder *d)
{
	free(of(d));
}

static const struct vpt_decoder_ops atom_ops = {
	.free = free_decoder,
	.sync = sync,
	.next = next,
	.unknown_packet = unknown_packet,
	.no_memory = no_memory,
	.no_code = no_code,
	.retry = retry,
};

struct vpt_decoder *vpt_atom_decoder_new(const struct vpt_atom_config *config)
{
	struct vpt_atom_decoder *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->decoder.ops = &atom_ops;
	a->code = config->code;
	a->guest = config->guest;
	a->errata = config->errata;
	a->stream.bytes = config->begin;
	a->stream.len = config->len;
	a->stream.offset = config->offset;
	a->stream.periods = config->periods;
	a->stream.nperiods = config->nperiods;
	a->stream.cut = config->cut;
	return &a->decoder;
}

bool vpt_atom_decoder_counts(const struct vpt_decoder *d)
{
	return ((const struct vpt_atom_decoder *)d)->counts;
}

void vpt_atom_decoder_count(struct vpt_decoder *d, uint64_t insns)
{
	of(d)->insns = insns;
	of(d)->counts = true;
}

void vpt_atom_decoder_doubt(struct vpt_decoder *d)
{
	of(d)->counts = false;
}
