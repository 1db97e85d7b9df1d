/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of `vpt decode`: trees of calls, one in all or one for each address space. */
#ifndef VMM_CLI_DECODE_CALLS_H
#define VMM_CLI_DECODE_CALLS_H

#include "decode/calls.h"

struct cli_decode_calls {
	const struct debug_symbols *symbols;
	bool apart;
	const struct decode_pace *pace; /* NULL: no time */
	struct {
		struct cli_decode_tree {
			/* A copy: the flow frees the spaces that it learned of. */
			struct trace_space space;
			bool known; /* false: the space is not known, or is all of them */
			struct decode_calls *calls;
			uint64_t insns;
		} * at;
		size_t n, room;
	} trees;
	size_t now;
};

/* An item of a flow of blocks. False: memory. */
bool cli_decode_calls_item(struct cli_decode_calls *c, const struct decode_item *item);
/* Most instructions first; `limit` lines at most. */
void cli_decode_calls_print(struct cli_decode_calls *c, bool json, uint64_t limit);
void cli_decode_calls_free(struct cli_decode_calls *c);

#endif /* VMM_CLI_DECODE_CALLS_H */
