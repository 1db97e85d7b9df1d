// SPDX-License-Identifier: GPL-2.0-or-later
/* Follow a flow through the edges of a cut. */
#include "decode/cut.h"

void decode_cutter_begin(struct decode_cutter *c, const struct decode_window *cut)
{
	static const struct decode_window all = {0, DECODE_CUT_NEVER, 0, DECODE_CUT_NEVER};

	*c = (struct decode_cutter){.cut = cut ? *cut : all};
	decode_pace_begin(&c->pace);
}

void decode_cutter_time(struct decode_cutter *c, uint64_t clock, const struct decode_item *item)
{
	uint64_t ticks;

	if (!decode_window_is_timed(&c->cut))
		return;
	decode_pace_item(&c->pace, item);
	if (!c->pace.has_first || !decode_pace_knows(&item->when))
		return;
	ticks = item->when.tsc > c->pace.first ? item->when.tsc - c->pace.first : 0;
	if (c->cut.from_ticks && c->cut.from == DECODE_CUT_NEVER && ticks >= c->cut.from_ticks)
		c->cut.from = clock;
	if (c->cut.until > clock && ticks >= c->cut.until_ticks)
		c->cut.until = clock;
}

uint64_t decode_cut_insns(const struct decode_item *item)
{
	uint64_t n = 0;
	uint32_t i;

	if (item->kind == DECODE_ITEM_INSN || item->kind == DECODE_ITEM_BLOCK)
		return item->insns;
	for (i = 0; item->kind == DECODE_ITEM_PARTS && i < item->insns; i++)
		n += item->parts[i].insns;
	return n;
}

static int split_block(const struct decode_cutter *c, uint64_t clock,
		       const struct decode_item *item, decode_cutter_take *take, void *context)
{
	struct decode_item piece = *item;
	uint32_t left = item->insns;
	int err = 0;

	for (; !err && left; clock += piece.insns, piece.rest = true) {
		piece.insns = (uint32_t)decode_cutter_room(c, clock, left);
		left -= piece.insns;
		piece.class = left ? DECODE_INSN_OTHER : item->class;
		err = take(context, clock, &piece);
	}
	return err;
}

static int split_parts(const struct decode_cutter *c, uint64_t clock,
		       const struct decode_item *item, decode_cutter_take *take, void *context)
{
	struct decode_item piece = *item;
	struct decode_part part;
	uint32_t i, left;
	int err = 0;

	piece.insns = 1;
	piece.parts = &part;
	for (i = 0; i < item->insns; i++) {
		part = item->parts[i];
		for (left = part.insns; !err && left; clock += part.insns) {
			part.insns = (uint32_t)decode_cutter_room(c, clock, left);
			left -= part.insns;
			part.class = left ? DECODE_INSN_OTHER : item->parts[i].class;
			err = take(context, clock, &piece);
		}
	}
	return err;
}

int decode_cutter_split(const struct decode_cutter *c, uint64_t clock, struct decode_item *item,
			decode_cutter_take *take, void *context)
{
	const uint64_t insns = decode_cut_insns(item);

	if (decode_cutter_room(c, clock, insns) == insns)
		return take(context, clock, item);
	return item->kind == DECODE_ITEM_PARTS ? split_parts(c, clock, item, take, context)
					       : split_block(c, clock, item, take, context);
}
