/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option --jobs. */
#ifndef VMM_CLI_JOBS_H
#define VMM_CLI_JOBS_H

#include <stdint.h>

/* The maximum number of threads. */
#define CLI_JOBS_MAX 256

/*
 * Check the value of --jobs. Sets 0 to the number of cores on which this process may run. Returns
 * an exit status.
 */
int cli_jobs(const char *verb, uint64_t *jobs);

#endif /* VMM_CLI_JOBS_H */
