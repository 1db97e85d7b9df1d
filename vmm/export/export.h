/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Export a trace for perf as a perf.data directory with all the code that ran. The perf of any
 * machine opens it. The guest is shown as an ordinary machine whose processes are the trace's
 * address spaces.
 */
#ifndef VMM_EXPORT_EXPORT_H
#define VMM_EXPORT_EXPORT_H

#include "trace/reader.h"

/* The source of time for perf. */
enum export_how {
	EXPORT_AUTO, /* the trace's packets if possible and if they have a TSC, else EXPORT_TSC */
	EXPORT_PACKETS, /* the trace's packets; an error if perf cannot use them */
	EXPORT_TSC,	/* TSC packets alone */
};

struct export_options {
	const char *dir;      /* the new directory; it must not exist */
	const char *kallsyms; /* the file with the guest kernel's symbols, or NULL */
	bool one_vcpu;
	unsigned int vcpu;
	enum export_how how;
};

struct export_report {
	char path[4096];   /* the path that an error is about; empty for the trace */
	char error[160];   /* the first place that could not be decoded */
	char problem[192]; /* the reason for missing names, or empty (debug_symbols_problem()) */
	uint64_t insns, errors;
	uint64_t skipped; /* the instructions before the point at which perf can begin */
	bool bits16;	  /* instructions are skipped because of 16-bit code */
	uint64_t processes, switches, patches, pokes;
	bool folded;	/* the time is in TSC packets alone */
	bool timeless;	/* the export has no time */
	bool blind;	/* a part is shown as packets, without the code between them */
	bool unordered; /* without TSC packets, vCPUs have no common time */
};

/*
 * Write the export. Returns 0 or -errno. -ENOTSUP means that perf cannot use the trace's timing
 * packets. After an error there is no directory.
 */
int export_to_perf(struct trace_reader *reader, const struct export_options *options,
		   struct export_report *report);

#endif /* VMM_EXPORT_EXPORT_H */
