/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client of the 9P server: requests from a format, and the fields of replies. */
#ifndef TESTS_LIB_P9CLIENT_H
#define TESTS_LIB_P9CLIENT_H

#include "p9/p9.h"
#include "p9/wire.h"

#define TEST_P9_TAG 0x1234

struct test_p9 {
	struct p9_server *server;
	uint8_t request[P9_MESSAGE_MAX], reply[P9_MESSAGE_MAX];
	size_t bytes, room; /* of the request, and for the reply */
	struct p9_in in;    /* the fields of the last reply */
};

/*
 * Write a request. In @format 1, 2, 4 and 8 are a number of so many bytes, which is a uint64_t
 * argument, and s is a text.
 */
void test_p9_write(struct test_p9 *c, enum p9_type type, const char *format, ...);
/* Send the request. Returns 0, or the error number of Rlerror. Fails for another reply. */
int test_p9_send(struct test_p9 *c);
/* Both. */
#define TEST_P9_ASK(c, type, ...) (test_p9_write((c), (type), __VA_ARGS__), test_p9_send(c))

#endif /* TESTS_LIB_P9CLIENT_H */
