// SPDX-License-Identifier: GPL-2.0-or-later
/* Find a format by its name, and the function that is selected. */
#include "formats/format.h"

#include <string.h>

const struct format_type *format_find(const char *name)
{
#define FORMAT(name, text) &format_type_##name,
	static const struct format_type *const types[] = {
#include "formats/formats.def"
	};
#undef FORMAT
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(types[i]->name, name))
			return types[i];
	}
	return NULL;
}

bool format_is_only(const struct format_run *run, uint64_t func)
{
	const struct debug_symbol *symbol = debug_symbols_find(run->symbols, func);

	return symbol && !strcmp(symbol->name, run->only);
}
