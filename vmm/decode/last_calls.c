// SPDX-License-Identifier: GPL-2.0-or-later
/* Keep the last calls in a ring. */
#include "decode/last_calls.h"

#include <stddef.h>

static void add(struct decode_last_calls *c, uint64_t from, uint64_t to, bool event)
{
	c->at[c->n++ % DECODE_LAST_CALLS] = (struct decode_last_call){from, to, event};
}

void decode_last_calls_item(struct decode_last_calls *c, const struct decode_item *item)
{
	/* The callee may be interrupted before it retires an instruction. */
	const bool arrived =
		item->kind == DECODE_ITEM_BLOCK ||
		(item->kind == DECODE_ITEM_EVENT && (item->event == DECODE_FLOW_ASYNC_BRANCH ||
						     item->event == DECODE_FLOW_ASYNC_DISABLED));

	if (c->pending && arrived) {
		add(c, c->from, item->ip, false);
		c->pending = false;
	}
	switch (item->kind) {
	case DECODE_ITEM_BLOCK:
		c->pending = item->class == DECODE_INSN_CALL || item->class == DECODE_INSN_FAR_CALL;
		c->from = item->last;
		return;
	case DECODE_ITEM_EVENT:
		if (item->event == DECODE_FLOW_ASYNC_BRANCH)
			add(c, item->ip, item->to, true);
		else if (item->event == DECODE_FLOW_OVERFLOW)
			c->pending = false;
		return;
	case DECODE_ITEM_SEGMENT:
	case DECODE_ITEM_ERROR:
		c->pending = false;
		return;
	default:
		return;
	}
}

const struct decode_last_call *decode_last_calls_get(const struct decode_last_calls *c,
						     unsigned int i)
{
	unsigned int kept = c->n < DECODE_LAST_CALLS ? (unsigned int)c->n : DECODE_LAST_CALLS;

	if (i >= kept)
		return NULL;
	return &c->at[(c->n - kept + i) % DECODE_LAST_CALLS];
}
