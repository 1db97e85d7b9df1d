// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: arbitrary bytes as a packet stream. The parser must not read beyond them. Each
 * packet must be written back unchanged, and its IP and text must be made without memory errors.
 */
#include "fuzz/bytes.h"
#include "lib/packets.h"
#include "lib/parse_fuzz.h"

struct state {
	struct vpt_parser parser;
	uint64_t last_ip;
};

/* `before` is the state in which the packet was read. */
static void write_back(struct vpt_parser before, const struct vpt_parser *after,
		       const struct vpt_packet *packet)
{
	struct vpt_packet again;
	uint8_t buf[VPT_PKT_MAX];
	size_t len = vpt_packet_write(buf, packet);

	REQUIRE(len > 0 && len <= packet->size);
	REQUIRE(vpt_packet_read(&before, buf, len, &again) == VPT_OK);
	REQUIRE(again.size == len && test_packet_same(&again, packet));
	REQUIRE(before.in_block == after->in_block);
	REQUIRE(before.block_4_bytes == after->block_4_bytes);
}

static void expand(uint64_t *last_ip, const struct vpt_packet *packet)
{
	uint64_t ip = *last_ip;

	switch (vpt_ip_expand(*last_ip, packet->ip_bytes, packet->value, &ip)) {
	case VPT_OK:
		*last_ip = ip;
		break;
	case VPT_E_EOS:
		REQUIRE(packet->ip_bytes == VPT_IP_SUPPRESSED && ip == *last_ip);
		break;
	default:
		abort();
	}
}

static size_t format(char *text, size_t size, const void *packet)
{
	return vpt_packet_format(text, size, packet);
}

static enum vpt_status read_one(void *state, const uint8_t *data, size_t size, size_t *taken)
{
	struct state *s = state;
	struct vpt_parser before = s->parser;
	struct vpt_packet packet;
	enum vpt_status status = vpt_packet_read(&s->parser, data, size, &packet);

	if (status)
		return status;
	write_back(before, &s->parser, &packet);
	expand(&s->last_ip, &packet);
	test_parse_fuzz_text(format, &packet);
	*taken = packet.size;
	return VPT_OK;
}

static enum vpt_status cut(const void *before, const uint8_t *data, size_t size)
{
	struct vpt_parser parser = ((const struct state *)before)->parser;
	struct vpt_packet packet;

	return vpt_packet_read(&parser, data, size, &packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct test_parse_fuzz fuzz = {
		.packet = read_one,
		.cut = cut,
		.find_psb = vpt_packet_find_psb,
		.state_bytes = sizeof(struct state),
	};
	struct state s = {0};

	test_parse_fuzz(&fuzz, &s, data, size);
	return 0;
}
