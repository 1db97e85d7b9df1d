// SPDX-License-Identifier: GPL-2.0-or-later
/* The spans of calls and the protocol buffers of exports. */
#include <stdio.h>
#include <string.h>

#include "decode/calls.h"
#include "formats/protobuf.h"
#include "lib/suite.h"

/* Spans as text: "(400000" begins, ")" ends, "~" resumed, "?" cut. */
struct spans {
	char text[512];
};

static void add(struct spans *s, const char *text)
{
	ck_assert_uint_lt(strlen(s->text) + strlen(text), sizeof(s->text));
	strcat(s->text, text);
}

static const char *const marks[] = {
	[DECODE_SPAN_WHOLE] = "", [DECODE_SPAN_CUT] = "?", [DECODE_SPAN_RESUMED] = "~"};

static bool on_begin(void *context, uint64_t func, enum decode_span_edge edge)
{
	char text[32];

	snprintf(text, sizeof(text), "(%s%llx", marks[edge], (unsigned long long)func);
	add(context, text);
	return true;
}

static bool on_end(void *context, enum decode_span_edge edge)
{
	add(context, marks[edge]);
	add(context, ")");
	return true;
}

static const struct decode_calls_watch watch = {on_begin, on_end};

static void run(struct decode_calls *calls, uint64_t func, uint64_t ip, uint64_t next,
		enum decode_insn_class class)
{
	const struct decode_part part = {
		.ip = ip, .next = next, .function = func, .insns = 3, .class = class};

	ck_assert(decode_calls_part(calls, &part));
}

static void event(struct decode_calls *calls, enum decode_flow_event kind, uint64_t ip)
{
	const struct decode_item item = {.kind = DECODE_ITEM_EVENT, .event = kind, .ip = ip};

	ck_assert(decode_calls_item(calls, &item));
}

/* main at 10H calls f at 20H, which calls g at 30H. */
static void call_g(struct decode_calls *calls)
{
	run(calls, 0x10, 0x10, 0x15, DECODE_INSN_CALL);
	run(calls, 0x20, 0x20, 0x25, DECODE_INSN_CALL);
	run(calls, 0x30, 0x30, 0x35, DECODE_INSN_OTHER);
}

static void return_from_g(struct decode_calls *calls)
{
	run(calls, 0x30, 0x36, 0x37, DECODE_INSN_RETURN);
	run(calls, 0x20, 0x25, 0x26, DECODE_INSN_RETURN);
	run(calls, 0x10, 0x15, 0x16, DECODE_INSN_OTHER);
}

static const struct {
	const char *name;
	enum decode_flow_event event; /* between the call and the return; COUNT: none */
	enum decode_flow_event then;
	const char *spans;
} rows[] = {
	{"calls", DECODE_FLOW_COUNT, DECODE_FLOW_COUNT, "(?10(20(30))?)"},
	{"a filter", DECODE_FLOW_DISABLED, DECODE_FLOW_ENABLED, "(?10(20(30?)?)?)(~10(~20(~30))?)"},
	{"an overflow", DECODE_FLOW_OVERFLOW, DECODE_FLOW_COUNT,
	 "(?10(20(30?)?)?)(~10(~20(~30))?)"},
};

START_TEST(spans_are_marked)
{
	struct decode_calls *calls = decode_calls_new(NULL);
	struct decode_calls_node node;
	struct spans spans = {""};
	uint64_t own = 0;
	uint32_t i;

	ck_assert_ptr_nonnull(calls);
	decode_calls_watch(calls, &watch, &spans);
	call_g(calls);
	if (rows[_i].event != DECODE_FLOW_COUNT)
		event(calls, rows[_i].event, 0x36);
	if (rows[_i].then != DECODE_FLOW_COUNT)
		event(calls, rows[_i].then, 0x36);
	return_from_g(calls);
	ck_assert(decode_calls_cut(calls));
	ck_assert_msg(!strcmp(spans.text, rows[_i].spans), "%s: %s", rows[_i].name, spans.text);
	for (i = 0; decode_calls_node(calls, i, &node); i++)
		own += node.own;
	ck_assert_uint_eq(own, 18);
	decode_calls_free(calls);
}
END_TEST

/* Spans and counts that begin when calls are active. */
START_TEST(a_part)
{
	struct decode_calls *calls = decode_calls_new(NULL);
	struct decode_calls_node node;
	struct spans spans = {""};

	decode_calls_count(calls, DECODE_CALLS_NO_COUNT);
	call_g(calls);
	decode_calls_count(calls, DECODE_CALLS_COUNT);
	decode_calls_watch(calls, &watch, &spans);
	return_from_g(calls);
	ck_assert(decode_calls_cut(calls));
	decode_calls_watch(calls, NULL, NULL);
	call_g(calls);
	ck_assert_str_eq(spans.text, "(~10(~20(~30))?)");
	ck_assert_uint_eq(decode_calls_insns(calls), 18);
	ck_assert(decode_calls_node(calls, 3, &node));
	ck_assert_uint_eq(node.func, 0x30);
	ck_assert_uint_eq(node.count, 1);
	ck_assert_uint_eq(node.own, 6);
	decode_calls_free(calls);
}
END_TEST

static void check_print(struct decode_calls *calls, const char *want)
{
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(out);
	ck_assert(decode_calls_forget(calls));
	decode_calls_print(calls, out, false, NULL, UINT64_MAX);
	fclose(out);
	ck_assert_str_eq(text, want);
	decode_calls_free(calls);
}

/* Counting begins while g is active, and ends when it has returned to main and past f. */
START_TEST(divided_calls)
{
	struct decode_calls *calls = decode_calls_new(NULL);

	decode_calls_count(calls, DECODE_CALLS_NO_COUNT);
	call_g(calls);
	decode_calls_count(calls, DECODE_CALLS_COUNT);
	run(calls, 0x30, 0x36, 0x37, DECODE_INSN_RETURN);
	decode_calls_count(calls, DECODE_CALLS_NO_COUNT);
	run(calls, 0x10, 0x15, 0x16, DECODE_INSN_OTHER);
	check_print(calls, "  0x  0x10  (3 insns, 1 begun before, 1 not ended)\n"
			   "    0x  0x20  (3 insns, 1 begun before)\n"
			   "      0x  0x30  (3 insns, 1 begun before)\n");
}
END_TEST

/* Without another block, a RET has ended its own call only. */
START_TEST(divided_at_the_end)
{
	struct decode_calls *calls = decode_calls_new(NULL);

	call_g(calls);
	run(calls, 0x30, 0x36, 0x37, DECODE_INSN_RETURN);
	decode_calls_count(calls, DECODE_CALLS_NO_COUNT);
	check_print(calls, "  1x  0x10  (12 insns, 1 not ended)\n"
			   "    1x  0x20  (9 insns, 1 not ended)\n"
			   "      1x  0x30  (6 insns)\n");
}
END_TEST

/* Another vCPU does not continue the calls of the one before. */
START_TEST(another_vcpu)
{
	struct decode_calls *calls = decode_calls_new(NULL);

	call_g(calls);
	ck_assert(decode_calls_forget(calls));
	run(calls, 0x20, 0x21, 0x25, DECODE_INSN_OTHER);
	check_print(calls, "  1x  0x10  (9 insns)\n"
			   "    1x  0x20  (6 insns)\n"
			   "      1x  0x30  (3 insns)\n"
			   "  1x  0x20  (3 insns)\n");
}
END_TEST

START_TEST(protobuf)
{
	/* Field 1: 150; field 2: "testing" with a byte that is no ASCII; field 60: a message. */
	static const uint8_t want[] = {0x08, 0x96, 0x01, 0x12, 0x08, 't', 'e',
				       's',  't',  'i',	 'n',  'g',  '?'};
	static const uint8_t head[] = {0xe2, 0x03, sizeof(want)};
	static struct format_pb message, outer;
	static char large[FORMAT_PB_MAX + 1];

	format_pb_number(&message, 1, 150);
	format_pb_string(&message, 2, "testing\xff");
	ck_assert_uint_eq(message.n, sizeof(want));
	ck_assert_mem_eq(message.bytes, want, sizeof(want));
	format_pb_message(&outer, 60, &message);
	ck_assert_uint_eq(outer.n, sizeof(head) + sizeof(want));
	ck_assert_mem_eq(outer.bytes, head, sizeof(head));
	ck_assert_mem_eq(outer.bytes + sizeof(head), want, sizeof(want));
	memset(large, 'a', FORMAT_PB_MAX - 20);
	ck_assert(!outer.full);
	format_pb_string(&outer, 3, large);
	ck_assert(outer.full);
	ck_assert_uint_eq(outer.n, sizeof(head) + sizeof(want));
	outer.full = false;
	outer.n = 0;
	format_pb_string(&outer, 3, large);
	ck_assert(!outer.full);
	format_pb_number(&outer, 4, UINT64_MAX);
	ck_assert(outer.full);
}
END_TEST

TEST_SUITE("formats", NULL, NULL)
{
	TEST_ROWS(tcase, spans_are_marked, rows);
	TEST_ADD(tcase, a_part, divided_calls, divided_at_the_end, another_vcpu, protobuf);
}
