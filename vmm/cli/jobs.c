// SPDX-License-Identifier: GPL-2.0-or-later
/* Determine the number of threads for --jobs. */
#include "cli/jobs.h"

#include <sched.h>

#define BYTES_EACH ((uint64_t)4 << 20)
#define MOST	   8u

static uint64_t cores(void)
{
	cpu_set_t cpus;
	uint64_t n = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (uint64_t)CPU_COUNT(&cpus);

	return n > CLI_JOBS_MAX ? CLI_JOBS_MAX : n;
}

static uint64_t longest_stream(const struct trace_reader *reader)
{
	unsigned int i;
	uint64_t longest = 0, bytes;

	for (i = 0; i < trace_reader_info(reader)->vcpus; i++) {
		bytes = trace_reader_stream_bytes(reader, i);
		longest = bytes > longest ? bytes : longest;
	}
	return longest;
}

unsigned int cli_jobs(uint64_t jobs, const struct trace_reader *reader)
{
	uint64_t most = cores(), fit;

	if (jobs && jobs != CLI_JOBS_BY_TRACE)
		return (unsigned int)jobs;
	if (!jobs)
		return (unsigned int)most;
	fit = longest_stream(reader) / BYTES_EACH;
	most = most > MOST ? MOST : most;
	return (unsigned int)(fit < most ? fit : most);
}
