// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: arbitrary bytes as a stream of Atom's RTIT. The first byte says whether packets have
 * cycle counts. The checks are those of fuzz_parse.c; each LIP is also encoded again in its
 * shortest form.
 */
#include "fuzz/bytes.h"
#include "lib/atom_packets.h"
#include "lib/parse_fuzz.h"

struct state {
	uint32_t last; /* LIP[47:16] */
	uint8_t valid, cycle_acc, reserved[2];
};

static void write_back(const struct state *s, const struct vpt_atom_packet *packet)
{
	struct vpt_atom_packet again;
	uint8_t buf[VPT_ATOM_PKT_MAX];
	size_t len = vpt_atom_packet_write(buf, packet);

	REQUIRE(len > 0 && len <= packet->size);
	REQUIRE(packet->has_cycles ==
		(s->cycle_acc && vpt_atom_pkt_has_cycles(packet->kind, packet->bits)));
	REQUIRE(vpt_atom_packet_read(buf, len, s->cycle_acc, &again) == VPT_OK);
	REQUIRE(again.size == len && test_atom_packet_same(&again, packet));
}

static void expand(struct state *s, const struct vpt_atom_packet *packet)
{
	struct vpt_atom_packet shorter = *packet;
	uint64_t lip = 42, again = 0;

	if (vpt_atom_lip_expand(packet, s->last, s->valid, &lip) != VPT_OK) {
		REQUIRE(!s->valid && !packet->zext && packet->cnt < VPT_ATOM_CNT_6 && lip == 42);
		return;
	}
	REQUIRE(!(lip >> 48));
	vpt_atom_lip_compress(lip, s->last, s->valid, &shorter.cnt, &shorter.zext);
	REQUIRE(shorter.cnt <= packet->cnt);
	shorter.value = lip & VPT_MASK64(16 * shorter.cnt + 15, 0);
	REQUIRE(vpt_atom_lip_expand(&shorter, s->last, s->valid, &again) == VPT_OK);
	REQUIRE(again == lip);
	s->last = (uint32_t)(lip >> 16);
	s->valid = true;
}

static size_t format(char *text, size_t size, const void *packet)
{
	return vpt_atom_packet_format(text, size, packet);
}

static enum vpt_status read_one(void *state, const uint8_t *data, size_t size, size_t *taken)
{
	struct state *s = state;
	struct vpt_atom_packet packet;
	enum vpt_status status = vpt_atom_packet_read(data, size, s->cycle_acc, &packet);

	if (status)
		return status;
	write_back(s, &packet);
	if (packet.kind == VPT_ATOM_PKT_PSB)
		s->valid = false;
	if (vpt_atom_pkt_has_lip(packet.kind))
		expand(s, &packet);
	test_parse_fuzz_text(format, &packet);
	*taken = packet.size;
	return VPT_OK;
}

static enum vpt_status cut(const void *before, const uint8_t *data, size_t size)
{
	const struct state *s = before;
	struct vpt_atom_packet packet;

	return vpt_atom_packet_read(data, size, s->cycle_acc, &packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct test_parse_fuzz fuzz = {
		.packet = read_one,
		.cut = cut,
		.find_psb = vpt_atom_packet_find_psb,
		.state_bytes = sizeof(struct state),
	};
	struct state s = {.cycle_acc = size && (data[0] & 1)};

	if (size)
		test_parse_fuzz(&fuzz, &s, data + 1, size - 1);
	return 0;
}
