/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of `vpt decode`: whose part of a trace is shown, and whose there are. */
#ifndef VMM_CLI_DECODE_SIDE_H
#define VMM_CLI_DECODE_SIDE_H

#include <stdbool.h>

#include "decode/item.h"
#include "decode/share.h"

struct cli_decode_side {
	bool host, guest; /* both or neither: all */
	bool one_vm;
	uint64_t vm;
	const char *space; /* processes: names, numbers, CR3s, "a,b"; NULL: any */
};

/* --side=TEXT; false: it is none of host, guest, all. */
bool cli_decode_side_take(struct cli_decode_side *side, const char *text);
/* Is only a part wanted? */
static inline bool cli_decode_side_part(const struct cli_decode_side *side)
{
	return side->host || side->guest || side->one_vm || side->space;
}
/* Does that take a file that tells of address spaces, other than by CR3? */
bool cli_decode_side_told(const struct cli_decode_side *side);
/* Is the item of the part? What is nobody's is. Only if a part is wanted. */
bool cli_decode_side_has(const struct cli_decode_side *side, const struct decode_item *item);
static inline bool cli_decode_side_wants(const struct cli_decode_side *side,
					 const struct decode_item *item)
{
	return !cli_decode_side_part(side) || cli_decode_side_has(side, item);
}

/*
 * The table of the summary; nothing where there are no address spaces. `told`: the file
 * tells of them, and VM entries and exits have columns.
 */
void cli_decode_side_table(struct decode_shares *shares, bool told);
/* The same as a field of a JSON object, with the comma before it. */
void cli_decode_side_json(struct decode_shares *shares);

#endif /* VMM_CLI_DECODE_SIDE_H */
