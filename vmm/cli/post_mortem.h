/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a guest stopped, as `vpt run`, `vpt info` and `vpt decode` report it. */
#ifndef VMM_CLI_POST_MORTEM_H
#define VMM_CLI_POST_MORTEM_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/post_mortem.h"

struct debug_symbols;
struct decode_disasm;

/* What the report names addresses by. Both may be NULL. */
struct cli_names {
	struct debug_symbols *symbols; /* debug_symbols_read_lines() was called */
	struct decode_disasm *disasm;
};

/*
 * Get names for @pm. Takes @symbols over, which may be NULL. False: no memory, and @names is
 * empty.
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

/* Did the guest crash, so that there is more to report than where it stopped? */
bool cli_post_mortem_crashed(const struct trace_post_mortem *pm);

/*
 * Print the chain of faults, the registers and the callers, each line with @indent before it.
 * Without a crash only the callers are printed, and nothing for a guest that ended itself.
 */
void cli_post_mortem_print(FILE *out, const char *indent, const struct trace_post_mortem *pm,
			   const struct cli_names *names);

/* Print all of it as one JSON object. */
void cli_post_mortem_json(FILE *out, const struct trace_post_mortem *pm,
			  const struct cli_names *names);

#endif /* VMM_CLI_POST_MORTEM_H */
