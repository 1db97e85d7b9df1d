// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline for Perfetto, as TrackEvents. Each vCPU is a track, and each of its lanes is a track
 * below it. An instruction is a nanosecond. Names of functions are sent once each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/format.h"
#include "formats/protobuf.h"
#include "trace/pairs.h"

/* Fields of perfetto/trace/trace_packet.proto and track_event/track_event.proto. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS_INTERNED = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5 };
enum {
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { INTERNED_NAMES = 2 };
enum { NAME_ID = 1, NAME_TEXT = 2 };
enum { ANNOTATION_STRING = 6, ANNOTATION_POINTER = 7, ANNOTATION_NAME = 10 };

#define SEQUENCE 1

/* Tracks of vCPUs have these numbers, and lanes those from 1 on. */
#define VCPU_TRACK (1ull << 32)

struct perfetto {
	struct trace_pairs names; /* (function, 0) */
	uint64_t vcpus;		  /* the number of vCPUs whose track was sent */
	bool begun;
};

/* Messages are large, and are cleared by their length. */
static struct format_pb *clear(struct format_pb *pb)
{
	pb->n = 0;
	pb->full = false;
	return pb;
}

static int begin(struct format_run *run)
{
	run->own = calloc(1, sizeof(struct perfetto));
	return run->own ? 0 : -ENOMEM;
}

/* Write a packet, which has all fields but those of the sequence. Returns 0 or -EOVERFLOW. */
static int write_packet(struct format_run *run, struct format_pb *packet)
{
	struct perfetto *p = run->own;
	struct format_pb head;

	format_pb_number(packet, PACKET_SEQUENCE, SEQUENCE);
	format_pb_number(packet, PACKET_FLAGS, FLAG_NEEDS_INTERNED | (p->begun ? 0 : FLAG_CLEARED));
	p->begun = true;
	format_pb_message(clear(&head), TRACE_PACKET, packet);
	if (head.full)
		return -EOVERFLOW;
	fwrite(head.bytes, 1, head.n, run->out);
	return 0;
}

static int write_track(struct format_run *run, uint64_t track, uint64_t parent, const char *name)
{
	struct format_pb message, packet;

	format_pb_number(clear(&message), TRACK_UUID, track);
	format_pb_string(&message, TRACK_NAME, name);
	if (parent)
		format_pb_number(&message, TRACK_PARENT, parent);
	format_pb_message(clear(&packet), PACKET_TRACK, &message);
	return write_packet(run, &packet);
}

static int lane(struct format_run *run, struct format_lane *l)
{
	struct perfetto *p = run->own;
	const uint64_t vcpu = VCPU_TRACK + l->vcpu;
	char name[32];
	int err = 0;

	snprintf(name, sizeof(name), "vCPU %u", l->vcpu);
	/* vCPUs come one after the other. */
	if (p->vcpus <= l->vcpu)
		err = write_track(run, vcpu, 0, name);
	p->vcpus = l->vcpu + 1ull;
	return err ? err : write_track(run, l->id + 1ull, vcpu, l->name);
}

static void annotate(struct format_pb *event, const char *name, const char *text)
{
	struct format_pb message;

	format_pb_string(clear(&message), ANNOTATION_STRING, text);
	format_pb_string(&message, ANNOTATION_NAME, name);
	format_pb_message(event, EVENT_ANNOTATION, &message);
}

static void annotate_address(struct format_pb *event, const char *name, uint64_t address)
{
	struct format_pb message;

	format_pb_number(clear(&message), ANNOTATION_POINTER, address);
	format_pb_string(&message, ANNOTATION_NAME, name);
	format_pb_message(event, EVENT_ANNOTATION, &message);
}

static void begin_event(struct format_pb *event, const struct format_lane *l, unsigned int type)
{
	format_pb_number(clear(event), EVENT_TYPE, type);
	format_pb_number(event, EVENT_TRACK, l->id + 1ull);
}

/* Write an event. @interned is NULL if it has no new name. */
static int write_event(struct format_run *run, const struct format_pb *event,
		       const struct format_pb *interned)
{
	struct format_pb packet;

	format_pb_number(clear(&packet), PACKET_TIMESTAMP, run->clock);
	if (interned)
		format_pb_message(&packet, PACKET_INTERNED, interned);
	format_pb_message(&packet, PACKET_TRACK_EVENT, event);
	return write_packet(run, &packet);
}

/* Make the message that defines the name of a function. */
static void intern(struct format_run *run, uint64_t func, uint64_t id, struct format_pb *interned)
{
	struct format_pb message;
	char text[256];

	debug_symbols_format(run->symbols, func, text, sizeof(text));
	format_pb_number(clear(&message), NAME_ID, id);
	format_pb_string(&message, NAME_TEXT, text);
	format_pb_message(clear(interned), INTERNED_NAMES, &message);
}

static int span_begin(struct format_run *run, struct format_lane *l, uint64_t func,
		      enum decode_span_edge edge)
{
	struct perfetto *p = run->own;
	struct trace_pair *name = trace_pairs_add(&p->names, func, 0);
	struct format_pb event, interned;
	bool is_new;

	if (!name)
		return -ENOMEM;
	is_new = !name->value;
	name->value = (uint64_t)(name - p->names.at) + 1;
	if (is_new)
		intern(run, func, name->value, &interned);
	begin_event(&event, l, TYPE_BEGIN);
	format_pb_number(&event, EVENT_NAME_ID, name->value);
	if (edge != DECODE_SPAN_WHOLE)
		annotate(&event, "begin", edge == DECODE_SPAN_CUT ? "not in the trace" : "resumed");
	return write_event(run, &event, is_new ? &interned : NULL);
}

static int span_end(struct format_run *run, struct format_lane *l, enum decode_span_edge edge)
{
	struct format_pb event;

	begin_event(&event, l, TYPE_END);
	if (edge != DECODE_SPAN_WHOLE)
		annotate(&event, "end", "not in the trace");
	return write_event(run, &event, NULL);
}

static int instant(struct format_run *run, struct format_lane *l, const struct format_instant *at)
{
	struct format_pb event;

	begin_event(&event, l, TYPE_INSTANT);
	format_pb_string(&event, EVENT_NAME, at->name);
	if (at->has_from)
		annotate_address(&event, "from", at->from);
	if (at->has_to)
		annotate_address(&event, "to", at->to);
	if (at->has_value)
		annotate_address(&event, "value", at->value);
	if (at->has_tsc)
		annotate_address(&event, "tsc", at->tsc);
	return write_event(run, &event, NULL);
}

static void close(struct format_run *run)
{
	struct perfetto *p = run->own;

	if (p)
		trace_pairs_free(&p->names);
	free(p);
}

const struct format_type format_type_perfetto = {
	.name = "perfetto",
	.begin = begin,
	.lane = lane,
	.span_begin = span_begin,
	.span_end = span_end,
	.instant = instant,
	.close = close,
};
