// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/atom_packets.h"

#include "lib/packets.h"

#define RANDOM_VALUES 32

struct walk {
	void (*fn)(const struct vpt_atom_packet *packet, void *opaque);
	void *opaque;
	uint64_t random;
	unsigned int count;
};

static void walk_values(struct walk *walk, struct vpt_atom_packet packet, unsigned int bits)
{
	const unsigned int values = test_values(bits, RANDOM_VALUES);

	for (unsigned int n = 0; n < values; n++) {
		packet.value = test_value(&walk->random, n, bits);
		walk->fn(&packet, walk->opaque);
		walk->count++;
	}
}

static void walk_tnt(struct walk *walk, struct vpt_atom_packet packet)
{
	for (packet.bits = 1; packet.bits <= VPT_ATOM_TNT_MAX; packet.bits++)
		walk_values(walk, packet, packet.bits);
}

static void walk_lip(struct walk *walk, struct vpt_atom_packet packet)
{
	for (packet.cnt = VPT_ATOM_CNT_2; packet.cnt <= VPT_ATOM_CNT_6; packet.cnt++) {
		packet.zext = false;
		walk_values(walk, packet, 16 + 16 * packet.cnt);
		packet.zext = true;
		walk_values(walk, packet, 16 + 16 * packet.cnt);
	}
}

static void walk_sts(struct walk *walk, struct vpt_atom_packet packet)
{
	for (unsigned int ratio = 0; ratio < 64; ratio++) {
		packet.aux = (uint16_t)(ratio | (ratio * 5 % 64) << 8);
		walk_values(walk, packet, 40);
	}
}

unsigned int test_each_atom_packet(enum vpt_atom_pkt_kind kind,
				   void (*fn)(const struct vpt_atom_packet *packet, void *opaque),
				   void *opaque)
{
	struct walk walk = {.fn = fn, .opaque = opaque, .random = kind};
	struct vpt_atom_packet packet = {.kind = kind};

	switch (kind) {
	case VPT_ATOM_PKT_TNT:
		walk_tnt(&walk, packet);
		break;
	case VPT_ATOM_PKT_PIP:
		walk_values(&walk, packet, 40);
		packet.flag = true;
		walk_values(&walk, packet, 40);
		break;
	case VPT_ATOM_PKT_MTC:
		for (packet.aux = 0; packet.aux < 4; packet.aux++)
			walk_values(&walk, packet, 8);
		break;
	case VPT_ATOM_PKT_STS:
		walk_sts(&walk, packet);
		break;
	default:
		if (vpt_atom_pkt_has_lip(kind))
			walk_lip(&walk, packet);
		else
			walk_values(&walk, packet, 0);
		break;
	}
	return walk.count;
}

bool test_atom_packet_same(const struct vpt_atom_packet *a, const struct vpt_atom_packet *b)
{
	return a->kind == b->kind && a->bits == b->bits && a->cnt == b->cnt && a->zext == b->zext &&
	       a->flag == b->flag && a->aux == b->aux && a->value == b->value &&
	       a->has_cycles == b->has_cycles && a->cycles == b->cycles;
}
