// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How much of a trace a writer gathers. The blocks grow with the trace, do not depend on the pieces
 * that the bytes arrive in, and a killed writer loses a small share.
 */
#include "lib/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format.h"
#include "trace/reader.h"
#include "trace/writer.h"

enum { BYTES = 20 << 20, LEAST = 4096, MOST = 65536, SHARE = 256 };

static uint8_t *stream;

static void setup(void)
{
	uint64_t x = 1;
	size_t i;

	stream = malloc(BYTES);
	ck_assert_ptr_nonnull(stream);
	for (i = 0; i < BYTES; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		stream[i] = (uint8_t)(x >> 56);
	}
}

static void teardown(void)
{
	free(stream);
}

/* Write the first bytes in pieces. Unless the file is complete, the writer is dropped as if it were killed. */
static void write_trace(const char *path, size_t bytes, size_t piece, bool complete)
{
	const struct trace_file_info info = {.vcpus = 1};
	struct trace_writer *w;
	size_t at, len;

	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
	for (at = 0; at < bytes; at += len) {
		len = bytes - at < piece ? bytes - at : piece;
		ck_assert_int_eq(trace_writer_trace(w, 0, UINT64_MAX, stream + at, len), 0);
	}
	if (complete)
		ck_assert_int_eq(trace_writer_close(w, 0), 0);
	else
		trace_writer_drop(w);
}

static uint8_t *load(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	uint8_t *all;

	ck_assert_int_eq(fstat(fd, &st), 0);
	*bytes = (size_t)st.st_size;
	all = malloc(*bytes);
	ck_assert_ptr_nonnull(all);
	ck_assert_int_eq(read(fd, all, *bytes), st.st_size);
	close(fd);
	return all;
}

START_TEST(blocks_grow)
{
	char path[] = "/tmp/vpt-test-XXXXXX";
	size_t at, n, others, blocks = 0, expected;
	struct trace_block block;
	struct trace_chunk chunk;
	uint8_t *all, *again;

	close(mkstemp(path));
	write_trace(path, BYTES, 4096, true);
	all = load(path, &n);
	for (at = sizeof(struct trace_file_header); at < n;
	     at += sizeof(block) + ((block.len + 7) & ~7u)) {
		memcpy(&block, all + at, sizeof(block));
		if (block.type != TRACE_BLOCK_TRACE)
			continue;
		memcpy(&chunk, all + at + sizeof(block), sizeof(chunk));
		expected = chunk.offset / SHARE & ~(uint64_t)(LEAST - 1);
		expected = expected < LEAST ? LEAST : expected < MOST ? expected : MOST;
		if (expected > BYTES - chunk.offset)
			expected = BYTES - chunk.offset;
		ck_assert_uint_eq(block.len - sizeof(chunk), expected);
		blocks++;
	}
	ck_assert_uint_gt(blocks, 500);
	ck_assert_uint_lt(blocks, 1500);
	write_trace(path, BYTES, 999, true);
	again = load(path, &others);
	ck_assert_uint_eq(others, n);
	ck_assert_int_eq(memcmp(all, again, n), 0);
	free(again);
	free(all);
	unlink(path);
}
END_TEST

static const size_t ends[] = {100, 4095, 4097, 1 << 20, (1 << 20) + 5000, 3000001, BYTES - 1};

START_TEST(killed)
{
	char path[] = "/tmp/vpt-test-XXXXXX", why[128];
	const size_t bytes = ends[_i], share = bytes / SHARE;
	const uint8_t *read;
	struct trace_reader *r;
	size_t n;

	close(mkstemp(path));
	write_trace(path, bytes, 777, false);
	ck_assert_int_eq(trace_reader_open(path, &r, why, sizeof(why)), 0);
	read = trace_reader_stream(r, 0, &n);
	ck_assert_uint_le(n, bytes);
	ck_assert_uint_lt(bytes - n, share < LEAST ? LEAST : share);
	ck_assert_int_eq(memcmp(read, stream, n), 0);
	trace_reader_close(r);
	unlink(path);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("gather");
	TCase *t = tcase_create("gather");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, blocks_grow);
	tcase_add_loop_test(t, killed, 0, sizeof(ends) / sizeof(ends[0]));
	suite_add_tcase(s, t);
	return s;
}
