/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols and line tables of an ELF file, read by libelf and libdw.
 *
 * The file is hostile. The libraries do not bound the memory that a file needs, and do not check
 * every pointer from malloc() (docs/adr/0018). They therefore run in a child process with limits of
 * memory, time and output that grow with the file. The parent checks every record that the child
 * wrote.
 */
#ifndef VMM_DEBUG_DEBUG_H
#define VMM_DEBUG_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The data to read. */
enum debug_what { DEBUG_SYMBOLS = 1 << 0, DEBUG_LINES = 1 << 1 };

struct debug_elf_symbol {
	uint64_t value, size;
	const char *name; /* not empty */
	uint8_t type;	  /* STT_FUNC and so on */
	bool defined;	  /* the symbol is defined in this file */
	bool in_code;	  /* the symbol is in a section of code */
};

/* A row of a line table. The code from `addr` on belongs to this line, up to the next row. */
struct debug_line {
	uint64_t addr;
	const char *file; /* NULL for code without a line */
	uint32_t line;
	uint32_t order; /* position in the file, for rows at one address */
};

/* All zero is empty. */
struct debug {
	struct debug_elf_symbol *symbols; /* symbols of .symtab, or of .dynsym if there is no
	                                   * .symtab */
	size_t nsymbols;
	struct debug_line *lines; /* rows in the order of the file */
	size_t nlines;
	char *text; /* storage of the names */
};

/*
 * Read the data @what of an ELF file of @len bytes. *problem is NULL, or a short static text that
 * says why something was omitted. Print it behind the file's name and a colon. Returns 0. Returns -ENOMEM
 * with *debug empty if there is no memory, no process or no room for the child's output.
 */
int debug_read(const void *elf, size_t len, unsigned int what, struct debug *debug,
	       const char **problem);
void debug_free(struct debug *debug);

/* Sort rows by address. Rows that end a sequence precede those that begin one there. */
void debug_lines_sort(struct debug_line *lines, size_t count);
/* Return the row of an address from sorted rows, or NULL if there is no row or no line. */
const struct debug_line *debug_lines_find(const struct debug_line *lines, size_t count,
					  uint64_t addr);

#endif /* VMM_DEBUG_DEBUG_H */
