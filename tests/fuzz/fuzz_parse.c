// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a packet stream: nothing is read beyond them, each packet that is
 * read is written back as itself, and IPs and texts are made of it without harm.
 */
#include "lib/packets.h"

#include <stdlib.h>
#include <string.h>

#define REQUIRE(cond)            \
	do {                     \
		if (!(cond))     \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* `before` is the state in which the packet was read. */
static void write_back(struct vpt_parser before, const struct vpt_parser *after,
		       const struct vpt_packet *packet)
{
	struct vpt_packet again;
	uint8_t buf[VPT_PKT_MAX];
	size_t len = vpt_packet_write(buf, packet);

	REQUIRE(len > 0 && len <= packet->size);
	REQUIRE(vpt_packet_read(&before, buf, len, &again) == VPT_OK);
	REQUIRE(again.size == len && vpt_packet_same(&again, packet));
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

static void format(const struct vpt_packet *packet)
{
	char whole[128], cut[8];
	size_t len = vpt_packet_format(whole, sizeof(whole), packet);

	REQUIRE(len < sizeof(whole) && strlen(whole) == len);
	REQUIRE(vpt_packet_format(cut, sizeof(cut), packet) == len);
	REQUIRE(!strncmp(cut, whole, sizeof(cut) - 1));
}

/* Shorter input never makes another packet of it. */
static void truncate(const struct vpt_parser *before, const uint8_t *data, size_t size)
{
	for (size_t len = 0; len < size; len++) {
		struct vpt_parser parser = *before;
		struct vpt_packet packet;

		REQUIRE(vpt_packet_read(&parser, data, len, &packet) == VPT_E_EOS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vpt_parser parser = {0};
	uint64_t last_ip = 0;
	size_t at = 0;

	while (at < size) {
		struct vpt_parser before = parser;
		struct vpt_packet packet;
		enum vpt_status status = vpt_packet_read(&parser, data + at, size - at, &packet);

		if (status == VPT_OK) {
			REQUIRE(packet.size > 0 && packet.size <= size - at);
			write_back(before, &parser, &packet);
			truncate(&before, data + at, packet.size);
			expand(&last_ip, &packet);
			format(&packet);
			at += packet.size;
			continue;
		}
		REQUIRE(status == VPT_E_EOS || status == VPT_E_BAD_PACKET);
		REQUIRE(before.in_block == parser.in_block);
		/* As a reader would go on, but at least a byte. */
		at++;
		at += vpt_packet_find_psb(data + at, size - at);
		REQUIRE(at <= size);
		memset(&parser, 0, sizeof(parser));
	}
	return 0;
}
