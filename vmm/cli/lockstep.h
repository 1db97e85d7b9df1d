/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to `vpt lockstep`: shared by lockstep*.c only. */
#ifndef VMM_CLI_LOCKSTEP_H
#define VMM_CLI_LOCKSTEP_H

#include "cli/option.h"
#include "core/lockstep.h"
#include "decode/diverge.h"

struct cli_lockstep_options {
	const char *guest;
	char engines[64]; /* the value of the option */
	const struct engine *engine[2];
	const char *model;
	enum trace_owner owner;
	uint64_t mem, seed;
	struct cli_args args;
	uint64_t every, every_all, max_insns;
	bool quiet, json;
};

/* lockstep_options.c: parse the command line. Returns an exit status. */
int cli_lockstep_parse(struct cli_lockstep_options *o, int argc, char **argv);

/*
 * lockstep_diverge.c: describe a difference as that of two traces. The common items are the last
 * steps. Those of a side are the last step, if it ended differently, and the next instruction.
 */
void cli_lockstep_divergence(const struct core_lockstep *l, struct decode_divergence *d);

/* lockstep_report.c: print the result on standard output. Returns an exit status. */
int cli_lockstep_report(const struct cli_lockstep_options *o, const struct core_lockstep *l,
			const void *elf, size_t len);

#endif /* VMM_CLI_LOCKSTEP_H */
