// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline for speedscope: a profile of events for each vCPU. The events of a profile are one
 * stack, so the lane is its first frame, and the stack of another lane replaces it. A span whose
 * beginning is not in the trace has " [cut]" in its name. One whose end is not in the trace ends
 * with an empty frame "[cut]".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/format.h"
#include "text/text.h"
#include "trace/pairs.h"
#include "trace/vec.h"

/* Frames are numbered in the order of their first use. Keys of frames that are no function: */
#define KEY_WHOLE   0ull /* with the address of the function */
#define KEY_CUT	    1ull
#define KEY_LANE    2ull /* with the number of the lane */
#define KEY_ENDMARK 3ull

struct speedscope {
	struct trace_pairs frames;
	const struct format_lane *lane; /* whose frames are open, or NULL */
	uint64_t last;			/* the clock of the last event */
	unsigned int vcpu;
	bool open;	/* a profile is open */
	bool has_event; /* of the open profile */
	bool has_profile;
};

struct stack {
	uint64_t *at; /* numbers of frames */
	size_t n, room;
};

static int begin(struct format_run *run)
{
	run->own = calloc(1, sizeof(struct speedscope));
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"vpt\",\"profiles\":[",
	      run->out);
	return run->own ? 0 : -ENOMEM;
}

static int lane(struct format_run *run, struct format_lane *l)
{
	(void)run;
	l->own = calloc(1, sizeof(struct stack));
	return l->own ? 0 : -ENOMEM;
}

/* Find or add a frame. Returns 0 or -ENOMEM. */
static int find_frame(struct speedscope *s, uint64_t func, uint64_t kind, uint64_t *frame)
{
	struct trace_pair *pair = trace_pairs_add(&s->frames, func, kind);

	if (!pair)
		return -ENOMEM;
	*frame = (uint64_t)(pair - s->frames.at);
	return 0;
}

static void write_event(struct format_run *run, const char *type, uint64_t frame)
{
	struct speedscope *s = run->own;

	fprintf(run->out, "%s\n{\"type\":\"%s\",\"frame\":%" PRIu64 ",\"at\":%" PRIu64 "}",
		s->has_event ? "," : "", type, frame, run->clock);
	s->has_event = true;
	s->last = run->clock;
}

/* Close the frames of the open lane. */
static void close_stack(struct format_run *run)
{
	struct speedscope *s = run->own;
	const struct stack *stack = s->lane ? s->lane->own : NULL;
	size_t i;

	for (i = stack ? stack->n : 0; i--;)
		write_event(run, "C", stack->at[i]);
	s->lane = NULL;
}

static void end_profile(struct format_run *run)
{
	struct speedscope *s = run->own;

	if (s->open)
		fprintf(run->out, "],\n\"endValue\":%" PRIu64 "}", s->last);
	s->open = false;
}

static void begin_profile(struct format_run *run, const struct format_lane *l)
{
	struct speedscope *s = run->own;

	fprintf(run->out,
		"%s\n{\"type\":\"evented\",\"name\":\"vCPU %u\",\"unit\":\"none\","
		"\"startValue\":%" PRIu64 ",\"events\":[",
		s->has_profile ? "," : "", l->vcpu, run->clock);
	s->has_profile = s->open = true;
	s->has_event = false;
	s->vcpu = l->vcpu;
	s->last = run->clock;
}

/* Make the frames of a lane the open ones. */
static void open_stack(struct format_run *run, const struct format_lane *l)
{
	struct speedscope *s = run->own;
	const struct stack *stack = l->own;
	size_t i;

	if (s->open && s->vcpu != l->vcpu)
		end_profile(run);
	if (!s->open)
		begin_profile(run, l);
	if (s->lane == l)
		return;
	close_stack(run);
	for (i = 0; i < stack->n; i++)
		write_event(run, "O", stack->at[i]);
	s->lane = l;
}

static int push(struct format_run *run, struct format_lane *l, uint64_t frame)
{
	struct stack *stack = l->own;

	if (!trace_vec_room(stack))
		return -ENOMEM;
	stack->at[stack->n++] = frame;
	write_event(run, "O", frame);
	return 0;
}

static int span_begin(struct format_run *run, struct format_lane *l, uint64_t func,
		      enum decode_span_edge edge)
{
	struct stack *stack = l->own;
	uint64_t frame;
	int err = 0;

	open_stack(run, l);
	if (!stack->n) {
		err = find_frame(run->own, l->id, KEY_LANE, &frame);
		err = err ? err : push(run, l, frame);
	}
	if (!err)
		err = find_frame(run->own, func, edge == DECODE_SPAN_WHOLE ? KEY_WHOLE : KEY_CUT,
				 &frame);
	return err ? err : push(run, l, frame);
}

static int span_end(struct format_run *run, struct format_lane *l, enum decode_span_edge edge)
{
	struct stack *stack = l->own;
	uint64_t mark;
	int err;

	open_stack(run, l);
	if (edge != DECODE_SPAN_WHOLE) {
		err = find_frame(run->own, 0, KEY_ENDMARK, &mark);
		if (err)
			return err;
		write_event(run, "O", mark);
		write_event(run, "C", mark);
	}
	write_event(run, "C", stack->at[--stack->n]);
	/* The frame of the lane has no span of its own. */
	if (stack->n == 1)
		write_event(run, "C", stack->at[--stack->n]);
	return 0;
}

static void write_frame(struct format_run *run, const struct trace_pair *frame)
{
	char text[256], name[300];

	if (frame->b == KEY_LANE)
		snprintf(name, sizeof(name), "%s", run->lanes.at[frame->a]->name);
	else if (frame->b == KEY_ENDMARK)
		snprintf(name, sizeof(name), "[cut]");
	else {
		debug_symbols_format(run->symbols, frame->a, text, sizeof(text));
		snprintf(name, sizeof(name), "%s%s", text, frame->b == KEY_CUT ? " [cut]" : "");
	}
	fputs("{\"name\":", run->out);
	text_json_string(run->out, name);
	putc('}', run->out);
}

static int end(struct format_run *run)
{
	const struct speedscope *s = run->own;
	size_t i;

	end_profile(run);
	fputs("],\n\"shared\":{\"frames\":[", run->out);
	for (i = 0; i < s->frames.n; i++) {
		fputs(i ? ",\n" : "\n", run->out);
		write_frame(run, &s->frames.at[i]);
	}
	fputs("]}}\n", run->out);
	return 0;
}

static void close(struct format_run *run)
{
	struct speedscope *s = run->own;
	size_t i;

	for (i = 0; i < run->lanes.n; i++) {
		struct stack *stack = run->lanes.at[i]->own;

		if (stack)
			free(stack->at);
		free(stack);
	}
	if (s)
		trace_pairs_free(&s->frames);
	free(s);
}

const struct format_type format_type_speedscope = {
	.name = "speedscope",
	.begin = begin,
	.lane = lane,
	.span_begin = span_begin,
	.span_end = span_end,
	.end = end,
	.close = close,
};
