// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The writer's search for PSBs. Random streams with many bytes of PSBs are cut into random pieces. The
 * points of the file must be those of a simple search of the whole stream.
 */
#include "lib/suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/reader.h"
#include "trace/writer.h"

enum { BYTES = 700, STREAMS = 400, PSB = 16 };

static uint8_t bytes[BYTES];
static uint64_t expected[BYTES];
static size_t points;

static uint32_t random_of(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % below;
}

/* Alternating bytes of any length, and others among which 02 and 82 are frequent. */
static void make_stream(uint64_t *seed)
{
	size_t at = 0, n;

	while (at < BYTES) {
		bool alternate = random_of(seed, 2);
		uint32_t first = random_of(seed, 2);

		for (n = random_of(seed, alternate ? 40 : 24); n && at < BYTES; n--, at++) {
			if (alternate)
				bytes[at] = (at ^ first) & 1 ? 0x82 : 0x02;
			else
				bytes[at] =
					random_of(seed, 3) ? (uint8_t)random_of(seed, 256) : 0x02;
		}
	}
}

/* A PSB is the last 16 bytes of a sequence that begins with 02, less an odd last byte. */
static void search_all(void)
{
	size_t at = 0, len;

	for (points = 0; at < BYTES; at += len ? len : 1) {
		for (len = 0; at + len < BYTES && bytes[at + len] == (len & 1 ? 0x82 : 0x02); len++)
			;
		if (len >= PSB)
			expected[points++] = at + (len & ~(size_t)1) - PSB;
	}
}

static void write_stream(const char *path, uint64_t *seed)
{
	const struct trace_file_info info = {.vcpus = 1};
	struct trace_writer *w;
	size_t at, len;

	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
	for (at = 0; at < BYTES; at += len) {
		len = 1 + random_of(seed, random_of(seed, 2) ? 8 : 100);
		if (len > BYTES - at)
			len = BYTES - at;
		ck_assert_int_eq(trace_writer_trace(w, 0, UINT64_MAX, bytes + at, len), 0);
	}
	ck_assert_int_eq(trace_writer_close(w, 0), 0);
}

START_TEST(random_streams)
{
	char path[] = "/tmp/vpt-test-XXXXXX", why[128];
	uint64_t seed = 3, found = 0;
	unsigned int i;

	close(mkstemp(path));
	for (i = 0; i < STREAMS; i++) {
		const struct trace_psb_point *index;
		struct trace_reader *r;
		size_t n, k;

		make_stream(&seed);
		search_all();
		write_stream(path, &seed);
		ck_assert_int_eq(trace_reader_open(path, &r, why, sizeof(why)), 0);
		index = trace_reader_points(r, 0, &n);
		ck_assert_uint_eq(n, points);
		for (k = 0; k < n; k++)
			ck_assert_uint_eq(index[k].offset, expected[k]);
		found += n;
		trace_reader_close(r);
	}
	unlink(path);
	ck_assert_uint_gt(found, STREAMS);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("psb_points");
	TCase *t = tcase_create("points");

	tcase_add_test(t, random_streams);
	suite_add_tcase(s, t);
	return s;
}
