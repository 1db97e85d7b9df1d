/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of other programs, for vpt import and for the verbs that read them directly. */
#ifndef VMM_CLI_FOREIGN_H
#define VMM_CLI_FOREIGN_H

#include <stdbool.h>

#include "foreign/foreign.h"
#include "trace/reader.h"

/* Returns true if @path is a perf.data file or directory, by its first bytes. */
bool cli_foreign_is(const char *path);

/* One line on standard error for each kind of thing that is missing. */
void cli_foreign_warn(const char *verb, const struct foreign_report *r);

/*
 * Import @path into a file without a name, and open that. Returns CLI_EXIT_OK, or an exit status
 * after the one line was printed. If @path is damaged, what is before the damage is read as a
 * trace that ends early.
 */
int cli_foreign_open(const char *verb, const char *path, unsigned int how,
		     struct trace_reader **reader);

#endif /* VMM_CLI_FOREIGN_H */
