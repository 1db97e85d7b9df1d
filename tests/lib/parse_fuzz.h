/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz arbitrary bytes as a packet stream. This part is common to all packet formats. */
#ifndef TESTS_LIB_PARSE_FUZZ_H
#define TESTS_LIB_PARSE_FUZZ_H

#include "vpt/base.h"

struct test_parse_fuzz {
	/*
	 * Read the packet at `data`, and store its size in *taken. Check that the packet is written
	 * back as the same bytes, and that its text and IP can be made. An error must leave `state`
	 * unchanged.
	 */
	enum vpt_status (*packet)(void *state, const uint8_t *data, size_t size, size_t *taken);
	/* Read only `size` bytes of the same packet, in the state before the packet. */
	enum vpt_status (*cut)(const void *before, const uint8_t *data, size_t size);
	size_t (*find_psb)(const uint8_t *buf, size_t len);
	size_t state_bytes; /* of `state`, 64 at most */
};

/* Read all of `data` like a reader. `state` is the initial state of the parser. */
void test_parse_fuzz(const struct test_parse_fuzz *fuzz, void *state, const uint8_t *data,
		     size_t size);

/*
 * Check that a formatter writes the whole text or a truncated one, and returns the length of the
 * whole text.
 */
void test_parse_fuzz_text(size_t (*format)(char *text, size_t size, const void *packet),
			  const void *packet);

#endif /* TESTS_LIB_PARSE_FUZZ_H */
