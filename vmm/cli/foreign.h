/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of other programs, for vpt import and for the verbs that read them directly. */
#ifndef VMM_CLI_FOREIGN_H
#define VMM_CLI_FOREIGN_H

#include <stdbool.h>

#include "foreign/foreign.h"
#include "trace/reader.h"

/* Returns true if the first bytes of @path are those of a perf.data file or directory. */
bool cli_foreign_is(const char *path);

/* Print one line on standard error for each kind of missing data. */
void cli_foreign_warn(const char *verb, const struct foreign_report *r);

/*
 * Import @path into an unnamed file, and open that file. Returns CLI_EXIT_OK, or an exit status
 * after one line. If @path is damaged, the part before the damage is read as a trace that ends
 * early.
 */
int cli_foreign_open(const char *verb, const char *path, unsigned int how,
		     struct trace_reader **reader);

#endif /* VMM_CLI_FOREIGN_H */
