/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols from text: System.map and /proc/kallsyms of a Linux kernel. A line has an
 * address, a type as nm has it, a name, and perhaps [module].
 */
#ifndef VMM_DEBUG_SYMBOL_MAP_H
#define VMM_DEBUG_SYMBOL_MAP_H

#include "debug/symbol.h"

struct debug_symbol_map {
	char *text; /* that the names are in */
	struct debug_symbol *at;
	size_t n, room;
	size_t line; /* the one that is wrong */
};

/*
 * Symbols of code; where others begin, these end. 0, -ENOMEM, or -EINVAL: a line is not
 * as it must be. All zero before; free also after an error.
 */
int debug_symbol_map_read(struct debug_symbol_map *map, const void *bytes, size_t len,
			  uint64_t bias);
/* Free the list of symbols, and keep the text that has their names. */
void debug_symbol_map_release(struct debug_symbol_map *map);
void debug_symbol_map_free(struct debug_symbol_map *map);

#endif /* VMM_DEBUG_SYMBOL_MAP_H */
