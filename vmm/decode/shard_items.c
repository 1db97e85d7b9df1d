// SPDX-License-Identifier: GPL-2.0-or-later
/* Keep copies of items, with the parts and events to which they refer. */
#include "decode/shard_items.h"

#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

static bool add_parts(struct decode_shard_items *s, const struct decode_item *item)
{
	uint32_t i;

	for (i = 0; i < item->insns; i++) {
		if (!trace_vec_room(&s->parts))
			return false;
		s->parts.at[s->parts.n++] = item->parts[i];
	}
	return true;
}

static bool add_cfe(struct decode_shard_items *s, const struct decode_cfe *cfe)
{
	uint32_t i;

	if (!trace_vec_room(&s->cfes))
		return false;
	s->cfes.at[s->cfes.n++] = *cfe;
	for (i = 0; i < cfe->items; i++) {
		if (!trace_vec_room(&s->values))
			return false;
		s->values.at[s->values.n++] = cfe->item[i];
	}
	return true;
}

bool decode_shard_items_add(struct decode_shard_items *s, const struct decode_item *item)
{
	if (!trace_vec_room(&s->items))
		return false;
	s->items.at[s->items.n++] = *item;
	if (item->kind == DECODE_ITEM_PARTS)
		return add_parts(s, item);
	return item->kind != DECODE_ITEM_EVENT || !item->cfe || add_cfe(s, item->cfe);
}

bool decode_shard_items_next(struct decode_shard_items *s, struct decode_item *item)
{
	struct decode_cfe *cfe;

	if (s->next.item == s->items.n)
		return false;
	*item = s->items.at[s->next.item++];
	if (item->kind == DECODE_ITEM_PARTS) {
		item->parts = s->parts.at + s->next.part;
		s->next.part += item->insns;
	} else if (item->kind == DECODE_ITEM_EVENT && item->cfe) {
		cfe = &s->cfes.at[s->next.cfe++];
		cfe->item = cfe->items ? s->values.at + s->next.value : NULL;
		s->next.value += cfe->items;
		item->cfe = cfe;
	}
	return true;
}

void decode_shard_items_free(struct decode_shard_items *s)
{
	free(s->items.at);
	free(s->parts.at);
	free(s->cfes.at);
	free(s->values.at);
	memset(s, 0, sizeof(*s));
}
