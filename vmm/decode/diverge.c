// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the first difference between two flows. */
#include "decode/diverge.h"

#include <stdio.h>
#include <string.h>

struct pair {
	struct decode_flow *flow[2];
	const struct decode_diverge_how *how;
	struct decode_divergence *d;
	uint64_t kept; /* the number of items that were kept in `common`, a ring */
};

/* Returns true if an item is compared. The clock ratio, and PSB+ packets, depend on time alone. */
static bool counts(const struct pair *p, unsigned int side, const struct decode_item *item)
{
	switch (item->kind) {
	case DECODE_ITEM_END:
	case DECODE_ITEM_ERROR:
		return true;
	case DECODE_ITEM_INSN:
		break;
	case DECODE_ITEM_EVENT:
		if (!p->how->events || item->status || item->event == DECODE_FLOW_CBR)
			return false;
		break;
	default:
		return false;
	}
	return !p->how->wants || p->how->wants(p->how->opaque, side, item);
}

static int next(const struct pair *p, unsigned int side, struct decode_item *item)
{
	int err;

	do {
		err = decode_flow_next(p->flow[side], item);
		if (!err && p->how->place)
			err = p->how->place(p->how->opaque, side, item);
	} while (!err && !counts(p, side, item));
	return err;
}

static bool same_place(const struct decode_diverge_how *how, uint64_t a, uint64_t b)
{
	return how->same_place ? how->same_place(how->opaque, a, b) : a == b;
}

static bool same_insn(const struct decode_diverge_how *how, const struct decode_item *a,
		      const struct decode_item *b)
{
	if (a->mode != b->mode || a->size != b->size || !same_place(how, a->ip, b->ip))
		return false;
	return how->same_place || !memcmp(a->raw, b->raw, a->size < 15 ? a->size : 15);
}

/* The values of a block are registers and times, which are not compared. */
static bool same_cfe(const struct decode_cfe *a, const struct decode_cfe *b)
{
	if (!a || !b || a->is_block || b->is_block)
		return !a == !b && (!a || (a->is_block == b->is_block && a->type == b->type));
	return a->type == b->type && a->vector == b->vector && a->has_reason == b->has_reason &&
	       a->reason == b->reason && a->has_qualification == b->has_qualification &&
	       a->qualification == b->qualification &&
	       a->has_fault_address == b->has_fault_address && a->fault_address == b->fault_address;
}

static bool same_event(const struct decode_diverge_how *how, const struct decode_item *a,
		       const struct decode_item *b)
{
	return a->event == b->event && same_place(how, a->ip, b->ip) && a->has_to == b->has_to &&
	       (!a->has_to || same_place(how, a->to, b->to)) && a->value == b->value &&
	       same_cfe(a->cfe, b->cfe);
}

static bool same(const struct decode_diverge_how *how, const struct decode_item *a,
		 const struct decode_item *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case DECODE_ITEM_INSN:
		return same_insn(how, a, b);
	case DECODE_ITEM_EVENT:
		return same_event(how, a, b);
	case DECODE_ITEM_ERROR:
		return same_place(how, a->ip, b->ip);
	default:
		return true;
	}
}

/* Copy an item without pointers that are valid until the next item only. */
static void keep(struct decode_diverge_item *to, const struct decode_item *item)
{
	to->item = *item;
	to->item.cfe = NULL;
	to->item.text = NULL;
	to->has_cfe = item->kind == DECODE_ITEM_EVENT && item->cfe;
	if (!to->has_cfe)
		return;
	to->cfe = *item->cfe;
	to->cfe.items = 0;
	to->cfe.item = NULL;
}

/* Put the ring in order. */
static void straighten(struct pair *p)
{
	const unsigned int room = p->how->context;
	struct decode_diverge_item ring[DECODE_DIVERGE_LINES];
	unsigned int i, first;

	p->d->commons = p->kept < room ? (unsigned int)p->kept : room;
	if (p->kept <= room || !room)
		return;
	first = (unsigned int)(p->kept % room);
	memcpy(ring, p->d->common, room * sizeof(ring[0]));
	for (i = 0; i < room; i++)
		p->d->common[i] = ring[(first + i) % room];
}

/* Keep the item that differs, and some that follow. */
static int take_side(struct pair *p, unsigned int side, struct decode_item *item)
{
	struct decode_diverge_side *to = &p->d->side[side];
	const unsigned int most = p->how->context ? p->how->context : 1;
	int err = 0;

	if (item->kind == DECODE_ITEM_ERROR)
		snprintf(to->error, sizeof(to->error), "%s", item->text ? item->text : "error");
	keep(&to->item[to->count++], item);
	while (!err && item->kind != DECODE_ITEM_END && to->count < most) {
		err = next(p, side, item);
		if (!err && item->kind != DECODE_ITEM_END)
			keep(&to->item[to->count++], item);
	}
	return err;
}

int decode_diverge(struct decode_flow *a, struct decode_flow *b,
		   const struct decode_diverge_how *how, struct decode_divergence *d)
{
	struct pair p = {.flow = {a, b}, .how = how, .d = d};
	struct decode_item x, y;
	int err;

	*d = (struct decode_divergence){0};
	for (;;) {
		err = next(&p, 0, &x);
		if (!err)
			err = next(&p, 1, &y);
		if (err)
			return err;
		if (!same(how, &x, &y))
			break;
		if (x.kind == DECODE_ITEM_END)
			return 0;
		d->insns += x.kind == DECODE_ITEM_INSN;
		if (how->context)
			keep(&d->common[p.kept++ % how->context], &x);
	}
	d->differs = true;
	straighten(&p);
	err = take_side(&p, 0, &x);
	return err ? err : take_side(&p, 1, &y);
}
