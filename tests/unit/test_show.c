// SPDX-License-Identifier: GPL-2.0-or-later
/* What is made of a decoded trace: names, lines, coverage, calls, text and JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "decode/calls.h"
#include "decode/coverage.h"
#include "judge/filter.h"
#include "decode/listing.h"
#include "decode/summary.h"
#include "decode/tally.h"
#include "text/text.h"
#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "vpt/block.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define BIAS	 0x10000000ull

/* What is written to `out` in between ends up in `text`, for the caller to free. */
struct capture {
	FILE *out;
	char *text;
	size_t len;
};

static void capture(struct capture *c)
{
	c->out = open_memstream(&c->text, &c->len);
	ck_assert_ptr_nonnull(c->out);
}

static const struct {
	const char *text, *clean, *json;
} texts[] = {
	{"", "", "\"\""},
	{"plain", "plain", "\"plain\""},
	{"a\"b\\c", "a\"b\\c", "\"a\\\"b\\\\c\""},
	{"\033[2J\n", "?[2J?", "\"\\u001b[2J\\u000a\""},
	{"\x7f\xc3\xa9", "?\xc3\xa9", "\"\\u007f\\u00c3\\u00a9\""},
};

START_TEST(text_of)
{
	struct capture c;
	char copy[32];

	text_copy(copy, sizeof(copy), texts[_i].text, strlen(texts[_i].text));
	ck_assert_str_eq(copy, texts[_i].clean);
	text_copy(copy, 3, texts[_i].text, strlen(texts[_i].text));
	ck_assert_int_eq(strncmp(copy, texts[_i].clean, 2), 0);
	ck_assert_uint_le(strlen(copy), 2);

	capture(&c);
	text_json_string(c.out, texts[_i].text);
	fclose(c.out);
	ck_assert_str_eq(c.text, texts[_i].json);
	free(c.text);
}
END_TEST

/* This very program is the ELF image: it has symbols and lines. */

int test_first(int x);
int test_second(int x);

int __attribute__((noinline)) test_first(int x)
{
	return x * 3 + 1;
}

static const unsigned int line_of_first = __LINE__ - 6;

int __attribute__((noinline)) test_second(int x)
{
	return x ? test_first(x) : 2;
}

static void add_image(struct synth *s)
{
	struct trace_elf_image image = {.name = "self", .bias = BIAS};
	FILE *f = fopen("/proc/self/exe", "rb");
	struct stat st;
	char *bytes;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size);
	ck_assert_uint_eq(fread(bytes, 1, (size_t)st.st_size, f), (size_t)st.st_size);
	fclose(f);
	ck_assert_int_eq(trace_writer_elf(s->w, &image, bytes, (size_t)st.st_size), 0);
	free(bytes);
}

static const struct debug_symbol *by_name(const struct debug_symbols *symbols, const char *name)
{
	const struct debug_symbol *all;
	size_t n, i;

	all = debug_symbols_all(symbols, &n);
	for (i = 0; i < n; i++) {
		if (!strcmp(all[i].name, name))
			return &all[i];
	}
	ck_abort_msg("%s is not there", name);
}

START_TEST(symbols_of)
{
	const struct debug_symbol *first, *found;
	const struct debug_line *line;
	struct debug_symbols *symbols;
	struct trace_reader *r;
	struct synth s;
	char name[64];

	synth_open(&s);
	add_image(&s);
	r = synth_read(&s);
	ck_assert_int_eq(debug_symbols_open(r, &symbols), 0);

	first = by_name(symbols, "test_first");
	ck_assert_uint_gt(first->start, BIAS);
	ck_assert_uint_gt(first->end, first->start);
	found = debug_symbols_find(symbols, first->start);
	ck_assert_ptr_eq(found, first);
	found = debug_symbols_find(symbols, first->end - 1);
	ck_assert_ptr_eq(found, first);
	ck_assert_ptr_ne(debug_symbols_find(symbols, first->end), first);
	ck_assert_ptr_null(debug_symbols_find(symbols, 0));
	ck_assert_ptr_null(debug_symbols_find(symbols, UINT64_MAX));

	debug_symbols_format(symbols, first->start, name, sizeof(name));
	ck_assert_str_eq(name, "test_first");
	debug_symbols_format(symbols, first->start + 2, name, sizeof(name));
	ck_assert_str_eq(name, "test_first+0x2");
	ck_assert_uint_eq(debug_symbols_format(symbols, first->start + 2, name, 4),
			  strlen("test_first+0x2"));
	ck_assert_str_eq(name, "tes");
	debug_symbols_format(symbols, 0x1234, name, sizeof(name));
	ck_assert_str_eq(name, "0x1234");
	debug_symbols_format(NULL, 0x1234, name, sizeof(name));
	ck_assert_str_eq(name, "0x1234");

	ck_assert_int_eq(debug_symbols_read_lines(symbols), 0);
	line = debug_symbols_line(symbols, first->start);
	ck_assert_ptr_nonnull(line);
	ck_assert_ptr_nonnull(strstr(line->file, "test_show.c"));
	ck_assert_uint_ge(line->line, line_of_first);
	ck_assert_uint_le(line->line, line_of_first + 3);
	ck_assert_ptr_null(debug_symbols_line(symbols, 0));
	ck_assert_ptr_null(debug_symbols_problem(symbols));
	debug_symbols_close(symbols);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* What is no ELF file has no names, and is a problem that is reported. */
START_TEST(no_elf)
{
	static const struct trace_elf_image image = {.name = "junk\33"};
	struct debug_symbols *symbols;
	struct trace_reader *r;
	struct synth s;
	size_t n;

	synth_open(&s);
	trace_writer_elf(s.w, &image, "", 0);
	trace_writer_elf(s.w, &image, "\177ELF", 4);
	trace_writer_elf(s.w, &image, "\177ELF\2\1\1", 7);
	r = synth_read(&s);
	ck_assert_int_eq(debug_symbols_open(r, &symbols), 0);
	debug_symbols_all(symbols, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(debug_symbols_read_lines(symbols), 0);
	debug_symbols_lines(symbols, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_str_eq(debug_symbols_problem(symbols),
			 "junk?: it is no ELF file, or a damaged one");
	debug_symbols_close(symbols);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

START_TEST(coverage)
{
	const struct debug_symbol *first, *second;
	struct decode_tally tally = {0};
	struct debug_symbols *symbols;
	struct decode_coverage sum;
	struct trace_reader *r;
	struct capture c;
	struct synth s;
	char text[64];
	int i;

	synth_open(&s);
	add_image(&s);
	r = synth_read(&s);
	ck_assert_int_eq(debug_symbols_open(r, &symbols), 0);
	first = by_name(symbols, "test_first");
	second = by_name(symbols, "test_second");
	for (i = 0; i < 7; i++)
		ck_assert(decode_tally_add(&tally, first->start, first->end - 1, 3));
	/* A block that begins in the middle, and one that ends where another begins. */
	ck_assert(decode_tally_add(&tally, first->start + 1, first->end - 1, 3));
	ck_assert(decode_tally_add(&tally, first->start - 1, first->start, 2));
	decode_tally_sort(&tally);

	ck_assert_int_eq(debug_symbols_read_lines(symbols), 0);
	capture(&c);
	ck_assert_int_eq(decode_coverage_write(symbols, &tally, NULL, c.out, &sum), 0);
	fclose(c.out);
	ck_assert_uint_ge(sum.files, 1);
	ck_assert_uint_ge(sum.functions_hit, 1);
	ck_assert_uint_ge(sum.lines_hit, 1);
	ck_assert_uint_gt(sum.lines, sum.lines_hit);
	ck_assert_ptr_nonnull(strstr(c.text, "FNDA:8,test_first\n"));
	ck_assert_ptr_nonnull(strstr(c.text, "FNDA:0,test_second\n"));
	ck_assert_ptr_nonnull(strstr(c.text, "test_show.c\n"));
	snprintf(text, sizeof(text), "DA:%u,", debug_symbols_line(symbols, first->start)->line);
	ck_assert_ptr_nonnull(strstr(c.text, text));
	ck_assert_ptr_nonnull(strstr(c.text, "end_of_record\n"));
	ck_assert_uint_ne(second->start, 0);
	free(c.text);
	decode_tally_free(&tally);
	debug_symbols_close(symbols);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

START_TEST(tally)
{
	struct decode_tally t = {0};
	struct decode_hot hot[3];
	unsigned int i;

	for (i = 0; i < 100000; i++)
		ck_assert(decode_tally_add(&t, i % 5000 * 16, i % 5000 * 16 + i % 2, i % 5000));
	decode_tally_sort(&t);
	ck_assert_uint_eq(t.used, 5000);
	for (i = 0; i < 5000; i++) {
		ck_assert_uint_eq(t.slots[i].ip, i * 16);
		ck_assert_uint_eq(t.slots[i].count, 20);
		ck_assert_uint_eq(t.slots[i].insns, 20 * i);
	}
	ck_assert_uint_eq(decode_summary_hot(NULL, &t, hot, 3), 3);
	ck_assert_uint_eq(hot[0].start, 4999 * 16);
	ck_assert_uint_eq(hot[0].insns, 4999 * 20);
	ck_assert_uint_eq(hot[2].start, 4997 * 16);
	decode_tally_free(&t);
}
END_TEST

/* Call trees. */

static const struct {
	const char *script, *tree;
} trees[] = {
	/* 0 calls 20 twice, which calls 40 once and then four times. */
	{"code0=e81b000000e81600000090 code20=e81b00000075f9c3 code40=c3 page begin@0 TNT:101 "
	 "TNT:1111 TNT:11101 finish@a",
	 "  1x  0x401000  (19 insns)\n"
	 "    2x  0x401020  (17 insns)\n"
	 "      5x  0x401040  (5 insns)\n"},
	/* An interrupt at 1, whose handler at 20 calls 40. */
	{"code0=909090 code20=e81b00000048cf code40=c3 page begin@0 FUP:1 TIP:20 TNT:1 TIP:1 "
	 "finish@3",
	 "  1x  0x401000  (6 insns)\n"
	 "    1x  0x401020  (3 insns)\n"
	 "      1x  0x401040  (1 insns)\n"},
	{"code0=cd8090 code20=48cf page begin@0 FUP:0 TIP:20 TIP:2 finish@3",
	 "  1x  0x401000  (3 insns)\n"
	 "    1x  0x401020  (1 insns)\n"},
	/*
	 * 0 calls 20, which calls 40; from there execution returns at once to the instruction
	 * after the first CALL.
	 */
	{"code0=e81b00000090e83500000090 code20=e81b00000090 code40=9090c3 page begin@0 TIP:5 "
	 "TIP:b finish@c",
	 "  1x  0x401000  (11 insns)\n"
	 "    1x  0x401020  (4 insns)\n"
	 "      1x  0x401040  (3 insns)\n"
	 "    1x  0x401040  (3 insns)\n"},
	/* A RET whose CALL is not in the trace. */
	{"code0=90c3 code20=90 page begin@0 TIP:20 finish@21", "  1x  0x401000  (2 insns)\n"
							       "  1x  0x401020  (1 insns)\n"},
	/* The trace stops inside 20 and resumes there. */
	{"code0=e81b00000090 code20=900f0590c3 page begin@0 PGD:- PGE:20 PGD:- PGE:23 TIP:5 "
	 "finish@6",
	 "  1x  0x401000  (8 insns)\n"
	 "    1x  0x401020  (6 insns)\n"},
};

#define RECURSION "code0=7505e8f9ffffff90c3 page begin@0 600*TNT:0 TNT:1 finish@7"

static void check_tree(const char *script, bool json, uint64_t limit, char **text)
{
	struct decode_calls *calls = decode_calls_new(NULL);
	struct trace_reader *r;
	struct decode_flow *flow;
	struct decode_item item;
	struct capture c;
	struct synth s;

	synth_open(&s);
	steps_play(&s, script);
	r = synth_read(&s);
	ck_assert_int_eq(decode_flow_open(r, 0, DECODE_FLOW_BLOCKS, &flow), 0);
	do {
		ck_assert_int_eq(decode_flow_next(flow, &item), 0);
		ck_assert_int_ne(item.kind, DECODE_ITEM_ERROR);
		ck_assert(decode_calls_item(calls, &item));
	} while (item.kind != DECODE_ITEM_END);
	capture(&c);
	decode_calls_print(calls, c.out, json, NULL, limit);
	fclose(c.out);
	*text = c.text;
	decode_flow_close(flow);
	decode_calls_free(calls);
	trace_reader_close(r);
	synth_done(&s);
}

START_TEST(call_tree)
{
	char *tree;

	check_tree(trees[_i].script, false, UINT64_MAX, &tree);
	ck_assert_str_eq(tree, trees[_i].tree);
	free(tree);
}
END_TEST

START_TEST(call_tree_limits)
{
	char *tree, *line;
	unsigned int n = 0;

	check_tree(trees[0].script, false, 1, &tree);
	ck_assert_str_eq(tree, "  1x  0x401000  (19 insns)\n");
	free(tree);
	check_tree(trees[0].script, true, 2, &tree);
	ck_assert_str_eq(tree,
			 "{\"depth\":0,\"count\":1,\"insns\":19,\"function\":\"0x401000\"}\n"
			 "{\"depth\":1,\"count\":2,\"insns\":17,\"function\":\"0x401020\"}\n");
	free(tree);
	/* 601 deep, and the tree is not. */
	check_tree(RECURSION, true, UINT64_MAX, &tree);
	for (line = tree; (line = strchr(line, '\n')); line++)
		n++;
	ck_assert_uint_eq(n, 512);
	ck_assert_ptr_nonnull(strstr(tree, "{\"depth\":0,\"count\":1,\"insns\":1201,"));
	ck_assert_ptr_nonnull(strstr(tree, "{\"depth\":511,\"count\":1,\"insns\":179,"));
	free(tree);
}
END_TEST

static const struct {
	struct decode_item item;
	const char *text, *json; /* NULL: it is not shown */
} lines[] = {
	{{.kind = DECODE_ITEM_SEGMENT, .offset = 16, .session = 2},
	 "-- vCPU 3, session 2, from byte 0x10 on\n",
	 "{\"vcpu\":3,\"session\":2,\"offset\":16,\"skipped\":0}\n"},
	{{.kind = DECODE_ITEM_SEGMENT, .value = 7},
	 "-- vCPU 3, session 0, from byte 0x0 on; no PSB in its first 7 bytes\n",
	 "{\"vcpu\":3,\"session\":0,\"offset\":0,\"skipped\":7}\n"},
	{{.kind = DECODE_ITEM_INSN, .ip = 0x401000, .mode = 64, .size = 2, .raw = "\x75\xfe"},
	 "0000000000401000                               jnz 0x401000\n",
	 "{\"vcpu\":3,\"ip\":\"0x401000\",\"size\":2,\"insn\":\"jnz 0x401000\"}\n"},
	{{.kind = DECODE_ITEM_BLOCK, .ip = 0x401000, .last = 0x401005, .insns = 4},
	 "0000000000401000..0000000000401005     4  \n",
	 "{\"vcpu\":3,\"ip\":\"0x401000\",\"last\":\"0x401005\",\"insns\":4}\n"},
	{{.kind = DECODE_ITEM_EVENT,
	  .event = DECODE_FLOW_ASYNC_BRANCH,
	  .ip = 1,
	  .to = 2,
	  .has_to = true},
	 "-- async branch at 0x1 to 0x2\n",
	 "{\"vcpu\":3,\"event\":\"async branch\",\"from\":\"0x1\",\"to\":\"0x2\"}\n"},
	{{.kind = DECODE_ITEM_EVENT,
	  .event = DECODE_FLOW_PAGING,
	  .value = 0x1000,
	  .has_tsc = true,
	  .tsc = 5},
	 "-- paging 0x1000 tsc 0x5\n",
	 "{\"vcpu\":3,\"event\":\"paging\",\"value\":\"0x1000\",\"tsc\":\"0x5\"}\n"},
	{{.kind = DECODE_ITEM_EVENT, .event = DECODE_FLOW_EXEC_MODE, .value = 64},
	 "-- exec mode 64 bit\n",
	 "{\"vcpu\":3,\"event\":\"exec mode\",\"value\":\"0x40\"}\n"},
	{{.kind = DECODE_ITEM_EVENT, .event = DECODE_FLOW_DISABLED},
	 "-- disabled\n",
	 "{\"vcpu\":3,\"event\":\"disabled\"}\n"},
	{{.kind = DECODE_ITEM_EVENT, .event = DECODE_FLOW_PAGING, .status = true}, NULL, NULL},
	{{.kind = DECODE_ITEM_ERROR, .text = "odd \"thing\"", .ip = 3, .offset = 17},
	 "-- error: odd \"thing\", at byte 0x11 of the trace, ip 0x3\n",
	 "{\"vcpu\":3,\"error\":\"odd \\\"thing\\\"\",\"ip\":\"0x3\",\"offset\":17}\n"},
	{{.kind = DECODE_ITEM_END}, NULL, NULL},
};

START_TEST(listing)
{
	int json;

	for (json = 0; json < 2; json++) {
		const char *want = json ? lines[_i].json : lines[_i].text;
		struct decode_listing l = {.json = json, .vcpu = 3};
		struct capture c;

		capture(&c);
		l.out = c.out;
		l.disasm = decode_disasm_new(NULL);
		ck_assert_int_eq(decode_listing_item(&l, &lines[_i].item), want != NULL);
		/* And the same again, which may come from a cache. */
		if (want)
			decode_listing_item(&l, &lines[_i].item);
		fclose(c.out);
		if (want) {
			ck_assert_uint_eq(c.len, 2 * strlen(want));
			ck_assert_int_eq(strncmp(c.text, want, strlen(want)), 0);
			ck_assert_str_eq(c.text + strlen(want), want);
		} else {
			ck_assert_uint_eq(c.len, 0);
		}
		decode_listing_fini(&l);
		decode_disasm_free(l.disasm);
		free(c.text);
	}
}
END_TEST

/* Classes are libipt's, where libipt says them. */
static const struct {
	const char *bytes;
	unsigned int len;
	enum decode_insn_class class;
} classes[] = {
	{"\x90", 1, DECODE_INSN_OTHER},		 {"\xe8\0\0\0\0", 5, DECODE_INSN_CALL},
	{"\xff\xd0", 2, DECODE_INSN_CALL},	 {"\xff\x18", 2, DECODE_INSN_FAR_CALL},
	{"\xc3", 1, DECODE_INSN_RETURN},	 {"\xc2\x08\0", 3, DECODE_INSN_RETURN},
	{"\xcb", 1, DECODE_INSN_FAR_RETURN},	 {"\xeb\0", 2, DECODE_INSN_JUMP},
	{"\xff\xe0", 2, DECODE_INSN_JUMP},	 {"\xff\x28", 2, DECODE_INSN_FAR_JUMP},
	{"\x75\0", 2, DECODE_INSN_COND},	 {"\xe2\0", 2, DECODE_INSN_COND},
	{"\xe3\0", 2, DECODE_INSN_COND},	 {"\x0f\x84\0\0\0\0", 6, DECODE_INSN_COND},
	{"\x0f\x05", 2, DECODE_INSN_FAR_CALL},	 {"\x0f\x34", 2, DECODE_INSN_FAR_CALL},
	{"\x0f\x07", 2, DECODE_INSN_FAR_RETURN}, {"\x0f\x35", 2, DECODE_INSN_FAR_RETURN},
	{"\x48\xcf", 2, DECODE_INSN_FAR_RETURN}, {"\xcd\x80", 2, DECODE_INSN_FAR_CALL},
	{"\xcc", 1, DECODE_INSN_FAR_CALL},	 {"\xf3\x0f\xae\xe0", 4, DECODE_INSN_PTWRITE},
	{"\x06", 0, DECODE_INSN_UNKNOWN},	 {"\xe8", 0, DECODE_INSN_UNKNOWN},
};

START_TEST(class_of)
{
	struct decode_disasm *d = decode_disasm_new(NULL);
	unsigned int n = classes[_i].len ? classes[_i].len : 1;
	struct dec_insn insn;
	int valid = decode_disasm_read(d, 64, (const uint8_t *)classes[_i].bytes, n, &insn);

	ck_assert_int_eq(valid == 1, classes[_i].len != 0);
	if (valid == 1) {
		ck_assert_uint_eq(insn.len, classes[_i].len);
		ck_assert_int_eq(decode_disasm_class_of((enum dec_insn_kind)insn.kind),
				 classes[_i].class);
	}
	decode_disasm_free(d);
}
END_TEST

/* Events that libipt knows, and those that the filter took out, with and without their time. */
static const struct decode_block_item pebs[] = {{.id = 0, .value = 0x401000},
						{.id = 31, .value = 1}};
static const struct decode_cfe page_fault = {
	.type = 1, .vector = 14, .has_ip = true, .ip = 0x10, .has_fault_address = true};
static const struct decode_cfe iret = {.type = 2};
static const struct decode_cfe block = {
	.is_block = true, .type = VPT_BBP_PEBS_BASIC, .items = 2, .item = pebs};

#define EVENT(name_, ...)                                                            \
	{                                                                            \
		.kind = DECODE_ITEM_EVENT, .event = DECODE_FLOW_##name_, __VA_ARGS__ \
	}

static const struct {
	struct decode_item item;
	const char *text, *json;
} shown[] = {
	{EVENT(PTWRITE, .ip = 0x10, .value = 0x2a), "-- ptwrite 0x2a at 0x10",
	 "\"event\":\"ptwrite\",\"from\":\"0x10\",\"value\":\"0x2a\""},
	{EVENT(TSX, .value = 1), "-- tx begin", "\"event\":\"tsx\""},
	{EVENT(TSX, .value = 0), "-- tx commit", "\"event\":\"tsx\""},
	{EVENT(TSX, .value = 2), "-- tx abort", "\"event\":\"tsx\""},
	{EVENT(PWRE, .value = 0), "-- power: sleep C1", "\"event\":\"pwre\""},
	{EVENT(PWRE, .value = 5), "-- power: sleep C6", "\"event\":\"pwre\""},
	{EVENT(PWRX, .value = 2), "-- power: wake from C3", "\"event\":\"pwrx\""},
	{EVENT(MWAIT, .ip = 0x20, .value = 0x20), "-- power: mwait, hints 0x20 at 0x20",
	 "\"event\":\"mwait\""},
	{EVENT(EXSTOP, .ip = 0x20), "-- power: clocks stop at 0x20", "\"event\":\"exstop\""},
	{EVENT(EXSTOP, .ip = 0), "-- power: clocks stop", "\"event\":\"exstop\""},
	{EVENT(CFE, .cfe = &page_fault), "-- interrupt 14 at 0x10 fault address 0x0",
	 "\"type\":\"INTR\",\"type_number\":1,\"vector\":14,\"from\":\"0x10\""},
	{EVENT(CFE, .cfe = &iret), "-- cfe IRET", "\"type\":\"IRET\""},
	{EVENT(BLOCK, .cfe = &block), "-- block pebs-basic: instruction pointer 0x401000, 1f 0x1",
	 "\"items\":[{\"id\":0,\"name\":\"instruction pointer\",\"value\":\"0x401000\"},"
	 "{\"id\":31,\"value\":\"0x1\"}]"},
	{EVENT(TARGET, .has_to = true, .to = 0x30), "-- target to 0x30", "\"to\":\"0x30\""},
};

static void show_one(const struct decode_item *item, const struct decode_pace *pace, bool json,
		     char *text, size_t size)
{
	struct capture c;
	struct decode_listing l = {.json = json, .pace = pace};

	capture(&c);
	l.out = c.out;
	ck_assert(decode_listing_item(&l, item));
	fclose(c.out);
	snprintf(text, size, "%s", c.text);
	free(c.text);
	decode_listing_fini(&l);
}

START_TEST(event_lines)
{
	struct decode_pace pace = {.hz = 2000000000, .first = 1000};
	struct decode_item item = shown[_i].item;
	char text[512], want[512];

	show_one(&item, NULL, false, text, sizeof(text));
	snprintf(want, sizeof(want), "%s\n", shown[_i].text);
	ck_assert_str_eq(text, want);
	show_one(&item, &pace, false, text, sizeof(text));
	snprintf(want, sizeof(want), "%16s %14s  %s\n", "-", "-", shown[_i].text);
	ck_assert_str_eq(text, want);

	item.when = (struct decode_when){.known = true,
					 .tsc = 3000,
					 .lo = 2900,
					 .hi = 3100,
					 .until = 3200,
					 .cycles = 7,
					 .span_cycles = 10,
					 .span_ticks = 20};
	show_one(&item, &pace, false, text, sizeof(text));
	snprintf(want, sizeof(want), "%16d %11d ns  %s\n", 3000, 1000, shown[_i].text);
	ck_assert_str_eq(text, want);
	show_one(&item, &pace, true, text, sizeof(text));
	ck_assert_msg(strstr(text, shown[_i].json) != NULL, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "\"time\":\"0xbb8\",\"time_low\":\"0xb54\","
					   "\"time_high\":\"0xc1c\",\"time_until\":\"0xc80\","
					   "\"ns\":1000,\"cycles\":7,\"core_hz\":1000000000}"));
}
END_TEST

/* Clocks count while there is something that is traced. */
START_TEST(pace)
{
	static const struct {
		struct decode_item item;
		uint64_t insns, cycles, ticks;
	} steps[] = {
		{{.kind = DECODE_ITEM_SEGMENT}, 0, 0, 0},
		{EVENT(ENABLED, .when = {.known = true, .tsc = 100, .cycles = 50}), 0, 0, 0},
		{{.kind = DECODE_ITEM_BLOCK,
		  .insns = 10,
		  .when = {.known = true, .tsc = 140, .cycles = 70}},
		 10,
		 20,
		 40},
		{EVENT(DISABLED, .when = {.known = true, .tsc = 150, .cycles = 75}), 10, 25, 10},
		{EVENT(ENABLED, .when = {.known = true, .tsc = 250, .cycles = 125}), 10, 25, 100},
		{{.kind = DECODE_ITEM_INSN,
		  .insns = 1,
		  .when = {.known = true, .tsc = 252, .cycles = 126}},
		 11,
		 26,
		 2},
		{EVENT(OVERFLOW, .has_to = true,
		       .when = {.known = true, .tsc = 400, .cycles = 200}),
		 11, 26, 148},
		{{.kind = DECODE_ITEM_INSN,
		  .insns = 1,
		  .when = {.known = true, .tsc = 404, .cycles = 202}},
		 12,
		 28,
		 4},
	};
	struct decode_pace p = {.hz = 1000000000};
	size_t i;

	decode_pace_begin(&p);
	for (i = 0; i < (size_t)COUNT(steps); i++) {
		decode_pace_item(&p, &steps[i].item);
		ck_assert_uint_eq(p.insns, steps[i].insns);
		ck_assert_uint_eq(p.cycles, steps[i].cycles);
		ck_assert_uint_eq(p.ticks, steps[i].ticks);
	}
	ck_assert_uint_eq(p.first, 100);
	ck_assert_uint_eq(decode_pace_ns(&p, 5), 5);
	ck_assert_uint_eq(decode_pace_core_hz(&p, 3, 2), 1500000000);
	p.hz = 0;
	ck_assert_uint_eq(decode_pace_ns(&p, 5), 0);
}
END_TEST

static const struct {
	uint64_t value;
	unsigned int width;
	const char *hex, *decimal;
} numbers_of[] = {
	{0, 1, "0000000000000000", "0"},
	{0, 3, "0000000000000000", "  0"},
	{987, 3, "00000000000003db", "987"},
	{987, 2, "00000000000003db", "987"},
	{UINT64_MAX, 22, "ffffffffffffffff", "  18446744073709551615"},
};

START_TEST(numbers)
{
	char text[32];

	*text_hex(text, numbers_of[_i].value, 16) = 0;
	ck_assert_str_eq(text, numbers_of[_i].hex);
	*text_decimal(text, numbers_of[_i].value, numbers_of[_i].width) = 0;
	ck_assert_str_eq(text, numbers_of[_i].decimal);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("show");
	TCase *tc = tcase_create("show");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, text_of, 0, COUNT(texts));
	tcase_add_loop_test(tc, numbers, 0, COUNT(numbers_of));
	tcase_add_test(tc, symbols_of);
	tcase_add_test(tc, no_elf);
	tcase_add_test(tc, coverage);
	tcase_add_test(tc, tally);
	tcase_add_loop_test(tc, call_tree, 0, COUNT(trees));
	tcase_add_test(tc, call_tree_limits);
	tcase_add_loop_test(tc, listing, 0, COUNT(lines));
	tcase_add_loop_test(tc, class_of, 0, COUNT(classes));
	tcase_add_loop_test(tc, event_lines, 0, COUNT(shown));
	tcase_add_test(tc, pace);
	suite_add_tcase(suite, tc);
	return suite;
}
