/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each function measures one thing in a separate process. */
#ifndef TESTS_BENCH_DECODE_MEASURE_H
#define TESTS_BENCH_DECODE_MEASURE_H

#include "bench/decode/input.h"

enum bench_what {
	BENCH_SUMMARY,	    /* libvptdecode counts instructions */
	BENCH_SUMMARY_TIME, /* the same with VPTD_TIME, but no time is requested */
	BENCH_EDGES,	    /* also counts edges */
	BENCH_CALLS, /* each run is reported, and the caller finds those that end with a CALL */
	BENCH_CALLS_IDLE, /* the same with VPTD_TIME, but no time is requested */
	BENCH_CALLS_TIME, /* the caller requests the time at each CALL */
	BENCH_IPT,	  /* libipt's block decoder, with sections */
	BENCH_VERIFY,	  /* bench_verify() of the file, once */
	BENCH_CHECK, /* not measured: the number of instructions, and of those hidden by libipt */
	BENCH_WHATS
};

struct bench_sample {
	bool ok;	 /* all was decoded, without an error */
	double cold;	 /* seconds of the processor: a new decoder, its code, and the trace */
	double warm;	 /* the trace once more in the same decoder */
	uint64_t insns;	 /* of one pass; the same in all */
	uint64_t hidden; /* BENCH_CHECK: of these, what libipt shows as events alone */
	uint64_t peak;	 /* bytes of memory at most during the first pass, beside the trace */
	uint64_t asked;	 /* BENCH_CALLS_TIME: how often in a pass for a time that is known */
};

/* Seconds of the processor that this process has used. */
double bench_seconds(void);

/*
 * Decode @times times with a new decoder, then @times times with the last of them. The times are
 * for one pass.
 */
void bench_ours(const struct bench_input *in, enum bench_what what, unsigned int times,
		struct bench_sample *sample);
void bench_ipt(const struct bench_input *in, unsigned int times, struct bench_sample *sample);

/* Verify a file with an oracle: all that vpt verify does, from opening the file on. */
void bench_verify(const char *path, struct bench_sample *sample);

/* Measure once in a child process, which inherits the memory of this process. */
void bench_measure(const struct bench_input *in, enum bench_what what, unsigned int times,
		   struct bench_sample *sample);

#endif /* TESTS_BENCH_DECODE_MEASURE_H */
