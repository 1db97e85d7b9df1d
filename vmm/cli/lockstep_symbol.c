// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt lockstep: finds the function of an address. */
#include "cli/lockstep.h"

#include <elf.h>
#include <stdio.h>

#include "debug/debug.h"
#include "text/text.h"

struct nearest {
	uint64_t address, start;
	const char *name;
};

static void consider(struct nearest *n, const struct debug_elf_symbol *symbol)
{
	if (!symbol->defined || symbol->type > STT_FUNC || symbol->type == STT_OBJECT)
		return;
	if (symbol->value > n->address || (n->name && symbol->value <= n->start))
		return;
	if (symbol->size && n->address - symbol->value >= symbol->size)
		return;
	n->start = symbol->value;
	n->name = symbol->name;
}

void cli_lockstep_symbol(const void *image, size_t len, uint64_t address, char *text, size_t size)
{
	struct nearest n = {.address = address};
	const char *problem;
	struct debug debug;
	size_t i;

	text[0] = 0;
	/* Without symbols, only the address is shown. */
	(void)debug_read(image, len, DEBUG_SYMBOLS, &debug, &problem);
	for (i = 0; i < debug.nsymbols; i++)
		consider(&n, &debug.symbols[i]);
	if (n.name && address == n.start)
		snprintf(text, size, "%s", n.name);
	else if (n.name)
		snprintf(text, size, "%s+%#llx", n.name, (unsigned long long)(address - n.start));
	text_clean(text);
	debug_free(&debug);
}
