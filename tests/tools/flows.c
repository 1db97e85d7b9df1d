// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hold the items of the flow by libvptdecode against those by libipt: the same instructions and
 * events in the same order, of the same address space and session.
 * usage: flows FILE
 *
 * libipt shows INT n, and the WRMSR that clears TraceEn, as events alone. What a PSB+ repeats, and
 * CBR, it tells in another order. Changes of the mode, and CFEs and blocks, are compared apart:
 * libipt repeats modes, and knows nothing of the others, nor of changes of RFLAGS.IF and of TRIG. It
 * shows a VMCS packet behind VMXON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/cfe.h"
#include "judge/judge.h"
#include "trace/reader.h"
#include "trace/vec.h"

struct items {
	struct decode_item *at;
	size_t n, room;
};

struct flow {
	struct items main, modes, vmcss, cfes;
	uint64_t mode;
};

static bool counts(const struct decode_item *item)
{
	return item->kind != DECODE_ITEM_EVENT ||
	       (!item->status && item->event != DECODE_FLOW_CBR &&
		item->event != DECODE_FLOW_IFLAG && item->event != DECODE_FLOW_TRIG);
}

/* Does the event stand for the instruction before it, too? */
static bool shows(const struct decode_item *event, const struct decode_item *insn)
{
	return event->kind == DECODE_ITEM_EVENT && insn->kind == DECODE_ITEM_INSN &&
	       (event->event == DECODE_FLOW_ASYNC_BRANCH ||
		event->event == DECODE_FLOW_ASYNC_DISABLED) &&
	       event->ip == insn->ip;
}

/* Add a CFE item with a hash of its data, which is only valid until the next item. */
static void put_cfe(struct items *items, struct decode_item item)
{
	const struct decode_cfe *c = item.cfe;
	uint32_t i;

	item.value = (uint64_t)c->type << 8 | c->vector;
	item.to = c->reason ^ c->qualification << 1 ^ c->fault_address << 2 ^
		  (uint64_t)(c->has_reason | c->has_qualification << 1 | c->has_fault_address << 2 |
			     c->has_ip << 3 | c->short_items << 4);
	for (i = 0; i < c->items; i++)
		item.to = item.to * 31 + c->item[i].value * 7 + c->item[i].id;
	if (!trace_vec_room(items))
		abort();
	items->at[items->n++] = item;
}

static void put(struct items *items, const struct decode_item *item)
{
	if (!trace_vec_room(items))
		abort();
	items->at[items->n++] = *item;
}

static void take(struct flow *f, const struct decode_item *item)
{
	struct items *main = &f->main;

	if (item->kind == DECODE_ITEM_EVENT && item->event == DECODE_FLOW_EXEC_MODE) {
		if (f->mode != item->value)
			put(&f->modes, item);
		f->mode = item->value;
		return;
	}
	if (!counts(item))
		return;
	if (item->kind == DECODE_ITEM_EVENT && item->event == DECODE_FLOW_VMCS) {
		put(&f->vmcss, item);
		return;
	}
	if (item->kind == DECODE_ITEM_EVENT && item->cfe) {
		put_cfe(&f->cfes, *item);
		return;
	}
	if (main->n && shows(item, &main->at[main->n - 1]))
		main->n--;
	put(main, item);
}

static void read_all(struct trace_reader *reader, unsigned int vcpu, enum judge_flow_by by,
		     struct flow *f)
{
	struct decode_flow *flow;
	struct decode_item item;

	if (judge_flow_open_by(reader, vcpu, DECODE_FLOW_INSNS, by, &flow))
		abort();
	do {
		if (decode_flow_next(flow, &item))
			abort();
		take(f, &item);
	} while (item.kind != DECODE_ITEM_END);
	decode_flow_close(flow);
}

static bool same(const struct decode_item *a, const struct decode_item *b)
{
	if (a->kind != b->kind || (a->kind != DECODE_ITEM_END && a->session != b->session))
		return false;
	switch (a->kind) {
	case DECODE_ITEM_INSN:
		return a->ip == b->ip && a->size == b->size && a->mode == b->mode &&
		       a->class == b->class && a->cr3 == b->cr3 && !memcmp(a->raw, b->raw, a->size);
	case DECODE_ITEM_EVENT:
		return a->event == b->event && a->ip == b->ip && a->has_to == b->has_to &&
		       a->to == b->to && a->value == b->value && a->cr3 == b->cr3 &&
		       a->vm_entry == b->vm_entry;
	case DECODE_ITEM_SEGMENT:
		return a->value == b->value;
	default:
		return true;
	}
}

static void print(const char *who, const struct items *items, size_t i)
{
	const struct decode_item *item;

	if (i >= items->n)
		return;
	item = &items->at[i];
	printf("# %s %zu: kind %d %s ip %#" PRIx64 " to %d %#" PRIx64 " value %#" PRIx64
	       " cr3 %#" PRIx64 " session %u mode %u class %u size %u offset %#" PRIx64 " %s\n",
	       who, i, item->kind,
	       item->kind == DECODE_ITEM_EVENT
		       ? decode_flow_event_text((enum decode_flow_event)item->event)
		       : "",
	       item->ip, item->has_to, item->to, item->value, item->cr3, item->session, item->mode,
	       item->class, item->size, item->offset,
	       item->kind == DECODE_ITEM_ERROR ? item->text : "");
}

static int compare_items(const char *what, const struct items *theirs, const struct items *ours)
{
	size_t i, k;

	for (i = 0; i < theirs->n && i < ours->n && same(&theirs->at[i], &ours->at[i]); i++)
		;
	printf("%zu %s, of %zu and %zu\n", i, what, theirs->n, ours->n);
	if (i == theirs->n && i == ours->n)
		return 0;
	for (k = i < 3 ? 0 : i - 3; k < i + 4; k++)
		print("libipt", theirs, k);
	for (k = i < 3 ? 0 : i - 3; k < i + 4; k++)
		print("ours  ", ours, k);
	return 1;
}

static void drop(struct flow *f)
{
	free(f->main.at);
	free(f->modes.at);
	free(f->vmcss.at);
	free(f->cfes.at);
}

static int compare(struct trace_reader *reader, unsigned int vcpu)
{
	struct flow theirs = {0}, ours = {0};
	int differ;

	read_all(reader, vcpu, DECODE_FLOW_BY_LIBIPT, &theirs);
	read_all(reader, vcpu, DECODE_FLOW_BY_LIBVPTDECODE, &ours);
	differ = compare_items("items", &theirs.main, &ours.main);
	differ |= compare_items("modes", &theirs.modes, &ours.modes);
	differ |= compare_items("vmcss", &theirs.vmcss, &ours.vmcss);
	differ |= compare_items("cfes", &theirs.cfes, &ours.cfes);
	drop(&theirs);
	drop(&ours);
	return differ;
}

int main(int argc, char **argv)
{
	struct trace_reader *reader;
	int differ = 0;
	unsigned int i;
	char why[256];

	if (argc != 2 || trace_reader_open(argv[1], &reader, why, sizeof(why))) {
		fprintf(stderr, "usage: flows FILE\n");
		return 2;
	}
	for (i = 0; i < trace_reader_info(reader)->vcpus; i++)
		differ |= compare(reader, i);
	trace_reader_close(reader);
	return differ;
}
