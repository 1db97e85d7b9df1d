// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the lane of an address space on a vCPU. */
#include "formats/lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "decode/spaces.h"
#include "trace/vec.h"

static bool is_of(const struct format_lane *lane, unsigned int vcpu,
		  const struct trace_space *space)
{
	if (lane->vcpu != vcpu)
		return false;
	return space ? lane->known && decode_space_is(&lane->space, space) : !lane->known;
}

enum format_side format_lane_side(const struct format_lane *lane)
{
	if (!lane->known || lane->space.flags & DECODE_SPACE_ALONE)
		return FORMAT_NO_SIDE;
	return lane->space.flags & TRACE_SPACE_NON_ROOT ? FORMAT_GUEST : FORMAT_HOST;
}

static bool span_begin(void *context, uint64_t func, enum decode_span_edge edge)
{
	struct format_lane *lane = context;

	return !lane->run->type->span_begin(lane->run, lane, func, edge);
}

static bool span_end(void *context, enum decode_span_edge edge)
{
	struct format_lane *lane = context;

	return !lane->run->type->span_end(lane->run, lane, edge);
}

static const struct decode_calls_watch spans = {span_begin, span_end};

void format_lane_watch(struct format_lane *lane, enum format_spans how)
{
	if (!lane->calls)
		return;
	decode_calls_count(lane->calls,
			   how == FORMAT_SPANS ? DECODE_CALLS_COUNT : DECODE_CALLS_NO_COUNT);
	if (lane->run->type->span_begin)
		decode_calls_watch(lane->calls, how == FORMAT_SPANS ? &spans : NULL, lane);
}

static void name(struct format_lane *lane)
{
	char text[128] = "space not known";

	if (lane->known)
		decode_space_format(&lane->space, text, sizeof(text));
	snprintf(lane->name, sizeof(lane->name), "vCPU %u: %s", lane->vcpu, text);
}

static int make(struct format_run *run, const struct trace_space *space, struct format_lane **to)
{
	struct format_lane *lane = calloc(1, sizeof(*lane));

	if (!lane || !trace_vec_room(&run->lanes)) {
		free(lane);
		return -ENOMEM;
	}
	lane->run = run;
	lane->vcpu = run->vcpu;
	lane->known = space != NULL;
	if (space)
		lane->space = *space;
	lane->id = (uint32_t)run->lanes.n;
	run->lanes.at[run->lanes.n++] = lane;
	name(lane);
	if (!format_has_blocks(run->type)) {
		lane->calls = decode_calls_new(run->symbols);
		if (!lane->calls)
			return -ENOMEM;
	}
	format_lane_watch(lane, run->inside ? FORMAT_SPANS : FORMAT_NO_SPANS);
	*to = lane;
	return run->type->lane ? run->type->lane(run, lane) : 0;
}

int format_lanes_find(struct format_run *run, const struct trace_space *space,
		      struct format_lane **lane)
{
	size_t i;

	for (i = 0; i < run->lanes.n; i++) {
		if (is_of(run->lanes.at[i], run->vcpu, space)) {
			*lane = run->lanes.at[i];
			return 0;
		}
	}
	return make(run, space, lane);
}

void format_lanes_free(struct format_run *run)
{
	size_t i;

	for (i = 0; i < run->lanes.n; i++) {
		decode_calls_free(run->lanes.at[i]->calls);
		free(run->lanes.at[i]);
	}
	free(run->lanes.at);
}
