/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace by perf's intel_pt, with its bytes collected in order. */
#ifndef BED_TESTBED_PERF_H
#define BED_TESTBED_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of the event's config, as in IA32_RTIT_CTL. */
#define PERF_PT_CYC	  (1 << 1)
#define PERF_PT_MTC	  (1 << 9)
#define PERF_PT_TSC	  (1 << 10)
#define PERF_PT_NORETCOMP (1 << 11)
#define PERF_PT_BRANCH	  (1 << 13)

struct perf_pt_want {
	uint64_t config;
	bool only_user, only_kernel;
	bool this_thread; /* trace this thread instead of CPU 0 */
	unsigned int aux_pages;
	unsigned int watermark; /* bytes; 0 for perf's default */
};

struct perf_pt {
	int fd;
	struct perf_event_attr attr;
	unsigned int aux_pages;
	void *pages;
	uint8_t *aux;
	uint8_t *bytes;
	size_t size;	/* of the collected bytes */
	size_t dropped; /* bytes that did not fit into `bytes` */
	/* Numbers of perf's records. */
	unsigned int aux_records, truncated, lost;
};

/* Open a disabled trace. Returns 0 or a negative errno. */
int perf_pt_open(struct perf_pt *pt, const struct perf_pt_want *want);
void perf_pt_close(struct perf_pt *pt);
int perf_pt_enable(const struct perf_pt *pt);
int perf_pt_disable(const struct perf_pt *pt);
/* Collect the new bytes of the AUX area, and count the new records. */
void perf_pt_read(struct perf_pt *pt);

#endif
