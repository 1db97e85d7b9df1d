/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selection of a part of a trace for `vpt decode`, and the shares of all parts. */
#ifndef VMM_CLI_DECODE_SIDE_H
#define VMM_CLI_DECODE_SIDE_H

#include <stdbool.h>

#include "decode/item.h"
#include "decode/share.h"

struct cli_decode_side {
	bool host, guest; /* both set or both clear: no selection */
	bool one_vm;
	uint64_t vm;
	const char *space; /* processes: names, numbers, CR3s, "a,b"; NULL: any */
};

/* Parse the value of --side. Returns false if it is not host, guest or all. */
bool cli_decode_side_take(struct cli_decode_side *side, const char *text);
/* Returns true if only a part is selected. */
static inline bool cli_decode_side_part(const struct cli_decode_side *side)
{
	return side->host || side->guest || side->one_vm || side->space;
}
/* Returns true if the selection needs a file that describes address spaces by more than CR3. */
bool cli_decode_side_told(const struct cli_decode_side *side);
/* Returns true if the file does not describe what is selected: there are neither spaces nor tasks. */
bool cli_decode_side_lacks(const struct cli_decode_side *side, const struct trace_reader *reader);
/*
 * Returns true if @item belongs to the selected part, or to no part. Valid only if a part is
 * selected.
 */
bool cli_decode_side_has(const struct cli_decode_side *side, const struct decode_item *item);
static inline bool cli_decode_side_wants(const struct cli_decode_side *side,
					 const struct decode_item *item)
{
	return !cli_decode_side_part(side) || cli_decode_side_has(side, item);
}

/*
 * Print the table of the summary. Prints nothing if there are no address spaces. If @told, the file
 * describes the spaces, and the table has columns for VM entries and exits.
 */
void cli_decode_side_table(struct decode_shares *shares, bool told);
/* Print the table as a field of a JSON object, with the comma before it. */
void cli_decode_side_json(struct decode_shares *shares);

#endif /* VMM_CLI_DECODE_SIDE_H */
