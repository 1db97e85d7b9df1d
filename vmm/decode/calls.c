// SPDX-License-Identifier: GPL-2.0-or-later
/* Build a tree of calls from the blocks that ran, and print it. */
#include "decode/calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decode/durations.h"
#include "text/text.h"
#include "trace/vec.h"

/* Deeper calls are counted in the node of this depth, so that recursion ends. */
#define DEPTH_MAX 512

/* A handler may return to the end of its INT n, which has at most this length. */
#define INSN_MAX 15

#define ROOT 0

struct node {
	uint32_t parent;
	uint32_t child, last_child, next; /* ROOT if there is none */
	uint32_t recent;		  /* the last entered child */
	uint32_t depth;
	uint64_t func; /* the first address of the function, or the address of its entry */
	uint64_t count;
	uint64_t insns; /* its own instructions, at the end including those of its callees */
	uint64_t ticks; /* the same for time */
	/* The number of calls that counting divided, because it began or ended while they ran. */
	uint32_t begun_before, not_ended;
};

struct frame {
	uint64_t ret;
	uint32_t node;
	bool event; /* `ret` is the IP of the event */
	bool below; /* the caller, too, is deeper than its node */
};

/* Counting began or ended, and the next block shows which calls this divided. */
enum edge { NO_EDGE, EDGE_BEGIN, EDGE_END };

/* How execution reaches the next block. */
enum arrival {
	BY_FALLING,
	BY_CALL,
	BY_EVENT,
	BY_RETURN,
	BY_JUMP,
	BY_RESUMING, /* after an interval that was not traced */
	BY_STARTING, /* after an unknown transfer */
};

struct decode_calls {
	const struct debug_symbols *symbols;
	const struct decode_pace *pace; /* NULL without time */
	const char *only;		/* the function of the printed trees, or NULL */
	struct {
		struct node *at;
		size_t n, room;
	} nodes;
	struct {
		struct frame *at;
		size_t n, room;
	} stack;
	uint64_t insns, ticks;
	struct decode_durations durations;
	const struct decode_calls_watch *watch; /* NULL if there is none */
	void *context;				/* of the watch */
	enum decode_calls_counts counts;
	enum edge edge;
	uint32_t now;
	uint32_t entered; /* the last entered node */
	bool cut;	  /* the watch has no span, because the flow is interrupted */
	bool below;	  /* execution is deeper than `now`, which has DEPTH_MAX */
	enum arrival arrival;
	uint64_t ret; /* BY_CALL, BY_EVENT: the return address */
};

static bool new_node(struct decode_calls *c, uint32_t parent, uint64_t func, uint32_t *index)
{
	struct node *above;

	if (c->nodes.n == UINT32_MAX || !trace_vec_room(&c->nodes))
		return false;
	*index = (uint32_t)c->nodes.n;
	above = &c->nodes.at[parent];
	c->nodes.at[c->nodes.n++] = (struct node){
		.parent = parent, .func = func, .depth = *index == ROOT ? 0 : above->depth + 1};
	if (*index == ROOT)
		return true;
	if (above->child == ROOT)
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
	c->arrival = BY_STARTING;
	c->counts = DECODE_CALLS_COUNT;
	if (!new_node(c, ROOT, 0, &root)) {
		free(c);
		return NULL;
	}
	return c;
}

void decode_calls_free(struct decode_calls *c)
{
	if (!c)
		return;
	free(c->nodes.at);
	free(c->stack.at);
	free(c->durations.nodes.at);
	free(c);
}

/* Return the function of an address, as in a part. */
static uint64_t function(const struct decode_calls *c, uint64_t ip)
{
	const struct debug_symbol *symbol = debug_symbols_find(c->symbols, ip);

	return symbol ? symbol->start : DECODE_NO_FUNCTION;
}

/* Returns how the beginning of a function's call is known. */
static enum decode_span_edge edge_of(enum arrival arrival)
{
	switch (arrival) {
	case BY_RETURN:
	case BY_RESUMING:
	case BY_STARTING:
		return DECODE_SPAN_CUT;
	default:
		return DECODE_SPAN_WHOLE;
	}
}

/* Returns how the end of the calls that execution leaves is known. */
static enum decode_span_edge ended_by(enum arrival arrival)
{
	return arrival == BY_RESUMING || arrival == BY_STARTING ? DECODE_SPAN_CUT
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

/* Enter a function below a node. */
static bool enter(struct decode_calls *c, uint32_t parent, uint64_t func)
{
	struct node *above = &c->nodes.at[parent];
	uint32_t i = above->recent;

	if (!leave(c, parent, ended_by(c->arrival)))
		return false;
	c->below = above->depth == DEPTH_MAX;
	if (c->below) {
		c->now = parent;
		return true;
	}
	if (i == ROOT || c->nodes.at[i].func != func) {
		for (i = above->child; i != ROOT; i = c->nodes.at[i].next) {
			if (c->nodes.at[i].func == func)
				break;
		}
		if (i == ROOT && !new_node(c, parent, func, &i))
			return false;
		c->nodes.at[parent].recent = i;
	}
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
	c->stack.at[c->stack.n++] = (struct frame){c->ret, c->now, event, c->below};
	return enter(c, c->now, func);
}

/* Change the current function without a call. */
static bool jump(struct decode_calls *c, uint64_t func)
{
	if (c->now == ROOT)
		return enter(c, ROOT, func);
	if (c->below || c->nodes.at[c->now].func == func)
		return true;
	return enter(c, c->nodes.at[c->now].parent, func);
}

static bool returns_to(const struct frame *frame, uint64_t ip)
{
	return ip == frame->ret || (frame->event && ip - frame->ret <= INSN_MAX);
}

static bool return_to(struct decode_calls *c, uint64_t ip, uint64_t func)
{
	uint64_t here = ip; /* from a call that is not in the trace */
	size_t i;

	for (i = c->stack.n; i; i--) {
		if (returns_to(&c->stack.at[i - 1], ip)) {
			if (!leave(c, c->stack.at[i - 1].node, DECODE_SPAN_WHOLE))
				return false;
			c->now = c->stack.at[i - 1].node;
			c->below = c->stack.at[i - 1].below;
			c->stack.n = i - 1;
			here = c->nodes.at[c->now].func;
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

	if (c->now != ROOT && c->nodes.at[c->now].func == func)
		return true;
	for (i = c->stack.n; i; i--) {
		uint32_t node = c->stack.at[i - 1].node;

		if (node != ROOT && c->nodes.at[node].func == func) {
			if (!leave(c, node, DECODE_SPAN_CUT))
				return false;
			c->now = node;
			c->below = c->stack.at[i - 1].below;
			c->stack.n = i - 1;
			return true;
		}
	}
	c->stack.n = 0;
	return enter(c, ROOT, func);
}

/*
 * Returns true for a CALL of the next instruction, or of the one behind an INT3, where no function
 * begins. It reads RIP, or fills the return stack buffer, as the kernel does 32 times at each
 * change of its task.
 */
static bool calls_nothing(const struct decode_calls *c, uint64_t ip, uint64_t func)
{
	return c->arrival == BY_CALL && ip - c->ret <= 1 && ip != func;
}

/* Move to @ip, in the function @func or DECODE_NO_FUNCTION. */
static bool move(struct decode_calls *c, uint64_t ip, uint64_t func)
{
	const bool known = func != DECODE_NO_FUNCTION;
	uint64_t here = c->now == ROOT ? ip : c->nodes.at[c->now].func;

	if (calls_nothing(c, ip, func))
		return jump(c, known ? func : here);
	switch (c->arrival) {
	case BY_CALL:
	case BY_EVENT:
		return call(c, known ? func : ip, c->arrival == BY_EVENT);
	case BY_RETURN:
		return return_to(c, ip, func);
	case BY_RESUMING:
		return resume(c, known ? func : here);
	case BY_STARTING:
		return resume(c, known ? func : ip);
	default:
		/* Without symbols the end of a function is unknown. */
		return jump(c, known ? func : here);
	}
}

/* Begin the spans from the root to the current node, after an interruption. */
static bool begin_again(struct decode_calls *c)
{
	uint32_t path[DEPTH_MAX], node = c->now;
	unsigned int n = 0;
	bool ok = true;

	c->cut = false;
	for (; node != ROOT; node = c->nodes.at[node].parent)
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
	for (; node != ROOT; node = c->nodes.at[node].parent) {
		if (node == c->entered)
			continue;
		if (c->edge == EDGE_BEGIN)
			c->nodes.at[node].begun_before++;
		else
			c->nodes.at[node].not_ended++;
	}
	c->edge = NO_EDGE;
}

/* Mark the divided calls now, because no block of the flow follows. */
static void finish_edge(struct decode_calls *c)
{
	c->entered = ROOT;
	/* A call whose RET ran has ended. */
	if (c->edge == EDGE_END)
		mark_divided(c, c->arrival == BY_RETURN ? c->nodes.at[c->now].parent : c->now);
	c->edge = NO_EDGE;
}

/* Reach @ip, and show which calls were active. */
static bool reach_anew(struct decode_calls *c, uint64_t ip, uint64_t func)
{
	c->entered = ROOT;
	if (!move(c, ip, func))
		return false;
	if (c->edge != NO_EDGE)
		mark_divided(c, c->now);
	return !c->cut || !c->watch || begin_again(c);
}

/* Record that execution reaches @ip, in the function @func or DECODE_NO_FUNCTION. */
static inline bool reach(struct decode_calls *c, uint64_t ip, uint64_t func)
{
	return c->cut || c->edge != NO_EDGE ? reach_anew(c, ip, func) : move(c, ip, func);
}

bool decode_calls_forget(struct decode_calls *c)
{
	finish_edge(c);
	if (!leave(c, ROOT, DECODE_SPAN_CUT))
		return false;
	c->now = ROOT;
	c->below = false;
	c->stack.n = 0;
	c->arrival = BY_STARTING;
	return true;
}

bool decode_calls_cut(struct decode_calls *c)
{
	uint32_t node = c->now;
	bool ok;

	if (!c->watch)
		return true;
	ok = end_spans(c, ROOT, DECODE_SPAN_CUT);
	c->now = node;
	c->cut = true;
	return ok;
}

/* Return how a part leads to the next part, by the class of its last instruction. */
static enum arrival arrival_by(uint8_t class)
{
	switch ((enum decode_insn_class) class) {
	case DECODE_INSN_OTHER:
	case DECODE_INSN_COND:
	case DECODE_INSN_PTWRITE:
		return BY_FALLING;
	case DECODE_INSN_CALL:
	case DECODE_INSN_FAR_CALL:
		return BY_CALL;
	case DECODE_INSN_RETURN:
	case DECODE_INSN_FAR_RETURN:
		return BY_RETURN;
	default:
		return BY_JUMP;
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

static bool take_event(struct decode_calls *c, const struct decode_item *item)
{
	if (item->event == DECODE_FLOW_ASYNC_BRANCH) {
		/* The event is at the first instruction of the place just reached. */
		if (c->arrival != BY_FALLING && !reach(c, item->ip, function(c, item->ip)))
			return false;
		c->arrival = BY_EVENT;
		c->ret = item->ip;
	} else if (item->event == DECODE_FLOW_OVERFLOW) {
		c->arrival = BY_STARTING;
		return decode_calls_cut(c);
	} else if (item->event == DECODE_FLOW_DISABLED ||
		   item->event == DECODE_FLOW_ASYNC_DISABLED) {
		return decode_calls_cut(c);
	} else if (item->event == DECODE_FLOW_ENABLED && c->arrival != BY_STARTING) {
		c->arrival = BY_RESUMING;
	}
	return true;
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
	if (c->edge == EDGE_END)
		finish_edge(c);
	/* A call without a counted block is not divided. */
	if (counts == DECODE_CALLS_COUNT)
		c->edge = EDGE_BEGIN;
	else
		c->edge = c->edge == EDGE_BEGIN ? NO_EDGE : EDGE_END;
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
	const struct node *node;

	if (i >= c->nodes.n)
		return false;
	node = &c->nodes.at[i];
	*to = (struct decode_calls_node){
		.parent = i == ROOT ? UINT32_MAX : node->parent,
		.depth = node->depth,
		.func = node->func,
		.count = node->count,
		.own = node->insns,
	};
	return true;
}

void decode_calls_select(struct decode_calls *c, const char *only)
{
	c->only = only;
}

/* Returns true if a printed tree can begin at the node. */
static bool is_selected(const struct decode_calls *c, const struct node *node)
{
	const struct debug_symbol *symbol;

	if (!c->only)
		return true;
	symbol = debug_symbols_find(c->symbols, node->func);
	return symbol && !strcmp(symbol->name, c->only);
}

/* The numbers of a node that are printed. */
struct sums {
	uint64_t count, insns, ticks;
};

static struct sums sums_of(const struct decode_calls *c, const struct node *node)
{
	const size_t i = (size_t)(node - c->nodes.at);

	if (!c->durations.min)
		return (struct sums){node->count, node->insns, node->ticks};
	if (i < c->durations.nodes.n) {
		const struct decode_long_calls *l = &c->durations.nodes.at[i];

		return (struct sums){l->count, l->insns, l->ticks};
	}
	return (struct sums){0, 0, 0};
}

/* Returns true if a call of the node was counted, or is long enough. */
static bool is_counted(const struct decode_calls *c, const struct node *node)
{
	const struct sums sums = sums_of(c, node);

	return sums.count || sums.insns || sums.ticks || (node->begun_before && !c->durations.min);
}

bool decode_calls_has_selected(const struct decode_calls *c)
{
	size_t i;

	for (i = 1; i < c->nodes.n; i++) {
		if (is_selected(c, &c->nodes.at[i]) && is_counted(c, &c->nodes.at[i]))
			return true;
	}
	return false;
}

uint64_t decode_calls_insns(const struct decode_calls *c)
{
	return c->insns;
}

/*
 * Returns true if the time before the event was traced. take_block() adds the time before a BLOCK.
 */
static bool takes_time(const struct decode_item *item)
{
	return item->kind == DECODE_ITEM_EVENT && item->event != DECODE_FLOW_ENABLED &&
	       item->event != DECODE_FLOW_OVERFLOW && item->event != DECODE_FLOW_CFE &&
	       item->event != DECODE_FLOW_BLOCK;
}

bool decode_calls_item(struct decode_calls *c, const struct decode_item *item)
{
	bool ok = true;
	uint32_t i;

	if (c->pace && takes_time(item))
		add_ticks(c);
	switch (item->kind) {
	case DECODE_ITEM_BLOCK:
		return take_block(c, item);
	case DECODE_ITEM_PARTS:
		for (i = 0; ok && i < item->insns; i++)
			ok = decode_calls_part(c, &item->parts[i]);
		return ok;
	case DECODE_ITEM_EVENT:
		return take_event(c, item);
	case DECODE_ITEM_SEGMENT:
	case DECODE_ITEM_ERROR:
		c->arrival = BY_STARTING;
		return decode_calls_cut(c);
	default:
		return true;
	}
}

static void name(const struct decode_calls *c, const struct node *node, char *text, size_t size)
{
	debug_symbols_format(c->symbols, node->func, text, size);
}

/*
 * Print the time. A node without ticks ran without a timing packet. Its time is unknown, which is
 * not the same as 0.
 */
static void text_ticks(const struct decode_pace *pace, uint64_t ticks, FILE *out)
{
	uint64_t ns = decode_pace_ns(pace, ticks);

	if (!ticks)
		fputs(", time unknown", out);
	else if (!pace->hz)
		fprintf(out, ", %" PRIu64 " ticks", ticks);
	else if (!ns)
		fputs(", under 1 ns", out);
	else
		fprintf(out, ", %" PRIu64 " ns", ns);
}

static void json_ticks(const struct decode_pace *pace, uint64_t ticks, FILE *out)
{
	if (ticks)
		fprintf(out, ",\"ticks\":%" PRIu64, ticks);
	if (ticks && pace->hz)
		fprintf(out, ",\"ns\":%" PRIu64, decode_pace_ns(pace, ticks));
}

static void text_divided(const struct node *node, FILE *out)
{
	if (node->begun_before)
		fprintf(out, ", %u begun before", node->begun_before);
	if (node->not_ended)
		fprintf(out, ", %u not ended", node->not_ended);
}

static void json_divided(const struct node *node, FILE *out)
{
	if (node->begun_before)
		fprintf(out, ",\"begun_before\":%u", node->begun_before);
	if (node->not_ended)
		fprintf(out, ",\"not_ended\":%u", node->not_ended);
}

/* Print a node of the tree that begins at @top. */
static void print_node(const struct decode_calls *c, const struct node *node,
		       const struct node *top, FILE *out, bool json, const char *space)
{
	const struct decode_pace *pace = c->pace;
	const uint32_t depth = node->depth - top->depth;
	const struct sums sums = sums_of(c, node);
	char text[128];

	name(c, node, text, sizeof(text));
	if (json) {
		fprintf(out,
			"{\"depth\":%u,\"count\":%" PRIu64 ",\"insns\":%" PRIu64 ",\"function\":",
			depth, sums.count, sums.insns);
		text_json_string(out, text);
		if (space) {
			fputs(",\"space\":", out);
			text_json_string(out, space);
		}
		if (pace)
			json_ticks(pace, sums.ticks, out);
		json_divided(node, out);
		fputs("}\n", out);
		return;
	}
	fprintf(out, "%*s%" PRIu64 "x  %s  (%" PRIu64 " insns", 2 * (int)depth + 2, "", sums.count,
		text, sums.insns);
	if (pace)
		text_ticks(pace, sums.ticks, out);
	text_divided(node, out);
	fputs(")\n", out);
}

uint64_t decode_calls_print(struct decode_calls *c, FILE *out, bool json, const char *space,
			    uint64_t limit)
{
	size_t i, top = ROOT; /* ROOT if the loop is in no selected tree */
	uint64_t lines = 0;

	/* In the array, a child follows its parent. */
	for (i = c->nodes.n; i-- > 1;) {
		c->nodes.at[c->nodes.at[i].parent].insns += c->nodes.at[i].insns;
		c->nodes.at[c->nodes.at[i].parent].ticks += c->nodes.at[i].ticks;
	}

	for (i = c->nodes.at[ROOT].child; i != ROOT && lines < limit;) {
		const struct node *node = &c->nodes.at[i];

		if (top == ROOT && is_selected(c, node))
			top = i;
		if (top != ROOT && is_counted(c, node)) {
			print_node(c, node, &c->nodes.at[top], out, json, space);
			lines++;
		}
		if (node->child != ROOT) {
			i = node->child;
			continue;
		}
		while (i != ROOT && c->nodes.at[i].next == ROOT) {
			top = i == top ? ROOT : top;
			i = c->nodes.at[i].parent;
		}
		top = i == top ? ROOT : top;
		i = i == ROOT ? ROOT : c->nodes.at[i].next;
	}
	return lines;
}
