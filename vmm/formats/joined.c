// SPDX-License-Identifier: GPL-2.0-or-later
/* Make the lanes of a format of joined results. */
#include "formats/joined.h"

#include <errno.h>

#include "decode/by_cr3.h"
#include "formats/lanes.h"

bool format_can_join(const struct format_type *type, enum decode_space_wanted *wanted)
{
	const bool edges = type->join || type->join_map;

	*wanted = edges ? DECODE_SPACE_EDGES : DECODE_SPACE_CALLS;
	return edges || (type->end && !format_has_blocks(type) && !type->span_begin &&
			 !type->instant && !type->vm_exit);
}

static int add_calls(struct format_run *run, struct format_lane *lane, struct decode_calls *calls)
{
	const struct decode_calls_pieces *pieces = decode_calls_close_open(calls);

	if (!pieces || !decode_calls_join(lane->calls, pieces))
		return -ENOMEM;
	run->insns += decode_calls_insns(lane->calls);
	return 0;
}

/* Find the space of an id again. */
static int add_space(struct format_run *run, struct decode_by_cr3 *by_cr3,
		     struct decode_space_part *part)
{
	const struct trace_space *space;
	struct format_lane *lane;
	int err;

	if (!decode_by_cr3_find(by_cr3, part->id, part->task, &space))
		return -ENOMEM;
	err = format_lanes_find(run, space, &lane);
	if (err)
		return err;
	if (part->calls)
		return add_calls(run, lane, part->calls);
	return run->type->join ? run->type->join(run, lane, &part->edges) : 0;
}

static int add_vcpu(struct format_run *run, struct decode_by_cr3 *by_cr3,
		    struct decode_space_parts *parts)
{
	int err = decode_space_parts_close(parts) ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !err && i < parts->spaces.n; i++) {
		/* Before the first space, an event has no lane. */
		if (!parts->spaces.at[i].before)
			err = add_space(run, by_cr3, &parts->spaces.at[i]);
	}
	return err || !run->type->join_map ? err : run->type->join_map(run, &parts->map);
}

static int add_all(const struct format_joined *j, struct format_run *run)
{
	const unsigned int vcpus = trace_reader_info(j->reader)->vcpus;
	struct decode_by_cr3 *by_cr3 = decode_by_cr3_new(false);
	int err = by_cr3 ? decode_by_cr3_tasks(by_cr3, j->reader) : -ENOMEM;

	for (; !err && run->vcpu < vcpus; run->vcpu++)
		err = add_vcpu(run, by_cr3, &j->parts[run->vcpu]);
	decode_by_cr3_free(by_cr3);
	return err;
}

int format_joined_write(const struct format_joined *j)
{
	struct format_run run = {.out = j->out,
				 .reader = j->reader,
				 .symbols = j->symbols,
				 .type = j->type,
				 .base = j->base,
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
