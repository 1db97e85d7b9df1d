/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and bytes as hexadecimal digits, as gdb's remote serial protocol has them. */
#ifndef VMM_GDB_HEX_H
#define VMM_GDB_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the value of a digit, or 16. */
static inline unsigned int gdb_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10 : 16;
}

/* Write two digits for each byte, without a final 0. Returns the end. */
static inline char *gdb_hex_put(char *to, const void *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *from = bytes;

	while (count--) {
		*to++ = digits[*from >> 4];
		*to++ = digits[*from++ & 15];
	}
	return to;
}

/* Read @count bytes of two digits each. Returns false if there are other characters. */
static inline bool gdb_hex_take(const char *text, void *bytes, size_t count)
{
	uint8_t *to = bytes;

	for (; count--; text += 2) {
		const unsigned int high = gdb_hex_digit(text[0]);
		const unsigned int low = high > 15 ? 16 : gdb_hex_digit(text[1]);

		if (low > 15)
			return false;
		*to++ = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* Read a number and move *text behind it. Returns false without digits, or with more than 16. */
static inline bool gdb_hex_number(const char **text, uint64_t *value)
{
	const char *from = *text;

	*value = 0;
	while (gdb_hex_digit(**text) < 16 && *text - from < 16)
		*value = *value << 4 | gdb_hex_digit(*(*text)++);
	return *text != from && gdb_hex_digit(**text) > 15;
}

#endif /* VMM_GDB_HEX_H */
