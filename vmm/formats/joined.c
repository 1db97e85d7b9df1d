// SPDX-License-Identifier: GPL-2.0-or-later
/* Make the lanes of a format of joined results. */
#include "formats/joined.h"

#include <errno.h>

#include "decode/by_cr3.h"
#include "formats/lanes.h"

bool format_can_join(const struct format_type *type, enum decode_space_wanted *wanted)
{
	*wanted = type->edge ? DECODE_SPACE_EDGES : DECODE_SPACE_CALLS;
	return type->end && !type->block && !type->span_begin && !type->instant && !type->vm_exit;
}

static int add_calls(struct format_run *run, struct format_lane *lane, struct decode_calls *calls)
{
	const struct decode_calls_pieces *pieces = decode_calls_close_open(calls);

	if (!pieces || !decode_calls_join(lane->calls, pieces))
		return -ENOMEM;
	run->insns += decode_calls_insns(lane->calls);
	return 0;
}

static int add_edges(struct format_run *run, struct format_lane *lane,
		     const struct decode_space_edges *edges)
{
	unsigned int k;
	int err = 0;
	size_t i;

	for (k = 0; k < DECODE_EDGE_COUNT; k++) {
		for (i = 0; !err && i < edges->kind[k].n; i++) {
			const struct trace_pair *pair = &edges->kind[k].at[i];
			const struct format_edge edge = {pair->a, pair->b, (enum decode_edge_kind)k,
							 pair->value};

			err = run->type->edge(run, lane, &edge);
		}
	}
	return err;
}

/* Find the space of an id again. */
static int add_space(struct format_run *run, struct decode_by_cr3 *by_cr3,
		     struct decode_space_part *part)
{
	struct decode_item item = {.kind = DECODE_ITEM_BLOCK, .cr3 = part->id};
	struct format_lane *lane;
	int err;

	if (!decode_by_cr3_item(by_cr3, &item))
		return -ENOMEM;
	err = format_lanes_find(run, item.space, &lane);
	if (err)
		return err;
	return part->calls ? add_calls(run, lane, part->calls) : add_edges(run, lane, &part->edges);
}

static int add_all(const struct format_joined *j, struct format_run *run)
{
	const unsigned int vcpus = trace_reader_info(j->reader)->vcpus;
	struct decode_by_cr3 *by_cr3 = decode_by_cr3_new(false);
	int err = by_cr3 ? 0 : -ENOMEM;
	size_t i;

	for (; !err && run->vcpu < vcpus; run->vcpu++) {
		struct decode_space_parts *parts = &j->parts[run->vcpu];

		for (i = 0; !err && i < parts->spaces.n; i++)
			err = add_space(run, by_cr3, &parts->spaces.at[i]);
	}
	decode_by_cr3_free(by_cr3);
	return err;
}

int format_joined_write(const struct format_joined *j)
{
	struct format_run run = {.out = j->out,
				 .reader = j->reader,
				 .symbols = j->symbols,
				 .type = j->type,
				 .inside = true};
	int err = run.type->begin ? run.type->begin(&run) : 0;

	if (!err)
		err = add_all(j, &run);
	if (!err)
		err = run.type->end(&run);
	if (run.type->close)
		run.type->close(&run);
	format_lanes_free(&run);
	return err;
}
