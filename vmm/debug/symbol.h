/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and source lines for addresses, from the ELF images in a trace file and from other files.
 * The images are not trusted. A damaged image has no names, and the caller reports the problem.
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
	const char *module; /* module of a kernel, or NULL */
};

/*
 * Open the symbols of a trace, or none if @reader is NULL. Returns 0 or -ENOMEM. The reader
 * outlives the symbols.
 */
int debug_symbols_open(const struct trace_reader *reader, struct debug_symbols **symbols);
/* Open the symbols for a caller that also calls debug_symbols_read_lines(). Reads both at once. */
int debug_symbols_open_lines(const struct trace_reader *reader, struct debug_symbols **symbols);
/*
 * Open the symbols of one ELF file in memory, which outlives the symbols. Returns 0 or -ENOMEM. A
 * damaged file has no names; debug_symbols_problem() reports it.
 */
int debug_symbols_open_elf(const void *bytes, size_t len, const char *name,
			   struct debug_symbols **symbols);
void debug_symbols_close(struct debug_symbols *symbols);

/*
 * Add the symbols of an ELF file or of a text (symbol_map.h), with `bias` added to addresses.
 * Returns 0, or -errno with one line in `why`: -EINVAL for an error in the content.
 */
int debug_symbols_add(struct debug_symbols *symbols, const char *path, uint64_t bias, char *why,
		      size_t size);

/* Return the symbol that contains an address, or NULL. `symbols` may be NULL. */
const struct debug_symbol *debug_symbols_find(const struct debug_symbols *symbols, uint64_t addr);

/*
 * Find the symbol of a name of @len characters. The symbol has another name if its code has several.
 * Returns 0 with @symbol NULL if there is none, 1, or 2 if more than one place has this name; @symbol
 * is then one of them.
 */
unsigned int debug_symbols_named(const struct debug_symbols *symbols, const char *name, size_t len,
				 const struct debug_symbol **symbol);

/*
 * Return the name that a function of this name has in a tree of calls, where code with several names
 * has one. It is @name if it is not the name of exactly one place. `symbols` may be NULL.
 */
const char *debug_symbols_shown(const struct debug_symbols *symbols, const char *name);

/* Return all symbols of code, sorted by address. Code with several names has one of them here. */
const struct debug_symbol *debug_symbols_all(const struct debug_symbols *symbols, size_t *count);

/*
 * Read all line tables, for the two functions below. A second call does nothing. Returns 0 or
 * -ENOMEM.
 */
int debug_symbols_read_lines(struct debug_symbols *symbols);

/* Return all rows of all line tables, sorted by address. A row extends to the next one. */
const struct debug_line *debug_symbols_lines(const struct debug_symbols *symbols, size_t *count);

/* Return the row for an address, or NULL. */
const struct debug_line *debug_symbols_line(const struct debug_symbols *symbols, uint64_t addr);

/*
 * Return one line about data that was omitted because an image is damaged or would need too much
 * memory. The line begins with the image's name. NULL if nothing was omitted.
 */
const char *debug_symbols_problem(const struct debug_symbols *symbols);

/*
 * Write "name+0x12", "name", "name+0x12 [module]" or "0x401000" for an address, safe to print.
 * Returns the full length, like snprintf.
 */
size_t debug_symbols_format(const struct debug_symbols *symbols, uint64_t addr, char *text,
			    size_t size);

#endif /* VMM_DEBUG_SYMBOL_H */
