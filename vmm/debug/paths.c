// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths of source files, each kept once. */
#include "debug/paths.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (64u << 10)
#define FIRST_SLOTS 256u

struct vpt_path_chunk {
	struct vpt_path_chunk *next;
	size_t used;
	char text[CHUNK_BYTES];
};

static const char **slot(const char **slots, size_t nslots, const char *path)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	const char *p;
	size_t i;

	for (p = path; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3ull;
	i = (size_t)(hash ^ hash >> 32) & (nslots - 1);
	while (slots[i] && strcmp(slots[i], path))
		i = (i + 1) & (nslots - 1);
	return &slots[i];
}

static int grow(struct vpt_paths *p)
{
	size_t n = p->nslots ? 2 * p->nslots : FIRST_SLOTS, i;
	const char **more = calloc(n, sizeof(*more));

	if (!more)
		return -1;
	for (i = 0; i < p->nslots; i++) {
		if (p->slots[i])
			*slot(more, n, p->slots[i]) = p->slots[i];
	}
	free(p->slots);
	p->slots = more;
	p->nslots = n;
	return 0;
}

static const char *keep(struct vpt_paths *p, const char *path)
{
	size_t len = strlen(path) + 1;
	char *to;

	if (!p->chunks || CHUNK_BYTES - p->chunks->used < len) {
		struct vpt_path_chunk *chunk = malloc(sizeof(*chunk));

		if (!chunk)
			return NULL;
		chunk->next = p->chunks;
		chunk->used = 0;
		p->chunks = chunk;
	}
	to = p->chunks->text + p->chunks->used;
	memcpy(to, path, len);
	p->chunks->used += len;
	p->bytes += len;
	return to;
}

/* Append as much as there is room for to a path of VPT_PATH_BYTES. */
static char *append(char *path, const char *text)
{
	size_t len = strlen(path), more = strnlen(text, VPT_PATH_BYTES - 1 - len);

	memcpy(path + len, text, more);
	path[len + more] = 0;
	return path;
}

const char *vpt_paths_add(struct vpt_paths *p, const char *dir, const char *name)
{
	char path[VPT_PATH_BYTES];
	const char **at;

	if (2 * p->used >= p->nslots && grow(p))
		return NULL;
	path[0] = 0;
	if (dir && *name != '/')
		append(append(path, dir), "/");
	append(path, name);
	at = slot(p->slots, p->nslots, path);
	if (!*at) {
		*at = keep(p, path);
		p->used += *at != NULL;
	}
	return *at;
}

void vpt_paths_free(struct vpt_paths *p)
{
	struct vpt_path_chunk *chunk;

	while ((chunk = p->chunks)) {
		p->chunks = chunk->next;
		free(chunk);
	}
	free(p->slots);
	memset(p, 0, sizeof(*p));
}
