// SPDX-License-Identifier: GPL-2.0-or-later
/* Make the items of a flow with libipt. */
#include "judge/ipt_flow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vpt/msr.h"
#include "vpt/packet.h"

static size_t fetch(void *flow, uint64_t ip, uint8_t *bytes, size_t len)
{
	struct judge_ipt_flow *f = flow;

	return decode_code_fetch(f->code, ip, bytes, len);
}

/*
 * Returns true if VMLAUNCH or VMRESUME disabled tracing. Only these have this IP without ranges
 * (filter.h).
 */
static bool by_vm_entry(const struct judge_ipt_flow *f, const struct decode_item *item)
{
	return f->spaces && item->has_to && item->to == JUDGE_FILTER_NO_IP &&
	       !judge_filter_ranges(&f->segments[f->next - 1], f->periods);
}

static void end_timelines(struct judge_ipt_flow *f)
{
	decode_segment_end_time(f->line, &f->base.sum);
	decode_timeline_free(f->own_line);
	free(f->line_sessions);
	f->line = f->own_line = NULL;
	f->line_sessions = NULL;
}

/* Start the timelines of the decoder's input. Returns 0 or -ENOMEM. */
static int start_timelines(struct judge_ipt_flow *f, const struct decode_segment *s,
			   const uint8_t *begin, uint64_t len)
{
	struct decode_timeline_config config = {
		.bytes = begin,
		.len = len,
		.caps = f->caps,
		.nsessions = s->count,
	};
	size_t i;

	if (!f->base.timed)
		return 0;
	f->line_sessions = decode_segment_sessions(s, f->periods);
	if (!f->line_sessions)
		return -ENOMEM;
	for (i = 0; i < s->count; i++) {
		struct decode_timeline_session *session = &f->line_sessions[i];

		session->at = judge_filter_place(&f->filtered, session->at);
	}
	config.sessions = f->line_sessions;
	f->line = decode_timeline_new(&config);
	f->own_line = decode_timeline_new(&config);
	return f->line && f->own_line ? 0 : -ENOMEM;
}

static void end_segment(struct judge_ipt_flow *f)
{
	end_timelines(f);
	judge_decoder_free(f->decoder);
	f->decoder = NULL;
	judge_filter_free(&f->filtered);
}

/*
 * Start a decoder for the segment. *skipped is the number of bytes before its start. Returns 0 or
 * -ENOMEM.
 */
static int start_decoder(struct judge_ipt_flow *f, const struct decode_segment *s,
			 uint64_t *skipped)
{
	const struct trace_session *start = s->count ? f->periods[s->first].start : NULL;
	bool ranges = judge_filter_ranges(s, f->periods);
	struct judge_ipt_config config = {
		.begin = f->stream + s->begin,
		.len = s->end - s->begin,
		.caps = f->caps,
		.mtc_freq = start ? (uint8_t)VPT_CTL_GET(start->ctl, MTC_FREQ) : 0,
		/* The block decoder needs no guess, see filter.h. */
		.blocks = !f->changes && (f->blocks || ranges),
		.cut = s->cut,
		.fetch = fetch,
		.context = f,
	};
	const struct judge_filter_input input = {
		.all = f->rewrite_all || f->is_bare,
		.segment = s,
		.periods = f->periods,
		.stream = f->stream,
		.blocks = config.blocks,
		.known = &f->known,
		.spaces = f->spaces,
		.code = f->code,
		.vmcs = f->vmcs,
		.nvmcs = f->nvmcs,
	};
	int err = judge_filter_rewrite(&f->filtered, &input);

	if (err)
		return err;
	if (f->filtered.bytes) {
		config.begin = f->filtered.bytes;
		config.len = f->filtered.len;
	}
	f->by_blocks = config.blocks;
	err = start_timelines(f, s, config.begin, config.len);
	if (err)
		return err;
	f->decoder = judge_ipt_new(&config);
	if (!f->decoder)
		return -ENOMEM;
	*skipped = config.len;
	if (!f->is_bare) {
		f->give_up = !f->decoder->ops->sync(f->decoder, skipped);
		return 0;
	}
	judge_bare_init(&f->bare, config.begin, config.len);
	f->bare.branches = VPT_CTL_GET(start->ctl, BRANCH_EN);
	*skipped = vpt_packet_find_psb(config.begin, config.len);
	f->give_up = *skipped == config.len;
	return 0;
}

static int start_segment(struct judge_ipt_flow *f, struct decode_item *item)
{
	const struct decode_segment *s = &f->segments[f->next++];
	const struct trace_session *start = s->count ? f->periods[s->first].start : NULL;
	uint64_t skipped;
	int err;

	f->session = s->first;
	f->pip = false;
	f->next_cfe = 0;
	f->is_bare = decode_segment_no_tnt(s, f->periods);
	f->told_bare = false;
	err = start_decoder(f, s, &skipped);
	if (err)
		return err;
	if (start && start->insns)
		f->insns = start->insns;
	judge_flow_use_space(f, DECODE_CR3_UNKNOWN);

	memset(item, 0, sizeof(*item));
	item->kind = DECODE_ITEM_SEGMENT;
	item->session = (uint32_t)s->first;
	item->cr3 = DECODE_CR3_UNKNOWN;
	item->value = judge_filter_offset(&f->filtered, skipped);
	item->offset = s->begin;
	return 0;
}

/* Name the packet that libipt cannot read. */
static void name_packet(struct judge_ipt_flow *f, struct decode_item *item)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	char version[32];

	if (item->offset >= f->len || vpt_packet_read(&parser, f->stream + item->offset,
						      f->len - item->offset, &packet) != VPT_OK)
		return;
	judge_ipt_version(version, sizeof(version));
	snprintf(f->text, sizeof(f->text), "%s cannot read %s packets", version,
		 vpt_pkt_name(packet.kind));
	item->text = f->text;
	/* More such packets will follow, and a PSB does not help. */
	f->give_up = true;
}

static void note_error(struct judge_ipt_flow *f, struct decode_item *item)
{
	uint64_t offset;

	if (f->decoder->ops->unknown_packet(f->decoder)) {
		name_packet(f, item);
	}
	if (!f->give_up && !f->decoder->ops->sync(f->decoder, &offset))
		f->give_up = true;
}

/* Decode all items again, because the filter has learned something. */
static int start_over(struct judge_ipt_flow *f)
{
	int err;

	end_segment(f);
	decode_code_close(f->code);
	f->code = NULL;
	f->next = 0;
	f->next_cr3 = 0;
	f->insns = 0;
	f->has_behind = f->has_ahead = false;
	memset(&f->base.sum, 0, sizeof(f->base.sum));
	if (f->items.given > f->items.again)
		f->items.again = f->items.given;
	if (f->cfe_items.given > f->cfe_items.again)
		f->cfe_items.again = f->cfe_items.given;
	f->items.given = f->cfe_items.given = 0;
	err = decode_code_open(f->reader, f->vcpu, &f->code);
	if (!err)
		f->change = decode_code_next_change(f->code);
	return err;
}

/*
 * Returns true if the error is due to packets that the filter only removes with rewrite_all. After
 * an OVF, libipt looks ahead for the next IP, so its offset is before these packets.
 */
static bool has_blocks(const struct judge_ipt_flow *f, const struct decode_item *error)
{
	struct vpt_parser parser = {0};
	struct vpt_packet p;
	uint64_t at;

	if (f->is_bare || f->rewrite_all || !f->decoder->ops->unknown_packet(f->decoder))
		return false;
	for (at = error->offset; at < f->len; at += p.size) {
		if (vpt_packet_read(&parser, f->stream + at, f->len - at, &p) != VPT_OK)
			return false;
		switch (p.kind) {
		case VPT_PKT_BBP:
		case VPT_PKT_BEP:
		case VPT_PKT_CFE:
		case VPT_PKT_EVD:
		case VPT_PKT_TRIG:
			return true;
		case VPT_PKT_PSB:
		case VPT_PKT_FUP:
		case VPT_PKT_TIP_PGE:
			return false;
		default:
			break;
		}
	}
	return false;
}

/* Get the next item. Its offset is in the decoder's input. */
static VPT_ALWAYS_INLINE void next_read(struct judge_ipt_flow *f, struct decode_item *item)
{
	if (!f->is_bare) {
		f->decoder->ops->next(f->decoder, item);
	} else if (!f->told_bare) {
		memset(item, 0, sizeof(*item));
		item->kind = DECODE_ITEM_ERROR;
		item->text = "DisTNT was set: the flow is not in the trace";
		f->told_bare = true;
	} else {
		judge_bare_next(&f->bare, item);
	}
}

/* Convert an offset in the decoder's input to an offset in the stream. */
static uint64_t stream_offset(const struct judge_ipt_flow *f, uint64_t offset)
{
	if (f->filtered.shifts.n)
		offset = judge_filter_offset(&f->filtered, offset);
	return f->segments[f->next - 1].begin + offset;
}

/*
 * Read the item after @block ahead. Returns 1 if that item ends the trace at a place that @block
 * only falls through to. The TIP.PGD then belongs to a later branch. Returns 0 otherwise, or
 * -ENOMEM.
 */
static VPT_COLD int walks_out(struct judge_ipt_flow *f, const struct decode_item *block)
{
	if (block->kind != DECODE_ITEM_BLOCK ||
	    (block->class != DECODE_INSN_OTHER && block->class != DECODE_INSN_PTWRITE) ||
	    judge_filter_inside(f->periods[f->session].start, block->last))
		return 0;
	next_read(f, &f->ahead);
	f->has_ahead = true;
	if (f->ahead.kind != DECODE_ITEM_EVENT || f->ahead.event != DECODE_FLOW_DISABLED ||
	    !f->ahead.has_to || f->ahead.to == JUDGE_FILTER_NO_IP)
		return 0;
	return judge_filter_learn(&f->filtered, stream_offset(f, f->ahead.offset), &f->known);
}

/* A result of the steps of decode_item() besides 0 and -errno: decode another item instead. */
#define AGAIN 1

/* Start over with the learned decisions. Returns AGAIN or -errno. */
static int decode_again(struct judge_ipt_flow *f)
{
	int err = start_over(f);

	return err ? err : AGAIN;
}

/*
 * Make an item without the decoder. The item is one that a CFE has held back, a CFE at the end of a
 * segment, a SEGMENT, or the END. Returns false if the decoder must make the item. Otherwise sets
 * *err to 0 or -errno.
 */
static bool make_item(struct judge_ipt_flow *f, struct decode_item *item, int *err)
{
	*err = 0;
	if (f->has_behind) {
		if (judge_flow_cfe_first(f, &f->behind)) {
			judge_flow_report_cfe(f, item);
			return true;
		}
		*item = f->behind;
		f->has_behind = false;
		return true;
	}
	if (f->decoder && !f->give_up)
		return false;
	if (f->decoder && f->next_cfe < f->filtered.cfes.n) {
		judge_flow_report_cfe(f, item);
		return true;
	}
	end_segment(f);
	f->give_up = false;
	if (f->next == f->nsegments) {
		memset(item, 0, sizeof(*item));
		item->offset = f->len;
	} else {
		*err = start_segment(f, item);
	}
	return true;
}

/* Apply changes of the code that precede the next item. */
static void follow_code(struct judge_ipt_flow *f)
{
	const uint64_t at = decode_code_by_offset(f->code) ? f->at : f->insns;

	if (at >= f->change) {
		decode_code_advance(f->code, at);
		f->change = decode_code_next_change(f->code);
	}
}

static void take_event(struct judge_ipt_flow *f, struct decode_item *item)
{
	/* Each PSB+ causes an event, so progress is reported regularly. */
	trace_reader_progress(f->reader, f->vcpu, item->offset);
	item->vm_entry = item->event == DECODE_FLOW_DISABLED && by_vm_entry(f, item);
	if (item->has_to && item->to == JUDGE_FILTER_NO_IP) {
		item->to = judge_filter_target(&f->known, item->offset);
		item->has_to = item->to != JUDGE_FILTER_NO_IP;
		item->to = item->has_to ? item->to : 0;
	}
	judge_flow_note_event(f, item);
}

/*
 * Handle an error. Returns 0 if the error must be reported, AGAIN if it can be avoided, or -errno.
 */
static int take_error(struct judge_ipt_flow *f, struct decode_item *item)
{
	int learned;

	if (f->is_bare)
		return 0;
	if (f->decoder->ops->no_memory(f->decoder))
		return -ENOMEM;
	if (has_blocks(f, item)) {
		f->rewrite_all = true;
		return decode_again(f);
	}
	learned = f->by_blocks ? 0 : judge_filter_learn(&f->filtered, item->offset, &f->known);
	if (learned)
		return learned < 0 ? learned : decode_again(f);
	if (judge_flow_elsewhere(f, item))
		return AGAIN;
	note_error(f, item);
	return 0;
}

/* Take the next item from the decoder. Returns 0, AGAIN or -errno. */
static int read_item(struct judge_ipt_flow *f, struct decode_item *item)
{
	int learned;

	if (f->has_ahead)
		*item = f->ahead;
	else
		next_read(f, item);
	f->has_ahead = false;
	learned = vpt_unlikely(f->by_blocks && f->filtered.doubts.n) ? walks_out(f, item) : 0;
	if (learned)
		return learned < 0 ? learned : decode_again(f);
	f->read_before = f->read;
	f->read = item->offset;
	f->at = item->offset = stream_offset(f, item->offset);
	switch (item->kind) {
	case DECODE_ITEM_INSN:
	case DECODE_ITEM_BLOCK:
		f->insns += item->insns;
		break;
	case DECODE_ITEM_EVENT:
		take_event(f, item);
		break;
	case DECODE_ITEM_ERROR:
		return take_error(f, item);
	case DECODE_ITEM_END:
		f->give_up = true;
		return AGAIN;
	}
	return 0;
}

/* Decode the next item, and add data of the file. Returns 0 or -errno. */
static int decode_item(struct judge_ipt_flow *f, struct decode_item *item)
{
	int err;

	do {
		if (make_item(f, item, &err))
			return err;
		follow_code(f);
		err = read_item(f, item);
	} while (err == AGAIN);
	if (err)
		return err;
	item->cr3 = f->cr3;
	item->space = f->space;
	item->session = (uint32_t)f->session;
	item->when.known = false;
	if (f->line)
		decode_timeline_flow(f->line, f->read, &item->when);
	if (f->next_cfe < f->filtered.cfes.n && judge_flow_cfe_first(f, item)) {
		f->behind = *item;
		f->has_behind = true;
		judge_flow_report_cfe(f, item);
	}
	return 0;
}

/* Returns true if the item was returned before a restart. */
static bool was_given(struct judge_ipt_flow *f, const struct decode_item *item)
{
	if (item->kind == DECODE_ITEM_EVENT && item->cfe)
		return ++f->cfe_items.given <= f->cfe_items.again;
	return ++f->items.given <= f->items.again && item->kind != DECODE_ITEM_END;
}

static int next_item(void *flow, struct decode_item *item)
{
	struct judge_ipt_flow *f = flow;
	int err;

	do {
		err = decode_item(f, item);
	} while (!err && was_given(f, item));
	return err;
}

static struct judge_ipt_flow *of(struct decode_flow *flow)
{
	return (struct judge_ipt_flow *)flow;
}

static int next(struct decode_flow *flow, struct decode_item *item)
{
	struct judge_ipt_flow *f = of(flow);

	/* Instructions from the instruction decoder need no conversion. */
	if (!f->blocks && !f->by_blocks)
		return next_item(f, item);
	return f->blocks ? judge_units_block(&f->units, item)
			 : judge_units_insn(&f->units, &f->code, f->disasm, item);
}

static void close_flow(struct decode_flow *flow)
{
	struct judge_ipt_flow *f = of(flow);

	end_segment(f);
	decode_code_close(f->code);
	decode_spaces_close(f->spaces);
	decode_disasm_free(f->disasm);
	free(f->known.at);
	free(f->segments);
	free(f);
}

static const struct decode_segment *segment(const struct decode_flow *flow)
{
	const struct judge_ipt_flow *f = (const struct judge_ipt_flow *)flow;

	return &f->segments[f->next ? f->next - 1 : 0];
}

static const struct decode_code_store *code(const struct decode_flow *flow)
{
	return ((const struct judge_ipt_flow *)flow)->code;
}

static const struct decode_flow_ops ipt_flow_ops = {
	.close = close_flow,
	.next = next,
	.segment = segment,
	.code = code,
};

int judge_ipt_flow_open(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
			struct decode_flow **flow)
{
	struct judge_ipt_flow *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->base.ops = &ipt_flow_ops;
	f->reader = reader;
	f->vcpu = vcpu;
	f->caps = &trace_reader_info(reader)->caps;
	f->periods = trace_reader_sessions(reader, vcpu, &f->nperiods);
	f->cr3s = trace_reader_cr3(reader, vcpu, &f->ncr3s);
	f->vmcs = trace_reader_vmcs(reader, vcpu, &f->nvmcs);
	f->cr3 = DECODE_CR3_UNKNOWN;
	f->units.next = next_item;
	f->units.context = f;

	err = decode_code_open(reader, vcpu, &f->code);
	if (err)
		goto out;
	err = decode_spaces_open(reader, f->code, &f->spaces);
	if (err)
		goto out;
	f->blocks = unit == DECODE_FLOW_BLOCKS;
	f->rewrite_all = judge_ipt_reads_events();
	f->change = decode_code_next_change(f->code);
	f->changes = f->change != UINT64_MAX;

	err = -ENOMEM;
	f->disasm = decode_disasm_new(NULL);
	if (!f->disasm)
		goto out;
	f->stream = trace_reader_stream(reader, vcpu, &f->len);
	if (!f->stream)
		goto out;
	f->segments = decode_segments(f->periods, f->nperiods, f->stream, f->len, decode_is_psb,
				      &f->nsegments);
	if (!f->segments)
		goto out;
	*flow = &f->base;
	return 0;
out:
	close_flow(&f->base);
	return err;
}
