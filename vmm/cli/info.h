/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of `vpt info`: shared by info*.c and nothing else. */
#ifndef VMM_CLI_INFO_H
#define VMM_CLI_INFO_H

#include "cli/post_mortem.h"
#include "trace/reader.h"

const char *cli_info_owner(uint32_t owner);

/* What a bit of RTIT_CTL adds to a trace, and the field there that says how much, 0: none. */
struct cli_info_source {
	uint64_t ctl;
	const char *name;
	uint64_t how;
};

/* What differs between trace systems: info_pt.c, info_atom.c. */
struct cli_info_system {
	const char *trace;		       /* as --trace of vpt run has it */
	const struct cli_info_source *sources; /* the last one has no name */
	/* The registers of a session, before the sources. */
	void (*registers)(const struct trace_session *start);
	/* Filters, and what else follows the sources. */
	void (*more)(const struct trace_period *period);
	/* As members of an object, each behind a comma. */
	void (*json_registers)(const struct trace_period *period);
};

extern const struct cli_info_system cli_info_pt, cli_info_atom;

const struct cli_info_system *cli_info_system(const struct trace_reader *r);
/* Why a session ended. */
const char *cli_info_end(const struct cli_info_system *system, const struct trace_period *p);

/* A value as a member of an object, behind a comma. */
void cli_info_json_register(const char *name, uint64_t value);

/*
 * Count the PIPs of a vCPU outside PSB+. False for RTIT, whose packets have none of them
 * that count, and if there is no memory to look.
 */
bool cli_info_pips(struct trace_reader *r, unsigned int vcpu, uint64_t *count);

/*
 * The guest's exit status. False: the guest did not end itself, or the file does not tell. Files
 * of 0.1 have 0 also for a guest that crashed.
 */
bool cli_info_exit(const struct trace_reader *r, uint32_t *status);

/* info_side.c: what version 3 of the file adds. How many PSBs are listed, of all vCPUs. */
size_t cli_info_points(const struct trace_reader *r);
/* Origin, files, inputs; then what there is of a vCPU. */
void cli_info_side(const struct trace_reader *r, uint64_t limit);
void cli_info_side_vcpu(const struct trace_reader *r, unsigned int vcpu);
/* The same as members of an object, each behind a comma. */
void cli_info_json_side(const struct trace_reader *r);
void cli_info_json_side_vcpu(const struct trace_reader *r, unsigned int vcpu);

/* info_json.c: all of it on a line. */
void cli_info_json(struct trace_reader *r, const struct cli_names *names);

#endif /* VMM_CLI_INFO_H */
