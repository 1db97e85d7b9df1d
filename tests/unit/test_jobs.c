// SPDX-License-Identifier: GPL-2.0-or-later
/* The number of threads that decode: as asked, or by the length of the stream. */
#include <sched.h>
#include <string.h>

#include "cli/jobs.h"
#include "lib/suite.h"
#include "lib/synth.h"

#define MIB ((uint64_t)1 << 20)

/* Open a trace of @mib MiB of PAD packets. */
static struct trace_reader *trace_of(struct synth *s, unsigned int mib)
{
	static const uint8_t pad[32768];
	uint64_t sent;

	synth_open(s);
	synth_start(s, SYNTH_CODE, 0);
	for (sent = 0; sent < mib * MIB; sent += sizeof(pad))
		ck_assert_int_eq(trace_writer_trace(s->w, 0, UINT64_MAX, pad, sizeof(pad)), 0);
	synth_stop(s, TRACE_END_CLOSED, SYNTH_CODE, 0);
	return synth_read(s);
}

/* Return what the option gives on @cores of this process's processors. */
static unsigned int jobs_on(unsigned int cores, uint64_t jobs, const struct trace_reader *r)
{
	cpu_set_t before, now;
	unsigned int i, n = 0, got;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&now);
	for (i = 0; i < CPU_SETSIZE && n < cores; i++) {
		if (CPU_ISSET(i, &before)) {
			CPU_SET(i, &now);
			n++;
		}
	}
	ck_assert_int_eq(sched_setaffinity(0, sizeof(now), &now), 0);
	got = cli_jobs(jobs, r);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
	return got;
}

/* At most two threads, so that the rows are the same on each machine with two processors. */
START_TEST(by_trace)
{
	static const struct {
		unsigned int mib, one, two;
	} rows[] = {{0, 0, 0}, {3, 0, 0}, {4, 1, 1}, {7, 1, 1}, {8, 1, 2}, {20, 1, 2}};
	const bool has_two = jobs_on(2, 0, NULL) == 2;
	struct trace_reader *r;
	struct synth s;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = trace_of(&s, rows[i].mib);
		ck_assert_uint_eq(jobs_on(1, CLI_JOBS_BY_TRACE, r), rows[i].one);
		if (has_two)
			ck_assert_uint_eq(jobs_on(2, CLI_JOBS_BY_TRACE, r), rows[i].two);
		trace_reader_close(r);
		synth_done(&s);
	}
}
END_TEST

START_TEST(as_asked)
{
	ck_assert_uint_eq(jobs_on(1, 0, NULL), 1);
	ck_assert_uint_eq(jobs_on(1, 1, NULL), 1);
	ck_assert_uint_eq(jobs_on(1, CLI_JOBS_MAX, NULL), CLI_JOBS_MAX);
}
END_TEST

TEST_SUITE("jobs", NULL, NULL)
{
	tcase_add_test(tcase, by_trace);
	tcase_add_test(tcase, as_asked);
}
