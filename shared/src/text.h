/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Text without a libc: names compared, lines put together. */
#ifndef VPT_SRC_TEXT_H
#define VPT_SRC_TEXT_H

#include "vpt/base.h"

static inline bool vpt_same_text(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

struct vpt_line {
	char *text;
	size_t size;
	size_t len; /* also counts what did not fit */
};

static inline void vpt_line_char(struct vpt_line *line, char c)
{
	if (line->len + 1 < line->size)
		line->text[line->len] = c;
	line->len++;
}

static inline void vpt_line_text(struct vpt_line *line, const char *text)
{
	while (*text)
		vpt_line_char(line, *text++);
}

static inline void vpt_line_digits(struct vpt_line *line, uint64_t value, unsigned int base,
				   unsigned int least)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || n < least);
	while (n)
		vpt_line_char(line, digits[--n]);
}

/* "label" 0x... */
static inline void vpt_line_hex(struct vpt_line *line, const char *label, uint64_t value)
{
	vpt_line_text(line, label);
	vpt_line_text(line, "0x");
	vpt_line_digits(line, value, 16, 1);
}

static inline void vpt_line_flag(struct vpt_line *line, bool flag, const char *text)
{
	if (flag)
		vpt_line_text(line, text);
}

/* `count` outcomes, the oldest first: ! taken, . not taken. */
static inline void vpt_line_outcomes(struct vpt_line *line, uint64_t outcomes, unsigned int count)
{
	unsigned int i;

	for (i = count; i-- > 0;)
		vpt_line_char(line, i < 64 && outcomes >> i & 1 ? '!' : '.');
}

/* A packet's name in a column `width` wide, behind which its payload goes. Returns the name's
 * end, for vpt_line_end(). */
static inline size_t vpt_line_name(struct vpt_line *line, const char *name, size_t width)
{
	size_t end;

	vpt_line_text(line, name);
	end = line->len;
	while (line->len < width)
		vpt_line_char(line, ' ');
	return end;
}

/* No blanks at the end of a line that is a name only. Returns the length. */
static inline size_t vpt_line_end(struct vpt_line *line, size_t name_end, size_t width)
{
	if (line->len == width)
		line->len = name_end;
	if (line->size)
		line->text[line->len < line->size ? line->len : line->size - 1] = '\0';
	return line->len;
}

#endif /* VPT_SRC_TEXT_H */
