/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DWARF line tables, versions 2 to 5, of ELF files: which code is of which source line.
 *
 * The file is hostile. What is read grows with the bytes that the file has: each line program
 * is run once, and decompressed bytes, rows and paths have limits. libdw has none of these
 * bounds, and uses what malloc() returns without looking; so it judges these tables in the tests
 * and is not linked here.
 */
#ifndef VMM_DEBUG_LINE_H
#define VMM_DEBUG_LINE_H

#include "debug/object.h"
#include "debug/paths.h"

/* One row of a line table: code from `addr` on is of this line, up to the next row. */
struct vpt_line {
	uint64_t addr;
	const char *file; /* NULL: of no line */
	uint32_t line;
	uint32_t order; /* in the file, for rows at one address */
};

/* All zero is empty. */
struct vpt_lines {
	struct vpt_line *at;
	size_t n, room;
	struct vpt_paths paths;
	/* Limits, which vpt_lines_read() raises by the size of each file. */
	uint64_t inflate_left;	     /* bytes that may still be decompressed */
	uint64_t rows_max, path_max; /* rows, and bytes of paths */
};

/*
 * Add the rows of a file, with `bias` added to their addresses; unsorted. A file without line
 * tables adds none.
 *
 * Returns 0; -ENOMEM; -EFBIG: a limit was reached, and rows are missing; -EINVAL: a table is
 * damaged, or of a kind that is not known, and rows are missing.
 */
int vpt_lines_read(struct vpt_lines *lines, const struct vpt_object *o, uint64_t bias);
/* Sort by address. Rows that end a sequence come before those that begin one there. */
void vpt_lines_sort(struct vpt_lines *lines);
/* Find the row that an address lies in. NULL: there is none, or it is of no line. */
const struct vpt_line *vpt_lines_find(const struct vpt_lines *lines, uint64_t addr);
void vpt_lines_free(struct vpt_lines *lines);

#endif /* VMM_DEBUG_LINE_H */
