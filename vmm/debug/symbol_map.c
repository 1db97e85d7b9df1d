// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads symbol maps: System.map and /proc/kallsyms. */
#include "debug/symbol_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

enum { NO_CODE, CODE };

/* Size of a symbol without a successor in its module. */
#define LAST_BYTES 4096

static bool is_code(char type)
{
	return strchr("tTwW", type) != NULL;
}

/* Return the next word of a line, or NULL. */
static char *next_word(char **at)
{
	char *word;

	do
		word = strsep(at, " \t\r");
	while (word && !*word);
	return word;
}

/* Return "[ext4]" without the brackets, or NULL if the word has none. */
static char *module_name(char *word)
{
	size_t len = strlen(word);

	if (len < 3 || word[0] != '[' || word[len - 1] != ']')
		return NULL;
	word[len - 1] = 0;
	return word + 1;
}

/* Parse a line. Until finish(), `end` says whether the symbol is code. */
static bool parse_line(char *line, uint64_t bias, struct debug_symbol *s)
{
	char *addr = next_word(&line), *type = next_word(&line);
	char *name = next_word(&line), *module = next_word(&line), *end;

	if (!name || strlen(type) != 1)
		return false;
	*s = (struct debug_symbol){.start = strtoull(addr, &end, 16) + bias};
	if (*end || end == addr || strspn(addr, "0123456789abcdefABCDEF") != strlen(addr))
		return false;
	if (module) {
		s->module = module_name(module);
		if (!s->module || next_word(&line))
			return false;
	}
	s->name = name;
	s->end = is_code(*type) ? CODE : NO_CODE;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct debug_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* Keep the order of the text. */
	return (x->name > y->name) - (x->name < y->name);
}

static bool same_module(const struct debug_symbol *a, const struct debug_symbol *b)
{
	if (!a->module || !b->module)
		return a->module == b->module;
	return !strcmp(a->module, b->module);
}

/* Compute the ends, and remove symbols that are not code. */
static void finish(struct debug_symbol_map *map)
{
	size_t i, next = 0, n = 0;

	if (map->n)
		qsort(map->at, map->n, sizeof(*map->at), by_start);
	for (i = 0; i < map->n; i++) {
		struct debug_symbol *s = &map->at[i];
		bool code = s->end == CODE;

		while (next < map->n && map->at[next].start <= s->start)
			next++;
		s->end = s->start + LAST_BYTES;
		if (next < map->n &&
		    (map->at[next].start < s->end || same_module(&map->at[next], s)))
			s->end = map->at[next].start;
		if (code)
			map->at[n++] = *s;
	}
	map->n = n;
}

int debug_symbol_map_read(struct debug_symbol_map *map, const void *bytes, size_t len,
			  uint64_t bias)
{
	char *line, *rest;

	map->text = malloc(len + 1);
	if (!map->text)
		return -ENOMEM;
	memcpy(map->text, bytes, len);
	map->text[len] = 0;
	for (rest = map->text; (line = strsep(&rest, "\n"));) {
		struct debug_symbol s;

		map->line++;
		if (!*line && !rest)
			break;
		if (!parse_line(line, bias, &s))
			return -EINVAL;
		if (!trace_vec_room(map))
			return -ENOMEM;
		map->at[map->n++] = s;
	}
	finish(map);
	return 0;
}

void debug_symbol_map_release(struct debug_symbol_map *map)
{
	free(map->at);
	map->at = NULL;
	map->n = map->room = 0;
}

void debug_symbol_map_free(struct debug_symbol_map *map)
{
	free(map->text);
	free(map->at);
	memset(map, 0, sizeof(*map));
}
