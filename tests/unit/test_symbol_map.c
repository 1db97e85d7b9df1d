// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of code from other files than the trace: text, and ELF files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/by_cr3.h"
#include "decode/code.h"
#include "debug/symbol.h"
#include "lib/suite.h"
#include "lib/synth.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const char kernel[] = "0000000000000000 A fixed_percpu_data\n"
			     "ffffffff81000000 T startup_64\n"
			     "ffffffff81000000 T _text\n"
			     "ffffffff81000040 t helper\n"
			     "ffffffff81000060 W weak\n"
			     "ffffffff81000100 D data\n"
			     "ffffffff81000200 t last_of_all\n"
			     "ffffffffc0001000 t ext4_read\t[ext4]\n"
			     "ffffffffc0001080 t ext4_write\t[ext4]\n"
			     "ffffffffc0001800 t xfs_read\t[xfs]\n";

/* Symbols of a trace without any, and of a file with `text`. */
static struct debug_symbols *symbols_of(struct synth *s, struct trace_reader **r, const char *text,
					size_t len, uint64_t bias, char why[128], int expected)
{
	char path[] = "/tmp/vpt-test-XXXXXX";
	struct debug_symbols *symbols;
	int fd = mkstemp(path);

	ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
	close(fd);
	synth_open(s);
	*r = synth_read(s);
	ck_assert_int_eq(debug_symbols_open(*r, &symbols), 0);
	ck_assert_int_eq(debug_symbols_add(symbols, path, bias, why, 128), expected);
	unlink(path);
	return symbols;
}

static void done(struct synth *s, struct trace_reader *r, struct debug_symbols *symbols)
{
	debug_symbols_close(symbols);
	trace_reader_close(r);
	synth_done(s);
}

static const struct {
	uint64_t addr;
	const char *text;
} named[] = {
	{0xffffffff81000000, "_text"},
	{0xffffffff8100003f, "_text+0x3f"},
	{0xffffffff81000040, "helper"},
	{0xffffffff81000060, "weak"},
	{0xffffffff810000ff, "weak+0x9f"},
	/* What is no code has no name, and ends what is before it. */
	{0xffffffff81000100, "0xffffffff81000100"},
	{0xffffffff810001ff, "0xffffffff810001ff"},
	/* What comes next is of a module: how long this one is nobody says. */
	{0xffffffff81000200, "last_of_all"},
	{0xffffffff810011ff, "last_of_all+0xfff"},
	{0xffffffff81001200, "0xffffffff81001200"},
	{0xffffffffc0001000, "ext4_read [ext4]"},
	{0xffffffffc000107f, "ext4_read+0x7f [ext4]"},
	{0xffffffffc00017ff, "ext4_write+0x77f [ext4]"},
	{0xffffffffc0001801, "xfs_read+0x1 [xfs]"},
	{0, "0x0"},
};

START_TEST(names)
{
	static const uint64_t biases[] = {0, 0x1e000000, (uint64_t)-0x1000};
	const uint64_t bias = biases[_i];
	struct debug_symbols *symbols;
	struct trace_reader *r;
	struct synth s;
	char text[64], why[128];
	int i;

	symbols = symbols_of(&s, &r, kernel, strlen(kernel), bias, why, 0);
	for (i = 0; i < COUNT(named); i++) {
		if (named[i].text[0] == '0' && bias)
			continue;
		debug_symbols_format(symbols, named[i].addr + bias, text, sizeof(text));
		ck_assert_str_eq(text, named[i].text);
	}
	done(&s, r, symbols);
}
END_TEST

/* The last line may be without its end, and lines may end as those of DOS. */
START_TEST(other_ends)
{
	static const char *const texts[] = {"100 T a\n200 t b", "100 T a\r\n200 t b\r\n",
					    "100  T  a\n200\tt\tb\n"};
	struct debug_symbols *symbols;
	struct trace_reader *r;
	struct synth s;
	char text[64], why[128];

	symbols = symbols_of(&s, &r, texts[_i], strlen(texts[_i]), 0, why, 0);
	debug_symbols_format(symbols, 0x201, text, sizeof(text));
	ck_assert_str_eq(text, "b+0x1");
	done(&s, r, symbols);
}
END_TEST

static const struct {
	const char *name;
	unsigned int places;
	uint64_t start, end;
} places[] = {
	{"_text", 1, 0xffffffff81000000, 0xffffffff81000040},
	/* The other name of the same code. */
	{"startup_64", 1, 0xffffffff81000000, 0xffffffff81000040},
	{"ext4_write", 1, 0xffffffffc0001080, 0xffffffffc0001800},
	{"startup", 0, 0, 0},
	{"startup_64_", 0, 0, 0},
	{"data", 0, 0, 0},
	/* The name of two functions, and one that is also another name of a third function. */
	{"twice", 2, 0x1000, 0x1100},
	{"third", 2, 0x3000, 0x3100},
};

START_TEST(by_name)
{
	static const char more[] = "1000 t twice\n1100 t between\n1200 t twice\n1300 t end\n"
				   "2000 t an_alias\n2000 t third\n2100 t end_2\n"
				   "3000 t third\n3100 t end_3\n";
	char path[] = "/tmp/vpt-test-XXXXXX", why[128];
	const struct debug_symbol *symbol;
	struct debug_symbols *symbols;
	struct trace_reader *r;
	struct synth s;
	int fd = mkstemp(path);

	ck_assert_int_eq(write(fd, more, strlen(more)), (ssize_t)strlen(more));
	close(fd);
	symbols = symbols_of(&s, &r, kernel, strlen(kernel), 0, why, 0);
	/* The names of one place in two files are of one place. */
	ck_assert_int_eq(debug_symbols_add(symbols, path, 0, why, sizeof(why)), 0);
	ck_assert_int_eq(debug_symbols_add(symbols, path, 0, why, sizeof(why)), 0);
	unlink(path);
	ck_assert_uint_eq(
		debug_symbols_named(symbols, places[_i].name, strlen(places[_i].name), &symbol),
		places[_i].places);
	ck_assert_int_eq(symbol != NULL, places[_i].places > 0);
	if (symbol) {
		ck_assert_uint_eq(symbol->start, places[_i].start);
		ck_assert_uint_eq(symbol->end, places[_i].end);
	}
	/* Only the part of the text that the caller selects is the name. */
	ck_assert_uint_eq(debug_symbols_named(symbols, "helper..weak", 6, &symbol), 1);
	ck_assert_str_eq(symbol->name, "helper");
	done(&s, r, symbols);
}
END_TEST

static const struct {
	const char *text, *why;
} wrong[] = {
	{"", "it has no address of code"},
	{"100 D data\n", "it has no address of code"},
	{"0 T a\n0 T b\n", "they are all 0"},
	{"hello\n", "line 1 is not of a symbol map"},
	{"100 T a\n\n200 T b\n", "line 2 is not of a symbol map"},
	{"100 T a\n200 T\n", "line 2 is not of a symbol map"},
	{"100 T a\n200 TT b\n", "line 2 is not of a symbol map"},
	{"100 T a\n0x200 T b\n", "line 2 is not of a symbol map"},
	{"100 T a\n-200 T b\n", "line 2 is not of a symbol map"},
	{"100 T a\n2z0 T b\n", "line 2 is not of a symbol map"},
	{"100 T a b\n", "line 1 is not of a symbol map"},
	{"100 T a [b\n", "line 1 is not of a symbol map"},
	{"100 T a []\n", "line 1 is not of a symbol map"},
	{"100 T a [b] c\n", "line 1 is not of a symbol map"},
	{"\177ELF\2\1\1 and no more\n", "it is no ELF file, or a damaged one"},
};

START_TEST(refused)
{
	struct debug_symbols *symbols;
	struct trace_reader *r;
	struct synth s;
	char why[128];

	symbols = symbols_of(&s, &r, wrong[_i].text, strlen(wrong[_i].text), 0, why, -EINVAL);
	ck_assert_msg(strstr(why, wrong[_i].why) != NULL, "%s", why);
	done(&s, r, symbols);
}
END_TEST

START_TEST(no_file)
{
	struct debug_symbols *symbols;
	struct trace_reader *r;
	struct synth s;
	char why[128];

	synth_open(&s);
	r = synth_read(&s);
	ck_assert_int_eq(debug_symbols_open(r, &symbols), 0);
	ck_assert_int_eq(debug_symbols_add(symbols, "/nowhere", 0, why, sizeof(why)), -ENOENT);
	ck_assert_str_eq(why, strerror(ENOENT));
	done(&s, r, symbols);
}
END_TEST

/* This program as an ELF file at another address, together with a map. */
START_TEST(elf_file)
{
	static const uint64_t bias = 0x700000000000;
	const struct debug_symbol *all;
	struct debug_symbols *symbols;
	struct trace_reader *r;
	struct synth s;
	char why[128];
	size_t n, i;

	symbols = symbols_of(&s, &r, kernel, strlen(kernel), 0, why, 0);
	ck_assert_int_eq(debug_symbols_add(symbols, "/proc/self/exe", bias, why, sizeof(why)), 0);
	all = debug_symbols_all(symbols, &n);
	for (i = 0; i < n && strcmp(all[i].name, "test_suite"); i++)
		;
	ck_assert_uint_lt(i, n);
	ck_assert_uint_ge(all[i].start, bias);
	ck_assert_int_eq(debug_symbols_read_lines(symbols), 0);
	ck_assert_ptr_nonnull(debug_symbols_line(symbols, all[i].start));
	ck_assert_str_eq(debug_symbols_find(symbols, 0xffffffff81000040)->name, "helper");
	done(&s, r, symbols);
}
END_TEST

static const struct trace_space *space_of(struct decode_by_cr3 *all, uint64_t cr3)
{
	struct decode_item item = {.cr3 = cr3};

	ck_assert(decode_by_cr3_item(all, &item));
	return item.space;
}

/* More than the table begins with, and each is found again. */
START_TEST(spaces_by_cr3)
{
	struct decode_by_cr3 *all = decode_by_cr3_new(_i);
	const struct trace_space *first[500];
	uint64_t i;

	for (i = 0; i < 500; i++) {
		first[i] = space_of(all, i << 12);
		ck_assert_uint_eq(first[i]->cr3, (_i ? i & ~1ull : i) << 12);
	}
	for (i = 0; i < 500; i++) {
		ck_assert_ptr_eq(space_of(all, i << 12), first[i]);
		ck_assert_int_eq(space_of(all, (i ^ 1) << 12) == first[i], _i);
	}
	ck_assert_ptr_null(space_of(all, DECODE_CR3_UNKNOWN));
	decode_by_cr3_free(all);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("symbol_map");
	TCase *tc = tcase_create("symbol_map");

	tcase_add_loop_test(tc, names, 0, 3);
	tcase_add_loop_test(tc, other_ends, 0, 3);
	tcase_add_loop_test(tc, by_name, 0, COUNT(places));
	tcase_add_loop_test(tc, refused, 0, COUNT(wrong));
	tcase_add_test(tc, no_file);
	tcase_add_test(tc, elf_file);
	tcase_add_loop_test(tc, spaces_by_cr3, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
