// SPDX-License-Identifier: GPL-2.0-or-later
/* A ring of the calls that came last. */
#include "last_calls.h"

#include <stddef.h>

static void add(struct vpt_last_calls *c, uint64_t from, uint64_t to, bool event)
{
	c->at[c->n++ % VPT_LAST_CALLS] = (struct vpt_last_call){from, to, event};
}

void vpt_last_calls_item(struct vpt_last_calls *c, const struct vpt_item *item)
{
	/* What was called need not retire an instruction. */
	const bool arrived =
		item->kind == VPT_ITEM_BLOCK ||
		(item->kind == VPT_ITEM_EVENT &&
		 (item->event == VPT_FLOW_ASYNC_BRANCH || item->event == VPT_FLOW_ASYNC_DISABLED));

	if (c->pending && arrived) {
		add(c, c->from, item->ip, false);
		c->pending = false;
	}
	switch (item->kind) {
	case VPT_ITEM_BLOCK:
		c->pending = item->class == VPT_INSN_CALL || item->class == VPT_INSN_FAR_CALL;
		c->from = item->last;
		return;
	case VPT_ITEM_EVENT:
		if (item->event == VPT_FLOW_ASYNC_BRANCH)
			add(c, item->ip, item->to, true);
		else if (item->event == VPT_FLOW_OVERFLOW)
			c->pending = false;
		return;
	case VPT_ITEM_SEGMENT:
	case VPT_ITEM_ERROR:
		c->pending = false;
		return;
	default:
		return;
	}
}

const struct vpt_last_call *vpt_last_calls_get(const struct vpt_last_calls *c, unsigned int i)
{
	unsigned int kept = c->n < VPT_LAST_CALLS ? (unsigned int)c->n : VPT_LAST_CALLS;

	if (i >= kept)
		return NULL;
	return &c->at[(c->n - kept + i) % VPT_LAST_CALLS];
}
