// SPDX-License-Identifier: GPL-2.0-or-later
/* Print listings with marks, and omit the lines that repeat a space or a source line. */
#include "decode/listing_join.h"

#include <errno.h>
#include <string.h>

/* Begin a line with a mark. Returns false if there is no such mark. */
static bool begin_line(struct decode_listing_join *j, char mark)
{
	j->mark = (uint8_t)mark;
	j->hidden = !j->left;
	j->digits = 0;
	j->key = 0;
	switch (mark) {
	case DECODE_MARK_SEGMENT:
		j->space.known = j->line.known = false;
		return true;
	case DECODE_MARK_SPACE:
	case DECODE_MARK_LINE:
		j->digits = 16;
		return true;
	case DECODE_MARK_ERROR:
		j->errors += j->left != 0;
		return true;
	default:
		return mark == DECODE_MARK_ITEM;
	}
}

static int digit_of(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Take a digit of the key, and find out whether the line repeats the last one of its kind. */
static bool take_digit(struct decode_listing_join *j, char c)
{
	const int digit = digit_of(c);

	if (digit < 0)
		return false;
	j->key = j->key << 4 | (uint64_t)digit;
	if (--j->digits || !j->left)
		return true;
	if (j->mark == DECODE_MARK_SPACE) {
		j->hidden = j->space.known && j->space.key == j->key;
		j->space.known = true;
		j->space.key = j->key;
	} else {
		j->hidden = j->line.known && j->line.key == j->key;
		j->line.known = true;
		j->line.key = j->key;
	}
	return true;
}

static void end_line(struct decode_listing_join *j)
{
	if (j->left && j->mark != DECODE_MARK_SPACE && j->mark != DECODE_MARK_LINE)
		j->left--;
	j->mark = 0;
}

/* Return the number of bytes up to the end of the line, which is not counted, or the end. */
static size_t plain(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && (unsigned char)text[n] >= 0x20 && text[n] != 0x7f)
		n++;
	return n;
}

int decode_listing_join(void *join, const char *text, size_t len)
{
	struct decode_listing_join *j = join;
	size_t at = 0, n;

	while (at < len) {
		if (!j->mark) {
			if (!begin_line(j, text[at++]))
				return -EINVAL;
			continue;
		}
		if (j->digits) {
			if (!take_digit(j, text[at++]))
				return -EINVAL;
			continue;
		}
		n = plain(text + at, len - at);
		if (at + n < len && text[at + n] != '\n')
			return -EINVAL;
		if (!j->hidden)
			fwrite_unlocked(text + at, n + (at + n < len), 1, j->out);
		at += n;
		if (at < len) {
			end_line(j);
			at++;
		}
	}
	return 0;
}

bool decode_listing_join_whole(const struct decode_listing_join *j)
{
	return !j->mark;
}
