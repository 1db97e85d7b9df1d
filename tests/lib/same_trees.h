/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison of two trees of calls, node by node and in order. */
#ifndef TESTS_LIB_SAME_TREES_H
#define TESTS_LIB_SAME_TREES_H

#include "decode/calls.h"

/* Returns true if the trees have the same nodes, counts and instructions. */
static inline bool same_trees(const struct decode_calls *a, const struct decode_calls *b)
{
	struct decode_calls_node x, y;
	uint32_t i;

	for (i = 0; decode_calls_node(a, i, &x); i++) {
		if (!decode_calls_node(b, i, &y) || x.parent != y.parent || x.depth != y.depth ||
		    x.func != y.func || x.count != y.count || x.own != y.own)
			return false;
	}
	return !decode_calls_node(b, i, &y) && decode_calls_insns(a) == decode_calls_insns(b);
}

#endif /* TESTS_LIB_SAME_TREES_H */
