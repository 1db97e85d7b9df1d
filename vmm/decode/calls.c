// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text/text.h"
#include "trace/vec.h"

/* Deeper calls are counted where the depth is reached, so that recursion ends. */
#define DEPTH_MAX 512

/* An INT n is not as long as this: where its handler may return to. */
#define INSN_MAX 15

#define ROOT 0

struct node {
	size_t parent;
	size_t child, last_child, next; /* ROOT: none */
	uint64_t func;			/* its first address, or where it was entered */
	uint64_t count;
	uint64_t insns; /* its own, in the end also those it called */
	uint64_t ticks; /* the same of time */
	unsigned int depth;
};

struct frame {
	size_t node;
	uint64_t ret;
	bool event; /* `ret` is where the event came */
	bool below; /* the caller, too, is deeper than its node */
};

/* How the next block is come to. */
enum arrival {
	BY_FALLING,
	BY_CALL,
	BY_EVENT,
	BY_RETURN,
	BY_JUMP,
	BY_RESUMING, /* after a stretch that is not traced */
	BY_STARTING, /* after who knows what */
};

struct vpt_calls {
	const struct vpt_symbols *symbols;
	const struct vpt_pace *pace; /* NULL: no time */
	struct {
		struct node *at;
		size_t n, room;
	} nodes;
	struct {
		struct frame *at;
		size_t n, room;
	} stack;
	size_t now;
	bool below; /* what runs is deeper than `now`, which has DEPTH_MAX */
	enum arrival arrival;
	uint64_t ret; /* BY_CALL, BY_EVENT */
};

static bool new_node(struct vpt_calls *c, size_t parent, uint64_t func, size_t *index)
{
	struct node *node;

	if (!vpt_vec_room(&c->nodes))
		return false;
	*index = c->nodes.n;
	node = &c->nodes.at[c->nodes.n++];
	*node = (struct node){.parent = parent, .func = func};
	if (*index == ROOT)
		return true;
	node->depth = c->nodes.at[parent].depth + 1;
	if (c->nodes.at[parent].child == ROOT)
		c->nodes.at[parent].child = *index;
	else
		c->nodes.at[c->nodes.at[parent].last_child].next = *index;
	c->nodes.at[parent].last_child = *index;
	return true;
}

struct vpt_calls *vpt_calls_new(const struct vpt_symbols *symbols)
{
	struct vpt_calls *c = calloc(1, sizeof(*c));
	size_t root;

	if (!c)
		return NULL;
	c->symbols = symbols;
	c->arrival = BY_STARTING;
	if (!new_node(c, ROOT, 0, &root)) {
		free(c);
		return NULL;
	}
	return c;
}

void vpt_calls_free(struct vpt_calls *c)
{
	if (!c)
		return;
	free(c->nodes.at);
	free(c->stack.at);
	free(c);
}

/* The function an address is in, as its first address; `other` where that is not known. */
static uint64_t function(const struct vpt_calls *c, uint64_t ip, uint64_t other)
{
	const struct vpt_symbol *symbol = vpt_symbols_find(c->symbols, ip);

	return symbol ? symbol->start : other;
}

/* Enter a function below a node. */
static bool enter(struct vpt_calls *c, size_t parent, uint64_t func)
{
	size_t i;

	c->below = c->nodes.at[parent].depth == DEPTH_MAX;
	if (c->below) {
		c->now = parent;
		return true;
	}
	for (i = c->nodes.at[parent].child; i != ROOT; i = c->nodes.at[i].next) {
		if (c->nodes.at[i].func == func)
			break;
	}
	if (i == ROOT && !new_node(c, parent, func, &i))
		return false;
	c->nodes.at[i].count++;
	c->now = i;
	return true;
}

static bool call(struct vpt_calls *c, uint64_t func, bool event)
{
	if (!vpt_vec_room(&c->stack))
		return false;
	c->stack.at[c->stack.n++] = (struct frame){c->now, c->ret, event, c->below};
	return enter(c, c->now, func);
}

/* The function is another one than a moment ago, without a call. */
static bool jump(struct vpt_calls *c, uint64_t func)
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

static bool come_back(struct vpt_calls *c, uint64_t ip)
{
	size_t i;

	for (i = c->stack.n; i; i--) {
		if (returns_to(&c->stack.at[i - 1], ip)) {
			c->now = c->stack.at[i - 1].node;
			c->below = c->stack.at[i - 1].below;
			c->stack.n = i - 1;
			/* An event can have come where a function goes on into another one. */
			return jump(c, function(c, ip, c->nodes.at[c->now].func));
		}
	}
	/* From a call that is not in the trace. */
	return jump(c, function(c, ip, ip));
}

/* The trace goes on after a gap: perhaps in a function that is still being called. */
static bool resume(struct vpt_calls *c, uint64_t func)
{
	size_t i;

	if (c->now != ROOT && c->nodes.at[c->now].func == func)
		return true;
	for (i = c->stack.n; i; i--) {
		size_t node = c->stack.at[i - 1].node;

		if (node != ROOT && c->nodes.at[node].func == func) {
			c->now = node;
			c->below = c->stack.at[i - 1].below;
			c->stack.n = i - 1;
			return true;
		}
	}
	c->stack.n = 0;
	return enter(c, ROOT, func);
}

static bool arrive(struct vpt_calls *c, uint64_t ip)
{
	uint64_t here = c->now == ROOT ? ip : c->nodes.at[c->now].func;

	switch (c->arrival) {
	case BY_CALL:
		return call(c, function(c, ip, ip), false);
	case BY_EVENT:
		return call(c, function(c, ip, ip), true);
	case BY_RETURN:
		return come_back(c, ip);
	case BY_RESUMING:
		return resume(c, function(c, ip, here));
	case BY_STARTING:
		return resume(c, function(c, ip, ip));
	default:
		/* Without symbols there is no telling where a function ends. */
		return jump(c, function(c, ip, here));
	}
}

/* How the block ends. */
static void leave(struct vpt_calls *c, const struct vpt_item *item)
{
	enum vpt_insn_class class = (enum vpt_insn_class)item->class;

	c->arrival = BY_FALLING;
	if (class == VPT_INSN_OTHER || class == VPT_INSN_COND || class == VPT_INSN_PTWRITE)
		return;
	c->ret = item->last + item->size;
	if (class == VPT_INSN_CALL || class == VPT_INSN_FAR_CALL)
		c->arrival = BY_CALL;
	else if (class == VPT_INSN_RETURN || class == VPT_INSN_FAR_RETURN)
		c->arrival = BY_RETURN;
	else
		c->arrival = BY_JUMP;
}

void vpt_calls_keep_time(struct vpt_calls *c, const struct vpt_pace *pace)
{
	c->pace = pace;
}

/* Events before which there was what is traced; a BLOCK is seen to where it belongs. */
static bool takes_time(const struct vpt_item *item)
{
	return item->kind == VPT_ITEM_EVENT && item->event != VPT_FLOW_ENABLED &&
	       item->event != VPT_FLOW_OVERFLOW && item->event != VPT_FLOW_CFE &&
	       item->event != VPT_FLOW_BLOCK;
}

bool vpt_calls_item(struct vpt_calls *c, const struct vpt_item *item)
{
	if (c->pace && takes_time(item))
		c->nodes.at[c->now].ticks += c->pace->ticks;
	switch (item->kind) {
	case VPT_ITEM_BLOCK:
		if (!arrive(c, item->ip))
			return false;
		c->nodes.at[c->now].insns += item->insns;
		if (c->pace)
			c->nodes.at[c->now].ticks += c->pace->ticks;
		leave(c, item);
		return true;
	case VPT_ITEM_EVENT:
		if (item->event == VPT_FLOW_ASYNC_BRANCH) {
			/* An event at the first instruction of what was just come to. */
			if (c->arrival != BY_FALLING && !arrive(c, item->ip))
				return false;
			c->arrival = BY_EVENT;
			c->ret = item->ip;
		} else if (item->event == VPT_FLOW_OVERFLOW) {
			c->arrival = BY_STARTING;
		} else if (item->event == VPT_FLOW_ENABLED && c->arrival != BY_STARTING) {
			c->arrival = BY_RESUMING;
		}
		return true;
	case VPT_ITEM_SEGMENT:
	case VPT_ITEM_ERROR:
		c->arrival = BY_STARTING;
		return true;
	default:
		return true;
	}
}

static void name(const struct vpt_calls *c, const struct node *node, char *text, size_t size)
{
	vpt_symbols_format(c->symbols, node->func, text, size);
}

/*
 * No packet that tells the time came while a node without ticks ran: how long it took is
 * not known, which is not the same as 0.
 */
static void text_ticks(const struct vpt_pace *pace, uint64_t ticks, FILE *out)
{
	uint64_t ns = vpt_pace_ns(pace, ticks);

	if (!ticks)
		fputs(", time unknown", out);
	else if (!pace->hz)
		fprintf(out, ", %" PRIu64 " ticks", ticks);
	else if (!ns)
		fputs(", under 1 ns", out);
	else
		fprintf(out, ", %" PRIu64 " ns", ns);
}

static void json_ticks(const struct vpt_pace *pace, uint64_t ticks, FILE *out)
{
	if (ticks)
		fprintf(out, ",\"ticks\":%" PRIu64, ticks);
	if (ticks && pace->hz)
		fprintf(out, ",\"ns\":%" PRIu64, vpt_pace_ns(pace, ticks));
}

static void print_node(const struct vpt_calls *c, const struct node *node, FILE *out, bool json,
		       const char *space)
{
	const struct vpt_pace *pace = c->pace;

	char text[128];

	name(c, node, text, sizeof(text));
	if (json) {
		fprintf(out,
			"{\"depth\":%u,\"count\":%" PRIu64 ",\"insns\":%" PRIu64 ",\"function\":",
			node->depth - 1, node->count, node->insns);
		vpt_json_string(out, text);
		if (space) {
			fputs(",\"space\":", out);
			vpt_json_string(out, space);
		}
		if (pace)
			json_ticks(pace, node->ticks, out);
		fputs("}\n", out);
		return;
	}
	fprintf(out, "%*s%" PRIu64 "x  %s  (%" PRIu64 " insns", 2 * (int)(node->depth - 1) + 2, "",
		node->count, text, node->insns);
	if (pace)
		text_ticks(pace, node->ticks, out);
	fputs(")\n", out);
}

uint64_t vpt_calls_print(struct vpt_calls *c, FILE *out, bool json, const char *space,
			 uint64_t limit)
{
	uint64_t lines = 0;
	size_t i;

	/* A child comes after its parent in the array. */
	for (i = c->nodes.n; i-- > 1;) {
		c->nodes.at[c->nodes.at[i].parent].insns += c->nodes.at[i].insns;
		c->nodes.at[c->nodes.at[i].parent].ticks += c->nodes.at[i].ticks;
	}

	for (i = c->nodes.at[ROOT].child; i != ROOT && lines < limit; lines++) {
		const struct node *node = &c->nodes.at[i];

		print_node(c, node, out, json, space);
		if (node->child != ROOT) {
			i = node->child;
			continue;
		}
		while (i != ROOT && c->nodes.at[i].next == ROOT)
			i = c->nodes.at[i].parent;
		i = i == ROOT ? ROOT : c->nodes.at[i].next;
	}
	return lines;
}
