// SPDX-License-Identifier: GPL-2.0-or-later
/* Escapes text from files for terminals and for JSON. */
#include "text/text.h"

#include <inttypes.h>
#include <string.h>

void text_clean(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
	}
}

void text_copy(char *text, size_t size, const char *bytes, size_t len)
{
	size_t n = strnlen(bytes, len);

	if (n >= size)
		n = size - 1;
	memcpy(text, bytes, n);
	text[n] = 0;
	text_clean(text);
}

char *text_hex(char *to, uint64_t value, unsigned int digits)
{
	unsigned int i;

	for (i = digits; i; i--, value >>= 4)
		to[i - 1] = "0123456789abcdef"[value & 15];
	return to + digits;
}

char *text_decimal(char *to, uint64_t value, unsigned int width)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (width-- > n)
		*to++ = ' ';
	while (n)
		*to++ = digits[--n];
	return to;
}

void text_json_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		/* A non-ASCII byte need not be valid UTF-8. */
		if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

void text_json_address(FILE *out, uint64_t addr)
{
	fprintf(out, "\"0x%" PRIx64 "\"", addr);
}
