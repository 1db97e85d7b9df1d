/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vpt export to a format that is made of the decoded flow (formats/format.h). */
#ifndef VMM_CLI_EXPORT_FORMAT_H
#define VMM_CLI_EXPORT_FORMAT_H

#include "cli/cut.h"
#include "cli/decode_side.h"
#include "cli/memory.h"
#include "cli/symbols.h"
#include "formats/format.h"
#include "formats/walk.h"

struct cli_export_format {
	const char *verb; /* for messages */
	const struct format_type *type;
	const char *path; /* the trace */
	const char *out;
	bool one_vcpu;
	uint64_t vcpu; /* valid only if @one_vcpu is set */
	bool pti;
	bool untimed;				 /* see struct format_walk */
	const struct format_source_dirs *source; /* see struct format_walk */
	const char *function;			 /* or NULL */
	bool has_base;
	uint64_t base; /* valid only if @has_base is set */
	bool quiet;
	uint64_t jobs;		     /* see cli/jobs.h */
	struct cli_decode_side side; /* only the selection of spaces is used */
	struct cli_cut cut;
	struct cli_symbols symbols;
	struct cli_memory *memory;
};

/* A walk and what it needs. The output is not set. */
struct cli_export_walk {
	struct format_walk walk;
	struct debug_symbols *symbols;
	struct decode_window *cut;
};

/*
 * Check the options, and prepare a walk over a trace. Returns an exit status, after one line.
 * Release the walk also after an error.
 */
int cli_export_prepare(struct cli_export_format *f, struct trace_reader *reader,
		       struct cli_export_walk *w);
void cli_export_release(struct cli_export_walk *w);
/* Report the parts of the trace that were not exported. Returns an exit status. */
int cli_export_whole(const struct cli_export_format *f, const struct format_walk *w,
		     const struct format_sum *sum);

/* Find the address that is 0 in a file of the format. Returns an exit status, after one line. */
int cli_export_base(const struct cli_export_format *f, const struct trace_reader *reader,
		    uint64_t *base);

/* Export a trace. Returns an exit status. */
int cli_export_format(struct cli_export_format *f, struct trace_reader *reader);

#endif /* VMM_CLI_EXPORT_FORMAT_H */
