/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace for perf: a perf.data directory, with all the code that ran, that the perf of
 * any machine opens. The guest is shown as an ordinary machine whose processes are the
 * trace's address spaces.
 */
#ifndef VMM_EXPORT_EXPORT_H
#define VMM_EXPORT_EXPORT_H

#include "trace/reader.h"

struct vpt_export_options {
	const char *dir;      /* that is made; it must not exist */
	const char *kallsyms; /* the guest kernel's, NULL: none */
	bool one_vcpu;
	unsigned int vcpu;
};

struct vpt_export_report {
	char path[4096]; /* what an error is about, "": the trace */
	char error[160]; /* the first place that could not be decoded */
	uint64_t insns, errors;
	uint64_t skipped; /* instructions before perf can begin */
	bool bits16;	  /* because of 16-bit code */
	uint64_t processes, switches, patches, pokes;
	uint64_t rough; /* changes whose place in the packets is not sure */
	bool unordered; /* without TSC packets vCPUs have no common time */
};

/* 0 or -errno. What was written stays. */
int vpt_export_perf(struct vpt_reader *reader, const struct vpt_export_options *options,
		    struct vpt_export_report *report);

#endif /* VMM_EXPORT_EXPORT_H */
