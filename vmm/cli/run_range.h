/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Look up addresses of a guest by name. */
#ifndef VMM_CLI_RUN_RANGE_H
#define VMM_CLI_RUN_RANGE_H

#include <stddef.h>
#include <stdint.h>

#include "debug/debug.h"
#include "debug/symbol.h"

struct cli_run_options;

/* The names: first those of the guest, then those of the files of --symbols. */
struct cli_run_names {
	const char *verb; /* for messages */
	struct debug guest;
	struct debug_symbols *files; /* NULL if there are none */
};

/*
 * Read the names of the guest's file and of the options. Returns an exit status. The caller closes
 * @s in any case.
 */
int cli_run_names_open(struct cli_run_names *s, const struct cli_run_options *o, const void *elf,
		       size_t len);
void cli_run_names_close(struct cli_run_names *s);

/*
 * Set *address to that of a symbol, or to a number. The @len bytes at @text are a part of the value
 * of @option. Returns an exit status, after one line if the place is not found.
 */
int cli_run_find_place(const struct cli_run_names *s, const char *option, const char *text,
		       size_t len, uint64_t *address);

#endif /* VMM_CLI_RUN_RANGE_H */
