/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a perf.data file: a header, records one after the other, features.
 *
 * Errors of the file are kept and told by export_record_end().
 */
#ifndef VMM_EXPORT_RECORD_H
#define VMM_EXPORT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT_RECORD_AUX_MAX 1024 /* AUXTRACE records: one per vCPU */

/* How perf gets the time. */
enum export_record_timing {
	EXPORT_RECORD_FOLDED,	/* TSC packets alone, in units of the exporter's */
	EXPORT_RECORD_TIMED,	/* the trace's packets */
	EXPORT_RECORD_TIMELESS, /* not at all */
};

/* ns = zero + (ticks * mult >> shift). */
struct export_record_time {
	unsigned int shift;
	uint64_t mult, zero;
};

struct export_record {
	FILE *out;
	uint64_t aux[EXPORT_RECORD_AUX_MAX]; /* where the AUXTRACE records are */
	size_t naux;
	uint64_t config; /* IA32_RTIT_CTL, as perf's config */
	bool kernel;	 /* some of it is traced */
	enum export_record_timing timing;
	uint32_t ctc_n, ctc_d; /* TSC to CTC, CPUID.15H */
	uint32_t nonturbo;     /* P1 in bus clocks */
	uint32_t vcpus;
	char cpuid[32];
};

/* Whom a record is about, and when: 0: from the beginning. */
struct export_record_id {
	uint64_t ns;
	uint32_t pid;
	uint32_t cpu;
};

struct export_record_map {
	uint64_t addr, bytes, offset;
	const char *file;
};

/* `out` and config to cpuid are set, the rest is zero. */
void export_record_begin(struct export_record *r);
/* Features and header. 0 or -errno; `out` stays open. */
int export_record_end(struct export_record *r);

/* The first record. */
void export_record_auxtrace_info(struct export_record *r, const struct export_record_time *time);
/* `bytes` bytes of packets, a multiple of 8, come right after it. */
void export_record_auxtrace(struct export_record *r, uint32_t cpu, uint64_t bytes,
			    uint64_t reference);

void export_record_comm(struct export_record *r, uint32_t pid, const char *name);
void export_record_kernel(struct export_record *r, uint64_t addr, uint64_t bytes);
void export_record_map(struct export_record *r, const struct export_record_id *id,
		       const struct export_record_map *map);
void export_record_switch(struct export_record *r, const struct export_record_id *id);
/* `bytes`, up to a page of them, change from `from` to `to`. */
void export_record_poke(struct export_record *r, const struct export_record_id *id, uint64_t addr,
			const uint8_t *from, const uint8_t *to, uint16_t bytes);
/* All records up to here may be put in order. */
void export_record_round(struct export_record *r);

#endif /* VMM_EXPORT_RECORD_H */
