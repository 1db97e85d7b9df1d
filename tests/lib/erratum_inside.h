/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface between erratum.c (the list of packets) and erratum_apply.c (the errata). */
#ifndef TESTS_LIB_ERRATUM_INSIDE_H
#define TESTS_LIB_ERRATUM_INSIDE_H

#include "lib/erratum.h"
#include "lib/walk_inside.h"

uint32_t erratum_below(struct erratum_stream *s, uint32_t n);
bool erratum_has_ip(enum vpt_pkt_kind kind);
bool erratum_is_timing(enum vpt_pkt_kind kind);
/* Insert an empty packet in front of packet @before, and return the new packet. */
struct erratum_packet *erratum_insert(struct erratum_stream *s, size_t before);
void erratum_remove(struct erratum_stream *s, size_t i);

#endif /* TESTS_LIB_ERRATUM_INSIDE_H */
