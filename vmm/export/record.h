/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Write a perf.data file: a header, the records, the features.
 *
 * export_record_end() returns any error of the file.
 */
#ifndef VMM_EXPORT_RECORD_H
#define VMM_EXPORT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT_RECORD_AUX_MAX 1024 /* AUXTRACE records, one per vCPU */

/* The source of time for perf. */
enum export_record_timing {
	EXPORT_RECORD_FOLDED,	/* TSC packets alone, in units of the exporter */
	EXPORT_RECORD_TIMED,	/* the trace's packets */
	EXPORT_RECORD_TIMELESS, /* no time */
};

/* The conversion of ticks: ns = zero + (ticks * mult >> shift). */
struct export_record_time {
	unsigned int shift;
	uint64_t mult, zero;
};

struct export_record {
	FILE *out;
	uint64_t aux[EXPORT_RECORD_AUX_MAX]; /* the offsets of the AUXTRACE records */
	size_t naux;
	uint64_t config; /* IA32_RTIT_CTL as perf's config */
	bool kernel;	 /* the kernel is traced */
	enum export_record_timing timing;
	uint32_t ctc_n, ctc_d; /* the ratio of TSC to CTC, CPUID.15H */
	uint32_t nonturbo;     /* the maximum non-turbo ratio (P1) in bus clocks */
	uint32_t vcpus;
	char cpuid[32];
};

/* The subject of a record and its time. 0 means the beginning. */
struct export_record_id {
	uint64_t ns;
	uint32_t pid;
	uint32_t cpu;
};

struct export_record_map {
	uint64_t addr, bytes, offset;
	const char *file;
};

/*
 * Write the front of the file. Set `out` and the fields from `config` to `cpuid`, and clear the
 * rest before.
 */
void export_record_begin(struct export_record *r);
/* Write the features and the header. `out` stays open. Returns 0 or -errno. */
int export_record_end(struct export_record *r);

/* Write the first record. */
void export_record_auxtrace_info(struct export_record *r, const struct export_record_time *time);
/*
 * Write an AUXTRACE record. The caller writes `bytes` bytes of packets, a multiple of 8, right
 * after it.
 */
void export_record_auxtrace(struct export_record *r, uint32_t cpu, uint64_t bytes,
			    uint64_t reference);

void export_record_comm(struct export_record *r, uint32_t pid, const char *name);
void export_record_kernel(struct export_record *r, uint64_t addr, uint64_t bytes);
void export_record_map(struct export_record *r, const struct export_record_id *id,
		       const struct export_record_map *map);
void export_record_switch(struct export_record *r, const struct export_record_id *id);
/* Record a change of `bytes` bytes, at most a page, from `from` to `to`. */
void export_record_poke(struct export_record *r, const struct export_record_id *id, uint64_t addr,
			const uint8_t *from, const uint8_t *to, uint16_t bytes);
/* Allow perf to sort all records up to here. */
void export_record_round(struct export_record *r);

#endif /* VMM_EXPORT_RECORD_H */
