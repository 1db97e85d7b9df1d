// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks for flame graphs: "vCPU 0: cr3 0x1000;main;work 1234", a line for each stack. The number
 * counts the instructions of the innermost function. Their sum is that of the trace.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"

#define DEPTH_MAX 513 /* calls deeper than 512 have no node */

/* Write a frame. A semicolon separates frames, and C++ names can have one. */
static void write_frame(FILE *out, const char *text)
{
	for (; *text; text++)
		putc_unlocked(*text == ';' ? ':' : *text, out);
}

/* Returns the number of frames, of @n from the innermost to the root, that are exported. */
static uint32_t selected(const struct format_run *run, const uint64_t *func, uint32_t n)
{
	if (!run->only)
		return n;
	while (n && !format_is_only(run, func[n - 1]))
		n--;
	return n;
}

/*
 * Write the frames from the root of the lane to node @i, which has depth @depth. Returns false if
 * the node is not selected.
 */
static bool write_stack(struct format_run *run, const struct format_lane *lane, uint32_t i,
			uint32_t depth)
{
	uint64_t func[DEPTH_MAX];
	struct decode_calls_node node;
	uint32_t n = 0;
	char text[256];

	for (; n < depth && n < DEPTH_MAX && decode_calls_node(lane->calls, i, &node); n++) {
		func[n] = node.func;
		i = node.parent;
	}
	n = selected(run, func, n);
	if (run->only && !n)
		return false;
	write_frame(run->out, lane->name);
	while (n--) {
		putc_unlocked(';', run->out);
		debug_symbols_format(run->symbols, func[n], text, sizeof(text));
		write_frame(run->out, text);
	}
	return true;
}

/* Returns the number of stacks. */
static uint64_t write_lane(struct format_run *run, const struct format_lane *lane)
{
	struct decode_calls_node node;
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; decode_calls_node(lane->calls, i, &node); i++) {
		if (!node.own)
			continue;
		if (!write_stack(run, lane, i, node.depth))
			continue;
		fprintf(run->out, " %" PRIu64 "\n", node.own);
		n++;
	}
	return n;
}

static int end(struct format_run *run)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < run->lanes.n; i++)
		n += write_lane(run, run->lanes.at[i]);
	return run->only && !n ? -ENOENT : 0;
}

const struct format_type format_type_folded = {.name = "folded", .selects = true, .end = end};
