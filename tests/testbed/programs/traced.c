// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run a command while perf's intel_pt traces all of CPU 0, kernel and user. This is a load for
 * measurements, and the trace is discarded.
 *
 * usage: traced COMMAND [ARGUMENT]...
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf.h"

#define AUX_PAGES 1024u
#define PAUSE_US  2000u

int main(int argc, char **argv)
{
	static struct perf_pt pt;
	const struct perf_pt_want want = {.config = PERF_PT_TSC, .aux_pages = AUX_PAGES};
	size_t bytes = 0;
	int status;
	pid_t child;

	if (argc < 2)
		errx(2, "usage: traced COMMAND [ARGUMENT]...");
	status = perf_pt_open(&pt, &want);
	if (status)
		errx(4, "intel_pt: %s", strerror(-status));
	child = fork();
	if (child < 0)
		err(4, "fork");
	if (!child) {
		usleep(PAUSE_US);
		execvp(argv[1], argv + 1);
		err(4, "%s", argv[1]);
	}
	if (perf_pt_enable(&pt))
		err(4, "intel_pt cannot be enabled");
	while (waitpid(child, &status, WNOHANG) == 0) {
		perf_pt_read(&pt);
		bytes += pt.size + pt.dropped;
		pt.size = pt.dropped = 0;
		usleep(PAUSE_US);
	}
	perf_pt_disable(&pt);
	perf_pt_read(&pt);
	printf("traced: %zu bytes\n", bytes + pt.size + pt.dropped);
	perf_pt_close(&pt);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
