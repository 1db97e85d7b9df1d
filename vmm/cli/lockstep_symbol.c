// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt lockstep: the function an address is in. libelf reads a copy of the file. */
#include "cli/lockstep.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "decode/text.h"

struct nearest {
	uint64_t address, start;
	const char *name;
};

static void consider(struct nearest *n, const GElf_Sym *symbol, const char *name)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	if (!name || !*name || symbol->st_shndx == SHN_UNDEF || type > STT_FUNC ||
	    type == STT_OBJECT)
		return;
	if (symbol->st_value > n->address || (n->name && symbol->st_value <= n->start))
		return;
	if (symbol->st_size && n->address - symbol->st_value >= symbol->st_size)
		return;
	n->start = symbol->st_value;
	n->name = name;
}

static void look_in(struct nearest *n, Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Sym symbol;
	int i;

	if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
		return;
	data = elf_getdata(section, NULL);
	for (i = 0; data && gelf_getsym(data, i, &symbol); i++)
		consider(n, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name));
}

void vpt_lockstep_symbol(const void *image, size_t len, uint64_t address, char *text, size_t size)
{
	struct nearest n = {.address = address};
	Elf_Scn *section = NULL;
	char *copy = malloc(len);
	Elf *elf = NULL;

	text[0] = 0;
	if (copy && elf_version(EV_CURRENT) != EV_NONE) {
		memcpy(copy, image, len);
		elf = elf_memory(copy, len);
	}
	while (elf && (section = elf_nextscn(elf, section)))
		look_in(&n, elf, section);
	if (n.name && address == n.start)
		snprintf(text, size, "%s", n.name);
	else if (n.name)
		snprintf(text, size, "%s+%#llx", n.name, (unsigned long long)(address - n.start));
	vpt_text_clean(text);
	elf_end(elf);
	free(copy);
}
