// SPDX-License-Identifier: GPL-2.0-or-later
/* Count instructions and events, and find the functions with the most instructions. */
#include "decode/summary.h"

#include <inttypes.h>
#include <string.h>

static void note_error(struct decode_summary *s, unsigned int vcpu, const struct decode_item *item)
{
	if (!s->errors++)
		snprintf(s->first_error, sizeof(s->first_error),
			 "%s, at byte 0x%" PRIx64 " of vCPU %u's trace, ip 0x%" PRIx64, item->text,
			 item->offset, vcpu, item->ip);
}

void decode_summary_item(struct decode_summary *s, unsigned int vcpu,
			 const struct decode_item *item)
{
	switch (item->kind) {
	case DECODE_ITEM_INSN:
	case DECODE_ITEM_BLOCK:
		s->insns += item->insns;
		s->blocks += !item->rest;
		break;
	case DECODE_ITEM_EVENT:
		if (!item->status)
			s->events[item->event]++;
		break;
	case DECODE_ITEM_ERROR:
		note_error(s, vcpu, item);
		break;
	case DECODE_ITEM_SEGMENT:
		s->skipped += item->value;
		break;
	default:
		break;
	}
}

/* Insert a function at its place among those found so far. */
static size_t insert(struct decode_hot *hot, size_t n, size_t max, struct decode_hot one)
{
	size_t i = n;

	if (!one.insns || (n == max && hot[n - 1].insns >= one.insns))
		return n;
	if (n < max)
		n++;
	else
		i--;
	for (; i && hot[i - 1].insns < one.insns; i--)
		hot[i] = hot[i - 1];
	hot[i] = one;
	return n;
}

size_t decode_summary_hot(const struct debug_symbols *symbols, const struct decode_tally *tally,
			  struct decode_hot *hot, size_t max)
{
	struct decode_hot one = {0};
	uint64_t end = 0;
	size_t i, n = 0;

	/* Blocks are sorted by address, so those of a function are together. */
	for (i = 0; i < tally->used; i++) {
		const struct decode_block_count *block = &tally->slots[i];

		if (!i || block->ip >= end) {
			const struct debug_symbol *symbol = debug_symbols_find(symbols, block->ip);

			n = insert(hot, n, max, one);
			one = (struct decode_hot){symbol ? symbol->start : block->ip, 0};
			end = symbol ? symbol->end : block->last + 1;
		}
		one.insns += block->insns;
	}
	return insert(hot, n, max, one);
}

void decode_summary_add(struct decode_summary *s, const struct decode_summary *later)
{
	size_t i;

	if (!s->errors)
		memcpy(s->first_error, later->first_error, sizeof(s->first_error));
	s->insns += later->insns;
	s->blocks += later->blocks;
	s->errors += later->errors;
	s->skipped += later->skipped;
	for (i = 0; i < DECODE_FLOW_COUNT; i++)
		s->events[i] += later->events[i];
}
