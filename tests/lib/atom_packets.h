/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of Atom's RTIT for tests: of every kind, over the boundaries of every field. */
#ifndef TESTS_LIB_ATOM_PACKETS_H
#define TESTS_LIB_ATOM_PACKETS_H

#include "vpt/atom_packet.h"

/*
 * Call `fn` with packets of one kind, without cycle counts, in every size that the kind
 * has, with the values of test_value() (packets.h). The same ones each time.
 * Returns how many there were.
 */
unsigned int test_each_atom_packet(enum vpt_atom_pkt_kind kind,
				   void (*fn)(const struct vpt_atom_packet *packet, void *opaque),
				   void *opaque);

/* Equal in kind and fields; `size` is not looked at. */
bool test_atom_packet_same(const struct vpt_atom_packet *a, const struct vpt_atom_packet *b);

#endif /* TESTS_LIB_ATOM_PACKETS_H */
