// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert events of libvptdecode to items. */
#include <errno.h>
#include <string.h>

#include "decode/pt_flow.h"
#include "trace/vec.h"

enum { EVD_FAULT_ADDRESS, EVD_QUALIFICATION, EVD_REASON }; /* table 33-51 */

/* PWRE and PWRX: the shift to the resolved state, and to the last state (33.4.2.23, 33.4.2.24). */
#define STATE_SHIFT 4

/* TRIG: the bits of the triggers. VPT_TRIG_MULT is above them. */
#define TRIGGERS 0xffu

static void take_evd(struct decode_cfe *cfe, const struct vptd_event *e)
{
	switch (e->aux) {
	case EVD_FAULT_ADDRESS:
		cfe->has_fault_address = true;
		cfe->fault_address = e->value;
		break;
	case EVD_QUALIFICATION:
		cfe->has_qualification = true;
		cfe->qualification = e->value;
		break;
	case EVD_REASON:
		cfe->has_reason = true;
		cfe->reason = e->value;
		break;
	default:
		break;
	}
}

static int take_block_item(struct decode_pt_flow *f, const struct vptd_event *e)
{
	/* The items of the previous block were returned with it. */
	if (f->items_given)
		f->cfe_items.n = 0;
	f->items_given = false;
	if (!trace_vec_room(&f->cfe_items))
		return -ENOMEM;
	f->cfe_items.at[f->cfe_items.n++] =
		(struct decode_block_item){.value = e->value, .id = (uint8_t)e->aux};
	return 0;
}

/* Complete a CFE with the EVDs before it, or a block with its items. */
static void complete(struct decode_pt_flow *f, const struct decode_told *told,
		     struct decode_item *item)
{
	const struct vptd_event *e = &told->event;
	struct decode_cfe *given = &f->given;

	if (e->kind == VPTD_EVENT_BLOCK) {
		bool some = !f->items_given && f->cfe_items.n;

		*given = (struct decode_cfe){.is_block = true, .short_items = e->aux};
		given->items = some ? (uint32_t)f->cfe_items.n : 0;
		given->item = some ? f->cfe_items.at : NULL;
		f->items_given = true;
	} else {
		*given = f->cfe;
		given->vector = (uint8_t)e->aux;
		memset(&f->cfe, 0, sizeof(f->cfe));
	}
	given->type = (uint8_t)e->value;
	given->has_ip = e->flags & VPTD_EV_IP;
	given->ip = e->ip;
	given->offset = told->offset;
	item->event = given->is_block ? DECODE_FLOW_BLOCK : DECODE_FLOW_CFE;
	item->value = given->type;
	item->cfe = given;
}

static int error_item(struct decode_pt_flow *f, const struct vptd_event *e,
		      struct decode_item *item)
{
	enum vptd_status status = (enum vptd_status)e->value;

	if (status == VPTD_E_MEMORY)
		return -ENOMEM;
	(void)f;
	item->kind = DECODE_ITEM_ERROR;
	item->text = status == VPTD_E_LOOP ? DECODE_ITEM_STALL : vptd_status_text(status);
	return 1;
}

/* The events whose items have the same content. */
static const uint8_t same[VPTD_EVENT_COUNT] = {
	[VPTD_EVENT_ENABLED] = DECODE_FLOW_ENABLED,
	[VPTD_EVENT_DISABLED] = DECODE_FLOW_DISABLED,
	[VPTD_EVENT_ASYNC_DISABLED] = DECODE_FLOW_ASYNC_DISABLED,
	[VPTD_EVENT_ASYNC_BRANCH] = DECODE_FLOW_ASYNC_BRANCH,
	[VPTD_EVENT_PAGING] = DECODE_FLOW_PAGING,
	[VPTD_EVENT_EXEC_MODE] = DECODE_FLOW_EXEC_MODE,
	[VPTD_EVENT_OVERFLOW] = DECODE_FLOW_OVERFLOW,
	[VPTD_EVENT_STOP] = DECODE_FLOW_STOP,
	[VPTD_EVENT_TSX] = DECODE_FLOW_TSX,
	[VPTD_EVENT_VMCS] = DECODE_FLOW_VMCS,
	[VPTD_EVENT_PTWRITE] = DECODE_FLOW_PTWRITE,
	[VPTD_EVENT_EXSTOP] = DECODE_FLOW_EXSTOP,
	[VPTD_EVENT_MWAIT] = DECODE_FLOW_MWAIT,
	[VPTD_EVENT_PWRE] = DECODE_FLOW_PWRE,
	[VPTD_EVENT_PWRX] = DECODE_FLOW_PWRX,
	[VPTD_EVENT_CBR] = DECODE_FLOW_CBR,
	[VPTD_EVENT_MNT] = DECODE_FLOW_MNT,
	[VPTD_EVENT_TARGET] = DECODE_FLOW_TARGET,
	[VPTD_EVENT_IFLAG] = DECODE_FLOW_IFLAG,
	[VPTD_EVENT_TRIG] = DECODE_FLOW_TRIG,
};

static void plain_item(const struct decode_pt_flow *f, const struct vptd_event *e,
		       struct decode_item *item)
{
	item->event = same[e->kind];
	item->value = e->value;
	if (e->kind == VPTD_EVENT_PWRE || e->kind == VPTD_EVENT_PWRX)
		item->value >>= STATE_SHIFT;
	if (e->kind == VPTD_EVENT_TRIG) {
		item->insns = (uint32_t)e->value;
		item->value = e->aux & TRIGGERS;
	}
	/* If the space is known, report its CR3 instead of the bits in the PIP. */
	if (e->kind == VPTD_EVENT_PAGING && f->space && !decode_pt_is_atom(f))
		item->value = f->space->cr3;
	item->shown = e->flags & VPTD_EV_RAN;
	item->vm_entry = e->kind == VPTD_EVENT_DISABLED && e->flags & VPTD_EV_VM_ENTRY;
}

bool decode_pt_is_item(enum vptd_event_kind kind)
{
	switch (kind) {
	case VPTD_EVENT_EVD:
	case VPTD_EVENT_ITEM:
	case VPTD_EVENT_SYNC:
	case VPTD_EVENT_COUNT:
		return false;
	default:
		return true;
	}
}

int decode_pt_item(struct decode_pt_flow *f, const struct decode_told *told,
		   struct decode_item *item)
{
	const struct vptd_event *e = &told->event;

	memset(item, 0, sizeof(*item));
	item->kind = DECODE_ITEM_EVENT;
	item->ip = e->flags & VPTD_EV_IP ? e->ip : 0;
	item->has_to = e->flags & VPTD_EV_TO;
	item->to = item->has_to ? e->to : 0;
	item->status = e->flags & VPTD_EV_STATUS;
	item->has_tsc = told->has_tsc;
	item->tsc = told->tsc;
	item->offset = told->offset;
	switch ((enum vptd_event_kind)e->kind) {
	case VPTD_EVENT_ERROR:
		return error_item(f, e, item);
	case VPTD_EVENT_EVD:
		take_evd(&f->cfe, e);
		return 0;
	case VPTD_EVENT_ITEM:
		return take_block_item(f, e);
	case VPTD_EVENT_CFE:
	case VPTD_EVENT_BLOCK:
		complete(f, told, item);
		return 1;
	case VPTD_EVENT_SYNC:
	case VPTD_EVENT_COUNT:
		return 0;
	default:
		plain_item(f, e, item);
		return 1;
	}
}
