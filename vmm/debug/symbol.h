/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and source lines for addresses, from the ELF images that a trace file
 * carries, and from other files. The images are not trusted: what is wrong with one
 * means that it has no names, and is a problem that the caller reports.
 */
#ifndef VMM_DEBUG_SYMBOL_H
#define VMM_DEBUG_SYMBOL_H

#include "debug/debug.h"
#include "trace/reader.h"

struct debug_symbols;

struct debug_symbol {
	uint64_t start;
	uint64_t end; /* exclusive */
	const char *name;
	const char *module; /* of a kernel; NULL: none */
};

/* 0 or -ENOMEM. The reader outlives the symbols. */
int debug_symbols_open(const struct trace_reader *reader, struct debug_symbols **symbols);
/* The same where debug_symbols_read_lines() follows: both are read at once. */
int debug_symbols_open_lines(const struct trace_reader *reader, struct debug_symbols **symbols);
/*
 * Those of one ELF file in memory, which outlives the symbols. 0 or -ENOMEM. A file that is
 * damaged has no names, which debug_symbols_problem() tells.
 */
int debug_symbols_open_elf(const void *bytes, size_t len, const char *name,
			   struct debug_symbols **symbols);
void debug_symbols_close(struct debug_symbols *symbols);

/*
 * Those of a file as well: of an ELF file, or text (symbol_map.h), with `bias` added to
 * addresses. 0, or -errno with one line in `why`: -EINVAL where it is the content.
 */
int debug_symbols_add(struct debug_symbols *symbols, const char *path, uint64_t bias, char *why,
		      size_t size);

/* The symbol an address lies in, NULL: none. `symbols` may be NULL. */
const struct debug_symbol *debug_symbols_find(const struct debug_symbols *symbols, uint64_t addr);

/* All symbols of code, sorted by address. */
const struct debug_symbol *debug_symbols_all(const struct debug_symbols *symbols, size_t *count);

/* Read all line tables, for the two functions below; again: does nothing. 0 or -ENOMEM. */
int debug_symbols_read_lines(struct debug_symbols *symbols);

/* All rows of all line tables, sorted by address. A row reaches to the next one. */
const struct debug_line *debug_symbols_lines(const struct debug_symbols *symbols, size_t *count);

/* The row for an address, NULL: none. */
const struct debug_line *debug_symbols_line(const struct debug_symbols *symbols, uint64_t addr);

/*
 * What was left out so far because an image is damaged or would take too much memory, in one
 * line that begins with its name; NULL: nothing.
 */
const char *debug_symbols_problem(const struct debug_symbols *symbols);

/*
 * "name+0x12", "name", "name+0x12 [module]" or "0x401000" for an address, safe to
 * print. Returns the length it would have had, like snprintf.
 */
size_t debug_symbols_format(const struct debug_symbols *symbols, uint64_t addr, char *text,
			    size_t size);

#endif /* VMM_DEBUG_SYMBOL_H */
