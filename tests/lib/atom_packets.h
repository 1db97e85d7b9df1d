/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes packets of Atom's RTIT of every kind for tests, with boundary values in every field. */
#ifndef TESTS_LIB_ATOM_PACKETS_H
#define TESTS_LIB_ATOM_PACKETS_H

#include "vpt/atom_packet.h"

/*
 * Call `fn` with packets of one kind, without cycle counts, in every size of the kind. Fields take
 * the values of test_value() (packets.h). Every call makes the same packets. Returns the number of
 * packets.
 */
unsigned int test_each_atom_packet(enum vpt_atom_pkt_kind kind,
				   void (*fn)(const struct vpt_atom_packet *packet, void *opaque),
				   void *opaque);

/* Are the packets equal in kind and fields? `size` is ignored. */
bool test_atom_packet_same(const struct vpt_atom_packet *a, const struct vpt_atom_packet *b);

#endif /* TESTS_LIB_ATOM_PACKETS_H */
