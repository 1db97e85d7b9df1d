// SPDX-License-Identifier: GPL-2.0-or-later
/* Build a tree of calls from the blocks that ran. */
#include <stdlib.h>

#include "decode/calls_inside.h"

static bool new_node(struct decode_calls *c, uint32_t parent, uint64_t func, uint32_t *index)
{
	struct decode_call_node *above;

	if (c->nodes.n == UINT32_MAX || !trace_vec_room(&c->nodes))
		return false;
	*index = (uint32_t)c->nodes.n;
	above = &c->nodes.at[parent];
	c->nodes.at[c->nodes.n++] = (struct decode_call_node){
		.parent = parent,
		.func = func,
		.depth = *index == DECODE_CALLS_ROOT ? 0 : above->depth + 1};
	if (*index == DECODE_CALLS_ROOT)
		return true;
	if (above->child == DECODE_CALLS_ROOT)
		above->child = *index;
	else
		c->nodes.at[above->last_child].next = *index;
	above->last_child = *index;
	return true;
}

struct decode_calls *decode_calls_new(const struct debug_symbols *symbols)
{
	struct decode_calls *c = calloc(1, sizeof(*c));
	uint32_t root;

	if (!c)
		return NULL;
	c->symbols = symbols;
	c->arrival = DECODE_BY_STARTING;
	c->func = DECODE_NO_FUNCTION;
	c->counts = DECODE_CALLS_COUNT;
	if (!new_node(c, DECODE_CALLS_ROOT, 0, &root)) {
		free(c);
		return NULL;
	}
	return c;
}

struct decode_calls *decode_calls_new_open(const struct debug_symbols *symbols)
{
	struct decode_calls *c = decode_calls_new(symbols);

	if (!c)
		return NULL;
	c->open = calloc(1, sizeof(*c->open));
	if (!c->open) {
		decode_calls_free(c);
		return NULL;
	}
	c->open->func = DECODE_NO_FUNCTION;
	c->arrival = DECODE_BY_UNKNOWN;
	return c;
}

void decode_calls_free(struct decode_calls *c)
{
	if (!c)
		return;
	free(c->nodes.at);
	free(c->stack.at);
	free(c->durations.nodes.at);
	if (c->open) {
		free(c->open->pieces.at);
		free(c->open->nodes.at);
		free(c->open->frames.at);
		free(c->open);
	}
	free(c);
}

uint64_t decode_calls_function(void *symbols, uint64_t ip)
{
	const struct debug_symbol *symbol = debug_symbols_find(symbols, ip);

	return symbol ? symbol->start : DECODE_NO_FUNCTION;
}

/* Return the function of an address, as in a part. */
static uint64_t function(const struct decode_calls *c, uint64_t ip)
{
	return decode_calls_function((void *)(uintptr_t)c->symbols, ip);
}

/* Returns how the beginning of a function's call is known. */
static enum decode_span_edge edge_of(enum decode_calls_arrival arrival)
{
	switch (arrival) {
	case DECODE_BY_RETURN:
	case DECODE_BY_FAR_RETURN:
	case DECODE_BY_RESUMING:
	case DECODE_BY_STARTING:
		return DECODE_SPAN_CUT;
	default:
		return DECODE_SPAN_WHOLE;
	}
}

/* Returns how the end of the calls that execution leaves is known. */
static enum decode_span_edge ended_by(enum decode_calls_arrival arrival)
{
	return arrival == DECODE_BY_RESUMING || arrival == DECODE_BY_STARTING ? DECODE_SPAN_CUT
									      : DECODE_SPAN_WHOLE;
}

/* End the spans of the functions below @node, which is the current node or above it. */
static bool end_spans(struct decode_calls *c, uint32_t node, enum decode_span_edge edge)
{
	bool ok = true;

	if (!c->watch || c->cut)
		return true;
	for (; ok && c->now != node; c->now = c->nodes.at[c->now].parent)
		ok = c->watch->end(c->context, edge);
	return ok;
}

/* End the calls below @node, which is the current node or above it. */
static bool end_calls(struct decode_calls *c, uint32_t node, enum decode_span_edge edge)
{
	uint32_t i;

	for (i = c->now; c->durations.min && i != node; i = c->nodes.at[i].parent)
		decode_durations_end(&c->durations, i, c->insns, c->ticks);
	return end_spans(c, node, edge);
}

/* The same, fast where nobody needs the ends. */
static inline bool leave(struct decode_calls *c, uint32_t node, enum decode_span_edge edge)
{
	return (!c->watch && !c->durations.min) || end_calls(c, node, edge);
}

bool decode_calls_child(struct decode_calls *c, uint32_t parent, uint64_t func, uint32_t *child)
{
	uint32_t i = c->nodes.at[parent].recent;

	if (i == DECODE_CALLS_ROOT || c->nodes.at[i].func != func) {
		for (i = c->nodes.at[parent].child; i != DECODE_CALLS_ROOT;
		     i = c->nodes.at[i].next) {
			if (c->nodes.at[i].func == func)
				break;
		}
		if (i == DECODE_CALLS_ROOT && !new_node(c, parent, func, &i))
			return false;
		c->nodes.at[parent].recent = i;
	}
	*child = i;
	return true;
}

/* Enter a function below a node. */
static bool enter(struct decode_calls *c, uint32_t parent, uint64_t func)
{
	uint32_t i;

	if (!leave(c, parent, ended_by(c->arrival)))
		return false;
	c->func = func;
	c->below = c->nodes.at[parent].depth == DECODE_CALLS_DEPTH;
	if (c->below) {
		c->now = parent;
		return true;
	}
	if (!decode_calls_child(c, parent, func, &i))
		return false;
	if (c->counts == DECODE_CALLS_COUNT)
		c->nodes.at[i].count++;
	c->now = i;
	c->entered = i;
	if (c->durations.min && !decode_durations_begin(&c->durations, i, c->insns, c->ticks))
		return false;
	if (!c->watch || c->cut)
		return true;
	return c->watch->begin(c->context, func, edge_of(c->arrival));
}

static bool call(struct decode_calls *c, uint64_t func, bool event)
{
	if (!trace_vec_room(&c->stack))
		return false;
	c->stack.at[c->stack.n++] =
		(struct decode_call_frame){c->ret, c->func, c->now, event, c->below};
	return enter(c, c->now, func);
}

/* Change the current function without a call. */
static bool jump(struct decode_calls *c, uint64_t func)
{
	if (c->func == func)
		return true;
	if (c->below) {
		c->func = func;
		return true;
	}
	return enter(c, c->nodes.at[c->now].parent, func);
}

/* Leave all calls from frame @i on, and continue in its caller. */
static bool leave_to(struct decode_calls *c, size_t i, enum decode_span_edge edge)
{
	const struct decode_call_frame *frame = &c->stack.at[i];

	if (!leave(c, frame->node, edge))
		return false;
	c->now = frame->node;
	c->func = frame->func;
	c->below = frame->below;
	c->stack.n = i;
	return true;
}

static bool return_to(struct decode_calls *c, uint64_t ip, uint64_t func)
{
	uint64_t here = ip; /* from a call that is not in the trace */
	size_t i;

	for (i = c->stack.n; i; i--) {
		if (decode_calls_returns_to(&c->stack.at[i - 1], ip)) {
			if (!leave_to(c, i - 1, DECODE_SPAN_WHOLE))
				return false;
			here = c->func;
			break;
		}
	}
	/* The event may have occurred where one function continues into another. */
	return jump(c, func == DECODE_NO_FUNCTION ? here : func);
}

/* Resume after a gap, possibly in a function that is still active. */
static bool resume(struct decode_calls *c, uint64_t func)
{
	size_t i;

	if (c->func == func)
		return true;
	for (i = c->stack.n; i; i--) {
		if (c->stack.at[i - 1].func == func)
			return leave_to(c, i - 1, DECODE_SPAN_CUT);
	}
	c->stack.n = 0;
	return enter(c, DECODE_CALLS_ROOT, func);
}

/* Move to @ip, in the function @func or DECODE_NO_FUNCTION. */
static bool move(struct decode_calls *c, uint64_t ip, uint64_t func)
{
	const bool known = func != DECODE_NO_FUNCTION;
	const uint64_t here = c->now == DECODE_CALLS_ROOT && !c->open ? ip : c->func;

	if (decode_calls_nothing(c, ip, func))
		return jump(c, known ? func : here);
	switch (c->arrival) {
	case DECODE_BY_CALL:
	case DECODE_BY_EVENT:
		return call(c, known ? func : ip, c->arrival == DECODE_BY_EVENT);
	case DECODE_BY_RETURN:
		/* No CALL returns to where a function begins: this is a jump, as of a retpoline. */
		return ip == func ? jump(c, func) : return_to(c, ip, func);
	case DECODE_BY_FAR_RETURN:
		return return_to(c, ip, func);
	case DECODE_BY_RESUMING:
		return resume(c, known ? func : here);
	case DECODE_BY_STARTING:
		return resume(c, known ? func : ip);
	default:
		/* Without symbols the end of a function is unknown. */
		return jump(c, known ? func : here);
	}
}

/* Begin the spans from the root to the current node, after an interruption. */
static bool begin_again(struct decode_calls *c)
{
	uint32_t path[DECODE_CALLS_DEPTH], node = c->now;
	unsigned int n = 0;
	bool ok = true;

	c->cut = false;
	for (; node != DECODE_CALLS_ROOT; node = c->nodes.at[node].parent)
		path[n++] = node;
	while (ok && n--)
		ok = c->watch->begin(c->context, c->nodes.at[path[n]].func,
				     path[n] != c->entered ? DECODE_SPAN_RESUMED
							   : edge_of(c->arrival));
	return ok;
}

/* Mark the divided calls from @node up to the root. */
static void mark_divided(struct decode_calls *c, uint32_t node)
{
	for (; node != DECODE_CALLS_ROOT; node = c->nodes.at[node].parent) {
		if (node == c->entered)
			continue;
		if (c->edge == DECODE_CALLS_EDGE_BEGIN)
			c->nodes.at[node].begun_before++;
		else
			c->nodes.at[node].not_ended++;
	}
	c->edge = DECODE_CALLS_NO_EDGE;
}

/* Mark the divided calls now, because no block of the flow follows. */
static void finish_edge(struct decode_calls *c)
{
	c->entered = DECODE_CALLS_ROOT;
	/* A call whose RET ran has ended. */
	if (c->edge == DECODE_CALLS_EDGE_END)
		mark_divided(c, c->arrival == DECODE_BY_RETURN || c->arrival == DECODE_BY_FAR_RETURN
					? c->nodes.at[c->now].parent
					: c->now);
	c->edge = DECODE_CALLS_NO_EDGE;
}

/* Reach @ip, and show which calls were active. */
static bool reach_anew(struct decode_calls *c, uint64_t ip, uint64_t func)
{
	c->entered = DECODE_CALLS_ROOT;
	if (!move(c, ip, func))
		return false;
	if (c->edge != DECODE_CALLS_NO_EDGE)
		mark_divided(c, c->now);
	return !c->cut || !c->watch || begin_again(c);
}

static inline bool reach(struct decode_calls *c, uint64_t ip, uint64_t func)
{
	if (c->open && decode_calls_is_open_move(c, ip, func))
		return decode_calls_begin_piece(c, DECODE_CALLS_REACH, ip, func);
	return c->cut || c->edge != DECODE_CALLS_NO_EDGE ? reach_anew(c, ip, func)
							 : move(c, ip, func);
}

bool decode_calls_reach(struct decode_calls *c, uint64_t ip, uint64_t func)
{
	return reach(c, ip, func);
}

bool decode_calls_forget(struct decode_calls *c)
{
	finish_edge(c);
	if (!leave(c, DECODE_CALLS_ROOT, DECODE_SPAN_CUT))
		return false;
	c->now = DECODE_CALLS_ROOT;
	c->func = DECODE_NO_FUNCTION;
	c->below = false;
	c->stack.n = 0;
	c->arrival = DECODE_BY_STARTING;
	return true;
}

bool decode_calls_cut(struct decode_calls *c)
{
	uint32_t node = c->now;
	bool ok;

	if (!c->watch)
		return true;
	ok = end_spans(c, DECODE_CALLS_ROOT, DECODE_SPAN_CUT);
	c->now = node;
	c->cut = true;
	return ok;
}

/* Return how a part leads to the next part, by the class of its last instruction. */
static enum decode_calls_arrival arrival_by(uint8_t class)
{
	switch ((enum decode_insn_class) class) {
	case DECODE_INSN_OTHER:
	case DECODE_INSN_COND:
	case DECODE_INSN_PTWRITE:
		return DECODE_BY_FALLING;
	case DECODE_INSN_CALL:
	case DECODE_INSN_FAR_CALL:
		return DECODE_BY_CALL;
	case DECODE_INSN_RETURN:
		return DECODE_BY_RETURN;
	case DECODE_INSN_FAR_RETURN:
		return DECODE_BY_FAR_RETURN;
	default:
		return DECODE_BY_JUMP;
	}
}

bool decode_calls_part(struct decode_calls *c, const struct decode_part *part)
{
	if (!reach(c, part->ip, part->function))
		return false;
	if (c->counts == DECODE_CALLS_COUNT) {
		c->nodes.at[c->now].insns += part->insns;
		c->insns += part->insns;
	}
	c->arrival = arrival_by(part->class);
	c->ret = part->next;
	return true;
}

/* Add the time before an item to the current function. */
static void add_ticks(struct decode_calls *c)
{
	if (c->counts == DECODE_CALLS_NO_COUNT)
		return;
	c->nodes.at[c->now].ticks += c->pace->ticks;
	c->ticks += c->pace->ticks;
}

static bool take_block(struct decode_calls *c, const struct decode_item *item)
{
	const struct decode_part part = {.ip = item->ip,
					 .next = item->last + item->size,
					 .function = function(c, item->ip),
					 .insns = item->insns,
					 .class = item->class};

	if (!decode_calls_part(c, &part))
		return false;
	if (c->pace)
		add_ticks(c);
	return true;
}

bool decode_calls_branch(struct decode_calls *c, uint64_t ip, uint64_t func)
{
	if (c->arrival == DECODE_BY_UNKNOWN) {
		if (!decode_calls_begin_piece(c, DECODE_CALLS_BRANCH, ip, func))
			return false;
	} else if (c->arrival != DECODE_BY_FALLING && !reach(c, ip, func)) {
		/* The event is at the first instruction of the place just reached. */
		return false;
	}
	c->arrival = DECODE_BY_EVENT;
	c->ret = ip;
	return true;
}

bool decode_calls_enabled(struct decode_calls *c)
{
	if (c->arrival == DECODE_BY_UNKNOWN)
		return decode_calls_begin_piece(c, DECODE_CALLS_ENABLE, 0, DECODE_NO_FUNCTION);
	if (c->arrival != DECODE_BY_STARTING)
		c->arrival = DECODE_BY_RESUMING;
	return true;
}

/* The runs of all parts have the same time, which passed before the first part. */
static bool take_parts(struct decode_calls *c, const struct decode_item *item)
{
	bool ok = true;
	uint32_t i;

	for (i = 0; ok && i < item->insns; i++) {
		ok = decode_calls_part(c, &item->parts[i]);
		if (ok && c->pace && i == 0)
			add_ticks(c);
	}
	return ok;
}

static bool take_event(struct decode_calls *c, const struct decode_item *item)
{
	switch ((enum decode_flow_event)item->event) {
	case DECODE_FLOW_ASYNC_BRANCH:
		return decode_calls_branch(c, item->ip, function(c, item->ip));
	case DECODE_FLOW_OVERFLOW:
		c->arrival = DECODE_BY_STARTING;
		return decode_calls_cut(c);
	case DECODE_FLOW_DISABLED:
	case DECODE_FLOW_ASYNC_DISABLED:
		return decode_calls_cut(c);
	case DECODE_FLOW_ENABLED:
		return decode_calls_enabled(c);
	default:
		return true;
	}
}

void decode_calls_keep_time(struct decode_calls *c, const struct decode_pace *pace)
{
	c->pace = pace;
}

void decode_calls_count(struct decode_calls *c, enum decode_calls_counts counts)
{
	if (c->counts == counts)
		return;
	c->counts = counts;
	if (c->edge == DECODE_CALLS_EDGE_END)
		finish_edge(c);
	/* A call without a counted block is not divided. */
	if (counts == DECODE_CALLS_COUNT)
		c->edge = DECODE_CALLS_EDGE_BEGIN;
	else
		c->edge = c->edge == DECODE_CALLS_EDGE_BEGIN ? DECODE_CALLS_NO_EDGE
							     : DECODE_CALLS_EDGE_END;
}

void decode_calls_select_long(struct decode_calls *c, enum decode_duration_unit unit, uint64_t min)
{
	c->durations.unit = unit;
	c->durations.min = min;
}

void decode_calls_watch(struct decode_calls *c, const struct decode_calls_watch *watch,
			void *context)
{
	c->watch = watch;
	c->context = context;
	c->cut = true;
}

bool decode_calls_node(const struct decode_calls *c, uint32_t i, struct decode_calls_node *to)
{
	const struct decode_call_node *node;

	if (i >= c->nodes.n)
		return false;
	node = &c->nodes.at[i];
	*to = (struct decode_calls_node){
		.parent = i == DECODE_CALLS_ROOT ? UINT32_MAX : node->parent,
		.depth = node->depth,
		.func = node->func,
		.count = node->count,
		.own = node->insns,
	};
	return true;
}

uint64_t decode_calls_insns(const struct decode_calls *c)
{
	return c->insns;
}

/* Returns true if the time before the event was traced. */
static bool takes_time(const struct decode_item *item)
{
	return item->kind == DECODE_ITEM_EVENT && item->event != DECODE_FLOW_ENABLED &&
	       item->event != DECODE_FLOW_OVERFLOW && item->event != DECODE_FLOW_CFE &&
	       item->event != DECODE_FLOW_BLOCK;
}

bool decode_calls_item(struct decode_calls *c, const struct decode_item *item)
{
	if (c->pace && takes_time(item))
		add_ticks(c);
	switch (item->kind) {
	case DECODE_ITEM_BLOCK:
		return take_block(c, item);
	case DECODE_ITEM_PARTS:
		return take_parts(c, item);
	case DECODE_ITEM_EVENT:
		return take_event(c, item);
	case DECODE_ITEM_SEGMENT:
	case DECODE_ITEM_ERROR:
		c->arrival = DECODE_BY_STARTING;
		return decode_calls_cut(c);
	default:
		return true;
	}
}
