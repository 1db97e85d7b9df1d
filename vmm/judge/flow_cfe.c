// SPDX-License-Identifier: GPL-2.0-or-later
/* Report CFE and EVD packets beside the flow of libipt. */
#include <string.h>

#include "judge/ipt_flow.h"

/* Returns true if the decoded item belongs to this CFE or certainly follows it. */
static bool belongs(const struct decode_cfe *cfe, const struct decode_item *item)
{
	switch (item->kind) {
	case DECODE_ITEM_INSN:
		return cfe->lone && cfe->has_ip && cfe->ip == item->ip;
	case DECODE_ITEM_BLOCK:
		return cfe->lone && cfe->has_ip && cfe->ip >= item->ip && cfe->ip <= item->last;
	case DECODE_ITEM_EVENT:
		if (item->event == DECODE_FLOW_ASYNC_BRANCH ||
		    item->event == DECODE_FLOW_ASYNC_DISABLED)
			return cfe->has_ip ? cfe->ip == item->ip : !cfe->is_block;
		return item->event == DECODE_FLOW_ENABLED && !cfe->has_ip;
	default:
		return true;
	}
}

/*
 * Returns true if the next CFE must be reported before the decoded item. The position that libipt
 * has read in the packets only excludes some CFEs, because libipt reads ahead.
 */
bool judge_flow_cfe_first(const struct judge_ipt_flow *f, const struct decode_item *item)
{
	size_t i;

	/* This reader does not read ahead. */
	if (f->is_bare)
		return f->next_cfe < f->filtered.cfes.n &&
		       f->filtered.cfes.at[f->next_cfe].read < f->read;
	/* The CFE is the next packet, and the item used no packet. */
	if (f->read == f->read_before && f->next_cfe < f->filtered.cfes.n &&
	    f->filtered.cfes.at[f->next_cfe].read == f->read && item->kind != DECODE_ITEM_EVENT &&
	    f->filtered.cfes.at[f->next_cfe].lone)
		return belongs(&f->filtered.cfes.at[f->next_cfe], item);
	for (i = f->next_cfe; i < f->filtered.cfes.n && f->filtered.cfes.at[i].read < f->read;
	     i++) {
		if (belongs(&f->filtered.cfes.at[i], item))
			return true;
	}
	return false;
}

void judge_flow_report_cfe(struct judge_ipt_flow *f, struct decode_item *item)
{
	f->cfe = f->filtered.cfes.at[f->next_cfe++];
	memset(item, 0, sizeof(*item));
	item->kind = DECODE_ITEM_EVENT;
	item->event = f->cfe.is_block ? DECODE_FLOW_BLOCK : DECODE_FLOW_CFE;
	if (f->cfe.items)
		f->cfe.item = f->filtered.items.at + f->cfe.first_item;
	item->ip = f->cfe.has_ip ? f->cfe.ip : 0;
	item->value = f->cfe.type;
	item->offset = f->cfe.offset;
	item->cfe = &f->cfe;
	item->cr3 = f->cr3;
	item->space = f->space;
	item->session = (uint32_t)f->session;
	if (f->own_line)
		decode_timeline_packet(f->own_line, f->cfe.read, &item->when);
}
