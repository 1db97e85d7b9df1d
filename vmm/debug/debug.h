/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols and line tables of an ELF file, read by libelf and libdw.
 *
 * The file is hostile, and the libraries neither bound what a file makes them allocate nor look
 * at each pointer that malloc() returns (docs/adr/0018). They therefore run in a child process
 * with limits of memory, time and output that grow with the file. The parent checks every
 * record that the child wrote.
 */
#ifndef VMM_DEBUG_DEBUG_H
#define VMM_DEBUG_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What to read. */
enum debug_what { DEBUG_SYMBOLS = 1 << 0, DEBUG_LINES = 1 << 1 };

struct debug_elf_symbol {
	uint64_t value, size;
	const char *name; /* not empty */
	uint8_t type;	  /* STT_FUNC and so on */
	bool defined;	  /* in this file */
	bool in_code;	  /* in a section of code */
};

/* One row of a line table: code from `addr` on is of this line, up to the next row. */
struct debug_line {
	uint64_t addr;
	const char *file; /* NULL: of no line */
	uint32_t line;
	uint32_t order; /* in the file, for rows at one address */
};

/* All zero is empty. */
struct debug {
	struct debug_elf_symbol *symbols; /* of .symtab, or of .dynsym if that has none */
	size_t nsymbols;
	struct debug_line *lines; /* in the order of the file */
	size_t nlines;
	char *text; /* where the names are */
};

/*
 * Read what @what says of an ELF file of @len bytes. *problem is NULL, or says in a few words
 * why something was left out: static, to follow the file's name and a colon. Returns 0, or
 * -ENOMEM with *debug empty: there is no memory, no process or no room for what the child writes.
 */
int debug_read(const void *elf, size_t len, unsigned int what, struct debug *debug,
	       const char **problem);
void debug_free(struct debug *debug);

/* Sort rows by address. Those that end a sequence come before those that begin one there. */
void debug_lines_sort(struct debug_line *lines, size_t count);
/* The row that an address lies in, of rows that are sorted. NULL: none, or of no line. */
const struct debug_line *debug_lines_find(const struct debug_line *lines, size_t count,
					  uint64_t addr);

#endif /* VMM_DEBUG_DEBUG_H */
