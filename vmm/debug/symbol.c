// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds names and source lines of addresses, from ELF files and symbol maps. */
#include "debug/symbol.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/symbol_map.h"
#include "text/text.h"
#include "trace/input.h"
#include "trace/vec.h"

struct image {
	const uint8_t *bytes;
	size_t len;
	struct debug names; /* the source of the symbols' names */
	struct debug lines; /* used unless `names` has the lines */
	bool has_lines;	    /* `names` has the lines */
	uint64_t bias;
	char name[64]; /* for messages */
};

struct debug_symbols {
	struct {
		struct image *at;
		size_t n, room;
	} images;
	struct {
		struct trace_input *at;
		size_t n, room;
	} inputs;
	struct {
		struct debug_symbol_map *at;
		size_t n, room;
	} maps;
	struct {
		struct debug_symbol *at;
		size_t n, room;
	} symbols;
	struct {
		struct debug_symbol *at;
		size_t n, room;
	} aliases; /* other names of places in `symbols`; only `start` and `name` are valid */
	struct {
		struct debug_line *at;
		size_t n, room;
	} lines;
	bool lines_read;
	bool wants_lines;  /* one child reads lines together with the names */
	char problem[192]; /* the first omission; empty if there is none */
};

static void note(struct debug_symbols *s, const struct image *image, const char *what)
{
	if (!*s->problem)
		snprintf(s->problem, sizeof(s->problem), "%s: %s", image->name, what);
}

static bool names_code(const struct debug_elf_symbol *sym)
{
	if (!sym->defined || !strncmp(sym->name, ".L", 2))
		return false;
	/* Assembly often has only labels. */
	return sym->type == STT_FUNC || (sym->type == STT_NOTYPE && sym->in_code);
}

static int add_symbols(struct debug_symbols *s, const struct image *image)
{
	size_t i;

	for (i = 0; i < image->names.nsymbols; i++) {
		const struct debug_elf_symbol *sym = &image->names.symbols[i];

		if (!names_code(sym))
			continue;
		if (!trace_vec_room(&s->symbols))
			return -ENOMEM;
		s->symbols.at[s->symbols.n++] = (struct debug_symbol){
			.start = sym->value + image->bias,
			.end = sym->value + image->bias + sym->size,
			.name = sym->name,
		};
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct debug_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* Of several symbols at one place, prefer the longest, then the first by name. */
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (strcmp(x->name, y->name))
		return strcmp(x->name, y->name);
	if (!x->module || !y->module)
		return !x->module - !y->module;
	return strcmp(x->module, y->module);
}

static int add_alias(struct debug_symbols *s, const struct debug_symbol *alias)
{
	if (!trace_vec_room(&s->aliases))
		return -ENOMEM;
	s->aliases.at[s->aliases.n++] = *alias;
	return 0;
}

/*
 * Keep one symbol per place, and end each at the next one at most. Do this first for the symbols of
 * one image, from `first` on, and then for all. Returns 0 or -ENOMEM.
 */
static int tidy(struct debug_symbols *s, size_t first)
{
	size_t all = s->symbols.n - first, i, n = 0;
	struct debug_symbol *at;

	if (!all)
		return 0;
	at = s->symbols.at + first;
	qsort(at, all, sizeof(*at), by_start);
	for (i = 0; i < all; i++) {
		if (!n || at[n - 1].start != at[i].start)
			at[n++] = at[i];
		else if (strcmp(at[n - 1].name, at[i].name) && add_alias(s, &at[i]))
			return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		uint64_t next = i + 1 < n ? at[i + 1].start : UINT64_MAX;

		if (at[i].end <= at[i].start)
			at[i].end = i + 1 < n ? next : at[i].start + 4096;
		else if (at[i].end > next)
			at[i].end = next;
	}
	s->symbols.n = first + n;
	return 0;
}

/*
 * Read names like debug_read(), with the lines if they are requested. Problems with the lines are
 * reported later.
 */
static int read_names(const struct debug_symbols *s, struct image *image, const char **problem)
{
	if (s->wants_lines) {
		int err = debug_read(image->bytes, image->len, DEBUG_SYMBOLS | DEBUG_LINES,
				     &image->names, problem);

		image->has_lines = !err && !*problem;
		if (err || image->has_lines)
			return err;
		debug_free(&image->names);
	}
	return debug_read(image->bytes, image->len, DEBUG_SYMBOLS, &image->names, problem);
}

/* Returns 0 or -ENOMEM; *problem is NULL, or the reason why symbols are missing. */
static int add_image(struct debug_symbols *s, const void *bytes, size_t len, const struct image *as,
		     const char **problem)
{
	size_t first = s->symbols.n;
	struct image *image;
	int err;

	if (!trace_vec_room(&s->images))
		return -ENOMEM;
	image = &s->images.at[s->images.n];
	*image = *as;
	image->bytes = bytes;
	image->len = len;
	err = read_names(s, image, problem);
	if (err)
		return err;
	s->images.n++;
	err = add_symbols(s, image);
	return err ? err : tidy(s, first);
}

static int add_recorded(struct debug_symbols *s, const struct trace_elf_file *file)
{
	struct image as = {.bias = file->image->bias};
	const char *problem = NULL;
	int err;

	text_copy(as.name, sizeof(as.name), file->image->name,
		  strnlen(file->image->name, sizeof(file->image->name)));
	err = add_image(s, file->bytes, file->len, &as, &problem);
	if (problem)
		note(s, &as, problem);
	return err;
}

static int open_recorded(const struct trace_reader *reader, bool lines,
			 struct debug_symbols **symbols)
{
	struct debug_symbols *s = calloc(1, sizeof(*s));
	const struct trace_elf_file *files = NULL;
	size_t n = 0, i;

	if (!s)
		return -ENOMEM;
	s->wants_lines = lines;
	if (reader)
		files = trace_reader_elf(reader, &n);
	for (i = 0; i < n; i++) {
		if (add_recorded(s, &files[i])) {
			debug_symbols_close(s);
			return -ENOMEM;
		}
	}
	if (tidy(s, 0)) {
		debug_symbols_close(s);
		return -ENOMEM;
	}
	*symbols = s;
	return 0;
}

int debug_symbols_open(const struct trace_reader *reader, struct debug_symbols **symbols)
{
	return open_recorded(reader, false, symbols);
}

int debug_symbols_open_lines(const struct trace_reader *reader, struct debug_symbols **symbols)
{
	return open_recorded(reader, true, symbols);
}

int debug_symbols_open_elf(const void *bytes, size_t len, const char *name,
			   struct debug_symbols **symbols)
{
	struct debug_symbols *s = calloc(1, sizeof(*s));
	struct image as = {.bias = 0};
	const char *problem = NULL;
	int err;

	if (!s)
		return -ENOMEM;
	text_copy(as.name, sizeof(as.name), name, strlen(name));
	err = add_image(s, bytes, len, &as, &problem);
	if (!err)
		err = tidy(s, 0);
	if (err) {
		debug_symbols_close(s);
		return err;
	}
	if (problem)
		note(s, &as, problem);
	*symbols = s;
	return 0;
}

static bool is_elf(const struct trace_input *in)
{
	return in->size >= SELFMAG && !memcmp(in->bytes, ELFMAG, SELFMAG);
}

static int add_map(struct debug_symbols *s, const struct trace_input *in, uint64_t bias, char *why,
		   size_t size)
{
	struct debug_symbol_map *map;
	size_t i;
	int err;

	if (!trace_vec_room(&s->maps))
		return -ENOMEM;
	map = &s->maps.at[s->maps.n++];
	memset(map, 0, sizeof(*map));
	err = debug_symbol_map_read(map, in->bytes, in->size, bias);
	if (err == -EINVAL)
		snprintf(why, size, "it is no ELF file, and line %zu is not of a symbol map",
			 map->line);
	if (err)
		return err;
	/* A user without permission to see the kernel's addresses gets zeros. */
	if (!map->n || map->at[map->n - 1].start == bias) {
		snprintf(why, size, "it has no address of code%s",
			 map->n ? ": they are all 0, as without the right to see them" : "");
		return -EINVAL;
	}
	for (i = 0; i < map->n; i++) {
		if (!trace_vec_room(&s->symbols))
			return -ENOMEM;
		s->symbols.at[s->symbols.n++] = map->at[i];
	}
	debug_symbol_map_release(map);
	return 0;
}

static int add_file(struct debug_symbols *s, const char *path, uint64_t bias, char *why,
		    size_t size)
{
	const char *slash = strrchr(path, '/'), *wrong = NULL;
	struct image as = {.bias = bias};
	size_t had = s->symbols.n;
	struct trace_input *in;
	int err;

	if (!trace_vec_room(&s->inputs))
		return -ENOMEM;
	in = &s->inputs.at[s->inputs.n++];
	memset(in, 0, sizeof(*in));
	err = trace_input_open(in, path);
	if (err)
		return err;
	if (!is_elf(in))
		return add_map(s, in, bias, why, size);
	slash = slash ? slash + 1 : path;
	text_copy(as.name, sizeof(as.name), slash, strlen(slash));
	err = add_image(s, in->bytes, in->size, &as, &wrong);
	if (wrong) {
		snprintf(why, size, "%s", wrong);
		err = -EINVAL;
	} else if (!err && s->symbols.n == had) {
		snprintf(why, size, "it has no symbols of code");
		err = -EINVAL;
	}
	return err;
}

int debug_symbols_add(struct debug_symbols *s, const char *path, uint64_t bias, char *why,
		      size_t size)
{
	int err;

	*why = 0;
	err = add_file(s, path, bias, why, size);
	if (!err)
		err = tidy(s, 0);
	if (err && !*why)
		snprintf(why, size, "%s", strerror(-err));
	return err;
}

void debug_symbols_close(struct debug_symbols *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->inputs.n; i++)
		trace_input_close(&s->inputs.at[i]);
	for (i = 0; i < s->maps.n; i++)
		debug_symbol_map_free(&s->maps.at[i]);
	for (i = 0; i < s->images.n; i++) {
		debug_free(&s->images.at[i].names);
		debug_free(&s->images.at[i].lines);
	}
	free(s->images.at);
	free(s->inputs.at);
	free(s->maps.at);
	free(s->symbols.at);
	free(s->aliases.at);
	free(s->lines.at);
	free(s);
}

const struct debug_symbol *debug_symbols_all(const struct debug_symbols *s, size_t *count)
{
	*count = s->symbols.n;
	return s->symbols.at;
}

const struct debug_symbol *debug_symbols_find(const struct debug_symbols *s, uint64_t addr)
{
	size_t n = s ? trace_vec_before(s->symbols.at, s->symbols.n, e, e->start <= addr) : 0;

	return n && addr < s->symbols.at[n - 1].end ? &s->symbols.at[n - 1] : NULL;
}

/*
 * Look for a name in @n symbols. @count is how many places of it are known, of which the first is
 * @first. Returns the new count: 0, 1, or 2 for more.
 */
static unsigned int count_places(const struct debug_symbol *from, size_t n, const char *name,
				 size_t len, unsigned int count, uint64_t *first)
{
	size_t i;

	for (i = 0; i < n && count < 2; i++) {
		if (strncmp(from[i].name, name, len) || from[i].name[len])
			continue;
		if (!count)
			*first = from[i].start;
		if (!count || from[i].start != *first)
			count++;
	}
	return count;
}

unsigned int debug_symbols_named(const struct debug_symbols *s, const char *name, size_t len,
				 const struct debug_symbol **symbol)
{
	uint64_t first = 0;
	unsigned int count = count_places(s->symbols.at, s->symbols.n, name, len, 0, &first);

	count = count_places(s->aliases.at, s->aliases.n, name, len, count, &first);
	*symbol = count ? debug_symbols_find(s, first) : NULL;
	return *symbol ? count : 0;
}

const char *debug_symbols_shown(const struct debug_symbols *s, const char *name)
{
	const struct debug_symbol *symbol;

	return s && debug_symbols_named(s, name, strlen(name), &symbol) == 1 ? symbol->name : name;
}

const char *debug_symbols_problem(const struct debug_symbols *s)
{
	return *s->problem ? s->problem : NULL;
}

static int add_lines(struct debug_symbols *s, struct image *image)
{
	const struct debug *from = image->has_lines ? &image->names : &image->lines;
	const char *problem = NULL;
	int err = 0;
	size_t i;

	if (!image->has_lines)
		err = debug_read(image->bytes, image->len, DEBUG_LINES, &image->lines, &problem);
	if (problem)
		note(s, image, problem);
	for (i = 0; !err && i < from->nlines; i++) {
		if (!trace_vec_room(&s->lines))
			return -ENOMEM;
		s->lines.at[s->lines.n] = from->lines[i];
		s->lines.at[s->lines.n].addr += image->bias;
		s->lines.at[s->lines.n].order = (uint32_t)s->lines.n;
		s->lines.n++;
	}
	return err;
}

int debug_symbols_read_lines(struct debug_symbols *s)
{
	size_t i;

	if (s->lines_read)
		return 0;
	for (i = 0; i < s->images.n; i++) {
		int err = add_lines(s, &s->images.at[i]);

		if (err)
			return err;
	}
	debug_lines_sort(s->lines.at, s->lines.n);
	s->lines_read = true;
	return 0;
}

const struct debug_line *debug_symbols_lines(const struct debug_symbols *s, size_t *count)
{
	*count = s->lines.n;
	return s->lines.at;
}

const struct debug_line *debug_symbols_line(const struct debug_symbols *s, uint64_t addr)
{
	return debug_lines_find(s->lines.at, s->lines.n, addr);
}

size_t debug_symbols_format(const struct debug_symbols *s, uint64_t addr, char *text, size_t size)
{
	const struct debug_symbol *symbol = debug_symbols_find(s, addr);
	const char *module = symbol && symbol->module ? symbol->module : "";
	const char *before = *module ? " [" : "", *after = *module ? "]" : "";
	int len;
	char *p;

	if (!symbol)
		len = snprintf(text, size, "0x%llx", (unsigned long long)addr);
	else if (symbol->start == addr)
		len = snprintf(text, size, "%s%s%s%s", symbol->name, before, module, after);
	else
		len = snprintf(text, size, "%s+0x%llx%s%s%s", symbol->name,
			       (unsigned long long)(addr - symbol->start), before, module, after);
	/* Names come from the file: remove characters that a terminal would interpret. */
	for (p = text; size && *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
	return len < 0 ? 0 : (size_t)len;
}
