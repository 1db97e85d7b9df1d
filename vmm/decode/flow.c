// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "code.h"
#include "disasm.h"
#include "filter.h"
#include "ipt.h"
#include "spaces.h"
#include "vpt/msr.h"
#include "vpt/packet.h"

const char *vpt_flow_event_text(enum vpt_flow_event event)
{
#define VPT_FLOW(name, text) text,
	static const char *const texts[] = {VPT_FLOW_EVENTS(VPT_FLOW)};
#undef VPT_FLOW
	return event < VPT_FLOW_COUNT ? texts[event] : "?";
}

/* CFEs that are held back until what they belong to is decoded. */
#define CFES_WAITING 8

struct vpt_flow {
	struct vpt_reader *reader;
	unsigned int vcpu;
	const struct vpt_caps *caps;
	const struct vpt_period *periods;
	size_t nperiods;
	const struct vpt_cr3_switch *cr3s;
	size_t ncr3s, next_cr3;
	struct vpt_code_store *code;
	const uint8_t *stream;
	size_t len;

	struct vpt_segment *segments;
	size_t nsegments;
	size_t next; /* segment */

	struct vpt_ipt *ipt;  /* NULL between segments */
	struct vpt_bare bare; /* of a segment without TNT, in its place */
	bool is_bare, told_bare;
	bool rewrite_all; /* there are packets that libipt cannot read */
	struct vpt_filtered filtered;
	struct vpt_filter_known known; /* what has been learned, see filter.h */
	uint64_t given;		       /* items so far, */
	uint64_t again;		       /* of which so many are not to be given again */
	bool blocks;		       /* BLOCKs are wanted, else INSNs */
	bool changes;		       /* some page has more than one version */
	uint64_t change;	       /* the counter at which one next does */
	bool images;		       /* libipt's block decoder is in use */
	bool give_up;		       /* on the rest of this segment */

	uint64_t insns; /* the counter of format.h */
	uint64_t cr3;	/* an address space of vpt_code_space() */
	struct vpt_spaces *spaces;
	const struct vpt_vmcs *vmcs;
	size_t nvmcs;
	const struct vpt_space *space; /* the one that runs, NULL: nothing is known */
	bool counted;		       /* the last event hid an instruction, and it counts */
	size_t next_cfe;
	uint64_t read;		/* by libipt, of what it was given, */
	uint64_t read_before;	/* and when the item before came */
	struct vpt_cfe cfe;	/* the one that was told last */
	struct vpt_item behind; /* that comes after it */
	bool has_behind;
	/* Two, for offsets must not fall and what libipt is not given comes when it comes. */
	struct vpt_timeline *line, *own_line;
	struct vpt_timeline_session *line_sessions;
	struct vpt_timeline_sum sum;
	bool timed;
	size_t session; /* that the decoder is in */
	bool pip;	/* PIPs tell the address space */
	char text[160];

	/*
	 * libipt's units need not be the wanted ones: a BLOCK that is being made,
	 * or one that has `insns` instructions left. 0: none.
	 */
	struct vpt_item pending;
	struct vpt_item held; /* what ended the making of a BLOCK */
	bool holding;
	struct vpt_disasm *disasm;
};

static void use_space(struct vpt_flow *f, uint64_t cr3)
{
	f->cr3 = cr3;
	f->space = vpt_spaces_find(f->spaces, cr3);
	if (f->images)
		vpt_ipt_set_image(f->ipt, vpt_code_image(f->code, cr3));
	else
		vpt_code_select(f->code, cr3);
}

static size_t fetch(void *flow, uint64_t ip, uint8_t *bytes, size_t len)
{
	struct vpt_flow *f = flow;

	return vpt_code_fetch(f->code, ip, bytes, len);
}

static bool in_guest(const struct vpt_flow *f)
{
	return f->space && (f->space->flags & VPT_SPACE_NON_ROOT);
}

/*
 * A session that has no PIPs (33.4.2.7), or none yet, goes by what the file says of
 * CR3, or, if it says nothing, by where there is code.
 */
static void find_space(struct vpt_flow *f, uint64_t ip)
{
	uint64_t cr3 = f->cr3;

	if (f->pip)
		return;
	if (!f->ncr3s)
		cr3 = vpt_code_guess(f->code, ip);
	for (; f->next_cr3 < f->ncr3s && f->cr3s[f->next_cr3].insns <= f->insns; f->next_cr3++)
		cr3 = vpt_code_space(f->code, f->cr3s[f->next_cr3].cr3);
	if (cr3 != VPT_CR3_UNKNOWN && cr3 != f->cr3)
		use_space(f, cr3);
}

/* The decoder has read up to `offset`: which session is that? */
static void enter_session(struct vpt_flow *f, uint64_t offset)
{
	const struct vpt_segment *s = &f->segments[f->next - 1];
	size_t last = s->first + s->count;
	size_t was = f->session;

	while (f->session + 1 < last && f->periods[f->session + 1].start->offset < offset)
		f->session++;
	if (f->session == was)
		return;
	f->pip = false;
	/* Put right what the decoder cannot count. */
	if (f->periods[f->session].start->insns)
		f->insns = f->periods[f->session].start->insns;
}

/*
 * INT n shows as an event only, and so does a WRMSR that clears TraceEn: both
 * count as retired.
 */
static bool hides_insn(const struct vpt_flow *f, const struct vpt_item *item)
{
	uint8_t op[2] = {0, 0};
	size_t n = vpt_code_read(f->code, f->cr3, item->ip, op, sizeof(op));

	if (n && (op[0] == 0xcc || op[0] == 0xcd || op[0] == 0xce || op[0] == 0xf1))
		return true;
	return n == 2 && item->event == VPT_FLOW_ASYNC_DISABLED && op[0] == 0x0f && op[1] == 0x30;
}

/* A PIP, whose CR3 may be a space's id. */
static void take_pip(struct vpt_flow *f, struct vpt_item *item)
{
	const struct vpt_space *space = vpt_spaces_find(f->spaces, item->value);
	bool was_guest = in_guest(f);

	enter_session(f, item->offset);
	f->pip = true;
	use_space(f, vpt_code_space(f->code, item->value));
	if (!space)
		return;
	f->space = space;
	item->value = space->cr3;
	/* The event was a VM exit: the instruction there has not retired. */
	if (f->counted && was_guest && !in_guest(f))
		f->insns--;
}

/* Left after VMLAUNCH or VMRESUME: only these lead where there is no IP (filter.h). */
static bool by_vm_entry(const struct vpt_flow *f, const struct vpt_item *item)
{
	return f->spaces && item->has_to && item->to == VPT_FILTER_NO_IP &&
	       !vpt_filter_ranges(&f->segments[f->next - 1], f->periods);
}

static void note_event(struct vpt_flow *f, struct vpt_item *item)
{
	uint64_t was = f->insns;

	switch (item->event) {
	case VPT_FLOW_PAGING:
		take_pip(f, item);
		break;
	case VPT_FLOW_ENABLED:
	case VPT_FLOW_OVERFLOW:
		enter_session(f, item->offset);
		find_space(f, item->to);
		break;
	case VPT_FLOW_ASYNC_BRANCH:
	case VPT_FLOW_ASYNC_DISABLED:
		f->insns += hides_insn(f, item);
		f->counted = f->insns != was;
		return;
	default:
		break;
	}
	f->counted = false;
}

static void end_timelines(struct vpt_flow *f)
{
	struct vpt_timeline_sum sum = {0, 0};

	if (f->line)
		vpt_timeline_sum(f->line, &sum);
	f->sum.cycles += sum.cycles;
	f->sum.ticks += sum.ticks;
	vpt_timeline_free(f->line);
	vpt_timeline_free(f->own_line);
	free(f->line_sessions);
	f->line = f->own_line = NULL;
	f->line_sessions = NULL;
}

/* The time of what libipt is given to read. 0 or -ENOMEM. */
static int start_timelines(struct vpt_flow *f, const struct vpt_segment *s,
			   const struct vpt_ipt_config *ipt)
{
	struct vpt_timeline_config config = {
		.bytes = ipt->begin,
		.len = ipt->len,
		.caps = f->caps,
		.nsessions = s->count,
	};
	size_t i;

	if (!f->timed)
		return 0;
	f->line_sessions = calloc(s->count + 1, sizeof(*f->line_sessions));
	if (!f->line_sessions)
		return -ENOMEM;
	for (i = 0; i < s->count; i++) {
		const struct vpt_session *start = f->periods[s->first + i].start;

		f->line_sessions[i].at = vpt_filter_place(&f->filtered, start->offset - s->begin);
		f->line_sessions[i].ctl = start->ctl;
	}
	config.sessions = f->line_sessions;
	f->line = vpt_timeline_new(&config);
	f->own_line = vpt_timeline_new(&config);
	return f->line && f->own_line ? 0 : -ENOMEM;
}

static void end_segment(struct vpt_flow *f)
{
	end_timelines(f);
	vpt_ipt_free(f->ipt);
	f->ipt = NULL;
	vpt_filter_free(&f->filtered);
}

/* TNT packets are disabled: where branches go is not in the trace (33.3.9). */
static bool no_tnt(const struct vpt_flow *f)
{
	const struct vpt_segment *s = &f->segments[f->next - 1];
	size_t i;

	for (i = s->first; i < s->first + s->count; i++) {
		if (f->periods[i].start->ctl & VPT_CTL_MASK(DIS_TNT))
			return true;
	}
	return false;
}

static int start_segment(struct vpt_flow *f, struct vpt_item *item)
{
	const struct vpt_segment *s = &f->segments[f->next++];
	const struct vpt_session *start = s->count ? f->periods[s->first].start : NULL;
	bool ranges = vpt_filter_ranges(s, f->periods);
	bool is_bare = no_tnt(f);
	struct vpt_ipt_config config = {
		.begin = f->stream + s->begin,
		.len = s->end - s->begin,
		.caps = f->caps,
		.mtc_freq = start ? (uint8_t)VPT_CTL_GET(start->ctl, MTC_FREQ) : 0,
		/* The block decoder is the one that needs no guess, see filter.h. */
		.blocks = !f->changes && (f->blocks || ranges),
		.cut = s->cut,
		.fetch = fetch,
		.context = f,
	};
	uint64_t skipped = config.len;
	const struct vpt_filter_input input = {
		.all = f->rewrite_all || is_bare,
		.segment = s,
		.periods = f->periods,
		.stream = f->stream,
		.known = config.blocks ? NULL : &f->known,
		.spaces = f->spaces,
		.code = f->code,
		.vmcs = f->vmcs,
		.nvmcs = f->nvmcs,
	};
	int err = vpt_filter_rewrite(&f->filtered, &input);

	if (err)
		return err;
	if (f->filtered.bytes) {
		config.begin = f->filtered.bytes;
		config.len = f->filtered.len;
	}
	f->images = config.blocks;
	if (f->images) {
		err = vpt_code_make_images(f->code);
		if (err)
			return err;
	}
	err = start_timelines(f, s, &config);
	if (err)
		return err;
	f->ipt = vpt_ipt_new(&config);
	if (!f->ipt)
		return -ENOMEM;

	f->session = s->first;
	f->pip = false;
	f->next_cfe = 0;
	f->is_bare = is_bare;
	f->told_bare = false;
	if (is_bare) {
		vpt_bare_init(&f->bare, config.begin, config.len);
		f->bare.branches = VPT_CTL_GET(start->ctl, BRANCH_EN);
		skipped = vpt_packet_find_psb(config.begin, config.len);
		f->give_up = skipped == config.len;
	} else {
		f->give_up = !vpt_ipt_sync(f->ipt, &skipped);
	}
	if (start && start->insns)
		f->insns = start->insns;
	use_space(f, VPT_CR3_UNKNOWN);

	memset(item, 0, sizeof(*item));
	item->kind = VPT_ITEM_SEGMENT;
	item->session = (uint32_t)s->first;
	item->cr3 = VPT_CR3_UNKNOWN;
	item->value = vpt_filter_offset(&f->filtered, skipped);
	item->offset = s->begin;
	return 0;
}

/* Name the packet that libipt cannot read. */
static void name_packet(struct vpt_flow *f, struct vpt_item *item)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	char version[32];

	if (item->offset >= f->len || vpt_packet_read(&parser, f->stream + item->offset,
						      f->len - item->offset, &packet) != VPT_OK)
		return;
	vpt_ipt_version(version, sizeof(version));
	snprintf(f->text, sizeof(f->text), "%s cannot read %s packets", version,
		 vpt_pkt_name(packet.kind));
	item->text = f->text;
	/* There will be more of them, and the flow is no better after a PSB. */
	f->give_up = true;
}

static void note_error(struct vpt_flow *f, struct vpt_item *item)
{
	uint64_t offset;

	if (vpt_ipt_unknown_packet(f->ipt)) {
		name_packet(f, item);
	}
	if (!f->give_up && !vpt_ipt_sync(f->ipt, &offset))
		f->give_up = true;
}

/*
 * A VM entry or exit that is concealed sends no PIP, and execution is in a space where
 * the one before has no code: it can only be the one that has.
 */
static bool find_concealed(struct vpt_flow *f, const struct vpt_item *error)
{
	uint64_t space;

	if (!f->spaces || !vpt_ipt_no_code(f->ipt))
		return false;
	/* A PIP to where nothing is known is another matter. */
	if (f->space &&
	    (vpt_spaces_learned(f->spaces, f->space) || (f->space->flags & VPT_SPACE_NO_CODE)))
		return false;
	space = vpt_code_guess(f->code, error->ip);
	if (space == VPT_CR3_UNKNOWN || space == f->cr3)
		return false;
	use_space(f, space);
	vpt_ipt_retry(f->ipt);
	return true;
}

/* A stream is joined where the trace is on already, and no event has told where that is. */
static bool find_joined(struct vpt_flow *f, const struct vpt_item *error)
{
	if (f->cr3 != VPT_CR3_UNKNOWN || !vpt_ipt_no_code(f->ipt))
		return false;
	find_space(f, error->ip);
	if (f->cr3 == VPT_CR3_UNKNOWN)
		return false;
	vpt_ipt_retry(f->ipt);
	return true;
}

/* Decode all up to here once more, for the filter has learned something. */
static int start_over(struct vpt_flow *f)
{
	int err;

	end_segment(f);
	vpt_code_close(f->code);
	f->code = NULL;
	f->next = 0;
	f->next_cr3 = 0;
	f->insns = 0;
	f->has_behind = false;
	memset(&f->sum, 0, sizeof(f->sum));
	if (f->given > f->again)
		f->again = f->given;
	f->given = 0;
	err = vpt_code_open(f->reader, f->vcpu, &f->code);
	if (!err)
		f->change = vpt_code_next_change(f->code);
	return err;
}

/*
 * Is it because of packets that the filter takes out, but was not told to look for? After an
 * OVF libipt looks ahead for where execution goes on, and has not read up to what it saw.
 */
static bool has_blocks(const struct vpt_flow *f, const struct vpt_item *error)
{
	struct vpt_parser parser = {0};
	struct vpt_packet p;
	uint64_t at;

	if (f->is_bare || f->rewrite_all || !vpt_ipt_unknown_packet(f->ipt))
		return false;
	for (at = error->offset; at < f->len; at += p.size) {
		if (vpt_packet_read(&parser, f->stream + at, f->len - at, &p) != VPT_OK)
			return false;
		switch (p.kind) {
		case VPT_PKT_BBP:
		case VPT_PKT_BEP:
		case VPT_PKT_CFE:
		case VPT_PKT_EVD:
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

/* Does what was decoded belong to this CFE, or come after it for sure? */
static bool belongs(const struct vpt_cfe *cfe, const struct vpt_item *item)
{
	switch (item->kind) {
	case VPT_ITEM_INSN:
		return cfe->lone && cfe->has_ip && cfe->ip == item->ip;
	case VPT_ITEM_BLOCK:
		return cfe->lone && cfe->has_ip && cfe->ip >= item->ip && cfe->ip <= item->last;
	case VPT_ITEM_EVENT:
		if (item->event == VPT_FLOW_ASYNC_BRANCH || item->event == VPT_FLOW_ASYNC_DISABLED)
			return cfe->has_ip ? cfe->ip == item->ip : !cfe->is_block;
		return item->event == VPT_FLOW_ENABLED && !cfe->has_ip;
	default:
		return true;
	}
}

/*
 * Is the next CFE to be told before what was decoded? libipt reads ahead, so that where
 * it is in the packets says no more than what cannot be.
 */
static bool cfe_first(const struct vpt_flow *f, const struct vpt_item *item)
{
	size_t i;

	/* Nothing is read ahead. */
	if (f->is_bare)
		return f->next_cfe < f->filtered.cfes.n &&
		       f->filtered.cfes.at[f->next_cfe].read < f->read;
	/* It is what comes next in the packets, and this took none of them. */
	if (f->read == f->read_before && f->next_cfe < f->filtered.cfes.n &&
	    f->filtered.cfes.at[f->next_cfe].read == f->read && item->kind != VPT_ITEM_EVENT &&
	    f->filtered.cfes.at[f->next_cfe].lone)
		return belongs(&f->filtered.cfes.at[f->next_cfe], item);
	for (i = f->next_cfe; i < f->filtered.cfes.n && f->filtered.cfes.at[i].read < f->read;
	     i++) {
		if (belongs(&f->filtered.cfes.at[i], item))
			return true;
	}
	return false;
}

static void tell_cfe(struct vpt_flow *f, struct vpt_item *item)
{
	f->cfe = f->filtered.cfes.at[f->next_cfe++];
	memset(item, 0, sizeof(*item));
	item->kind = VPT_ITEM_EVENT;
	item->event = f->cfe.is_block ? VPT_FLOW_BLOCK : VPT_FLOW_CFE;
	if (f->cfe.is_block)
		f->cfe.item = f->filtered.items.at + f->cfe.first_item;
	item->ip = f->cfe.has_ip ? f->cfe.ip : 0;
	item->value = f->cfe.type;
	item->offset = f->cfe.offset;
	item->cfe = &f->cfe;
	item->cr3 = f->cr3;
	item->space = f->space;
	item->session = (uint32_t)f->session;
	if (f->own_line)
		vpt_timeline_packet(f->own_line, f->cfe.read, &item->when);
}

/* The next item, with offsets of what was read. */
static void next_read(struct vpt_flow *f, struct vpt_item *item)
{
	if (!f->is_bare) {
		vpt_ipt_next(f->ipt, item);
	} else if (!f->told_bare) {
		memset(item, 0, sizeof(*item));
		item->kind = VPT_ITEM_ERROR;
		item->text = "DisTNT was set: the flow is not in the trace";
		f->told_bare = true;
	} else {
		vpt_bare_next(&f->bare, item);
	}
}

/* The next item as libipt gives it, with what the file knows of it. */
static int decode_item(struct vpt_flow *f, struct vpt_item *item)
{
	const struct vpt_segment *s;

	if (f->has_behind) {
		if (cfe_first(f, &f->behind)) {
			tell_cfe(f, item);
			return 0;
		}
		*item = f->behind;
		f->has_behind = false;
		return 0;
	}
	if (f->ipt && f->give_up && f->next_cfe < f->filtered.cfes.n) {
		tell_cfe(f, item);
		return 0;
	}
	if (!f->ipt || f->give_up) {
		end_segment(f);
		f->give_up = false;
		if (f->next == f->nsegments) {
			memset(item, 0, sizeof(*item));
			item->offset = f->len;
			return 0;
		}
		return start_segment(f, item);
	}

	if (f->insns >= f->change) {
		vpt_code_advance(f->code, f->insns);
		f->change = vpt_code_next_change(f->code);
	}

	next_read(f, item);
	s = &f->segments[f->next - 1];
	f->read_before = f->read;
	f->read = item->offset;
	item->offset = s->begin + vpt_filter_offset(&f->filtered, item->offset);
	switch (item->kind) {
	case VPT_ITEM_INSN:
	case VPT_ITEM_BLOCK:
		f->insns += item->insns;
		break;
	case VPT_ITEM_EVENT:
		item->vm_entry = item->event == VPT_FLOW_DISABLED && by_vm_entry(f, item);
		if (item->has_to && item->to == VPT_FILTER_NO_IP) {
			item->has_to = false;
			item->to = 0;
		}
		note_event(f, item);
		break;
	case VPT_ITEM_ERROR:
		if (f->is_bare)
			break;
		if (has_blocks(f, item)) {
			int err;

			f->rewrite_all = true;
			err = start_over(f);
			return err ? err : decode_item(f, item);
		}
		if (vpt_filter_learn(&f->filtered, item->offset, &f->known)) {
			int err = start_over(f);

			return err ? err : decode_item(f, item);
		}
		if (find_joined(f, item) || find_concealed(f, item))
			return decode_item(f, item);
		note_error(f, item);
		break;
	case VPT_ITEM_END:
		f->give_up = true;
		return decode_item(f, item);
	}
	item->cr3 = f->cr3;
	item->space = f->space;
	item->session = (uint32_t)f->session;
	item->when.known = false;
	if (f->line)
		vpt_timeline_flow(f->line, f->read, &item->when);
	if (cfe_first(f, item)) {
		f->behind = *item;
		f->has_behind = true;
		tell_cfe(f, item);
	}
	return 0;
}

static int next_item(struct vpt_flow *f, struct vpt_item *item)
{
	do {
		int err = decode_item(f, item);

		if (err)
			return err;
		f->given++;
	} while (f->given <= f->again && item->kind != VPT_ITEM_END);
	return 0;
}

static bool ends_block(const struct vpt_item *insn)
{
	return insn->class != VPT_INSN_OTHER && insn->class != VPT_INSN_PTWRITE;
}

/* Blocks from instructions. */
static int next_block(struct vpt_flow *f, struct vpt_item *item)
{
	struct vpt_item *block = &f->pending;

	if (f->holding) {
		*item = f->held;
		f->holding = false;
		return 0;
	}
	for (;;) {
		int err = next_item(f, item);

		/* BLOCKs are only there when there is nothing to assemble. */
		if (err || item->kind == VPT_ITEM_BLOCK)
			return err;
		if (item->kind != VPT_ITEM_INSN) {
			if (!block->insns)
				return 0;
			f->held = *item;
			f->holding = true;
			break;
		}
		if (!block->insns) {
			*block = *item;
			block->kind = VPT_ITEM_BLOCK;
		} else {
			block->insns++;
			block->last = item->ip;
			block->class = item->class;
			block->offset = item->offset;
		}
		if (ends_block(item))
			break;
	}
	*item = *block;
	block->insns = 0;
	return 0;
}

/* Where a near JMP or CALL with an immediate leads to, from the end of it. */
static int64_t displacement(const uint8_t *raw, unsigned int size)
{
	int32_t near32 = 0;

	if (size >= 5 && (raw[size - 5] & 0xfe) == 0xe8)
		memcpy(&near32, raw + size - 4, sizeof(near32));
	else if (size >= 2 && raw[size - 2] == 0xeb)
		return (int8_t)raw[size - 1];
	return near32;
}

/*
 * The next instruction of the pending block. False if its code is not as it was. A block that
 * ends with a PTWRITE whose IP is in the trace can have jumps in it, whatever libipt was asked.
 */
static bool take_insn(struct vpt_flow *f, struct vpt_item *item)
{
	struct vpt_item *block = &f->pending;
	unsigned int size;
	size_t n;

	*item = *block;
	n = vpt_code_read(f->code, block->cr3, block->ip, item->raw, sizeof(item->raw));
	item->kind = VPT_ITEM_INSN;
	item->class = (uint8_t)vpt_disasm_class(f->disasm, block->mode, item->raw, n, &size);
	item->size = (uint8_t)size;
	item->insns = 1;
	item->last = item->ip;
	block->insns--;
	block->ip += size;
	if (item->class == VPT_INSN_JUMP || item->class == VPT_INSN_CALL)
		block->ip += (uint64_t)displacement(item->raw, size);
	return size && (block->insns || item->ip == block->last);
}

/* Instructions from blocks. */
static int next_insn(struct vpt_flow *f, struct vpt_item *item)
{
	if (!f->pending.insns) {
		int err = next_item(f, item);

		if (err || item->kind != VPT_ITEM_BLOCK)
			return err;
		f->pending = *item;
	}
	if (!take_insn(f, item)) {
		f->pending.insns = 0;
		item->kind = VPT_ITEM_ERROR;
		item->text = "libipt's blocks and our disassembler do not agree";
	}
	return 0;
}

int vpt_flow_next(struct vpt_flow *f, struct vpt_item *item)
{
	return f->blocks ? next_block(f, item) : next_insn(f, item);
}

int vpt_flow_open(struct vpt_reader *reader, unsigned int vcpu, enum vpt_flow_unit unit,
		  struct vpt_flow **flow)
{
	struct vpt_flow *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->reader = reader;
	f->vcpu = vcpu;
	f->caps = &vpt_reader_info(reader)->caps;
	f->periods = vpt_reader_sessions(reader, vcpu, &f->nperiods);
	f->cr3s = vpt_reader_cr3(reader, vcpu, &f->ncr3s);
	f->vmcs = vpt_reader_vmcs(reader, vcpu, &f->nvmcs);
	f->cr3 = VPT_CR3_UNKNOWN;

	err = vpt_code_open(reader, vcpu, &f->code);
	if (err)
		goto out;
	err = vpt_spaces_open(reader, f->code, &f->spaces);
	if (err)
		goto out;
	f->blocks = unit == VPT_FLOW_BLOCKS;
	f->rewrite_all = vpt_ipt_reads_events();
	f->change = vpt_code_next_change(f->code);
	f->changes = f->change != UINT64_MAX;

	err = -ENOMEM;
	f->disasm = vpt_disasm_new(NULL);
	if (!f->disasm)
		goto out;
	f->stream = vpt_reader_stream(reader, vcpu, &f->len);
	if (!f->stream)
		goto out;
	f->segments = vpt_segments(f->periods, f->nperiods, f->stream, f->len, &f->nsegments);
	if (!f->segments)
		goto out;
	*flow = f;
	return 0;
out:
	vpt_flow_close(f);
	return err;
}

void vpt_flow_close(struct vpt_flow *f)
{
	if (!f)
		return;
	end_segment(f);
	vpt_code_close(f->code);
	vpt_spaces_close(f->spaces);
	vpt_disasm_free(f->disasm);
	free(f->known.at);
	free(f->segments);
	free(f);
}

void vpt_flow_keep_time(struct vpt_flow *f)
{
	f->timed = true;
}

void vpt_flow_time_sum(const struct vpt_flow *f, struct vpt_timeline_sum *sum)
{
	*sum = f->sum;
}

const struct vpt_segment *vpt_flow_segment(const struct vpt_flow *f)
{
	return &f->segments[f->next ? f->next - 1 : 0];
}

const struct vpt_code_store *vpt_flow_code(const struct vpt_flow *f)
{
	return f->code;
}
