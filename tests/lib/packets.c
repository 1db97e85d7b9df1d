// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/packets.h"

#include <string.h>

#define RANDOM_VALUES 64
#define WHOLE_BITS    8 /* fields up to this width take all values */

/* The widths in bits of a kind's fields, in one of its sizes. */
struct shape {
	struct vpt_packet base;
	unsigned int value, shift, aux, flag;
};

struct walk {
	void (*fn)(const struct vpt_packet *packet, void *opaque);
	void *opaque;
	uint64_t random;
	unsigned int count;
};

uint64_t test_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t low_bits(uint64_t value, unsigned int bits)
{
	return bits ? value & (~0ull >> (64 - bits)) : 0;
}

unsigned int test_values(unsigned int bits, unsigned int random)
{
	return bits <= WHOLE_BITS ? 1u << bits : 1 + 2 * bits + random;
}

uint64_t test_value(uint64_t *state, unsigned int n, unsigned int bits)
{
	if (bits <= WHOLE_BITS || n == 0)
		return n;
	if (n <= bits)
		return 1ull << (n - 1);
	if (n <= 2 * bits)
		return low_bits(~0ull, n - bits);
	return low_bits(test_random(state), bits);
}

static void walk_shape(struct walk *walk, const struct shape *shape)
{
	unsigned int values = test_values(shape->value, RANDOM_VALUES);
	unsigned int auxs = test_values(shape->aux, 0);

	for (unsigned int v = 0; v < values; v++) {
		for (unsigned int a = 0; a < auxs; a++) {
			for (unsigned int flag = 0; flag <= shape->flag; flag++) {
				struct vpt_packet packet = shape->base;

				packet.value = test_value(&walk->random, v, shape->value)
					       << shape->shift;
				packet.aux |= (uint16_t)test_value(&walk->random, a, shape->aux);
				packet.flag = flag;
				walk->fn(&packet, walk->opaque);
				walk->count++;
			}
		}
	}
}

static void walk_tnt(struct walk *walk, enum vpt_pkt_kind kind, unsigned int most)
{
	for (unsigned int bits = 1; bits <= most; bits++) {
		struct shape shape = {.base = {.kind = kind, .bits = bits}, .value = bits};

		walk_shape(walk, &shape);
	}
}

static void walk_ip(struct walk *walk, enum vpt_pkt_kind kind)
{
	static const unsigned int ip_bytes[] = {0, 1, 2, 3, 4, 6};
	static const unsigned int widths[] = {0, 16, 32, 48, 48, 64};

	for (unsigned int i = 0; i < 6; i++) {
		struct shape shape = {
			.base = {.kind = kind, .ip_bytes = ip_bytes[i]},
			.value = widths[i],
		};

		walk_shape(walk, &shape);
	}
}

static void walk_sized(struct walk *walk, enum vpt_pkt_kind kind, unsigned int aux,
		       unsigned int flag)
{
	for (unsigned int bits = 32; bits <= 64; bits += 32) {
		struct shape shape = {
			.base = {.kind = kind, .bits = bits},
			.value = bits,
			.aux = aux,
			.flag = flag,
		};

		walk_shape(walk, &shape);
	}
}

static void walk_trig(struct walk *walk)
{
	for (unsigned int bits = 0; bits <= 16; bits += 16) {
		struct shape shape = {
			.base = {.kind = VPT_PKT_TRIG, .bits = bits},
			.value = bits,
			.aux = 8,
			.flag = 1,
		};

		walk_shape(walk, &shape);
		shape.aux = 0;
		shape.base.aux = VPT_TRIG_MULT;
		walk_shape(walk, &shape);
	}
}

static const struct {
	unsigned int value, shift, aux, flag;
	enum test_known known;
} kinds[VPT_PKT_COUNT] = {
#define TEST_PACKET(kind, value, shift, aux, flag, known) \
	[VPT_PKT_##kind] = {value, shift, aux, flag, TEST_KNOWN_##known},
#include "unit/packets.tbl"
};

enum test_known test_packet_known(enum vpt_pkt_kind kind)
{
	return kinds[kind].known;
}

unsigned int test_each_packet(enum vpt_pkt_kind kind,
			      void (*fn)(const struct vpt_packet *packet, void *opaque),
			      void *opaque)
{
	struct walk walk = {.fn = fn, .opaque = opaque, .random = kind};
	struct shape shape = {.base = {.kind = kind}};

	switch (kind) {
	case VPT_PKT_TNT_8:
		walk_tnt(&walk, kind, VPT_TNT8_MAX);
		break;
	case VPT_PKT_TNT_64:
		walk_tnt(&walk, kind, VPT_TNT64_MAX);
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		walk_ip(&walk, kind);
		break;
	case VPT_PKT_PTW:
		walk_sized(&walk, kind, 0, 1);
		break;
	case VPT_PKT_BIP:
		walk_sized(&walk, kind, 5, 0);
		break;
	case VPT_PKT_TRIG:
		walk_trig(&walk);
		break;
	default:
		shape.value = kinds[kind].value;
		shape.shift = kinds[kind].shift;
		shape.aux = kinds[kind].aux;
		shape.flag = kinds[kind].flag;
		walk_shape(&walk, &shape);
		break;
	}
	return walk.count;
}

struct vpt_parser test_parser_for(const struct vpt_packet *packet)
{
	struct vpt_parser parser = {0};

	if (packet->kind == VPT_PKT_BIP) {
		parser.in_block = true;
		parser.block_4_bytes = packet->bits == 32;
	}
	return parser;
}

bool test_packet_same(const struct vpt_packet *a, const struct vpt_packet *b)
{
	return a->kind == b->kind && a->ip_bytes == b->ip_bytes && a->bits == b->bits &&
	       a->flag == b->flag && a->aux == b->aux && a->value == b->value;
}
