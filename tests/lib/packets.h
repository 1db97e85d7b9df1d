/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes packets of every kind for tests, with boundary values in every field. */
#ifndef TESTS_LIB_PACKETS_H
#define TESTS_LIB_PACKETS_H

#include "vpt/packet.h"

/*
 * Call `fn` with packets of one kind, in every size of the kind. Fields of up to eight bits take
 * every value. Wider fields take zero, each single bit, ones up to each bit, and 64 random values.
 * Every call makes the same packets. Returns the number of packets.
 */
unsigned int test_each_packet(enum vpt_pkt_kind kind,
			      void (*fn)(const struct vpt_packet *packet, void *opaque),
			      void *opaque);

/* The other programs that know a packet, from TEST_PACKET in tests/unit/packets.tbl. */
enum test_known { TEST_KNOWN_UNSAID, TEST_KNOWN_NOWHERE, TEST_KNOWN_PERF, TEST_KNOWN_ALL };

enum test_known test_packet_known(enum vpt_pkt_kind kind);

/* Return a parser in the state that `packet` requires. BIPs are only read inside a block. */
struct vpt_parser test_parser_for(const struct vpt_packet *packet);

/* Are the packets equal in kind and fields? `size` is ignored. */
bool test_packet_same(const struct vpt_packet *a, const struct vpt_packet *b);

/*
 * Return the number of test values of a field of `bits` bits, and the nth value. Fields of up to
 * eight bits have all values. Wider fields have zero, each single bit, ones up to each bit, and
 * `random` more.
 */
unsigned int test_values(unsigned int bits, unsigned int random);
uint64_t test_value(uint64_t *state, unsigned int n, unsigned int bits);

/* Return the next number of splitmix64. */
uint64_t test_random(uint64_t *state);

#endif /* TESTS_LIB_PACKETS_H */
