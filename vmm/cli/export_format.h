/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vpt export to a format that is made of the decoded flow (formats/format.h). */
#ifndef VMM_CLI_EXPORT_FORMAT_H
#define VMM_CLI_EXPORT_FORMAT_H

#include "cli/cut.h"
#include "cli/decode_side.h"
#include "cli/memory.h"
#include "cli/symbols.h"
#include "formats/format.h"

struct cli_export_format {
	const char *verb; /* for messages */
	const struct format_type *type;
	const char *path; /* the trace */
	const char *out;
	bool one_vcpu;
	uint64_t vcpu; /* valid only if @one_vcpu is set */
	bool pti;
	const char *function; /* or NULL */
	bool has_base;
	uint64_t base; /* valid only if @has_base is set */
	bool quiet;
	uint64_t jobs;		     /* the number of threads; 0: one for each core */
	struct cli_decode_side side; /* only the selection of spaces is used */
	struct cli_cut cut;
	struct cli_symbols symbols;
	struct cli_memory *memory;
};

/* Export a trace. Returns an exit status. */
int cli_export_format(struct cli_export_format *f, struct trace_reader *reader);

#endif /* VMM_CLI_EXPORT_FORMAT_H */
