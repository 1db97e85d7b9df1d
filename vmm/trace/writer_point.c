// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the PSBs in the written bytes, and makes a POINT entry of each. The entry has the place,
 * and the state from PSB+ and the side-band before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vpt/packet.h"
#include "trace/writer_state.h"

#define POINTS_PER_BLOCK 8192u

/* Once a chunk's place in the file is known, set the places of its PSBs. */
void trace_writer_resolve(struct trace_stream *s, uint64_t file_offset)
{
	s->mark[s->marks++ % PSB_BYTES] = (struct trace_chunk_mark){s->chunk.offset, file_offset};

	for (; s->nresolved < s->nindex; s->nresolved++) {
		struct trace_psb_point *point = &s->index[s->nresolved];
		unsigned int i = s->marks;
		unsigned int oldest = s->marks > PSB_BYTES ? s->marks - PSB_BYTES : 0;

		while (i > oldest && s->mark[(i - 1) % PSB_BYTES].offset > point->offset)
			i--;
		if (i > oldest)
			point->file_offset = s->mark[(i - 1) % PSB_BYTES].file_offset;
	}
}

/* Take the state from a packet of PSB+. Returns false at the end of PSB+. */
static bool take_packet(struct trace_psb_point *point, const struct vpt_packet *packet)
{
	switch (packet->kind) {
	case VPT_PKT_PIP:
		point->cr3 = packet->value;
		point->flags |= TRACE_POINT_CR3 | (packet->flag ? TRACE_POINT_NR : 0);
		return true;
	case VPT_PKT_VMCS:
		point->vmcs = packet->value;
		point->flags |= TRACE_POINT_VMCS;
		return true;
	case VPT_PKT_TSC:
		point->tsc = packet->value;
		point->flags |= TRACE_POINT_TSC;
		return true;
	case VPT_PKT_MODE_EXEC:
		point->mode = packet->value & 1 ? 64 : packet->value & 2 ? 32 : 16;
		point->flags |= TRACE_POINT_MODE | (packet->value & 4 ? TRACE_POINT_IF : 0);
		return true;
	case VPT_PKT_CBR:
		point->cbr = (uint8_t)packet->value;
		point->flags |= TRACE_POINT_CBR;
		return true;
	case VPT_PKT_FUP:
		if (!vpt_ip_expand(0, packet->ip_bytes, packet->value, &point->ip))
			point->flags |= TRACE_POINT_IP;
		return true;
	default:
		/* Time packets and MODE.TSX may be among them; every other packet ends PSB+. */
		return packet->kind == VPT_PKT_TMA || packet->kind == VPT_PKT_CYC ||
		       packet->kind == VPT_PKT_MTC || packet->kind == VPT_PKT_MODE_TSX ||
		       packet->kind == VPT_PKT_PAD || packet->kind == VPT_PKT_MNT;
	}
}

/* End the PSB+ of the last entry, which is complete or will get no more packets. */
static void finish_plus(struct trace_stream *s)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	uint32_t at = 0;

	if (!s->plus.on)
		return;
	s->plus.on = false;
	while (!vpt_packet_read(&parser, s->plus.bytes + at, s->plus.have - at, &packet) &&
	       take_packet(&s->index[s->nindex - 1], &packet))
		at += packet.size;
}

/* Collect the PSB+ of the last entry from a piece that begins at s->bytes. */
static void collect_plus(struct trace_stream *s, const uint8_t *bytes, size_t len)
{
	uint64_t from = s->plus.at + s->plus.have - s->bytes;
	size_t n = PLUS_BYTES - s->plus.have;

	if (!s->plus.on || from >= len)
		return;
	if (n > len - from)
		n = len - from;
	memcpy(s->plus.bytes + s->plus.have, bytes + from, n);
	s->plus.have += (uint32_t)n;
	if (s->plus.have == PLUS_BYTES)
		finish_plus(s);
}

static void begin_plus(const struct trace_writer *w, struct trace_stream *s, uint64_t psb)
{
	s->plus.on = !w->rtit;
	s->plus.at = psb + PSB_BYTES;
	s->plus.have = 0;
}

static void thin_index(struct trace_stream *s)
{
	size_t i;

	for (i = 0; 2 * i < s->nindex; i++)
		s->index[i] = s->index[2 * i];
	s->nindex = i;
	s->nresolved = (s->nresolved + 1) / 2;
	s->index_gap = s->index_gap ? 2 * s->index_gap : INDEX_GAP;
}

/* Return the entry of a PSB, with the state of the side-band before it. */
static struct trace_psb_point point_at(struct trace_stream *s, uint64_t offset)
{
	struct trace_psb_point point = s->state;

	point.offset = offset;
	/* The counter is known only at the start of a session. */
	if (offset != s->session_offset) {
		point.flags &= ~(uint32_t)TRACE_POINT_INSNS;
		point.insns = 0;
	}
	return point;
}

/* Add a PSB to the index. @bytes is the piece up to the end of the PSB, and begins at s->bytes. */
static int index_add(struct trace_writer *w, struct trace_stream *s, uint64_t offset,
		     const uint8_t *bytes, size_t len)
{
	const struct trace_psb_point point = point_at(s, offset);

	s->state.flags &= ~(uint32_t)TRACE_POINT_SESSION;
	s->passed_over = s->nindex && offset - s->index[s->nindex - 1].offset < s->index_gap;
	if (s->passed_over)
		return 0;
	collect_plus(s, bytes, len);
	finish_plus(s);
	if (s->nindex == INDEX_MOST)
		thin_index(s);
	if (s->nindex == s->index_room) {
		size_t room = s->index_room ? 2 * s->index_room : 64;
		void *index = realloc(s->index, room * sizeof(*s->index));

		if (!index)
			return w->error = -ENOMEM;
		s->index = index;
		s->index_room = room;
	}
	s->index[s->nindex++] = point;
	begin_plus(w, s, offset);
	return 0;
}

/* The bytes 02 82 may also end the previous packet, so the last 16 of a sequence count. */
static int index_psb(struct trace_writer *w, struct trace_stream *s, uint64_t offset,
		     const uint8_t *bytes, size_t len)
{
	if (s->run == PSB_BYTES)
		return index_add(w, s, offset, bytes, len);
	if (s->passed_over)
		return 0;
	s->index[s->nindex - 1].offset = offset;
	begin_plus(w, s, offset);
	if (s->nresolved == s->nindex)
		s->nresolved--;
	return 0;
}

/* Find PSBs of RTIT: a header and more zeros than any other packet has. */
static int find_atom_psbs(struct trace_writer *w, struct trace_stream *s, const uint8_t *bytes,
			  size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		/* Skip to the first byte of a PSB, like the search below. */
		if (!s->run) {
			const uint8_t *next = memchr(bytes + i, 0xc0, len - i);

			if (!next)
				break;
			i = (size_t)(next - bytes);
		}
		s->run = bytes[i] == 0xc0 ? 1 : !bytes[i] && s->run ? s->run + 1 : 0;
		if (s->run < ATOM_PSB_BYTES)
			continue;
		s->run = 0;
		if (index_add(w, s, s->bytes + i + 1 - ATOM_PSB_BYTES, bytes, i + 1))
			return w->error;
	}
	return 0;
}

/*
 * Return the first place from @i on where a PSB may begin. Of the places i, i + 13 and so on, a PSB has
 * one with the three bytes behind it. A search for a byte 02 would find too many, because IPs have them.
 */
static size_t skip_to_psb(const uint8_t *bytes, size_t i, size_t len)
{
	enum { WINDOW = 4, STEP = PSB_BYTES - WINDOW + 1 };
	size_t at = i;

	while (at + WINDOW <= len && memcmp(bytes + at, "\x02\x82\x02\x82", WINDOW) &&
	       memcmp(bytes + at, "\x82\x02\x82\x02", WINDOW))
		at += STEP;
	return at == i ? i : at - STEP + 1;
}

int trace_writer_find_psbs(struct trace_writer *w, struct trace_stream *s, const uint8_t *bytes,
			   size_t len)
{
	size_t i;

	if (w->rtit)
		return find_atom_psbs(w, s, bytes, len);
	for (i = 0; i < len; i++) {
		/* Most bytes contain no PSB. */
		if (!s->run)
			i = skip_to_psb(bytes, i, len);
		if (bytes[i] == (s->run & 1 ? 0x82 : 0x02))
			s->run++;
		else
			s->run = bytes[i] == 0x02;

		if (s->run >= PSB_BYTES && !(s->run & 1) &&
		    index_psb(w, s, s->bytes + i + 1 - PSB_BYTES, bytes, i + 1))
			return w->error;
	}
	collect_plus(s, bytes, len);
	return 0;
}

void trace_writer_point_session(struct trace_stream *s, const struct trace_session *start)
{
	s->session_offset = start->offset;
	s->state.insns = start->insns;
	s->state.flags |= TRACE_POINT_INSNS | TRACE_POINT_SESSION;
}

void trace_writer_point_space(struct trace_stream *s, uint64_t space)
{
	s->state.space = space;
	s->state.flags |= TRACE_POINT_SPACE;
}

void trace_writer_point_epoch(struct trace_stream *s, uint64_t epoch)
{
	s->state.epoch = epoch;
	s->state.flags |= TRACE_POINT_EPOCH;
}

uint64_t trace_writer_points(struct trace_writer *w)
{
	uint64_t first = 0;
	unsigned int i;
	size_t at, n;

	for (i = 0; i < w->vcpus; i++) {
		struct trace_stream *s = &w->stream[i];

		finish_plus(s);
		for (at = 0; at < s->nindex && !w->error; at += n) {
			n = s->nindex - at < POINTS_PER_BLOCK ? s->nindex - at : POINTS_PER_BLOCK;
			first = first ? first : w->file_bytes;
			trace_writer_block(w, TRACE_BLOCK_POINT, i, NULL, 0, s->index + at,
					   n * sizeof(*s->index));
		}
	}
	return first;
}
