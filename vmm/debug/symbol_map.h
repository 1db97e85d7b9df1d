/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols from text: System.map and /proc/kallsyms of a Linux kernel. A line has an address, a type
 * as in nm, a name, and optionally [module].
 */
#ifndef VMM_DEBUG_SYMBOL_MAP_H
#define VMM_DEBUG_SYMBOL_MAP_H

#include "debug/symbol.h"

struct debug_symbol_map {
	char *text; /* storage of the names */
	struct debug_symbol *at;
	size_t n, room;
	size_t line; /* number of the wrong line */
};

/*
 * Read symbols of code; each ends at the next one. Returns 0, -ENOMEM, or -EINVAL for a wrong line.
 * @map must be all zero; free it also after an error.
 */
int debug_symbol_map_read(struct debug_symbol_map *map, const void *bytes, size_t len,
			  uint64_t bias);
/* Free the list of symbols, and keep the text with their names. */
void debug_symbol_map_release(struct debug_symbol_map *map);
void debug_symbol_map_free(struct debug_symbol_map *map);

#endif /* VMM_DEBUG_SYMBOL_MAP_H */
