/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option --jobs. */
#ifndef VMM_CLI_JOBS_H
#define VMM_CLI_JOBS_H

#include <stdint.h>

#include "trace/reader.h"

/* The maximum number of threads. */
#define CLI_JOBS_MAX 256
/* The value before the command line is parsed: the number of threads follows from the trace. */
#define CLI_JOBS_BY_TRACE UINT64_MAX
#define CLI_JOBS_DEFAULT  "one for each core, if the trace is large"

/*
 * Return the number of threads for a value of --jobs. 0 is the number of cores on which this process
 * may run. Without the option each thread has at least 4 MiB of a vCPU's stream, and there are at
 * most 8 threads, because each needs up to 0.4 GB.
 */
unsigned int cli_jobs(uint64_t jobs, const struct trace_reader *reader);

#endif /* VMM_CLI_JOBS_H */
