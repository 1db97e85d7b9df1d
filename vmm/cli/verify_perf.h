/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vpt verify --with=perf: perf as a second decoder, in a separate process. */
#ifndef VMM_CLI_VERIFY_PERF_H
#define VMM_CLI_VERIFY_PERF_H

/*
 * The start of the line that vpt export prints on stderr if an export omits the beginning of the
 * trace.
 */
#define CLI_EXPORT_LEFT_OUT "vpt export: instructions left out at the beginning: "

#include <stdbool.h>

#include "oracle/by_perf.h"

struct cli_perf_judge;

/*
 * Start the process that exports @path and runs perf. It is not in the sandbox, and knows only the
 * export. Returns NULL after one line, and then sets *status.
 */
struct cli_perf_judge *cli_perf_judge_start(const char *path, int *status);

/*
 * Compare perf's instructions of a vCPU with the oracle. Returns CLI_EXIT_OK, or an exit status
 * after one line.
 */
int cli_perf_judge_vcpu(struct cli_perf_judge *judge, struct trace_reader *reader,
			unsigned int vcpu, struct oracle_by_perf *result);

/* End the process, and remove the exports. Does nothing if @judge is NULL. */
void cli_perf_judge_end(struct cli_perf_judge *judge);

#endif /* VMM_CLI_VERIFY_PERF_H */
