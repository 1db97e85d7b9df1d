/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace for perf: a perf.data directory, with all the code that ran, that the perf of
 * any machine opens. The guest is shown as an ordinary machine whose processes are the
 * trace's address spaces.
 */
#ifndef VMM_EXPORT_EXPORT_H
#define VMM_EXPORT_EXPORT_H

#include "trace/reader.h"

/* How perf is to be told the time. */
enum export_how {
	EXPORT_AUTO,	/* by the trace's packets if it has TSC packets and it can be done */
	EXPORT_PACKETS, /* by those, or not at all if there are none */
	EXPORT_TSC,	/* in TSC packets alone */
};

struct export_options {
	const char *dir;      /* that is made; it must not exist */
	const char *kallsyms; /* the guest kernel's, NULL: none */
	bool one_vcpu;
	unsigned int vcpu;
	enum export_how how;
};

struct export_report {
	char path[4096];   /* what an error is about, "": the trace */
	char error[160];   /* the first place that could not be decoded */
	char problem[192]; /* why names are missing, "": none are (debug_symbols_problem()) */
	uint64_t insns, errors;
	uint64_t skipped; /* instructions before perf can begin */
	bool bits16;	  /* because of 16-bit code */
	uint64_t processes, switches, patches, pokes;
	bool folded;	/* time is in TSC packets alone */
	bool timeless;	/* there is none */
	bool blind;	/* some of it is shown as packets tell it, without the code between */
	bool unordered; /* without TSC packets vCPUs have no common time */
};

/*
 * Returns 0 or -errno, -ENOTSUP: not with time told like this. After an error there is no
 * directory.
 */
int export_to_perf(struct trace_reader *reader, const struct export_options *options,
		   struct export_report *report);

#endif /* VMM_EXPORT_EXPORT_H */
