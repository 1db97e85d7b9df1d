/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BED_TRACES_TRACES_H
#define BED_TRACES_TRACES_H

/* guest.c: a guest traces itself. */
void guest_range(void);
void guest_topa(void);
void guest_pmi(void);
void guest_hole(void);

/* host.c: perf traces CPU 0, kernel and user. */
void trace_host(void);
void trace_memory(void);
void trace_both(void);
void pmi_host(void);
void pmi_host_full(void);
/* A guest of another program runs meanwhile. The trace is in `result_file`. */
void trace_cpu(void);

/* two.c: two vCPUs, traced by their guests or by perf. */
void two_vcpus(void);
void system_two(void);

/* failed.c: VM entries that fail. */
void failed_late(void);
void failed_early(void);

/* agree.c: perf traces ring 3 only, for comparison with perf's decoder. */
void perf_user(void);

/* load.c: a guest that works without a trace. */
void load(void);

/* tsc.c: a guest that traces itself has a TSC of its own. */
void tsc_offset(void);
void tsc_scaled(void);

/* The name of a file of the results. */
extern const char *result_file;

/* count.c: count the accesses to PT's MSRs, for `result_file`. */
void count_guest(void);
void count_both(void);

#endif
