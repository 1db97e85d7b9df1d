// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The level of the processor's internal buffer (33.3.8).
 *
 * Packets fill the buffer and core clocks empty it. A packet that does not fit begins an
 * overflow. gen_overflow.c ends the overflow.
 */
#include "gen_bytes.h"
#include "gen_clock.h"

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

	if (!pt->trigger_en) /* [EN-FROZEN] */
		return false;
	if (!pt->options.buffer_bytes)
		return true;
	/* [BUF-BYTE-CNT BUF-TIMING] A lost packet is not counted and has no CYC. */
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
