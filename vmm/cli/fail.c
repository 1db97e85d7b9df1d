// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the one line of an error. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static char *kept;
static size_t kept_size;

void cli_fail_keep(char *text, size_t size)
{
	kept = text;
	kept_size = size;
}

int cli_fail(int status, const char *fmt, ...)
{
	va_list args;

	if (kept) {
		va_start(args, fmt);
		vsnprintf(kept, kept_size, fmt, args);
		va_end(args);
		return status;
	}
	/* Print the guest's output first. */
	fflush(stdout);
	fputs("vpt ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}

const char *cli_reason(int error)
{
	static char text[120];
	struct rlimit limit;

	if (error != EFBIG || getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return strerror(error);
	snprintf(text, sizeof(text), "%s: files are limited to %" PRIu64 " bytes (ulimit -f)",
		 strerror(error), (uint64_t)limit.rlim_cur);
	return text;
}
