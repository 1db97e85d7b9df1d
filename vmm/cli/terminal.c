// SPDX-License-Identifier: GPL-2.0-or-later
/* Filters a guest's console for a terminal. */
#include "cli/terminal.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

static bool locale_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (!locale)
		return false;
	utf8 = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
	freelocale(locale);
	return utf8;
}

void cli_terminal_open(struct cli_terminal *t, FILE *to)
{
	*t = (struct cli_terminal){.to = to};
	t->filtered = isatty(fileno(to));
	t->utf8 = t->filtered && locale_is_utf8();
}

/* Returns the length of the UTF-8 sequence that begins with @first, or 0. */
static unsigned int sequence(uint8_t first)
{
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if ((first & 0xf0) == 0xe0)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* The second byte distinguishes overlong forms, surrogates and values above 10FFFFH. */
static bool may_follow(const struct cli_terminal *t, uint8_t byte)
{
	uint8_t first = t->part[0];

	if ((byte & 0xc0) != 0x80)
		return false;
	if (t->len > 1)
		return true;
	return !(first == 0xe0 && byte < 0xa0) && !(first == 0xed && byte > 0x9f) &&
	       !(first == 0xf0 && byte < 0x90) && !(first == 0xf4 && byte > 0x8f);
}

static uint32_t code_point(const struct cli_terminal *t)
{
	uint32_t c = t->part[0] & (0xffu >> (t->len + 1));
	unsigned int i;

	for (i = 1; i < t->len; i++)
		c = c << 6 | (t->part[i] & 0x3f);
	return c;
}

/*
 * Returns true for C1 controls, which some terminals obey, line separators and bidirectional
 * controls.
 */
static bool is_control(uint32_t c)
{
	return (c >= 0x80 && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static bool put_ascii(struct cli_terminal *t, uint8_t c)
{
	if (c == '\n' || c == '\r' || c == '\t' || c == '\b' || (c >= 0x20 && c < 0x7f))
		return putc(c, t->to) != EOF;
	return fprintf(t->to, "^%c", c ^ 0x40) > 0;
}

static bool put_sequence(struct cli_terminal *t)
{
	uint32_t c = code_point(t);
	size_t len = t->len;

	t->len = 0;
	if (is_control(c))
		return fprintf(t->to, "\\u{%04" PRIx32 "}", c) > 0;
	return fwrite(t->part, 1, len, t->to) == len;
}

bool cli_terminal_put(struct cli_terminal *t, uint8_t byte)
{
	if (!t->filtered)
		return putc(byte, t->to) != EOF;
	if (t->len && may_follow(t, byte)) {
		t->part[t->len++] = byte;
		return t->len < t->all || put_sequence(t);
	}
	if (!cli_terminal_end(t))
		return false;
	if (byte < 0x80)
		return put_ascii(t, byte);
	t->all = (uint8_t)sequence(byte);
	if (!t->utf8 || !t->all)
		return fprintf(t->to, "\\x%02x", byte) > 0;
	t->part[t->len++] = byte;
	return true;
}

bool cli_terminal_end(struct cli_terminal *t)
{
	bool good = true;
	unsigned int i;

	for (i = 0; i < t->len; i++)
		good = fprintf(t->to, "\\x%02x", t->part[i]) > 0 && good;
	t->len = 0;
	return good;
}
