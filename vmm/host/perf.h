/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT of one CPU by perf: kernel, user and guests, whatever runs there. Trace bytes
 * are in a ring that is mapped; perf stops where it would overwrite what was not taken.
 */
#ifndef VMM_HOST_PERF_H
#define VMM_HOST_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A software event from perf. The valid members depend on the kind. */
enum vpt_perf_kind {
	VPT_PERF_TASK,	  /* a process began or ended, or has another name */
	VPT_PERF_MAP,	  /* it maps code: pid, start, bytes, offset, path */
	VPT_PERF_STOPPED, /* the ring was full: what came then is not in it */
	VPT_PERF_LOST,	  /* records as these were lost: how many in `bytes` */
};

struct vpt_perf_record {
	enum vpt_perf_kind kind;
	uint32_t pid;
	uint64_t start, bytes, offset;
	const char *path; /* ends with 0 */
};

/* The type of perf's PMU for PT, or -errno; `sysfs` is /sys but in tests. */
int vpt_perf_pt_type(const char *sysfs);
/* A number in a file of that PMU, `missing` if it is not there. */
uint64_t vpt_perf_pt_number(const char *sysfs, const char *name, uint64_t missing);

/*
 * A record of perf's ring, all of it there. False: it says nothing that counts here, or
 * is not as long as it must be.
 */
bool vpt_perf_parse(const void *record, size_t len, struct vpt_perf_record *out);

struct vpt_perf {
	int fd;
	unsigned int cpu;
	uint64_t config; /* bits of IA32_RTIT_CTL */
	void *pages;	 /* the ring of records */
	uint8_t *aux;
	size_t aux_size;
};

/* Not yet enabled. 0 or -errno. `ring`: bytes, a power of 2. */
int vpt_perf_open(struct vpt_perf *perf, int type, unsigned int cpu, size_t ring);
void vpt_perf_close(struct vpt_perf *perf);
int vpt_perf_enable(const struct vpt_perf *perf);
int vpt_perf_disable(const struct vpt_perf *perf);

/*
 * Trace bytes that wait: one piece of the ring, to be given back by vpt_perf_taken()
 * when they have been used. 0: there are none.
 */
size_t vpt_perf_waiting(const struct vpt_perf *perf, const uint8_t **bytes);
void vpt_perf_taken(struct vpt_perf *perf, size_t bytes);

/* Hand out the records that wait. What take() returns, if not 0, ends it. */
int vpt_perf_records(struct vpt_perf *perf,
		     int (*take)(void *to, const struct vpt_perf_record *record), void *to);

#endif /* VMM_HOST_PERF_H */
