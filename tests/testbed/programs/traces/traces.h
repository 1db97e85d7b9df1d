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

/* two.c: two vCPUs; their guests trace themselves, or perf does. */
void two_vcpus(void);
void system_two(void);

/* failed.c: VM entries that fail. */
void failed_late(void);
void failed_early(void);

/* agree.c: ring 3 only, by perf, for perf. */
void perf_user(void);
void load(void);

/* tsc.c: a guest that traces itself has a TSC of its own. */
void tsc_offset(void);
void tsc_scaled(void);

/* count.c: accesses to PT's MSRs, to this file of the results. */
extern const char *counters_file;
void count_guest(void);
void count_both(void);

#endif
