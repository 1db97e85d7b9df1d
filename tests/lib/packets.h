/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets for tests: of every kind, over the boundaries of every field. */
#ifndef TESTS_LIB_PACKETS_H
#define TESTS_LIB_PACKETS_H

#include "vpt/packet.h"

/*
 * Call `fn` with packets of one kind, in every size that the kind has: fields of up to
 * eight bits with each value, others at zero, each single bit, ones up to each bit, and
 * with 64 values at random. The same ones each time.
 * Returns how many there were.
 */
unsigned int test_each_packet(enum vpt_pkt_kind kind,
			      void (*fn)(const struct vpt_packet *packet, void *opaque),
			      void *opaque);

/* The other programs that know a packet, from TEST_PACKET in tests/unit/packets.tbl. */
enum test_known { TEST_KNOWN_UNSAID, TEST_KNOWN_NOWHERE, TEST_KNOWN_PERF, TEST_KNOWN_ALL };

enum test_known test_packet_known(enum vpt_pkt_kind kind);

/* A parser in the state that `packet` needs: BIPs are read inside a block. */
struct vpt_parser test_parser_for(const struct vpt_packet *packet);

/* Equal in kind and fields; `size` is not looked at. */
bool test_packet_same(const struct vpt_packet *a, const struct vpt_packet *b);

/*
 * The values of a field that is `bits` wide: all if it has up to eight, else zero, each single
 * bit, ones up to each bit, and `random` more. How many, and the nth.
 */
unsigned int test_values(unsigned int bits, unsigned int random);
uint64_t test_value(uint64_t *state, unsigned int n, unsigned int bits);

/* splitmix64. */
uint64_t test_random(uint64_t *state);

#endif /* TESTS_LIB_PACKETS_H */
