/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files below a folder, which a command has written. */
#ifndef TESTS_FAULTS_TREE_H
#define TESTS_FAULTS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree {
	struct tree_file {
		char *path; /* below the folder */
		uint64_t size, hash;
	} * at; /* sorted by path */
	size_t n, room;
};

/* Read the folder. The process ends if that fails. */
void tree_read(struct tree *t, const char *dir);
void tree_free(struct tree *t);
/* Return NULL if there is no such file. */
const struct tree_file *tree_find(const struct tree *t, const char *path);
bool tree_same(const struct tree *a, const struct tree *b);
/* Remove everything below a folder. */
void tree_remove(const char *dir);
uint64_t tree_hash(const char *path, uint64_t *size);

#endif /* TESTS_FAULTS_TREE_H */
