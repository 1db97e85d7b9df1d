/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A parser with three planted bugs, as an example of a target for fuzzers. It is freestanding, so that
 * tests/bench/fuzz.sh also builds it for the host.
 *
 * A text is a sequence of statements, each ended by ';' or a line feed:
 *
 *	a=EXPRESSION	set one of the variables a to z
 *	"TEXT"		store the text; *N before it stores it N times
 *	#TEXT		a comment
 *
 * An expression has + - * / and parentheses. Its operands are numbers, variables, and elements
 * @EXPRESSION@ of a table.
 *
 * The bugs: a division by zero, a store behind the end of the heap, and a wild index of the table.
 */
#ifndef GUEST_TASKS_PARSER_H
#define GUEST_TASKS_PARSER_H

#include "vpt/base.h"

#define PARSER_INPUT 1024u /* the longest text */
#define PARSER_HEAP  4096u /* an unmapped page must follow the heap */

/* Parse @len bytes, at most PARSER_INPUT. Returns a checksum of the text and its results. */
uint64_t parser_parse(const uint8_t *text, size_t len, uint8_t *heap);

#endif /* GUEST_TASKS_PARSER_H */
