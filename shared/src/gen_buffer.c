// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The processor's internal buffer: what happens when it is full, and then no more (33.3.8).
 *
 * Packets fill it, core clocks empty it. A packet that does not fit begins an overflow, which
 * is over by the end of the event that finds the buffer empty.
 */
#include "gen.h"
#include "gen_clock.h"

/* So many MTCs lost, and the 8 bits of the next one do not tell how many (33.3.8.2). */
#define MTC_LOST_MAX 255u

void vpti_gen_buffer_start(struct vpt_pt *pt)
{
	vpt_memset(&pt->buffer, 0, sizeof(pt->buffer));
	pt->buffer.drained = pt->time.now.cycles;
}

void vpti_gen_buffer_drain(struct vpt_pt *pt)
{
	struct vpt_pt_buffer *buffer = &pt->buffer;
	const struct vpti_level level = {&buffer->drained, &buffer->fill, &buffer->credit};

	vpti_level_drain(level, pt->options.buffer_drain, pt->time.now.cycles);
}

bool vpti_gen_room(struct vpt_pt *pt, size_t len)
{
	struct vpt_pt_buffer *buffer = &pt->buffer;

	if (!pt->trigger_en)
		return false;
	if (!pt->options.buffer_bytes)
		return true;
	/* [BUF-BYTE-CNT BUF-TIMING] What is lost is not counted and has no CYC. */
	if (buffer->overflow)
		return false;
	vpti_gen_buffer_drain(pt);
	/* [BUF-LEVEL] */
	if (len > pt->options.buffer_bytes - buffer->fill) {
		buffer->overflow = true;
		return false;
	}
	buffer->fill += (uint32_t)len;
	return true;
}

/* A TNT, and PIP, timing, VMCS, MODE.Exec and TIP with a CYC each. */
#define PIP_BYTES 80u

void vpti_gen_reserve(struct vpt_pt *pt)
{
	struct vpt_pt_buffer *buffer = &pt->buffer;

	if (!pt->trigger_en)
		return;
	vpti_gen_buffer_drain(pt);
	/* [BUF-PIP] */
	if (pt->options.buffer_bytes - buffer->fill < PIP_BYTES)
		buffer->overflow = true;
}

void vpti_gen_note_lost(struct vpt_pt *pt, enum vpt_pkt_kind kind)
{
	switch (kind) {
	case VPT_PKT_PSB:
	case VPT_PKT_PSBEND:
	case VPT_PKT_PIP:
	case VPT_PKT_VMCS:
	case VPT_PKT_MODE_EXEC:
	case VPT_PKT_MODE_TSX:
		pt->buffer.state_lost = true;
		break;
	case VPT_PKT_TSC:
	case VPT_PKT_CBR:
		pt->buffer.timing_lost = true;
		break;
	default:
		break;
	}
}

/* [GEN-OVF BUF-PSB-END] Nothing sent before helps to read what comes after. */
static void put_ovf(struct vpt_pt *pt)
{
	pt->gate.tnt = 1;
	vpti_gen_drop_tips(pt);
	pt->buffer.overflow = false;
	vpti_gen_packet(pt, VPT_PKT_OVF, 0, false);
	pt->last_ip_valid = false;
	vpt_retstack_clear(&pt->retstack);
}

/*
 * [BUF-RESOLVE BUF-ENABLES BUF-STATE] The enables have moved on as ever (33.3.8.1). What was
 * lost of the state is told by a PSB+, as nothing but timing may stand between OVF and FUP.
 */
void vpti_gen_buffer_resolve(struct vpt_pt *pt, uint64_t ip)
{
	struct vpt_pt_buffer *buffer = &pt->buffer;
	bool state = buffer->state_lost, timing = buffer->timing_lost;
	struct vpt_context ctx;

	if (vpt_likely(!buffer->overflow) || buffer->fill || !pt->trigger_en)
		return;
	/* A PSB+ has neither PIP nor VMCS out of context: they stay lost until ContextEn rises. */
	buffer->state_lost = state && !pt->context_en;
	buffer->timing_lost = false;
	/* [BUF-MTC] */
	timing = timing || pt->time.mtc_last - pt->time.mtc_told >= MTC_LOST_MAX;
	put_ovf(pt);
	pt->mode_exec = VPT_MODE_UNKNOWN;
	if (pt->packet_en)
		vpti_gen_ip(pt, VPT_OP_FUP, ip);
	if (!state && !timing)
		return;
	pt->ops->context(pt->opaque, &ctx);
	if (!pt->trigger_en)
		return;
	if (!state) {
		vpti_gen_timing(pt, &ctx);
		return;
	}
	vpti_gen_psb_plus(pt, &ctx, ip);
	vpti_gen_mode_alone(pt, &ctx, ip);
}

/* [BUF-DISABLE BUF-TRACESTOP] */
void vpti_gen_buffer_end(struct vpt_pt *pt)
{
	pt->buffer.fill = 0;
	if (pt->buffer.overflow)
		put_ovf(pt);
}

/*
 * [GEN-OVF] An engine has lost packets itself: where execution is now need not be where the
 * enables as they were left it. Where the mode is another a PSB+ tells it.
 */
void vpti_gen_overflow(struct vpt_pt *pt, uint64_t ip)
{
	struct vpt_context ctx;
	bool known;

	put_ovf(pt);
	pt->ops->context(pt->opaque, &ctx);
	if (!pt->trigger_en)
		return;
	vpti_gen_ip_form(pt, &ctx);
	pt->context_en = vpt_context_en(&pt->rtit, &ctx);
	if (pt->context_en)
		pt->filter_en = vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, ip));
	vpti_gen_update(pt);
	known = vpti_gen_mode_known(pt, &ctx);
	pt->mode_exec = VPT_MODE_UNKNOWN;
	if (!pt->packet_en) {
		vpti_gen_mode_alone(pt, &ctx, ip);
		return;
	}
	vpti_gen_ip(pt, VPT_OP_FUP, ip);
	if (!known)
		vpti_gen_psb_plus(pt, &ctx, ip);
}
