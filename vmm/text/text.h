/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of text from files, for terminals and for JSON. */
#ifndef VMM_TEXT_TEXT_H
#define VMM_TEXT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Replace characters that a terminal would interpret. */
void text_clean(char *text);

/* Copy up to `len` bytes, or up to a NUL, into `text` of `size` (at least 1), and clean them. */
void text_copy(char *text, size_t size, const char *bytes, size_t len);

/*
 * Write a number as @digits hexadecimal digits, or as a decimal of at least @width characters, at
 * most 20 digits, padded with spaces. Returns the end, which has no NUL. Listings have a line for
 * each instruction, and printf() takes several times as long.
 */
char *text_hex(char *to, uint64_t value, unsigned int digits);
char *text_decimal(char *to, uint64_t value, unsigned int width);

/* Write `text` as a JSON string with quotes. */
void text_json_string(FILE *out, const char *text);

/* Write an address as a JSON string, because JSON numbers do not hold 64 bits. */
void text_json_address(FILE *out, uint64_t addr);

#endif /* VMM_TEXT_TEXT_H */
