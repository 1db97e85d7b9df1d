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
enum host_perf_kind {
	HOST_PERF_TASK,	   /* a process began or ended, or has another name */
	HOST_PERF_MAP,	   /* it maps code: pid, start, bytes, offset, path */
	HOST_PERF_STOPPED, /* the ring was full: what came then is not in it */
	HOST_PERF_LOST,	   /* records as these were lost: how many in `bytes` */
};

struct host_perf_record {
	enum host_perf_kind kind;
	uint32_t pid;
	uint64_t start, bytes, offset;
	const char *path; /* ends with 0 */
};

/* The type of perf's PMU for PT, or -errno; `sysfs` is /sys but in tests. */
int host_perf_pt_type(const char *sysfs);
/* A number in a file of that PMU, `missing` if it is not there. */
uint64_t host_perf_pt_number(const char *sysfs, const char *name, uint64_t missing);

/*
 * A record of perf's ring, all of it there. False: it says nothing that counts here, or
 * is not as long as it must be.
 */
bool host_perf_parse(const void *record, size_t len, struct host_perf_record *out);

struct host_perf {
	int fd;
	unsigned int cpu;
	uint64_t config; /* bits of IA32_RTIT_CTL */
	void *pages;	 /* the ring of records */
	uint8_t *aux;
	size_t aux_size;
};

/* Not yet enabled. 0 or -errno. `ring`: bytes, a power of 2. */
int host_perf_open(struct host_perf *perf, int type, unsigned int cpu, size_t ring);
void host_perf_close(struct host_perf *perf);
int host_perf_enable(const struct host_perf *perf);
int host_perf_disable(const struct host_perf *perf);

/*
 * Trace bytes that wait: one piece of the ring, to be given back by host_perf_taken()
 * when they have been used. 0: there are none.
 */
size_t host_perf_waiting(const struct host_perf *perf, const uint8_t **bytes);
void host_perf_taken(struct host_perf *perf, size_t bytes);

/* Hand out the records that wait. What take() returns, if not 0, ends it. */
int host_perf_records(struct host_perf *perf,
		      int (*take)(void *to, const struct host_perf_record *record), void *to);

#endif /* VMM_HOST_PERF_H */
