// SPDX-License-Identifier: GPL-2.0-or-later
/* The files below a folder: list, compare, remove. */
#include "fuzz/faults/tree.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/vec.h"

static struct tree *reading;
static size_t skip;

uint64_t tree_hash(const char *path, uint64_t *size)
{
	static uint8_t bytes[1 << 16];
	uint64_t hash = 0xcbf29ce484222325ull;
	FILE *f = fopen(path, "rb");
	size_t n, i;

	if (!f) {
		fprintf(stderr, "faults: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	*size = 0;
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0) {
		for (i = 0; i < n; i++)
			hash = (hash ^ bytes[i]) * 0x100000001b3ull;
		*size += n;
	}
	fclose(f);
	return hash;
}

static int add(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct tree_file *file;

	(void)st;
	(void)ftw;
	if (type != FTW_F && type != FTW_SL)
		return 0;
	if (!trace_vec_room(reading))
		abort();
	file = &reading->at[reading->n++];
	file->path = strdup(path + skip);
	file->hash = tree_hash(path, &file->size);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct tree_file *)a)->path, ((const struct tree_file *)b)->path);
}

void tree_read(struct tree *t, const char *dir)
{
	memset(t, 0, sizeof(*t));
	reading = t;
	skip = strlen(dir) + 1;
	if (nftw(dir, add, 16, FTW_PHYS)) {
		fprintf(stderr, "faults: %s: %s\n", dir, strerror(errno));
		exit(2);
	}
	if (t->n)
		qsort(t->at, t->n, sizeof(*t->at), by_path);
}

void tree_free(struct tree *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->at[i].path);
	free(t->at);
	memset(t, 0, sizeof(*t));
}

const struct tree_file *tree_find(const struct tree *t, const char *path)
{
	const struct tree_file key = {.path = (char *)path};

	return t->n ? bsearch(&key, t->at, t->n, sizeof(key), by_path) : NULL;
}

bool tree_same(const struct tree *a, const struct tree *b)
{
	size_t i;

	for (i = 0; i < a->n && i < b->n; i++) {
		if (strcmp(a->at[i].path, b->at[i].path) || a->at[i].size != b->at[i].size ||
		    a->at[i].hash != b->at[i].hash)
			return false;
	}
	return a->n == b->n;
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	return ftw->level ? remove(path) : 0;
}

void tree_remove(const char *dir)
{
	(void)nftw(dir, drop, 16, FTW_DEPTH | FTW_PHYS);
}
