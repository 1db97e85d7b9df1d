/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison of items of two flows. */
#ifndef TESTS_LIB_SAME_ITEMS_H
#define TESTS_LIB_SAME_ITEMS_H

#include <string.h>

#include "decode/cfe.h"
#include "decode/item.h"

static inline bool same_part(const struct decode_part *a, const struct decode_part *b)
{
	return a->ip == b->ip && a->next == b->next && a->function == b->function &&
	       a->insns == b->insns && a->class == b->class;
}

static inline bool same_time(const struct decode_when *a, const struct decode_when *b)
{
	return a->known == b->known && a->relative == b->relative && a->tsc == b->tsc &&
	       a->lo == b->lo && a->hi == b->hi && a->until == b->until && a->cycles == b->cycles &&
	       a->span_cycles == b->span_cycles && a->span_ticks == b->span_ticks;
}

static inline bool same_cfe(const struct decode_cfe *a, const struct decode_cfe *b)
{
	uint32_t i;

	if (!a || !b)
		return a == b;
	if (a->is_block != b->is_block || a->items != b->items || a->type != b->type ||
	    a->vector != b->vector || a->offset != b->offset || a->has_ip != b->has_ip ||
	    a->ip != b->ip || a->has_reason != b->has_reason || a->reason != b->reason ||
	    a->qualification != b->qualification || a->fault_address != b->fault_address)
		return false;
	for (i = 0; i < a->items; i++) {
		if (a->item[i].value != b->item[i].value || a->item[i].id != b->item[i].id)
			return false;
	}
	return true;
}

static inline bool same_item(const struct decode_item *a, const struct decode_item *b)
{
	if (a->kind == DECODE_ITEM_ERROR && strcmp(a->text, b->text))
		return false;
	if (a->kind == DECODE_ITEM_EVENT && !same_cfe(a->cfe, b->cfe))
		return false;
	return a->class == b->class && a->mode == b->mode && a->event == b->event &&
	       a->size == b->size && a->has_to == b->has_to && a->has_tsc == b->has_tsc &&
	       a->status == b->status && a->vm_entry == b->vm_entry && a->shown == b->shown &&
	       a->insns == b->insns && a->session == b->session && a->ip == b->ip &&
	       a->last == b->last && a->to == b->to && a->value == b->value &&
	       (!a->has_tsc || a->tsc == b->tsc) && a->cr3 == b->cr3 && a->offset == b->offset &&
	       a->left == b->left && a->all_read == b->all_read;
}

#endif /* TESTS_LIB_SAME_ITEMS_H */
