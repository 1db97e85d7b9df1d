// SPDX-License-Identifier: GPL-2.0-or-later
/* Count PIPs without decoding the flow. */
#include "decode/pips.h"

#include <errno.h>
#include <string.h>

#include "vpt/packet.h"

/* Returns true if the bytes of a PIP's header, 02H 43H, occur between @at and @end. */
static bool may_have_pip(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *second = at;

	while (second < end && (second = memchr(second, 0x43, (size_t)(end - second)))) {
		if (second > at && second[-1] == 0x02)
			return true;
		second++;
	}
	return false;
}

/* Count the PIPs between @at and @end, which enclose a session or a gap between sessions. */
static uint64_t count_in(const uint8_t *at, const uint8_t *end)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	bool in_psb = false;
	uint64_t count = 0;

	while (at < end) {
		size_t left = (size_t)(end - at);

		switch (vpt_packet_read(&parser, at, left, &packet)) {
		case VPT_OK:
			break;
		case VPT_E_EOS:
			return count;
		default:
			at += 1 + vpt_packet_find_psb(at + 1, left - 1);
			parser = (struct vpt_parser){0};
			in_psb = false;
			continue;
		}
		if (packet.kind == VPT_PKT_PSB)
			in_psb = true;
		else if (packet.kind == VPT_PKT_PSBEND || packet.kind == VPT_PKT_OVF)
			in_psb = false;
		else if (packet.kind == VPT_PKT_PIP && !in_psb)
			count++;
		at += packet.size;
		/* Most of a trace has no PIP. Skip to the next PSB if these bytes have none. */
		if (packet.kind == VPT_PKT_PSBEND) {
			const uint8_t *psb = at + vpt_packet_find_psb(at, (size_t)(end - at));

			if (!may_have_pip(at, psb))
				at = psb;
		}
	}
	return count;
}

int decode_pips_count(struct trace_reader *reader, unsigned int vcpu, uint64_t *count)
{
	const struct trace_period *periods;
	const uint8_t *bytes;
	uint64_t from = 0;
	size_t len, n, i;

	*count = 0;
	bytes = trace_reader_stream(reader, vcpu, &len);
	if (!bytes)
		return -ENOMEM;
	periods = trace_reader_sessions(reader, vcpu, &n);
	/* Parse each session by itself, because its last packet may be cut. */
	for (i = 0; i < n; i++) {
		uint64_t start = periods[i].start->offset;

		if (start < from || start > len)
			continue;
		*count += count_in(bytes + from, bytes + start);
		from = start;
	}
	*count += count_in(bytes + from, bytes + len);
	return 0;
}
