// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: ranges by symbol. The file is untrusted; libelf reads a copy of it. */
#include "cli/run.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

struct symbols {
	Elf *elf;
	Elf_Data *data;
	size_t count;
	size_t strings; /* section of their names */
};

static bool open_symbols(struct symbols *s, char *image, size_t len)
{
	Elf_Scn *section = NULL;

	memset(s, 0, sizeof(*s));
	if (elf_version(EV_CURRENT) == EV_NONE)
		return false;
	s->elf = elf_memory(image, len);
	while (s->elf && (section = elf_nextscn(s->elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB ||
		    !header.sh_entsize)
			continue;
		s->data = elf_getdata(section, NULL);
		s->count = header.sh_size / header.sh_entsize;
		s->strings = header.sh_link;
		return s->data;
	}
	return false;
}

static bool get(const struct symbols *s, size_t i, GElf_Sym *symbol, const char **name)
{
	if (!gelf_getsym(s->data, (int)i, symbol))
		return false;
	*name = elf_strptr(s->elf, s->strings, symbol->st_name);
	return *name && symbol->st_shndx != SHN_UNDEF;
}

/* Where code without a size ends: before the next symbol. */
static uint64_t guess_end(const struct symbols *s, uint64_t start)
{
	uint64_t end = UINT64_MAX;
	const char *name;
	GElf_Sym symbol;
	size_t i;

	for (i = 0; i < s->count; i++)
		if (get(s, i, &symbol, &name) && symbol.st_value > start && symbol.st_value <= end)
			end = symbol.st_value - 1;
	return end == UINT64_MAX ? start : end;
}

static bool find(const struct symbols *s, const char *wanted, size_t len, uint64_t *first,
		 uint64_t *last)
{
	const char *name;
	GElf_Sym symbol;
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (!get(s, i, &symbol, &name) || strlen(name) != len || memcmp(name, wanted, len))
			continue;
		*first = symbol.st_value;
		if (symbol.st_size)
			*last = symbol.st_value + (symbol.st_size - 1);
		else
			*last = guess_end(s, symbol.st_value);
		return *last >= *first;
	}
	return false;
}

static const char *option_name(const struct vpt_run_range *r)
{
	return r->stop ? "stop" : "filter";
}

static int addresses(struct vpt_run_range *r)
{
	char *end;

	errno = 0;
	r->first = strtoull(r->text, &end, 0);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		r->last = strtoull(end + 1, &end, 0);
	else
		end = (char *)"?";
	if (*end || errno)
		return vpt_fail(VPT_EXIT_USAGE, "run: --%s=%s: not FIRST-LAST", option_name(r),
				r->text);
	return VPT_EXIT_OK;
}

static int by_symbol(struct vpt_run_range *r, const struct symbols *s)
{
	const char *dots = strstr(r->text, "..");
	size_t len = dots ? (size_t)(dots - r->text) : strlen(r->text);
	uint64_t unused;

	if (!s->data)
		return vpt_fail(VPT_EXIT_INPUT,
				"run: --%s=%s: the guest has no symbols: give addresses, or do not "
				"strip it",
				option_name(r), r->text);
	if (!find(s, r->text, len, &r->first, &r->last))
		return vpt_fail(VPT_EXIT_USAGE, "run: --%s=%s: the guest has no symbol '%.*s'",
				option_name(r), r->text, (int)len, r->text);
	if (dots && !find(s, dots + 2, strlen(dots + 2), &unused, &r->last))
		return vpt_fail(VPT_EXIT_USAGE, "run: --%s=%s: the guest has no symbol '%s'",
				option_name(r), r->text, dots + 2);
	return VPT_EXIT_OK;
}

int vpt_run_resolve(struct vpt_run_options *o, const void *elf, size_t len)
{
	unsigned int have = vpt_system_ranges(o->system, &o->caps);
	int status = VPT_EXIT_OK;
	struct symbols s;
	char *image;
	size_t i;

	if (!o->ranges)
		return VPT_EXIT_OK;
	if (o->ranges > have)
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --filter, --stop: %zu ranges, but model %s has %u", o->ranges,
				o->model, have);
	image = malloc(len ? len : 1);
	if (!image)
		return vpt_fail(VPT_EXIT_HOST, "run: %s: no memory to look for symbols", o->guest);
	memcpy(image, elf, len);
	(void)open_symbols(&s, image, len);
	for (i = 0; !status && i < o->ranges; i++) {
		struct vpt_run_range *r = &o->range[i];

		if (r->text[0] >= '0' && r->text[0] <= '9')
			status = addresses(r);
		else
			status = by_symbol(r, &s);
		if (!status && r->last < r->first)
			status = vpt_fail(VPT_EXIT_USAGE, "run: --%s=%s: ends before it begins",
					  option_name(r), r->text);
	}
	elf_end(s.elf);
	free(image);
	return status;
}
