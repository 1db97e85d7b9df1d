// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes symbol maps by their lines and words. */
#include <string.h>

#include "fuzz/forged/change.h"

/* Find the line or word that holds `at`. The bytes in `ends` end one. */
static void bounds(const struct change *c, const char *ends, size_t at, size_t *begin, size_t *end)
{
	size_t n = strlen(ends);

	for (*begin = at; *begin && !memchr(ends, c->bytes[*begin - 1], n);)
		--*begin;
	for (*end = at; *end < c->len && !memchr(ends, c->bytes[*end], n);)
		++*end;
}

static void line_of(struct change *c, size_t *begin, size_t *end)
{
	bounds(c, "\n", change_below(c, c->len), begin, end);
	if (*end < c->len)
		++*end;
}

static void put(struct change *c, size_t at, size_t old, const void *bytes, size_t n)
{
	if (change_resize(c, at, old, n))
		memcpy(c->bytes + at, bytes, n);
}

static void leave_out(struct change *c)
{
	size_t begin, end;

	line_of(c, &begin, &end);
	change_resize(c, begin, end - begin, 0);
}

static void repeat(struct change *c)
{
	size_t begin, end, n;

	line_of(c, &begin, &end);
	n = end - begin;
	if (change_resize(c, end, 0, n))
		memmove(c->bytes + end, c->bytes + begin, n);
}

/* Exchange a line with the next one. */
static void exchange(struct change *c)
{
	size_t begin, end, next, after;
	uint8_t line[256];

	line_of(c, &begin, &end);
	if (end == c->len || end - begin > sizeof(line))
		return;
	bounds(c, "\n", end, &next, &after);
	if (after < c->len)
		after++;
	memcpy(line, c->bytes + begin, end - begin);
	memmove(c->bytes + begin, c->bytes + end, after - end);
	memcpy(c->bytes + begin + (after - end), line, end - begin);
}

/* Give a word another value: addresses, types, names and modules alike. */
static void change_word(struct change *c)
{
	static const char *const words[] = {"0",
					    "ffffffffffffffff",
					    "ffffffffffffffffffffffff",
					    "8000000000000000",
					    "7fffffffffffffff",
					    "ffffffff81000000",
					    "201000",
					    "-1",
					    "+5",
					    "0x201000",
					    "g",
					    "T",
					    "t",
					    "D",
					    "W",
					    "a",
					    "_text",
					    "_stext",
					    "_etext",
					    "_einittext",
					    "startup_64",
					    "[m]",
					    "[]",
					    "[",
					    "[bpf]",
					    "x\ty",
					    "\x1b[31m",
					    "\xff\xfe",
					    ""};
	const char *word = words[change_below(c, sizeof(words) / sizeof(words[0]))];
	size_t begin, end;

	bounds(c, " \t\n", change_below(c, c->len), &begin, &end);
	put(c, begin, end - begin, word, strlen(word));
}

static void change_digit(struct change *c)
{
	size_t begin, end;

	line_of(c, &begin, &end);
	if (end - begin >= 16)
		c->bytes[begin + change_below(c, 16)] =
			(uint8_t) "0123456789abcdefABCDEFgx"[change_below(c, 24)];
}

static void change_byte(struct change *c)
{
	static const uint8_t bytes[] = {0,   '\n', '\r', '\t', ' ',  '[',
					']', '@',  '%',	 0x1b, 0x7f, 0xff};

	c->bytes[change_below(c, c->len)] = bytes[change_below(c, sizeof(bytes))];
}

/* A name that is longer than any buffer should assume. */
static void lengthen(struct change *c)
{
	size_t n = 1 + change_below(c, 6000), begin, end;

	bounds(c, " \t\n", change_below(c, c->len), &begin, &end);
	if (change_resize(c, begin, 0, n))
		memset(c->bytes + begin, change_next(c) & 1 ? 'f' : '0', n);
}

void change_map(struct change *c)
{
	static void (*const ways[])(struct change *) = {
		leave_out,   repeat,	   exchange,	 change_word, change_word, change_word,
		change_word, change_digit, change_digit, change_byte, lengthen};
	size_t steps;

	for (steps = 1 + change_below(c, 4); steps && c->len; steps--)
		ways[change_below(c, sizeof(ways) / sizeof(ways[0]))](c);
	if (!change_below(c, 32))
		c->len = change_below(c, c->len + 1);
}
