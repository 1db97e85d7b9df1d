// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode a stretch of packets with libipt. */
#include "judge/ipt.h"

#include <errno.h>
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The maximum number of instructions without a packet. Straight code needs no packets but ends. A
 * direct jump to itself never ends.
 */
#define STALL_LIMIT (1u << 22)

/* An error of this file, in addition to enum pt_error_code. */
#define ERR_STALL 1000

struct ipt {
	struct judge_decoder decoder;
	struct pt_insn_decoder *insn; /* exactly one of these two is set */
	struct pt_block_decoder *block;
	size_t (*fetch)(void *context, uint64_t ip, uint8_t *bytes, size_t len);
	void *context;
	int status;
	int error; /* the error to report next */
	int told;
	bool synced;
	bool cut;     /* the trace may end anywhere */
	bool enabled; /* PacketEn, as far as reported */
	uint64_t error_ip;
	uint64_t stall_offset;
	uint64_t stall_insns;
};

void judge_ipt_version(char *text, size_t size)
{
	struct pt_version v = pt_library_version();

	snprintf(text, size, "libipt %u.%u.%u", v.major, v.minor, v.patch);
}

bool judge_ipt_reads_events(void)
{
	struct pt_version v = pt_library_version();

	return v.major > 2 || (v.major == 2 && v.minor >= 1);
}

/*
 * Supply code to libipt. The image has no sections, so libipt calls this function for each
 * instruction.
 */
static int read_code(uint8_t *bytes, size_t len, const struct pt_asid *asid, uint64_t ip,
		     void *context)
{
	const struct ipt *ipt = context;
	size_t n = ipt->fetch(ipt->context, ip, bytes, len);

	(void)asid;
	return n ? (int)n : -pte_nomap;
}

static struct ipt *of(struct judge_decoder *d)
{
	return (struct ipt *)d;
}

static uint64_t read_offset(const struct ipt *ipt)
{
	uint64_t offset = 0;

	if (ipt->insn)
		(void)pt_insn_get_offset(ipt->insn, &offset);
	else
		(void)pt_blk_get_offset(ipt->block, &offset);
	return offset;
}

static bool sync(struct judge_decoder *d, uint64_t *offset)
{
	struct ipt *ipt = of(d);

	ipt->status = ipt->insn ? pt_insn_sync_forward(ipt->insn) : pt_blk_sync_forward(ipt->block);
	ipt->synced = ipt->status != -pte_eos;
	ipt->enabled = ipt->status >= 0 && !(ipt->status & pts_ip_suppressed);
	if (!ipt->synced)
		return false;

	*offset = 0;
	if (ipt->insn)
		(void)pt_insn_get_sync_offset(ipt->insn, offset);
	else
		(void)pt_blk_get_sync_offset(ipt->block, offset);
	ipt->error = ipt->status < 0 ? ipt->status : 0;
	ipt->error_ip = 0;
	ipt->stall_insns = 0;
	return true;
}

static bool unknown_packet(const struct judge_decoder *d)
{
	const struct ipt *ipt = (const struct ipt *)d;

	return ipt->told == -pte_bad_opc || ipt->told == -pte_bad_packet;
}

static bool no_memory(const struct judge_decoder *d)
{
	return ((const struct ipt *)d)->told == -pte_nomem;
}

static bool no_code(const struct judge_decoder *d)
{
	return ((const struct ipt *)d)->told == -pte_nomap;
}

static void retry(struct judge_decoder *d)
{
	struct ipt *ipt = of(d);

	/* libipt stays at an instruction that it could not read. */
	ipt->synced = true;
	ipt->status = 0;
}

/* Returns true if the error is missing packets at the end of a cut trace. */
static bool lost(const struct ipt *ipt)
{
	return ipt->cut && ipt->error == -pte_eos;
}

static enum decode_insn_class insn_class(enum pt_insn_class class)
{
	switch (class) {
	case ptic_other:
		return DECODE_INSN_OTHER;
	case ptic_call:
		return DECODE_INSN_CALL;
	case ptic_return:
		return DECODE_INSN_RETURN;
	case ptic_jump:
		return DECODE_INSN_JUMP;
	case ptic_cond_jump:
		return DECODE_INSN_COND;
	case ptic_far_call:
		return DECODE_INSN_FAR_CALL;
	case ptic_far_return:
		return DECODE_INSN_FAR_RETURN;
	case ptic_far_jump:
		return DECODE_INSN_FAR_JUMP;
	case ptic_ptwrite:
		return DECODE_INSN_PTWRITE;
	default: /* ptic_error, and the classes of later versions */
		return DECODE_INSN_UNKNOWN;
	}
}

static uint8_t mode_bits(enum pt_exec_mode mode)
{
	switch (mode) {
	case ptem_16bit:
		return 16;
	case ptem_32bit:
		return 32;
	case ptem_64bit:
		return 64;
	case ptem_unknown:
		break;
	}
	return 0;
}

static void set_from(struct decode_item *item, uint64_t ip)
{
	item->ip = ip;
}

static void set_to(struct decode_item *item, const struct pt_event *ev, uint64_t ip)
{
	item->has_to = !ev->ip_suppressed;
	item->to = item->has_to ? ip : 0;
}

/* Return the kind of event of an item. OTHER is for events that vpt does not show. */
static enum decode_flow_event event_of(const struct pt_event *ev)
{
	switch (ev->type) {
	case ptev_enabled:
		return DECODE_FLOW_ENABLED;
	case ptev_disabled:
		return DECODE_FLOW_DISABLED;
	case ptev_async_disabled:
		return DECODE_FLOW_ASYNC_DISABLED;
	case ptev_async_branch:
		return DECODE_FLOW_ASYNC_BRANCH;
	case ptev_paging:
	case ptev_async_paging:
		return DECODE_FLOW_PAGING;
	case ptev_overflow:
		return DECODE_FLOW_OVERFLOW;
	case ptev_exec_mode:
		return DECODE_FLOW_EXEC_MODE;
	case ptev_tsx:
		return DECODE_FLOW_TSX;
	case ptev_stop:
		return DECODE_FLOW_STOP;
	case ptev_vmcs:
	case ptev_async_vmcs:
		return DECODE_FLOW_VMCS;
	case ptev_exstop:
		return DECODE_FLOW_EXSTOP;
	case ptev_mwait:
		return DECODE_FLOW_MWAIT;
	case ptev_pwre:
		return DECODE_FLOW_PWRE;
	case ptev_pwrx:
		return DECODE_FLOW_PWRX;
	case ptev_ptwrite:
		return DECODE_FLOW_PTWRITE;
	case ptev_cbr:
		return DECODE_FLOW_CBR;
	case ptev_mnt:
		return DECODE_FLOW_MNT;
	default: /* ptev_tick, and the events of later versions */
		return DECODE_FLOW_OTHER;
	}
}

static uint64_t value_of(const struct pt_event *ev)
{
	switch (ev->type) {
	case ptev_paging:
		return ev->variant.paging.cr3;
	case ptev_async_paging:
		return ev->variant.async_paging.cr3;
	case ptev_exec_mode:
		return mode_bits(ev->variant.exec_mode.mode);
	case ptev_tsx:
		return ev->variant.tsx.speculative | ev->variant.tsx.aborted << 1;
	case ptev_vmcs:
		return ev->variant.vmcs.base;
	case ptev_async_vmcs:
		return ev->variant.async_vmcs.base;
	case ptev_mwait:
		return ev->variant.mwait.hints;
	case ptev_pwre:
		return ev->variant.pwre.state;
	case ptev_pwrx:
		return ev->variant.pwrx.last;
	case ptev_ptwrite:
		return ev->variant.ptwrite.payload;
	case ptev_cbr:
		return ev->variant.cbr.ratio;
	case ptev_mnt:
		return ev->variant.mnt.payload;
	default:
		return 0;
	}
}

/* Set the addresses of the event. */
static void set_places(struct decode_item *item, const struct pt_event *ev)
{
	switch (ev->type) {
	case ptev_enabled:
		set_to(item, ev, ev->variant.enabled.ip);
		break;
	case ptev_disabled:
		set_to(item, ev, ev->variant.disabled.ip);
		break;
	case ptev_async_disabled:
		set_from(item, ev->variant.async_disabled.at);
		set_to(item, ev, ev->variant.async_disabled.ip);
		break;
	case ptev_async_branch:
		set_from(item, ev->variant.async_branch.from);
		set_to(item, ev, ev->variant.async_branch.to);
		break;
	case ptev_overflow:
		set_to(item, ev, ev->variant.overflow.ip);
		break;
	case ptev_exstop:
		set_from(item, ev->variant.exstop.ip);
		break;
	case ptev_mwait:
		set_from(item, ev->variant.mwait.ip);
		break;
	case ptev_ptwrite:
		set_from(item, ev->variant.ptwrite.ip);
		break;
	default:
		break;
	}
}

static void fill_event(struct decode_item *item, const struct pt_event *ev)
{
	item->has_tsc = ev->has_tsc;
	item->tsc = ev->tsc;
	item->status = ev->status_update;
	item->event = (uint8_t)event_of(ev);
	item->value = value_of(ev);
	set_places(item, ev);
}

static const char *error_text(int error)
{
	if (error == -ERR_STALL)
		return DECODE_ITEM_STALL;
	/* The block decoder returns this error for a branch without the packet that it needs. */
	if (error == -pte_eos)
		error = -pte_bad_query;
	return pt_errstr(pt_errcode(error));
}

static void next_end(struct ipt *ipt, struct decode_item *item)
{
	memset(item, 0, sizeof(*item));
	item->kind = DECODE_ITEM_END;
	item->offset = read_offset(ipt);
	ipt->synced = false;
}

static void next_error(struct ipt *ipt, struct decode_item *item)
{
	if (lost(ipt)) {
		ipt->error = 0;
		next_end(ipt, item);
		return;
	}
	memset(item, 0, sizeof(*item));
	item->kind = DECODE_ITEM_ERROR;
	item->ip = ipt->error_ip;
	item->offset = read_offset(ipt);
	item->text = error_text(ipt->error);
	ipt->told = ipt->error;
	ipt->error = 0;
	ipt->synced = false;
}

static void next_event(struct ipt *ipt, struct decode_item *item)
{
	struct pt_event ev;

	/* Without this an unset event would be of type 0. */
	memset(&ev, 0, sizeof(ev));
	ipt->status = ipt->insn ? pt_insn_event(ipt->insn, &ev, sizeof(ev))
				: pt_blk_event(ipt->block, &ev, sizeof(ev));
	if (ipt->status < 0) {
		ipt->error = ipt->status;
		ipt->error_ip = 0;
		next_error(ipt, item);
		return;
	}
	memset(item, 0, sizeof(*item));
	item->kind = DECODE_ITEM_EVENT;
	item->offset = read_offset(ipt);
	fill_event(item, &ev);
	if (item->event == DECODE_FLOW_ENABLED)
		ipt->enabled = true;
	else if (item->event == DECODE_FLOW_DISABLED || item->event == DECODE_FLOW_ASYNC_DISABLED)
		ipt->enabled = false;
	else if (item->event == DECODE_FLOW_OVERFLOW)
		ipt->enabled = item->has_to;
}

/* Count the instructions without a packet. Returns false if there are implausibly many. */
static bool progress(struct ipt *ipt, const struct decode_item *item)
{
	if (item->offset != ipt->stall_offset) {
		ipt->stall_offset = item->offset;
		ipt->stall_insns = 0;
	}
	ipt->stall_insns += item->insns + 1;
	return ipt->stall_insns < STALL_LIMIT;
}

/* Fill `item` with the next instruction. Returns false if there was none. */
static bool decode_insn(struct ipt *ipt, struct decode_item *item)
{
	struct pt_insn insn;

	insn.ip = 0;
	insn.size = 0;
	insn.iclass = ptic_error;
	ipt->status = pt_insn_next(ipt->insn, &insn, sizeof(insn));
	ipt->error_ip = insn.ip;

	item->kind = DECODE_ITEM_INSN;
	item->class = (uint8_t)insn_class(insn.iclass);
	item->mode = mode_bits(insn.mode);
	item->size = insn.size;
	memcpy(item->raw, insn.raw, sizeof(insn.raw));
	item->insns = 1;
	item->ip = insn.ip;
	item->last = insn.ip;
	return insn.iclass != ptic_error;
}

static bool decode_block(struct ipt *ipt, struct decode_item *item)
{
	struct pt_block block;

	memset(&block, 0, sizeof(block));
	ipt->status = pt_blk_next(ipt->block, &block, sizeof(block));
	ipt->error_ip = block.ninsn ? block.end_ip : block.ip;
	/*
	 * Report these instructions first. The next call reports the exact place of the missing
	 * code.
	 */
	if (ipt->status == -pte_nomap && block.ninsn)
		ipt->status = 0;

	item->kind = DECODE_ITEM_BLOCK;
	item->class = (uint8_t)insn_class(block.iclass);
	item->mode = mode_bits(block.mode);
	item->size = 0;
	item->insns = block.ninsn;
	item->ip = block.ip;
	item->last = block.end_ip;
	return block.ninsn != 0;
}

static void next_code(struct ipt *ipt, struct decode_item *item)
{
	bool some = ipt->insn ? decode_insn(ipt, item) : decode_block(ipt, item);

	if (ipt->status < 0) {
		ipt->error = ipt->status;
		/*
		 * The instruction ran, but its target is unknown. At the end of a cut trace, the
		 * instruction itself may not have run.
		 */
		if (!some || (ipt->insn && lost(ipt))) {
			next_error(ipt, item);
			return;
		}
	}
	item->offset = read_offset(ipt);
	if (!ipt->error && !progress(ipt, item))
		ipt->error = -ERR_STALL;
}

static void next(struct judge_decoder *d, struct decode_item *item)
{
	struct ipt *ipt = of(d);

	for (;;) {
		if (!ipt->synced) {
			next_end(ipt, item);
			return;
		}
		if (ipt->error) {
			next_error(ipt, item);
			return;
		}
		if (ipt->status & pts_event_pending) {
			next_event(ipt, item);
			/* From libipt 2.1 on, each PSB+ reports whether the trace is enabled. */
			if (item->kind == DECODE_ITEM_EVENT && item->status &&
			    (item->event == DECODE_FLOW_ENABLED ||
			     item->event == DECODE_FLOW_DISABLED))
				continue;
			return;
		}
		/*
		 * libipt reports the end when it has read all packets, but may not have used the
		 * last one yet. A TIP.PGD waits for its branch, for example. If the trace is cut,
		 * later code is not known to have run.
		 */
		if ((ipt->status & pts_eos) && (ipt->cut || !ipt->enabled)) {
			next_end(ipt, item);
			return;
		}
		next_code(ipt, item);
		/* A block may be empty when an event precedes it. */
		if (item->kind != DECODE_ITEM_BLOCK || item->insns)
			return;
	}
}

static void free_ipt(struct judge_decoder *d)
{
	struct ipt *ipt = of(d);

	pt_insn_free_decoder(ipt->insn);
	pt_blk_free_decoder(ipt->block);
	free(ipt);
}

static const struct judge_decoder_ops ipt_ops = {
	.free = free_ipt,
	.sync = sync,
	.next = next,
	.unknown_packet = unknown_packet,
	.no_memory = no_memory,
	.no_code = no_code,
	.retry = retry,
};

struct judge_decoder *judge_ipt_new(const struct judge_ipt_config *config)
{
	struct ipt *ipt = calloc(1, sizeof(*ipt));
	struct pt_config c;

	if (!ipt)
		return NULL;

	ipt->decoder.ops = &ipt_ops;
	ipt->cut = config->cut;
	ipt->fetch = config->fetch;
	ipt->context = config->context;
	pt_config_init(&c);
	c.begin = (uint8_t *)config->begin;
	c.end = (uint8_t *)config->begin + config->len;
	c.cpuid_0x15_eax = config->caps->l15_eax;
	c.cpuid_0x15_ebx = config->caps->l15_ebx;
	c.mtc_freq = config->mtc_freq;
	c.nom_freq = config->caps->max_nonturbo;
	if (config->blocks) {
		/* Make each block contiguous. */
		c.flags.variant.block.end_on_call = 1;
		c.flags.variant.block.end_on_jump = 1;
		ipt->block = pt_blk_alloc_decoder(&c);
	} else {
		ipt->insn = pt_insn_alloc_decoder(&c);
	}
	if (!ipt->insn && !ipt->block) {
		free(ipt);
		return NULL;
	}
	/* Use the decoder's own image, which is empty. The call cannot fail. */
	(void)pt_image_set_callback(ipt->insn ? pt_insn_get_image(ipt->insn)
					      : pt_blk_get_image(ipt->block),
				    read_code, ipt);
	return &ipt->decoder;
}
