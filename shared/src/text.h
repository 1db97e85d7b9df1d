/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Text without a libc: names compared, lines put together. */
#ifndef VPTI_SRC_TEXT_H
#define VPTI_SRC_TEXT_H

#include "vpt/base.h"

static inline bool vpti_same_text(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

struct vpti_line {
	char *text;
	size_t size;
	size_t len; /* also counts what did not fit */
};

static inline void vpti_line_char(struct vpti_line *line, char c)
{
	if (line->len + 1 < line->size)
		line->text[line->len] = c;
	line->len++;
}

static inline void vpti_line_text(struct vpti_line *line, const char *text)
{
	while (*text)
		vpti_line_char(line, *text++);
}

static inline void vpti_line_digits(struct vpti_line *line, uint64_t value, unsigned int base,
				    unsigned int least)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || n < least);
	while (n)
		vpti_line_char(line, digits[--n]);
}

/* "label" 0x... */
static inline void vpti_line_hex(struct vpti_line *line, const char *label, uint64_t value)
{
	vpti_line_text(line, label);
	vpti_line_text(line, "0x");
	vpti_line_digits(line, value, 16, 1);
}

static inline void vpti_line_flag(struct vpti_line *line, bool flag, const char *text)
{
	if (flag)
		vpti_line_text(line, text);
}

/* `count` outcomes, the oldest first: ! taken, . not taken. */
static inline void vpti_line_outcomes(struct vpti_line *line, uint64_t outcomes, unsigned int count)
{
	unsigned int i;

	for (i = count; i-- > 0;)
		vpti_line_char(line, i < 64 && outcomes >> i & 1 ? '!' : '.');
}

/* A packet's name in a column `width` wide, behind which its payload goes. Returns the name's
 * end, for vpti_line_end(). */
static inline size_t vpti_line_name(struct vpti_line *line, const char *name, size_t width)
{
	size_t end;

	vpti_line_text(line, name);
	end = line->len;
	while (line->len < width)
		vpti_line_char(line, ' ');
	return end;
}

/* No blanks at the end of a line that is a name only. Returns the length. */
static inline size_t vpti_line_end(struct vpti_line *line, size_t name_end, size_t width)
{
	if (line->len == width)
		line->len = name_end;
	if (line->size)
		line->text[line->len < line->size ? line->len : line->size - 1] = '\0';
	return line->len;
}

#endif /* VPTI_SRC_TEXT_H */
