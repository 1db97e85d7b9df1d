/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT of one CPU through perf: kernel, user and guests. Trace bytes are in a mapped ring. perf
 * stops before it would overwrite unread bytes.
 */
#ifndef VMM_HOST_PERF_H
#define VMM_HOST_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A software event from perf. The valid members depend on the kind. */
enum host_perf_kind {
	HOST_PERF_TASK,	   /* a process started, exited, or changed its name */
	HOST_PERF_MAP,	   /* a process maps code: pid, start, bytes, offset, path */
	HOST_PERF_STOPPED, /* the ring was full: later bytes are missing */
	HOST_PERF_LOST,	   /* records were lost: their number is in `bytes` */
};

struct host_perf_record {
	enum host_perf_kind kind;
	uint32_t pid;
	uint64_t start, bytes, offset;
	const char *path; /* ends with NUL */
};

/* Return the type of perf's PMU for PT, or -errno; tests replace `sysfs`, which is /sys. */
int host_perf_pt_type(const char *sysfs);
/* Return a number from a file of that PMU, or `missing` if there is no such file. */
uint64_t host_perf_pt_number(const char *sysfs, const char *name, uint64_t missing);

/*
 * Parse a complete record of perf's ring. Returns false if it is irrelevant, or has a wrong length.
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

/*
 * Open the event, which is not yet enabled. Returns 0 or -errno. `ring`: size in bytes, a power of
 * 2.
 */
int host_perf_open(struct host_perf *perf, int type, unsigned int cpu, size_t ring);
void host_perf_close(struct host_perf *perf);
int host_perf_enable(const struct host_perf *perf);
int host_perf_disable(const struct host_perf *perf);

/*
 * Return one contiguous piece of unread trace bytes in the ring. Release it with host_perf_taken()
 * after use. Returns 0 if there are none.
 */
size_t host_perf_waiting(const struct host_perf *perf, const uint8_t **bytes);
void host_perf_taken(struct host_perf *perf, size_t bytes);

/* Pass each unread record to take(). A nonzero result of take() ends the loop and is returned. */
int host_perf_records(struct host_perf *perf,
		      int (*take)(void *to, const struct host_perf_record *record), void *to);

#endif /* VMM_HOST_PERF_H */
