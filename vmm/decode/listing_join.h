/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Print the listings of consecutive shards as one. A shard does not know which address space and which
 * source line were printed before it. Its listing therefore has marks, and lines that were printed
 * before are omitted here.
 */
#ifndef VMM_DECODE_LISTING_JOIN_H
#define VMM_DECODE_LISTING_JOIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The first byte of each line of a listing with marks. */
enum decode_listing_mark {
	DECODE_MARK_ITEM = 'i',
	DECODE_MARK_ERROR = 'e',
	DECODE_MARK_SEGMENT =
		'g', /* an item, after which the space and the line are printed anew */
	/* Lines before an item. A key of 16 hexadecimal digits follows. */
	DECODE_MARK_SPACE = 's',
	DECODE_MARK_LINE = 'l',
};

/* Initialise with zeros, `out` and `left`. */
struct decode_listing_join {
	FILE *out;
	uint64_t left;	 /* the number of items to print */
	uint64_t errors; /* the number of printed errors */
	/* The keys of the last space and source line. */
	struct {
		bool known;
		uint64_t key;
	} space, line;
	/* The current line. */
	uint8_t mark;	/* 0 at its begin */
	uint8_t digits; /* of its key that are still to come */
	bool hidden;
	uint64_t key;
};

/*
 * Print a part of a listing with marks, for decode_text_read(). Returns 0, or -EINVAL if it is none. The
 * text may be forged, and nothing is printed that a terminal would interpret.
 */
int decode_listing_join(void *join, const char *text, size_t len);

/* Returns true if the listing does not end within a line. */
bool decode_listing_join_whole(const struct decode_listing_join *j);

#endif /* VMM_DECODE_LISTING_JOIN_H */
