/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vpt verify --with=perf: perf as the second decoder, in a process of its own. */
#ifndef VMM_CLI_VERIFY_PERF_H
#define VMM_CLI_VERIFY_PERF_H

/* What vpt export prints on stderr where an export does not begin with the trace. */
#define CLI_EXPORT_LEFT_OUT "vpt export: instructions left out at the beginning: "

#include <stdbool.h>

#include "oracle/by_perf.h"

struct cli_perf_judge;

/*
 * Start what exports @path and runs perf. It is not in the sandbox, and knows of the file what vpt
 * export says. NULL after one line, and then *status is set.
 */
struct cli_perf_judge *cli_perf_judge_start(const char *path, int *status);

/* Hold perf's instructions of a vCPU against what ran. CLI_EXIT_OK, or a status after one line. */
int cli_perf_judge_vcpu(struct cli_perf_judge *judge, struct trace_reader *reader,
			unsigned int vcpu, struct oracle_by_perf *result);

/* End it, and remove the exports. NULL is ignored. */
void cli_perf_judge_end(struct cli_perf_judge *judge);

#endif /* VMM_CLI_VERIFY_PERF_H */
