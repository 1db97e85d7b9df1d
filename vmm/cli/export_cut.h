/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options --from, --until and --last of vpt export. */
#ifndef VMM_CLI_EXPORT_CUT_H
#define VMM_CLI_EXPORT_CUT_H

#include "cli/option.h"
#include "formats/walk.h"

struct cli_export_cut {
	const char *from, *until; /* places as given; NULL if absent */
	bool has_last;
	uint64_t last;
};

/*
 * Find the cut of each vCPU, or of @vcpu alone if it is not negative. The array
 * *cuts is by vCPU, or NULL if there is no cut. The caller frees it. Returns an exit status, after one line.
 */
int cli_export_cut(const struct cli_export_cut *cut, const char *path, struct trace_reader *reader,
		   int vcpu, struct format_cut **cuts);

#endif /* VMM_CLI_EXPORT_CUT_H */
