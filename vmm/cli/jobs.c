// SPDX-License-Identifier: GPL-2.0-or-later
/* Determine the number of threads for --jobs. */
#include "cli/jobs.h"

#include <inttypes.h>
#include <sched.h>

#include "cli/cli.h"

int cli_jobs(const char *verb, uint64_t *jobs)
{
	cpu_set_t cpus;

	if (*jobs > CLI_JOBS_MAX)
		return cli_fail(CLI_EXIT_USAGE, "%s: --jobs=%" PRIu64 ": at most %d", verb, *jobs,
				CLI_JOBS_MAX);
	if (*jobs)
		return CLI_EXIT_OK;
	*jobs = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (uint64_t)CPU_COUNT(&cpus);
	if (*jobs > CLI_JOBS_MAX)
		*jobs = CLI_JOBS_MAX;
	return CLI_EXIT_OK;
}
