// SPDX-License-Identifier: GPL-2.0-or-later
/* The one line an error gets. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>

int vpt_fail(int status, const char *fmt, ...)
{
	va_list args;

	/* What the guest printed comes first. */
	fflush(stdout);
	fputs("vpt ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}
