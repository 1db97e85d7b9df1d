// SPDX-License-Identifier: GPL-2.0-or-later
#include "share.h"

#include <stdlib.h>
#include <string.h>

#include "spaces.h"
#include "trace/vec.h"

static bool non_root(const struct vpt_space *space)
{
	return space->flags & VPT_SPACE_NON_ROOT;
}

void vpt_shares_begin(struct vpt_shares *s)
{
	s->in = false;
	s->has_tsc = false;
}

static bool same(const struct vpt_space_share *share, const struct vpt_space *space)
{
	if (!space)
		return !share->known;
	return share->known && vpt_space_is(&share->space, space);
}

/* The share of a space, NULL: memory. */
static struct vpt_space_share *find(struct vpt_shares *s, const struct vpt_space *space)
{
	struct vpt_space_share *share;
	size_t i;

	if (s->in && same(&s->spaces.at[s->now], space))
		return &s->spaces.at[s->now];
	for (i = 0; i < s->spaces.n && !same(&s->spaces.at[i], space); i++)
		;
	if (i == s->spaces.n) {
		if (!vpt_vec_room(&s->spaces))
			return NULL;
		s->spaces.n++;
		s->spaces.at[i] = (struct vpt_space_share){.known = space != NULL};
		if (space)
			s->spaces.at[i].space = *space;
	}
	share = &s->spaces.at[i];
	return share;
}

/* Time since the last event belongs to what ran until now. */
static void take_time(struct vpt_shares *s, const struct vpt_item *item)
{
	if (!item->has_tsc)
		return;
	if (s->has_tsc && s->in && item->tsc > s->tsc) {
		s->spaces.at[s->now].time += item->tsc - s->tsc;
		s->time += item->tsc - s->tsc;
	}
	if (!s->has_tsc || item->tsc > s->tsc)
		s->tsc = item->tsc;
	s->has_tsc = true;
}

/* Execution goes from one side to the other. */
static void cross(struct vpt_shares *s, struct vpt_space_share *to)
{
	struct vpt_space_share *from = &s->spaces.at[s->now];

	if (!s->in || !from->known || !to->known || non_root(&from->space) == non_root(&to->space))
		return;
	if (non_root(&to->space))
		to->entries++;
	else
		from->exits++;
}

static bool take_event(struct vpt_shares *s, const struct vpt_item *item)
{
	struct vpt_space_share *share;

	take_time(s, item);
	/* Where there is a PIP it has told already. */
	if (item->vm_entry && s->in && !non_root(&s->spaces.at[s->now].space))
		s->spaces.at[s->now].entries++;
	if (item->event != VPT_FLOW_PAGING && item->event != VPT_FLOW_ENABLED)
		return true;
	share = find(s, item->space);
	if (!share)
		return false;
	if (item->event == VPT_FLOW_PAGING)
		cross(s, share);
	s->now = (size_t)(share - s->spaces.at);
	s->in = true;
	return true;
}

bool vpt_shares_item(struct vpt_shares *s, const struct vpt_item *item)
{
	struct vpt_space_share *share;

	switch (item->kind) {
	case VPT_ITEM_INSN:
	case VPT_ITEM_BLOCK:
		share = find(s, item->space);
		if (!share)
			return false;
		s->now = (size_t)(share - s->spaces.at);
		s->in = true;
		share->insns += item->insns;
		share->blocks++;
		return true;
	case VPT_ITEM_EVENT:
		return take_event(s, item);
	case VPT_ITEM_SEGMENT:
	case VPT_ITEM_ERROR:
		s->in = false;
		s->has_tsc = false;
		return true;
	default:
		return true;
	}
}

static int by_insns(const void *a, const void *b)
{
	const struct vpt_space_share *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns < y->insns ? 1 : -1;
	return (x->space.id > y->space.id) - (x->space.id < y->space.id);
}

void vpt_shares_sort(struct vpt_shares *s)
{
	if (s->spaces.n)
		qsort(s->spaces.at, s->spaces.n, sizeof(*s->spaces.at), by_insns);
	s->in = false;
}

void vpt_shares_free(struct vpt_shares *s)
{
	free(s->spaces.at);
	memset(s, 0, sizeof(*s));
}
