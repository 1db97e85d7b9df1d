// SPDX-License-Identifier: GPL-2.0-or-later
/* Share instructions, events and time among address spaces. */
#include "decode/share.h"

#include <stdlib.h>
#include <string.h>

#include "decode/spaces.h"
#include "trace/vec.h"

static bool non_root(const struct trace_space *space)
{
	return space->flags & TRACE_SPACE_NON_ROOT;
}

void decode_shares_begin(struct decode_shares *s)
{
	s->in = false;
	s->has_tsc = false;
}

static bool same(const struct decode_space_share *share, const struct trace_space *space)
{
	if (!space)
		return !share->known;
	return share->known && decode_space_is(&share->space, space);
}

/* Return the share of a space, or NULL if there is no memory. */
static struct decode_space_share *find(struct decode_shares *s, const struct trace_space *space)
{
	struct decode_space_share *share;
	size_t i;

	if (s->in && same(&s->spaces.at[s->now], space)) {
		s->spaces.at[s->now].seen |= !s->paused;
		return &s->spaces.at[s->now];
	}
	for (i = 0; i < s->spaces.n && !same(&s->spaces.at[i], space); i++)
		;
	if (i == s->spaces.n) {
		if (!trace_vec_room(&s->spaces))
			return NULL;
		s->spaces.n++;
		s->spaces.at[i] = (struct decode_space_share){.known = space != NULL};
		if (space)
			s->spaces.at[i].space = *space;
	}
	share = &s->spaces.at[i];
	share->seen |= !s->paused;
	return share;
}

/* Add the time since the last event to the space that ran until now. */
static void take_time(struct decode_shares *s, const struct decode_item *item)
{
	if (!item->has_tsc)
		return;
	if (s->has_tsc && s->in && item->tsc > s->tsc && !s->paused) {
		s->spaces.at[s->now].time += item->tsc - s->tsc;
		s->time += item->tsc - s->tsc;
	}
	if (!s->has_tsc || item->tsc > s->tsc)
		s->tsc = item->tsc;
	s->has_tsc = true;
}

/* Count a VM entry or a VM exit. */
static void cross(struct decode_shares *s, struct decode_space_share *to)
{
	struct decode_space_share *from = &s->spaces.at[s->now];

	if (s->paused || !s->in || !from->known || !to->known ||
	    non_root(&from->space) == non_root(&to->space))
		return;
	if (non_root(&to->space))
		to->entries++;
	else
		from->exits++;
}

static bool take_event(struct decode_shares *s, const struct decode_item *item)
{
	struct decode_space_share *share;

	take_time(s, item);
	/* A PIP would have counted this entry already. */
	if (item->vm_entry && s->in && !s->paused && !non_root(&s->spaces.at[s->now].space))
		s->spaces.at[s->now].entries++;
	if (item->event != DECODE_FLOW_PAGING && item->event != DECODE_FLOW_ENABLED)
		return true;
	share = find(s, item->space);
	if (!share)
		return false;
	if (item->event == DECODE_FLOW_PAGING)
		cross(s, share);
	s->now = (size_t)(share - s->spaces.at);
	s->in = true;
	return true;
}

bool decode_shares_item(struct decode_shares *s, const struct decode_item *item)
{
	struct decode_space_share *share;

	switch (item->kind) {
	case DECODE_ITEM_INSN:
	case DECODE_ITEM_BLOCK:
		share = find(s, item->space);
		if (!share)
			return false;
		s->now = (size_t)(share - s->spaces.at);
		s->in = true;
		if (!s->paused) {
			share->insns += item->insns;
			share->blocks += !item->rest;
		}
		return true;
	case DECODE_ITEM_EVENT:
		return take_event(s, item);
	case DECODE_ITEM_SEGMENT:
	case DECODE_ITEM_ERROR:
		s->in = false;
		s->has_tsc = false;
		return true;
	default:
		return true;
	}
}

static int by_insns(const void *a, const void *b)
{
	const struct decode_space_share *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns < y->insns ? 1 : -1;
	return (x->space.id > y->space.id) - (x->space.id < y->space.id);
}

void decode_shares_sort(struct decode_shares *s)
{
	size_t i, kept = 0;

	for (i = 0; i < s->spaces.n; i++) {
		const struct decode_space_share *share = &s->spaces.at[i];

		if (share->seen || share->entries || share->exits || share->time)
			s->spaces.at[kept++] = *share;
	}
	s->spaces.n = kept;
	if (s->spaces.n)
		qsort(s->spaces.at, s->spaces.n, sizeof(*s->spaces.at), by_insns);
	s->in = false;
}

bool decode_shares_join(struct decode_shares *s, const struct decode_shares *from)
{
	const bool paused = s->paused;
	size_t i;

	/* Finding a share is not seeing it. */
	s->paused = true;
	s->in = false;
	for (i = 0; i < from->spaces.n; i++) {
		const struct decode_space_share *share = &from->spaces.at[i];
		struct decode_space_share *to = find(s, share->known ? &share->space : NULL);

		if (!to)
			return false;
		to->seen |= share->seen;
		to->insns += share->insns;
		to->blocks += share->blocks;
		to->entries += share->entries;
		to->exits += share->exits;
		to->time += share->time;
	}
	s->time += from->time;
	s->paused = paused;
	return true;
}

void decode_shares_words(const struct decode_shares *s, uint64_t *words)
{
	const struct decode_space_share *now = s->in ? &s->spaces.at[s->now] : NULL;

	memset(words, 0, DECODE_SHARES_WORDS * sizeof(*words));
	words[0] = s->in;
	words[1] = s->has_tsc;
	words[2] = s->has_tsc ? s->tsc : 0;
	if (!now)
		return;
	words[3] = now->known;
	words[4] = now->space.id;
	words[5] = now->space.vmcs;
}

void decode_shares_free(struct decode_shares *s)
{
	free(s->spaces.at);
	memset(s, 0, sizeof(*s));
}
