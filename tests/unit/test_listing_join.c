// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Listings with marks: lines that repeat are omitted, errors and the limit are counted, and a text that
 * is no listing is refused. Texts are passed whole, byte by byte, and through compressed chunks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/listing_join.h"
#include "decode/text_chunks.h"
#include "lib/suite.h"

#define KEY_A "000000000000000a"
#define KEY_B "000000000000000b"

static const struct {
	const char *name, *text, *want;
	uint64_t left, errors;
	int err;
	bool open; /* it ends within a line */
} rows[] = {
	{"items", "ia\nib\n", "a\nb\n", 9, 0, 0, false},
	{"the limit", "ia\nib\nic\n", "a\nb\n", 2, 0, 0, false},
	{"no limit left", "s" KEY_A "in A\nia\n", "", 0, 0, 0, false},
	{"a space", "s" KEY_A "in A\nia\ns" KEY_A "in A\nib\n", "in A\na\nb\n", 9, 0, 0, false},
	{"two spaces", "s" KEY_A "in A\nia\ns" KEY_B "in B\nib\n", "in A\na\nin B\nb\n", 9, 0, 0,
	 false},
	{"a space and a line", "s" KEY_A "in A\nl" KEY_A "f:1:\nia\nl" KEY_A "f:1:\nib\n",
	 "in A\nf:1:\na\nb\n", 9, 0, 0, false},
	{"a segment", "l" KEY_A "f:1:\nia\ngs\nl" KEY_A "f:1:\nib\n", "f:1:\na\ns\nf:1:\nb\n", 9, 0,
	 0, false},
	{"errors", "ex\nia\ney\nez\n", "x\na\ny\n", 3, 2, 0, false},
	{"an empty line", "i\n", "\n", 9, 0, 0, false},
	{"an open line", "ia\nib", "a\nb", 9, 0, 0, true},
	{"an open key", "s000", "", 9, 0, 0, true},
	{"another mark", "xa\n", "", 9, 0, -EINVAL, false},
	{"no mark", "\n", "", 9, 0, -EINVAL, false},
	{"another digit", "s00000000000000g0in A\n", "", 9, 0, -EINVAL, true},
	{"a capital digit", "s00000000000000A0in A\n", "", 9, 0, -EINVAL, true},
	{"an escape", "ia\x1b[2J\n", "", 9, 0, -EINVAL, true},
	{"a delete", "ia\x7f\n", "", 9, 0, -EINVAL, true},
};

/* Print the text in parts of @step bytes, or through chunks if it is 0. */
static void check_row(int i, size_t step)
{
	struct decode_listing_join join = {.left = rows[i].left};
	struct decode_text text = {.chunks.n = 0};
	const size_t len = strlen(rows[i].text);
	size_t at, n, size;
	char *got;
	FILE *out;
	int err = 0;

	join.out = open_memstream(&got, &size);
	for (at = 0; step && !err && at < len; at += n) {
		n = step < len - at ? step : len - at;
		err = decode_listing_join(&join, rows[i].text + at, n);
	}
	if (!step) {
		struct decode_text_writer *w = decode_text_begin(&text, &out);

		fputs(rows[i].text, out);
		ck_assert_int_eq(decode_text_end(w), 0);
		err = decode_text_read(&text, decode_listing_join, &join);
		decode_text_free(&text);
	}
	fclose(join.out);
	ck_assert_msg(err == rows[i].err, "%s: error %d", rows[i].name, err);
	if (!err) {
		ck_assert_msg(!strcmp(got, rows[i].want), "%s: '%s'", rows[i].name, got);
		ck_assert_uint_eq(join.errors, rows[i].errors);
		ck_assert_int_eq(decode_listing_join_whole(&join), !rows[i].open);
	}
	free(got);
}

START_TEST(row)
{
	check_row(_i, 1000);
	check_row(_i, 1);
	check_row(_i, 0);
}
END_TEST

static int count(void *context, const char *text, size_t len)
{
	uint64_t *sum = context;

	while (len--)
		*sum = *sum * 31 + (unsigned char)*text++;
	return 0;
}

/* A text of several chunks, in two parts, is the text. */
START_TEST(chunks)
{
	struct decode_text a = {.chunks.n = 0}, b = {.chunks.n = 0};
	uint64_t want = 0, got = 0;
	unsigned int i, k;

	for (k = 0; k < 2; k++) {
		FILE *out;
		struct decode_text_writer *w = decode_text_begin(k ? &b : &a, &out);

		for (i = 0; i < 300000; i++) {
			char line[16];
			const int len = snprintf(line, sizeof(line), "i%u\n", i * (k + 7));

			fputs(line, out);
			count(&want, line, (size_t)len);
		}
		ck_assert_int_eq(decode_text_end(w), 0);
	}
	ck_assert_uint_ge(a.chunks.n, 2);
	ck_assert(decode_text_join(&a, &b));
	ck_assert_int_eq(decode_text_read(&a, count, &got), 0);
	ck_assert_uint_eq(got, want);
	decode_text_free(&a);
}
END_TEST

/* Chunks that do not fit their bytes are refused, and so is a frame of another size. */
START_TEST(forged)
{
	struct decode_text a = {.chunks.n = 0}, b = {.chunks.n = 0};
	struct decode_text_chunk c;
	uint64_t sum = 0;
	FILE *out;
	struct decode_text_writer *w = decode_text_begin(&a, &out);

	fputs("text", out);
	ck_assert_int_eq(decode_text_end(w), 0);
	c = a.chunks.at[0];
	ck_assert_int_eq(decode_text_take(&b, &c, 1, a.bytes.at, a.bytes.n - 1), -EINVAL);
	decode_text_free(&b);
	ck_assert_int_eq(decode_text_take(&b, &c, 0, a.bytes.at, a.bytes.n), -EINVAL);
	decode_text_free(&b);
	c.raw = 0;
	ck_assert_int_eq(decode_text_take(&b, &c, 1, a.bytes.at, a.bytes.n), -EINVAL);
	decode_text_free(&b);
	c.raw = DECODE_TEXT_CHUNK + 1;
	ck_assert_int_eq(decode_text_take(&b, &c, 1, a.bytes.at, a.bytes.n), -EINVAL);
	decode_text_free(&b);
	for (c.raw = 3; c.raw <= 5; c.raw++) {
		ck_assert_int_eq(decode_text_take(&b, &c, 1, a.bytes.at, a.bytes.n), 0);
		ck_assert_int_eq(decode_text_read(&b, count, &sum), c.raw == 4 ? 0 : -EINVAL);
		decode_text_free(&b);
	}
	decode_text_free(&a);
}
END_TEST

TEST_SUITE("listing_join", NULL, NULL)
{
	TEST_ROWS(tcase, row, rows);
	tcase_add_test(tcase, chunks);
	tcase_add_test(tcase, forged);
}
