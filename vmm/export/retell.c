// SPDX-License-Identifier: GPL-2.0-or-later
/* Drive the generator of Intel PT with the items of a flow. */
#include "export/retell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/code.h"
#include "export/retell_session.h"
#include "trace/vec.h"

#define WAITING_MAX 4096

/*
 * Returns true if the generator reports a new address space and code size with this event. MOV CR3
 * keeps the code size.
 */
static bool has_context(enum vpt_event_kind kind)
{
	return kind == VPT_EV_FAR || kind == VPT_EV_ASYNC || kind == VPT_EV_OVERFLOW ||
	       kind == VPT_EV_CR3;
}

/* Report an event that leads from `from` to `to`. The context is that of `to`. */
static void report(struct export_retell *r, enum vpt_event_kind kind, uint64_t from, uint64_t to)
{
	struct vpt_event event = {.kind = (uint8_t)kind, .from = from, .to = to};

	if ((kind == VPT_EV_FAR || kind == VPT_EV_ASYNC) && r->ctx.cr3 != r->cr3)
		event.flags = VPT_EVF_CR3;
	vpt_pt_event(&r->pt, &event);
	if (r->pt.packet_en && has_context(kind)) {
		r->cr3 = r->ctx.cr3;
		r->mode = export_retell_mode(r);
	}
	r->ip = to;
	r->ip_known = true;
}

/* Report lost packets. If `known` is set, execution is at `ip` and is traced. */
static void lose(struct export_retell *r, bool known, uint64_t ip)
{
	/* The pending outcomes are not lost. */
	vpt_pt_flush(&r->pt);
	/*
	 * A new space needs a PSB+. libipt 2.0.5 does not accept a new code size there. The enclave
	 * keeps tracing off, so that a TIP.PGE reports the code size.
	 */
	r->ctx.production_enclave = !known || export_retell_mode(r) != r->mode;
	if (r->ctx.cr3 != r->cr3)
		r->pt.psb_bytes = r->pt.psb_period;
	report(r, VPT_EV_OVERFLOW, 0, ip);
	r->gap = false;
}

void export_retell_leave(struct export_retell *r)
{
	r->ctx.production_enclave = true;
	if (r->gap)
		lose(r, false, 0);
	else if (r->pt.packet_en)
		report(r, r->ip_known ? VPT_EV_ASYNC : VPT_EV_FAR, r->ip, 0);
}

static void enter(struct export_retell *r, uint64_t ip)
{
	r->ctx.production_enclave = false;
	report(r, VPT_EV_FAR, 0, ip);
}

/* Make the next instruction start at its address, regardless of the previous item. */
static void reach(struct export_retell *r, const struct decode_item *insn)
{
	if (r->gap)
		lose(r, true, insn->ip);
	else if (r->pt.packet_en && ((r->ip_known && r->ip != insn->ip) || r->ctx.cr3 != r->cr3 ||
				     export_retell_mode(r) != r->mode))
		export_retell_leave(r);
	if (!r->pt.packet_en)
		enter(r, insn->ip);
}

static bool is_event(const struct decode_item *item, enum decode_flow_event event)
{
	return item && item->kind == DECODE_ITEM_EVENT && item->event == event;
}

/* Find the target of an instruction from its item or from the item that follows. */
static bool leads_to(const struct decode_item *item, enum dec_insn_kind kind,
		     const struct decode_item *follows, bool by_cr3, uint64_t *to)
{
	*to = item->to;
	/* With a CR3 filter the instruction itself ends the traced region. */
	if (kind == DEC_INSN_CR3 && by_cr3 && is_event(follows, DECODE_FLOW_DISABLED))
		return false;
	if (follows &&
	    (follows->kind == DECODE_ITEM_INSN || is_event(follows, DECODE_FLOW_ASYNC_BRANCH) ||
	     is_event(follows, DECODE_FLOW_ASYNC_DISABLED))) {
		*to = follows->ip;
		return true;
	}
	if (is_event(follows, DECODE_FLOW_DISABLED) && follows->has_to) {
		*to = follows->to;
		return true;
	}
	return item->has_to;
}

/* Returns the class of the instruction for the generator. */
static enum dec_insn_kind kind_of(struct export_retell *r, const struct decode_item *item)
{
	const uint8_t *end = item->raw + item->size;
	struct dec_insn insn;

	/*
	 * Most instructions need no second decode: they are neither branches nor MOVs to a control
	 * register.
	 */
	if ((item->class == DECODE_INSN_OTHER || item->class == DECODE_INSN_PTWRITE) &&
	    (item->size < 3 || end[-3] != 0x0f || end[-2] != 0x22))
		return DEC_INSN_PLAIN;
	return decode_disasm_read(r->disasm, item->mode, item->raw, item->size, &insn) == 1
		       ? (enum dec_insn_kind)insn.kind
		       : DEC_INSN_PLAIN;
}

static void call(struct export_retell *r, const struct decode_item *insn, bool direct, uint64_t to)
{
	const struct vpt_event event = {
		.kind = direct ? VPT_EV_CALL : VPT_EV_CALL_INDIRECT,
		.from = insn->ip,
		.to = to,
		.next = insn->ip + insn->size,
	};

	vpt_pt_event(&r->pt, &event);
}

static void insn(struct export_retell *r, const struct decode_item *item,
		 const struct decode_item *follows)
{
	enum dec_insn_kind kind = kind_of(r, item);
	uint64_t to;

	r->ip_known = leads_to(item, kind, follows, export_retell_by_cr3(r), &to);
	if (!r->ip_known)
		return;
	r->ip = to;
	switch (kind) {
	case DEC_INSN_COND:
		vpt_pt_cond(&r->pt, item->ip, to, to != item->ip + item->size);
		break;
	case DEC_INSN_CALL:
	case DEC_INSN_CALL_IND:
		call(r, item, kind == DEC_INSN_CALL, to);
		break;
	case DEC_INSN_JUMP_IND:
		report(r, VPT_EV_JMP_INDIRECT, item->ip, to);
		break;
	case DEC_INSN_RET:
		report(r, VPT_EV_RET, item->ip, to);
		break;
	case DEC_INSN_FAR_JUMP:
	case DEC_INSN_FAR_CALL:
	case DEC_INSN_FAR_RETURN:
		report(r, VPT_EV_FAR, item->ip, to);
		break;
	case DEC_INSN_CR3:
		report(r, VPT_EV_CR3, item->ip, to);
		break;
	default:
		break;
	}
}

static void event(struct export_retell *r, const struct decode_item *item)
{
	switch (item->event) {
	case DECODE_FLOW_ENABLED:
		export_retell_leave(r);
		enter(r, item->to);
		break;
	case DECODE_FLOW_DISABLED:
		export_retell_leave(r);
		break;
	case DECODE_FLOW_ASYNC_DISABLED:
		r->ip = item->ip;
		r->ip_known = true;
		export_retell_leave(r);
		break;
	case DECODE_FLOW_ASYNC_BRANCH:
		report(r, VPT_EV_ASYNC, item->ip, item->to);
		break;
	case DECODE_FLOW_OVERFLOW:
		lose(r, item->has_to, item->to);
		if (item->has_to && !r->pt.packet_en)
			enter(r, item->to);
		break;
	default:
		break;
	}
}

/* Set the context after an item to that of the next item, as far as known. */
static void set_context(struct export_retell *r, const struct decode_item *follows,
			const struct decode_item *next)
{
	if (follows && follows->cr3 != DECODE_CR3_UNKNOWN)
		r->ctx.cr3 = follows->cr3;
	if (next)
		export_retell_set_mode(r, next->mode);
}

/*
 * Process one item. `follows` is the item after it. `next` is the next instruction, or NULL if
 * unknown.
 */
static void retell(struct export_retell *r, const struct decode_item *item,
		   const struct decode_item *follows, const struct decode_item *next)
{
	bool is_insn = item->kind == DECODE_ITEM_INSN;

	set_context(r, item, is_insn ? item : next);
	export_retell_session(r, item);
	export_retell_time(r, item);
	if (is_insn)
		reach(r, item);
	r->insns += item->insns;
	set_context(r, follows, next);
	if (is_insn)
		insn(r, item, follows);
	else
		event(r, item);
}

/* Process all waiting items, before the instruction `next` or, if NULL, before an unknown one. */
static void retell_all(struct export_retell *r, const struct decode_item *next)
{
	size_t i, n = r->items.n;

	for (i = 0; i < n; i++)
		retell(r, &r->items.at[i], i + 1 < n ? &r->items.at[i + 1] : next, next);
	r->items.n = 0;
}

/* Returns true if the event moves the flow. Other events only affect later items. */
static bool moves(const struct decode_item *item)
{
	switch (item->event) {
	case DECODE_FLOW_ENABLED:
	case DECODE_FLOW_DISABLED:
	case DECODE_FLOW_ASYNC_DISABLED:
	case DECODE_FLOW_ASYNC_BRANCH:
	case DECODE_FLOW_OVERFLOW:
		return true;
	default:
		return false;
	}
}

static int wait_for_next(struct export_retell *r, const struct decode_item *item)
{
	/* A processor does not send so many events without an instruction. */
	if (r->items.n == WAITING_MAX)
		retell_all(r, NULL);
	if (!trace_vec_room(&r->items))
		return -ENOMEM;
	r->items.at[r->items.n++] = *item;
	return 0;
}

int export_retell_item(struct export_retell *r, const struct decode_item *item)
{
	int err = 0;

	switch (item->kind) {
	case DECODE_ITEM_INSN:
		retell_all(r, item);
		err = wait_for_next(r, item);
		break;
	case DECODE_ITEM_EVENT:
		if (item->event == DECODE_FLOW_CBR)
			r->cbr = (uint8_t)item->value;
		if (moves(item))
			err = wait_for_next(r, item);
		break;
	case DECODE_ITEM_SEGMENT:
		retell_all(r, NULL);
		/* The stream has bytes before its first PSB. */
		r->gap |= item->value != 0;
		break;
	case DECODE_ITEM_ERROR:
		retell_all(r, NULL);
		r->gap = true;
		break;
	default:
		retell_all(r, NULL);
		export_retell_end(r);
		break;
	}
	return err ? err : r->error;
}

void export_retell_free(struct export_retell *r)
{
	free(r->items.at);
}
