/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of Atom's RTIT, as SESSION blocks have them, for people and for programs. */
#ifndef VMM_CLI_ATOM_REGS_H
#define VMM_CLI_ATOM_REGS_H

#include <stdio.h>

#include "trace/reader.h"

/*
 * Those that differ from `then`'s, or from their reset values where that is NULL: a line
 * each, behind `before`, with the fields that are set by name.
 */
void cli_atom_regs_text(FILE *out, const char *before, const struct trace_session *now,
			const struct trace_session *then);

/* All of them at the start, and at the end if there is one, as members of an object. */
void cli_atom_regs_json(FILE *out, const struct trace_period *period);

#endif /* VMM_CLI_ATOM_REGS_H */
