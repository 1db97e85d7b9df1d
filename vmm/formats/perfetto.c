// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline for Perfetto, as TrackEvents. Each vCPU is a track, and each of its lanes is a track
 * below it. If the trace spans a host and its guests, the tracks of a machine are those of a process.
 * An instruction is a nanosecond, unless the TSC relates several vCPUs. Names of functions are sent
 * once each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/clocks.h"
#include "formats/lanes.h"
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
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum {
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_FLOW = 47,
	EVENT_LAST_OF_FLOW = 48,
	/* Perfetto up to version 25 reads these, and later versions ignore them beside the others. */
	EVENT_FLOW_25 = 36,
	EVENT_LAST_OF_FLOW_25 = 42,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { INTERNED_NAMES = 2 };
enum { NAME_ID = 1, NAME_TEXT = 2 };
enum { ANNOTATION_STRING = 6, ANNOTATION_POINTER = 7, ANNOTATION_NAME = 10 };

#define SEQUENCE 1

/*
 * Tracks of lanes have numbers from 1 on. Those of machines and of vCPUs have these bits, and the
 * latter also the index of the machine.
 */
#define VCPU_TRACK    (1ull << 32)
#define MACHINE_TRACK (1ull << 33)
#define MACHINE_SHIFT 34

/* The machine that is the host, and the one of lanes without a side. VMs have their numbers. */
#define HOST	   (1ull << 32)
#define NO_MACHINE (2ull << 32)

struct perfetto {
	struct trace_pairs names; /* (function, 0) */
	/* The machines and their vCPUs that have a track: (machine, ~0) and (machine, vCPU). */
	struct trace_pairs machines, vcpus;
	struct format_clocks *clocks; /* NULL if an instruction is a nanosecond */
	uint64_t flows;		      /* the number of flows; the last one has this number */
	struct format_lane
		*handler; /* the host's lane in which the last flow ends; NULL if it has */
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
	struct perfetto *p = calloc(1, sizeof(*p));

	run->own = p;
	return p ? format_clocks_open(run->reader, &p->clocks) : -ENOMEM;
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

/* Write the track of a lane, of a vCPU, or of a process if @pid is not 0. */
static int write_track(struct format_run *run, uint64_t track, uint64_t parent, uint64_t pid,
		       const char *name)
{
	struct format_pb message, packet, process;

	format_pb_number(clear(&message), TRACK_UUID, track);
	if (pid) {
		format_pb_number(clear(&process), PROCESS_PID, pid);
		format_pb_string(&process, PROCESS_NAME, name);
		format_pb_message(&message, TRACK_PROCESS, &process);
	} else {
		format_pb_string(&message, TRACK_NAME, name);
	}
	if (parent)
		format_pb_number(&message, TRACK_PARENT, parent);
	format_pb_message(clear(&packet), PACKET_TRACK, &message);
	return write_packet(run, &packet);
}

static uint64_t machine_of(const struct format_lane *l)
{
	switch (format_lane_side(l)) {
	case FORMAT_HOST:
		return HOST;
	case FORMAT_GUEST:
		return l->space.vm;
	default:
		return NO_MACHINE;
	}
}

/* Find the index of a machine, from 1 on, or 0 if there is none. Write its track if it is new. */
static int find_machine(struct format_run *run, uint64_t machine, uint64_t *index)
{
	struct perfetto *p = run->own;
	struct trace_pair *pair;
	char name[32] = "host";

	*index = 0;
	if (machine == NO_MACHINE)
		return 0;
	pair = trace_pairs_add(&p->machines, machine, UINT64_MAX);
	if (!pair)
		return -ENOMEM;
	*index = (uint64_t)(pair - p->machines.at) + 1;
	if (pair->value)
		return 0;
	pair->value = 1;
	if (machine == TRACE_SPACE_NO_VM)
		snprintf(name, sizeof(name), "guest");
	else if (machine != HOST)
		snprintf(name, sizeof(name), "VM %" PRIu64, machine);
	return write_track(run, MACHINE_TRACK + *index, 0, *index, name);
}

static int lane(struct format_run *run, struct format_lane *l)
{
	struct perfetto *p = run->own;
	const uint64_t machine = machine_of(l);
	struct trace_pair *pair;
	uint64_t index, vcpu;
	char name[32];
	int err = find_machine(run, machine, &index);

	if (err)
		return err;
	pair = trace_pairs_add(&p->vcpus, machine, l->vcpu);
	if (!pair)
		return -ENOMEM;
	vcpu = VCPU_TRACK + l->vcpu + (index << MACHINE_SHIFT);
	snprintf(name, sizeof(name), "vCPU %u", l->vcpu);
	if (!pair->value)
		err = write_track(run, vcpu, index ? MACHINE_TRACK + index : 0, 0, name);
	pair->value = 1;
	return err ? err : write_track(run, l->id + 1ull, vcpu, 0, l->name);
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
	const struct perfetto *p = run->own;
	struct format_pb packet;
	uint64_t time = run->clock;

	if (p->clocks)
		time = format_clocks_ns(p->clocks, run->vcpu, time);
	format_pb_number(clear(&packet), PACKET_TIMESTAMP, time);
	if (interned)
		format_pb_message(&packet, PACKET_INTERNED, interned);
	format_pb_message(&packet, PACKET_TRACK_EVENT, event);
	return write_packet(run, &packet);
}

static void flow(struct format_pb *event, unsigned int field, unsigned int field_25, uint64_t id)
{
	format_pb_fixed64(event, field, id);
	format_pb_number(event, field_25, id);
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
	if (p->handler == l) {
		flow(&event, EVENT_LAST_OF_FLOW, EVENT_LAST_OF_FLOW_25, p->flows);
		p->handler = NULL;
	}
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

/*
 * A flow leads from a VM exit to the span of its handler. If the host's function before the VM entry
 * continues, no span begins, and the flow leads to an instant in it.
 */
static int vm_exit(struct format_run *run, struct format_lane *guest, struct format_lane *host,
		   uint64_t ip, enum format_exit exit)
{
	struct perfetto *p = run->own;
	struct format_pb event;

	if (exit == FORMAT_EXIT_LEFT) {
		p->handler = host;
		begin_event(&event, guest, TYPE_INSTANT);
		format_pb_string(&event, EVENT_NAME, "VM exit");
		annotate_address(&event, "to", ip);
		flow(&event, EVENT_FLOW, EVENT_FLOW_25, ++p->flows);
		return write_event(run, &event, NULL);
	}
	if (p->handler != host)
		return 0;
	p->handler = NULL;
	begin_event(&event, host, TYPE_INSTANT);
	format_pb_string(&event, EVENT_NAME, "VM exit handler");
	annotate_address(&event, "to", ip);
	flow(&event, EVENT_LAST_OF_FLOW, EVENT_LAST_OF_FLOW_25, p->flows);
	return write_event(run, &event, NULL);
}

static void close(struct format_run *run)
{
	struct perfetto *p = run->own;

	if (!p)
		return;
	trace_pairs_free(&p->names);
	trace_pairs_free(&p->machines);
	trace_pairs_free(&p->vcpus);
	format_clocks_close(p->clocks);
	free(p);
}

const struct format_type format_type_perfetto = {
	.name = "perfetto",
	.begin = begin,
	.lane = lane,
	.span_begin = span_begin,
	.span_end = span_end,
	.instant = instant,
	.vm_exit = vm_exit,
	.close = close,
};
