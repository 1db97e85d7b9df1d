/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table that maps pairs of numbers to a number. All zero is empty. */
#ifndef VMM_TRACE_PAIRS_H
#define VMM_TRACE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct trace_pair {
	uint64_t a, b, value;
};

struct trace_pairs {
	struct trace_pair *at; /* entries in the order of insertion */
	size_t n, room;
	uint32_t *buckets; /* indices plus 1; 0 if free */
	size_t mask;
};

/* Return the entry of a pair, or NULL. Valid until the next trace_pairs_add(). */
struct trace_pair *trace_pairs_find(const struct trace_pairs *p, uint64_t a, uint64_t b);
/* Find a pair, or add it with value 0. Returns NULL if there is no memory. */
struct trace_pair *trace_pairs_add(struct trace_pairs *p, uint64_t a, uint64_t b);
/* Add @count to the value of a pair, which may be new. Returns 0 or -ENOMEM. */
int trace_pairs_count(struct trace_pairs *p, uint64_t a, uint64_t b, uint64_t count);
/* Compare two entries by their pairs, for qsort(). */
int trace_pair_compare(const void *a, const void *b);
/* Sort the entries by their pairs. No entry can be found or added afterwards. */
void trace_pairs_sort(struct trace_pairs *p);
void trace_pairs_free(struct trace_pairs *p);

#endif /* VMM_TRACE_PAIRS_H */
