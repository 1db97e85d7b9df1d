/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a packet stream: what is the same for every packet format. */
#ifndef TESTS_LIB_PARSE_FUZZ_H
#define TESTS_LIB_PARSE_FUZZ_H

#include "vpt/base.h"

struct test_parse_fuzz {
	/*
	 * Read the packet at `data`, and if there is one check all of it: written back it is the
	 * same, its text and its IP can be made. The size goes to *taken. On an error nothing of
	 * `state` has changed.
	 */
	enum vpt_status (*packet)(void *state, const uint8_t *data, size_t size, size_t *taken);
	/* The same read of so many bytes, in the state before that packet. */
	enum vpt_status (*cut)(const void *before, const uint8_t *data, size_t size);
	size_t (*find_psb)(const uint8_t *buf, size_t len);
	size_t state_bytes; /* of `state`, 64 at most */
};

/* Go through all of `data` as a reader would, `state` being what begins. */
void test_parse_fuzz(const struct test_parse_fuzz *fuzz, void *state, const uint8_t *data,
		     size_t size);

/* A formatter's text is whole, or the beginning of that, and says how long it is. */
void test_parse_fuzz_text(size_t (*format)(char *text, size_t size, const void *packet),
			  const void *packet);

#endif /* TESTS_LIB_PARSE_FUZZ_H */
