/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stop of a guest, as `vpt run`, `vpt info` and `vpt decode` report it. */
#ifndef VMM_CLI_POST_MORTEM_H
#define VMM_CLI_POST_MORTEM_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/post_mortem.h"

struct debug_symbols;
struct decode_disasm;

/* The source of names for a report. Both members may be NULL. */
struct cli_names {
	struct debug_symbols *symbols; /* valid after debug_symbols_read_lines() */
	struct decode_disasm *disasm;
};

/*
 * Get names for @pm. Takes ownership of @symbols, which may be NULL. Returns false with empty
 * @names if there is no memory.
 */
bool cli_names_open(struct cli_names *names, struct debug_symbols *symbols);
void cli_names_close(struct cli_names *names);

/*
 * Describe the place where the guest stopped, such as " in main+0x11 (crash.c:12): ud2".
 * @text may become empty.
 */
void cli_post_mortem_where(const struct trace_post_mortem *pm, const struct cli_names *names,
			   char *text, size_t size);

/* Print one line: "the guest stopped: triple fault at 0x1000 in main+0x11: ud2". */
void cli_post_mortem_headline(FILE *out, const struct trace_post_mortem *pm,
			      const struct cli_names *names);

/* Returns true if the guest crashed, so that there is more to report than the place of the stop. */
bool cli_post_mortem_crashed(const struct trace_post_mortem *pm);

/*
 * Print the chain of faults, the registers and the callers, each line after @indent. Without a
 * crash, print only the callers. Print nothing for a guest that ended itself.
 */
void cli_post_mortem_print(FILE *out, const char *indent, const struct trace_post_mortem *pm,
			   const struct cli_names *names);

/* Print the whole report as one JSON object. */
void cli_post_mortem_json(FILE *out, const struct trace_post_mortem *pm,
			  const struct cli_names *names);

#endif /* VMM_CLI_POST_MORTEM_H */
