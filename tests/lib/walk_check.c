// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode a walk's trace, and compare the result with the instructions that were executed. */
#include "oracle/hold.h"
#include "lib/walk_inside.h"

#include <string.h>
#include <unistd.h>

#include "decode/flow.h"
#include "trace/writer.h"
#include "vpt/packet.h"

/* An upper bound of the items between two items that send packets. */
#define TAIL_MAX 40

struct compare {
	const struct walk_config *config;
	struct walk_result *walk;
	size_t next;  /* item that must come next */
	size_t lost;  /* the next LOST at or after it, or count */
	bool adrift;  /* until LOST, decoded items need not have been executed */
	size_t value; /* the PTWRITE value that must come next */
	char *why;
	size_t size;
	bool failed;
};

/* Save the same code in both address spaces, so that either works where no PIP selects one. */
static void save_code(struct trace_writer *writer, const struct walk_result *result)
{
	static const uint64_t spaces[] = {CR3_A, CR3_B};
	const struct trace_cr3_switch first = {.cr3 = CR3_A};
	uint32_t at;
	size_t i;

	MUST(!trace_writer_cr3(writer, 0, &first));
	for (i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		for (at = 0; at < WALK_CODE_SIZE; at += TRACE_CODE_BYTES) {
			struct trace_code_page page = {
				.cr3 = spaces[i],
				.vaddr = WALK_CODE_BASE + at,
				.gpa = WALK_CODE_BASE + at,
			};

			MUST(!trace_writer_code(writer, 0, &page, result->code + at));
		}
	}
}

void walk_save(const struct walk_config *config, const struct walk_result *result, const char *path)
{
	struct trace_file_info info = {
		.owner = TRACE_OWNER_HOST,
		.vcpus = 1,
	};
	struct trace_session session = {
		.edge = TRACE_SESSION_START,
		.ctl = config->ctl | VPT_CTL_MASK(TRACE_EN),
		.cr3_match = config->cr3_match,
	};
	struct trace_writer *writer;

	walk_caps(config, &info.caps);
	memcpy(session.addr, config->addr, sizeof(session.addr));
	MUST(!trace_writer_open(path, &info, &writer));
	save_code(writer, result);
	MUST(!trace_writer_session(writer, 0, &session));
	MUST(!trace_writer_trace(writer, 0, UINT64_MAX, result->trace + result->first,
				 result->trace_len - result->first));
	session.edge = TRACE_SESSION_END;
	session.end = result->full ? TRACE_END_TOPA_STOP : TRACE_END_CLOSED;
	MUST(!trace_writer_session(writer, 0, &session));
	MUST(!trace_writer_close(writer, 0));
}

static const char *kind_text(enum walk_kind kind)
{
	return kind == WALK_INSN    ? "insn"
	       : kind == WALK_EVENT ? "event"
	       : kind == WALK_LOST  ? "lost"
				    : "off";
}

static void fail(struct compare *c, const char *what, uint64_t ip)
{
	size_t i, from = c->next > 4 ? c->next - 4 : 0;
	int n;

	if (c->failed)
		return;
	c->failed = true;
	n = snprintf(c->why, c->size, "decoder has %s %llx at item %zu of %zu; executed:", what,
		     (unsigned long long)ip, c->next, c->walk->count);
	for (i = from; i < c->walk->count && i < c->next + 3 && (size_t)n < c->size; i++)
		n += snprintf(c->why + n, c->size - (size_t)n, "%s %s %llx",
			      i == c->next ? " *" : "", kind_text(c->walk->items[i].kind),
			      (unsigned long long)c->walk->items[i].ip);
}

/* Return the number of items before the one that sent the last packets before `at`. */
static uint32_t sure_before(const struct walk_item *items, size_t count, size_t at)
{
	size_t i = count;

	while (i && items[i - 1].at >= at)
		i--;
	if (!i)
		return 0;
	at = items[i - 1].at;
	while (i && items[i - 1].at >= at)
		i--;
	return (uint32_t)i;
}

/* Insert a LOST item for an OVF at `at`. The packets before the OVF end at `end`. */
static void add_lost(struct walk_result *walk, const struct walk_config *config, size_t at,
		     size_t end)
{
	size_t before = walk->count, sure;

	while (before && walk->items[before - 1].at > at)
		before--;
	/* If the walk itself decides to lose packets, no packets are pending. */
	sure = config->options.buffer_bytes ? sure_before(walk->items, before, end) : before;
	/*
	 * Exclude the instructions since the last branch, which a decoder that looks ahead does not
	 * report.
	 */
	sure = sure > TAIL_MAX ? sure - TAIL_MAX : 0;
	walk->items = realloc(walk->items, (walk->count + 1) * sizeof(*walk->items));
	MUST(walk->items);
	memmove(walk->items + before + 1, walk->items + before,
		(walk->count - before) * sizeof(*walk->items));
	walk->items[before] =
		(struct walk_item){.kind = WALK_LOST, .sure = (uint32_t)sure, .at = at};
	walk->count++;
	walk->losses++;
}

/* Read all packets, and insert a LOST item for each OVF. Return false if a packet is bad. */
static bool read_packets(const struct walk_config *config, struct walk_result *walk)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = 0, cyc = 0;
	bool was_cyc = false;

	for (; at < walk->trace_len; at += packet.size) {
		enum vpt_status status =
			vpt_packet_read(&parser, walk->trace + at, walk->trace_len - at, &packet);

		if (status == VPT_E_EOS && walk->full)
			return true;
		if (status != VPT_OK)
			return false;
		if (packet.kind == VPT_PKT_OVF)
			add_lost(walk, config, at, was_cyc ? cyc : at);
		was_cyc = packet.kind == VPT_PKT_CYC;
		cyc = at;
	}
	return true;
}

/* Skip the items whose packets were overwritten. */
static void skip_overwritten(struct compare *c)
{
	const struct walk_result *walk = c->walk;

	if (!walk->first)
		return;
	while (c->next < walk->count && walk->items[c->next].at <= walk->first)
		c->next++;
	while (c->value < walk->value_count && walk->values[c->value].at <= walk->first)
		c->value++;
}

static bool sure(struct compare *c)
{
	const struct walk_item *items = c->walk->items;

	if (c->lost < c->next)
		c->lost = c->next;
	while (c->lost < c->walk->count && items[c->lost].kind != WALK_LOST)
		c->lost++;
	return c->lost == c->walk->count || c->next < items[c->lost].sure;
}

static void take_lost(struct compare *c)
{
	bool is_sure = sure(c);

	if (c->lost == c->walk->count || is_sure) {
		fail(c, "an overflow", 0);
		return;
	}
	c->next = c->lost + 1;
	c->adrift = false;
}

/* Return the next item that must be decoded. */
static const struct walk_item *front(struct compare *c)
{
	while (c->next < c->walk->count && c->walk->items[c->next].kind == WALK_OFF)
		c->next++;
	return &c->walk->items[c->next];
}

static void take(struct compare *c, enum walk_kind kind, uint64_t ip)
{
	const struct walk_item *item;

	if (c->adrift)
		return;
	item = front(c);
	/*
	 * After a STOP region the decoder runs past the last item, since no packet ends the trace.
	 */
	if (c->next == c->walk->count && c->walk->full && kind == WALK_INSN)
		return;
	if (c->next < c->walk->count && item->kind == kind && item->ip == ip)
		c->next++;
	else if (!sure(c))
		c->adrift = true;
	else
		fail(c, kind_text(kind), ip);
}

/* Take a PTWRITE value. Skip values that were lost with their packets. */
static void take_value(struct compare *c, uint64_t value)
{
	const struct walk_result *walk = c->walk;

	while (walk->losses && c->value < walk->value_count &&
	       walk->values[c->value].value != value)
		c->value++;
	if (c->value < walk->value_count && walk->values[c->value].value == value)
		c->value++;
	else
		fail(c, "a PTWRITE of", value);
}

static bool is_off_at(const struct compare *c, uint64_t ip)
{
	const struct walk_item *item = &c->walk->items[c->next];

	return !c->adrift && c->next < c->walk->count && item->kind == WALK_OFF && item->ip == ip;
}

/* FUP and TIP.PGD mean an event that left the context, or the WRMSR that ends a trace. */
static bool is_event_at(struct compare *c, uint64_t ip)
{
	const struct walk_item *item = front(c);

	return c->next < c->walk->count && item->kind == WALK_EVENT && item->ip == ip;
}

static void take_event(struct compare *c, const struct decode_item *item)
{
	switch (item->event) {
	case DECODE_FLOW_ASYNC_BRANCH:
		take(c, WALK_EVENT, item->ip);
		break;
	case DECODE_FLOW_ASYNC_DISABLED:
		if (is_off_at(c, item->ip))
			c->next++;
		else if (is_event_at(c, item->ip))
			take(c, WALK_EVENT, item->ip);
		break;
	case DECODE_FLOW_OVERFLOW:
		take_lost(c);
		break;
	case DECODE_FLOW_PTWRITE:
		take_value(c, item->value);
		break;
	default:
		break;
	}
}

static void take_item(struct compare *c, const struct decode_item *item)
{
	char text[200];

	if (item->kind == DECODE_ITEM_ERROR) {
		snprintf(text, sizeof(text), "an error at offset %#llx, %s,",
			 (unsigned long long)item->offset, item->text);
		fail(c, text, item->ip);
	} else if (item->kind == DECODE_ITEM_INSN) {
		take(c, WALK_INSN, item->ip);
	} else if (item->kind == DECODE_ITEM_EVENT) {
		take_event(c, item);
	}
}

/* Check that all items were found. */
static void take_end(struct compare *c)
{
	const struct walk_result *walk = c->walk;
	uint32_t last;

	(void)front(c);

	if (walk->full) {
		last = sure_before(walk->items, walk->count, walk->trace_len);
		last = last > TAIL_MAX ? last - TAIL_MAX : 0;
	} else {
		last = (uint32_t)walk->count;
	}
	/* A trace may end in an overflow that no packet reports. */
	if (c->next < last && !(c->adrift && walk->full))
		fail(c, "the end", 0);
	if (!walk->full && !walk->losses && c->value != walk->value_count)
		fail(c, "PTWRITEs", c->value);
}

static void compare_flow(struct compare *c, const char *path)
{
	struct trace_reader *reader;
	struct oracle_hold hold = {.holds = false};
	struct decode_flow *flow;
	struct decode_item item;
	char why[160];

	if (trace_reader_open(path, &reader, why, sizeof(why))) {
		fail(c, why, 0);
		return;
	}
	MUST(!decode_flow_open(reader, 0, DECODE_FLOW_INSNS, &flow));
	do {
		MUST(!oracle_hold_next(&hold, flow, &item));
		take_item(c, &item);
	} while (item.kind != DECODE_ITEM_END && !c->failed);
	if (!c->failed)
		take_end(c);
	decode_flow_close(flow);
	trace_reader_close(reader);
}

bool walk_check(const struct walk_config *config, char *why, size_t size, struct walk_seen *seen)
{
	char path[] = "/tmp/vpt-walk-XXXXXX";
	int fd = mkstemp(path);
	struct walk_result *walk = walk_run(config);
	struct compare c = {.config = config, .walk = walk, .why = why, .size = size};

	MUST(fd >= 0);
	close(fd);
	why[0] = '\0';
	if (seen)
		*seen = (struct walk_seen){.insns = walk->count,
					   .bytes = walk->trace_len,
					   .wraps = walk->wraps,
					   .values = (unsigned int)walk->value_count,
					   .full = walk->full,
					   .stopped = walk->stopped};
	if (walk->wrong) {
		fail(&c, walk->wrong, 0);
	} else if (!read_packets(config, walk)) {
		fail(&c, "no packet", 0);
	} else if (config->ctl & VPT_CTL_MASK(DIS_TNT)) {
		c.failed = !walk_targets(config, walk, why, size);
	} else {
		walk_save(config, walk, path);
		skip_overwritten(&c);
		compare_flow(&c, path);
	}
	if (seen)
		seen->losses = walk->losses;
	unlink(path);
	walk_free(walk);
	return !c.failed;
}
