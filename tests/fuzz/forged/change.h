/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes to a file in memory by its structure. The same file and seed always give the same
 * result, so that a seed names an input.
 */
#ifndef TESTS_FORGED_CHANGE_H
#define TESTS_FORGED_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct change {
	uint8_t *bytes;
	size_t len;
	size_t room; /* the file cannot become longer than this */
	uint64_t random;
};

/* Seed the generator. */
void change_begin(struct change *c, uint64_t seed);
uint64_t change_next(struct change *c);
/* A number below @n; 0 if @n is 0. */
size_t change_below(struct change *c, size_t n);
/* Replace @old bytes at @at by @size bytes of any value. Returns false without room. */
bool change_resize(struct change *c, size_t at, size_t old, size_t size);
/*
 * Give a field of 1, 2, 4 or 8 bytes between @begin and @end a value at a boundary, or a
 * neighbour of its own value. Fields are aligned to their size from @begin on.
 */
void change_field(struct change *c, size_t begin, size_t end);
/* Change the field of @bytes (1, 2, 4 or 8) at @at in the same way. */
void change_value(struct change *c, size_t at, size_t bytes);

/*
 * Make one to four changes to a file of this kind. Blocks of .vpt and .vps files are removed,
 * repeated, exchanged, truncated or lengthened, or their fields and packets are changed. The
 * checksums of all blocks are then corrected.
 */
void change_blocks(struct change *c);
/* Change headers, section and program headers, symbols or the contents of debug sections. */
void change_elf(struct change *c);
/* Change the lines and words of a symbol map. */
void change_map(struct change *c);

#endif /* TESTS_FORGED_CHANGE_H */
