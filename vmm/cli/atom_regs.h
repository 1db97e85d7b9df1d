/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of Atom's RTIT in SESSION blocks, as text and as JSON. */
#ifndef VMM_CLI_ATOM_REGS_H
#define VMM_CLI_ATOM_REGS_H

#include <stdio.h>

#include "trace/reader.h"

/*
 * Print each register that differs from @then, or from its reset value if @then is NULL. Each is
 * one line that begins with @before and lists the nonzero fields by name.
 */
void cli_atom_regs_text(FILE *out, const char *before, const struct trace_session *now,
			const struct trace_session *then);

/*
 * Print all registers at the start of @period, and at its end if it has one, as members of an
 * object.
 */
void cli_atom_regs_json(FILE *out, const struct trace_period *period);

#endif /* VMM_CLI_ATOM_REGS_H */
