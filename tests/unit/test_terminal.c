// SPDX-License-Identifier: GPL-2.0-or-later
/* What a guest prints cannot steer the terminal that shows it. */
#include "lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal.h"

static char *shown;
static size_t shown_len;

/* Print bytes through a filter of this kind; `shown` is what comes out. */
static void print(bool filtered, bool utf8, const void *bytes, size_t len)
{
	struct cli_terminal t = {.filtered = filtered, .utf8 = utf8};
	size_t i;

	free(shown);
	t.to = open_memstream(&shown, &shown_len);
	ck_assert_ptr_nonnull(t.to);
	for (i = 0; i < len; i++)
		ck_assert(cli_terminal_put(&t, ((const uint8_t *)bytes)[i]));
	ck_assert(cli_terminal_end(&t));
	fclose(t.to);
}

static const struct {
	const char *printed, *utf8, *other;
} texts[] = {
	{"plain, 100 %\r\n\tback\b", NULL, NULL},
	{"\x1b]0;title\x07", "^[]0;title^G", NULL},
	{"\x1b[2J\x7f\x01", "^[[2J^?^A", NULL},
	{"\x0b\x0c\x0e\x0f", "^K^L^N^O", NULL},
	{"a\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7", "a\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7",
	 "a\\xc3\\xa9 \\xe2\\x82\\xac \\xf0\\x9f\\x90\\xa7"},
	/* CSI as one byte, and in UTF-8. */
	{"\x9b"
	 "2J",
	 "\\x9b2J", NULL},
	{"\xc2\x9b"
	 "2J",
	 "\\u{009b}2J", "\\xc2\\x9b2J"},
	{"\xe2\x80\xae", "\\u{202e}", "\\xe2\\x80\\xae"},
	{"\xe2\x81\xa9\xd8\x9c", "\\u{2069}\\u{061c}", "\\xe2\\x81\\xa9\\xd8\\x9c"},
	/* Overlong forms of ESC, a surrogate, above 10FFFFH, no such bytes. */
	{"\xc0\x9b", "\\xc0\\x9b", NULL},
	{"\xe0\x80\x9b", "\\xe0\\x80\\x9b", NULL},
	{"\xf0\x80\x80\x9b", "\\xf0\\x80\\x80\\x9b", NULL},
	{"\xed\xa0\x80", "\\xed\\xa0\\x80", NULL},
	{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", NULL},
	{"\xf5\xff\xfe", "\\xf5\\xff\\xfe", NULL},
	/* Sequences that another byte interrupts, and that never end. */
	{"\xe2\x82\x1b", "\\xe2\\x82^[", NULL},
	{"\xe2\xc3\xa9", "\\xe2\xc3\xa9", "\\xe2\\xc3\\xa9"},
	{"x\xf0\x9f\x90", "x\\xf0\\x9f\\x90", NULL},
};

START_TEST(on_a_terminal)
{
	const char *want = texts[_i].utf8 ? texts[_i].utf8 : texts[_i].printed;

	print(true, true, texts[_i].printed, strlen(texts[_i].printed));
	ck_assert_str_eq(shown, want);
	print(true, false, texts[_i].printed, strlen(texts[_i].printed));
	ck_assert_str_eq(shown, texts[_i].other ? texts[_i].other : want);
}
END_TEST

START_TEST(elsewhere)
{
	print(false, false, texts[_i].printed, strlen(texts[_i].printed));
	ck_assert_str_eq(shown, texts[_i].printed);
}
END_TEST

/* Any two bytes: no control character passes but the four, and 8-bit ones not at all. */
START_TEST(every_pair)
{
	unsigned int pair;
	size_t i;

	for (pair = 0; pair < 0x10000; pair++) {
		const uint8_t bytes[] = {(uint8_t)(pair >> 8), (uint8_t)pair};

		print(true, false, bytes, sizeof(bytes));
		for (i = 0; i < shown_len; i++)
			ck_assert_msg(strchr("\n\r\t\b", shown[i])
					      ? shown[i] != 0
					      : shown[i] >= 0x20 && shown[i] < 0x7f,
				      "%02x %02x", bytes[0], bytes[1]);
		print(true, true, bytes, sizeof(bytes));
		for (i = 0; i < shown_len; i++)
			ck_assert_msg((shown[i] & 0x80) || shown[i] >= 0x20 ||
					      strchr("\n\r\t\b", shown[i]),
				      "%02x %02x", bytes[0], bytes[1]);
	}
}
END_TEST

/* A pipe is no terminal; a stream that cannot be written reports it. */
START_TEST(streams)
{
	struct cli_terminal t;
	FILE *null = fopen("/dev/null", "w"), *full = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(null);
	cli_terminal_open(&t, null);
	ck_assert(!t.filtered);
	ck_assert(cli_terminal_put(&t, 0x1b));
	fclose(null);

	ck_assert_ptr_nonnull(full);
	setvbuf(full, NULL, _IONBF, 0);
	t = (struct cli_terminal){.to = full, .filtered = true, .utf8 = true};
	ck_assert(!cli_terminal_put(&t, 'a'));
	ck_assert(!cli_terminal_put(&t, 0x1b));
	ck_assert(cli_terminal_put(&t, 0xc3));
	ck_assert(!cli_terminal_put(&t, 0xa9));
	ck_assert(cli_terminal_put(&t, 0xc3));
	ck_assert(!cli_terminal_end(&t));
	fclose(full);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("terminal");
	TCase *tc = tcase_create("terminal");

	tcase_add_loop_test(tc, on_a_terminal, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_loop_test(tc, elsewhere, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tc, every_pair);
	tcase_add_test(tc, streams);
	suite_add_tcase(s, tc);
	return s;
}
