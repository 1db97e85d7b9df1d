// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/flowtext.h"

#include <stdio.h>
#include <string.h>

#include "decode/code.h"
#include "decode/disasm.h"
#include "judge/filter.h"
#include "lib/suite.h"
#include "lib/synth.h"

static void add(char *text, const char *fmt, uint64_t a, uint64_t b)
{
	size_t len = strlen(text);

	if (len)
		text[len++] = ' ';
	ck_assert_uint_lt(len, 3000);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text + len, 4096 - len, fmt, (unsigned long)a, (unsigned long)b);
#pragma GCC diagnostic pop
}

static void add_event(char *text, const struct decode_item *item)
{
	uint32_t i;

	switch (item->event) {
	case DECODE_FLOW_ENABLED:
		add(text, "E%lx", item->to - SYNTH_CODE, 0);
		break;
	case DECODE_FLOW_DISABLED:
		if (item->has_to)
			add(text, "D%lx", item->to - SYNTH_CODE, 0);
		else
			add(text, "D", 0, 0);
		break;
	case DECODE_FLOW_ASYNC_DISABLED:
		add(text, "A%lx", item->ip - SYNTH_CODE, 0);
		break;
	case DECODE_FLOW_ASYNC_BRANCH:
		add(text, "%lx>%lx", item->ip - SYNTH_CODE, item->to - SYNTH_CODE);
		break;
	case DECODE_FLOW_PAGING:
		if (!item->status)
			add(text, "P%lx", item->value, 0);
		break;
	case DECODE_FLOW_OVERFLOW:
		add(text, item->has_to ? "O%lx" : "O", item->to - SYNTH_CODE, 0);
		break;
	case DECODE_FLOW_CBR:
		add(text, "R%lx", item->value, 0);
		break;
	case DECODE_FLOW_STOP:
		add(text, "T", 0, 0);
		break;
	case DECODE_FLOW_CFE:
		add(text, "C%lx", item->cfe->type, 0);
		break;
	case DECODE_FLOW_BLOCK:
		add(text, item->cfe->has_ip ? "B%lx@%lx" : "B%lx", item->cfe->type,
		    item->cfe->ip - SYNTH_CODE);
		for (i = 0; i < item->cfe->items; i++)
			add(text, "%lx=%lx", item->cfe->item[i].id, item->cfe->item[i].value);
		break;
	case DECODE_FLOW_TARGET:
		add(text, "t%lx", item->to - SYNTH_CODE, 0);
		break;
	default:
		break;
	}
}

/* Add the instructions of a block, found by disassembling its bytes. */
static void add_block(char *text, const struct decode_flow *flow, const struct decode_item *item)
{
	struct decode_disasm *d = decode_disasm_new(NULL);
	uint64_t ip = item->ip;
	uint32_t i;

	for (i = 0; i < item->insns; i++) {
		struct dec_insn insn;
		uint8_t raw[15];
		size_t n =
			decode_code_read(decode_flow_code(flow), item->cr3, ip, raw, sizeof(raw));

		ck_assert_int_eq(decode_disasm_read(d, item->mode, raw, n, &insn), 1);
		add(text, "%lx", ip - SYNTH_CODE, 0);
		if (i + 1 == item->insns)
			ck_assert_uint_eq(ip, item->last);
		ip += insn.len;
	}
	decode_disasm_free(d);
}

static void decode(struct trace_reader *r, enum decode_flow_unit unit, enum judge_flow_by by,
		   char *text)
{
	struct decode_flow *flow;
	struct decode_item item;

	*text = 0;
	ck_assert_int_eq(judge_flow_open_by(r, 0, unit, by, &flow), 0);
	for (;;) {
		ck_assert_int_eq(decode_flow_next(flow, &item), 0);
		switch (item.kind) {
		case DECODE_ITEM_SEGMENT:
			add(text, item.value ? "S+%lu" : "S", item.value, 0);
			continue;
		case DECODE_ITEM_INSN:
			add(text, "%lx", item.ip - SYNTH_CODE, 0);
			continue;
		case DECODE_ITEM_BLOCK:
			add_block(text, flow, &item);
			continue;
		case DECODE_ITEM_EVENT:
			add_event(text, &item);
			continue;
		case DECODE_ITEM_ERROR:
			add(text, "!", 0, 0);
			strcat(text, item.text);
			continue;
		}
		break;
	}
	/* Check that the END item is repeated. */
	ck_assert_int_eq(decode_flow_next(flow, &item), 0);
	ck_assert_int_eq(item.kind, DECODE_ITEM_END);
	decode_flow_close(flow);
}

void flowtext_is_by(struct trace_reader *r, enum decode_flow_unit unit, enum judge_flow_by by,
		    const char *name, const char *flow)
{
	char text[4096];

	decode(r, unit, by, text);
	ck_assert_msg(!strcmp(text, flow), "%s: %s, not %s", name, text, flow);
}

void flowtext_is(struct trace_reader *r, enum decode_flow_unit unit, const char *name,
		 const char *flow)
{
	flowtext_is_by(r, unit, DECODE_FLOW_BY_LIBIPT, name, flow);
}

void flowtext_change(struct synth *s)
{
	s->insns = 1 << 30;
	synth_page_at(s, SYNTH_CR3, 0);
	synth_page_at(s, SYNTH_CR3, 0);
}

void flowtext_endless(struct trace_reader *r, enum decode_flow_unit unit)
{
	char text[64] = "";
	struct decode_flow *flow;
	struct decode_item item;
	uint64_t insns = 0;

	ck_assert_int_eq(decode_flow_open(r, 0, unit, &flow), 0);
	do {
		ck_assert_int_eq(decode_flow_next(flow, &item), 0);
		insns += item.insns;
		if (item.kind == DECODE_ITEM_ERROR)
			snprintf(text, sizeof(text), "%s", item.text);
	} while (item.kind != DECODE_ITEM_END);
	ck_assert_str_eq(text, "execution goes on without end or packets");
	ck_assert_uint_lt(insns, 1 << 23);
	decode_flow_close(flow);
}
