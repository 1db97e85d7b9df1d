/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to `vpt info`: shared by info*.c only. */
#ifndef VMM_CLI_INFO_H
#define VMM_CLI_INFO_H

#include "cli/post_mortem.h"
#include "trace/reader.h"

const char *cli_info_owner(uint32_t owner);

/*
 * The packets that a bit of RTIT_CTL enables, and the field there with their rate; 0 if there is
 * none.
 */
struct cli_info_source {
	uint64_t ctl;
	const char *name;
	uint64_t how;
};

/* The differences between trace systems: info_pt.c, info_atom.c. */
struct cli_info_system {
	const char *trace;		       /* the value for --trace of vpt run */
	const struct cli_info_source *sources; /* ends with an entry whose name is NULL */
	/* Print the registers of a session, before the sources. */
	void (*registers)(const struct trace_session *start);
	/* Print filters and other data after the sources. */
	void (*more)(const struct trace_period *period);
	/* Print the registers as members of an object, each after a comma. */
	void (*json_registers)(const struct trace_period *period);
};

extern const struct cli_info_system cli_info_pt, cli_info_atom;

const struct cli_info_system *cli_info_system(const struct trace_reader *r);
/* Return the reason why a session ended. */
const char *cli_info_end(const struct cli_info_system *system, const struct trace_period *p);

/* Print a value as a member of an object, after a comma. */
void cli_info_json_register(const char *name, uint64_t value);

/* The contents of a file for one vCPU. */
struct cli_info_vcpu {
	const struct trace_period *periods;
	size_t nperiods, ncode, ncr3;
	uint64_t pips; /* outside PSB+; valid only if has_pips */
	bool has_pips; /* false for RTIT, and if there is no memory to count */
};

struct cli_info_vcpu cli_info_vcpu(struct trace_reader *r, unsigned int vcpu);

/*
 * Return the guest's exit status in *status. Returns false if the guest did not end itself, or if
 * the file does not record it. Files of 0.1 have status 0 also for a guest that crashed.
 */
bool cli_info_exit(const struct trace_reader *r, uint32_t *status);

/*
 * info_side.c: the additions of version 3 of the file. Return the number of listed PSBs of all
 * vCPUs.
 */
size_t cli_info_points(const struct trace_reader *r);
/* Print origin, files and inputs, then the side-band of each vCPU. */
void cli_info_side(const struct trace_reader *r, uint64_t limit);
void cli_info_side_vcpu(const struct trace_reader *r, unsigned int vcpu, uint64_t limit);
/* Print the same as members of an object, each after a comma. */
void cli_info_json_side(const struct trace_reader *r);
void cli_info_json_side_vcpu(const struct trace_reader *r, unsigned int vcpu);

/* info_json.c: print everything as one line of JSON. */
void cli_info_json(struct trace_reader *r, const struct cli_names *names);

#endif /* VMM_CLI_INFO_H */
