/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that comes from a file, for people and for programs. */
#ifndef VMM_TEXT_TEXT_H
#define VMM_TEXT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Replace what a terminal would act on. */
void text_clean(char *text);

/* Copy up to `len` bytes or a NUL, cleaned, into `text` of `size` (at least 1). */
void text_copy(char *text, size_t size, const char *bytes, size_t len);

/*
 * Put a number as @digits hexadecimal digits, or as a decimal of at least @width characters, at
 * most 20 digits, behind spaces. Return the end, which has no NUL. Listings have a line for an
 * instruction, and printf() takes several times as long.
 */
char *text_hex(char *to, uint64_t value, unsigned int digits);
char *text_decimal(char *to, uint64_t value, unsigned int width);

/* Write `text` as a JSON string, quotes and all. */
void text_json_string(FILE *out, const char *text);

/* Write an address as a JSON string: numbers of JSON do not hold 64 bits. */
void text_json_address(FILE *out, uint64_t addr);

#endif /* VMM_TEXT_TEXT_H */
