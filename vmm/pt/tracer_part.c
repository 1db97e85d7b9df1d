// SPDX-License-Identifier: GPL-2.0-or-later
/* Move the recording to another file where a decoder can begin. */
#include "pt/tracer_part.h"

#include <string.h>

#include "pt/tracer_session.h"
#include "vpt/packet.h"

#define PSB_BYTES 16u

static bool is_open(const struct tracer *t)
{
	return t->unit.acts->state & VPT_GATE_TRIGGER_EN &&
	       !(t->recorder.state & TRACER_RECORDER_LOST);
}

uint64_t tracer_part_distance(const struct tracer *t)
{
	const struct vpt_pt *pt = t->acting;

	if (!is_open(t))
		return 0;
	if (t->config.system != TRACER_SYSTEM_PT)
		return UINT64_MAX;
	return pt->psb_bytes < pt->psb_period ? pt->psb_period - pt->psb_bytes : 1;
}

/* Return the PSB+ at the end of the recorder's tail, or NULL. */
static const uint8_t *last_plus(const struct tracer *t)
{
	const uint32_t len = t->acting->psb_bytes;
	const uint8_t *at = t->recorder.tail + TRACER_RECORDER_TAIL - len;

	if (len > TRACER_RECORDER_TAIL || len < PSB_BYTES || vpt_packet_find_psb(at, PSB_BYTES))
		return NULL;
	return at;
}

/* Returns true if PSB+ is complete, nothing follows it, and a decoder that begins there is at @ip. */
static bool begins_at(const uint8_t *plus, size_t len, uint64_t ip)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	uint64_t fup = ~ip;
	size_t at;

	for (at = 0; at < len; at += packet.size) {
		if (vpt_packet_read(&parser, plus + at, len - at, &packet))
			return false;
		if (packet.kind == VPT_PKT_FUP &&
		    vpt_ip_expand(0, packet.ip_bytes, packet.value, &fup))
			return false;
		if (packet.kind == VPT_PKT_PSBEND)
			return at + packet.size == len && fup == ip;
	}
	return false;
}

bool tracer_part_fits(struct tracer *t, uint64_t ip, uint32_t flags)
{
	const uint64_t base = *t->unit.ip_base;
	const uint8_t *plus;

	if (!is_open(t))
		return flags & TRACER_PART_ANYWHERE || t->config.system != TRACER_SYSTEM_PT ||
		       !(t->state & TRACER_RESUMES ||
			 VPT_STATUS_GET(t->pt.rtit.status, PACKET_BYTE_CNT));
	if (!(flags & TRACER_PART_RETIRED) || t->config.system != TRACER_SYSTEM_PT ||
	    t->acting->psb_bytes > TRACER_RECORDER_TAIL)
		return false;
	/* The end of an event, such as that of INT n, would be in the next part. */
	if (t->recorder.log.at == t->recorder.log.first)
		return false;
	t->unit.ops->flush(t);
	plus = last_plus(t);
	return plus && begins_at(plus, t->acting->psb_bytes, base ? (uint32_t)(ip + base) : ip);
}

int tracer_part_begin(struct tracer *t, struct trace_writer *next, uint64_t ip)
{
	struct tracer_recorder *rec = &t->recorder;
	struct trace_cut cut = {.why = TRACE_CUT_SHARD, .insns = rec->insns};
	const bool open = is_open(t);
	const size_t len = open ? t->acting->psb_bytes : 0;
	int error;

	cut.offset = trace_writer_stream_bytes(rec->writer, rec->vcpu) - len;
	error = trace_writer_cut(next, rec->vcpu, &cut);
	if (error)
		return error;
	if (open)
		tracer_session_leave(t, ip);
	tracer_recorder_sync(rec);
	error = tracer_recorder_move(rec, next);
	if (!error && open)
		tracer_session_enter(t, ip, last_plus(t), len);
	return error;
}
