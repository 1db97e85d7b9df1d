/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of a comparison that vpt verify shares with vpt run --verify. */
#ifndef VMM_CLI_VERIFY_H
#define VMM_CLI_VERIFY_H

#include <stdio.h>

#include "debug/symbol.h"
#include "oracle/compare.h"

/*
 * Show the first difference, and the loops whose iteration count the format cannot express. Opens
 * *symbols if they are NULL; the caller closes them in any case. Returns 0 or -errno.
 */
int cli_verify_show_places(FILE *out, const struct trace_reader *reader,
			   struct debug_symbols **symbols, const struct oracle_comparison *c);

#endif /* VMM_CLI_VERIFY_H */
