/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measurements. Each is compared with a peer that does the same work. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* Rounds of a comparison. The two sides alternate, and the best time of each counts. */
#define BENCH_ROUNDS 15

/*
 * Return the processor time of this process in seconds. Elapsed time would depend on other
 * processes.
 */
double bench_now(void);

/*
 * Report one line of the table and one entry of bench.json. `against` is the value of the peer
 * named `peer`. They are 0 and NULL if there is no peer.
 */
void bench_report(const char *name, double value, const char *unit, const char *peer,
		  double against);

/* Keep the compiler from removing an unused result. */
static inline void bench_keep(uint64_t value)
{
	__asm__ volatile("" : : "r"(value));
}

/*
 * Compare the generation of packets with libipt's encoder. Returns 0, or -1 with a message on
 * stderr.
 */
int bench_generate(void);

/* Compare timing and event packets with branches alone, in the generator. Same returns. */
int bench_packets(void);

/*
 * Our part of one row of the above, @rounds times, for make bench-against. Returns 0, or -1 if
 * there is no row of that name or it does not start.
 */
int bench_generate_row(const char *name, unsigned int rounds);
int bench_packets_row(const char *name, unsigned int rounds);

/* Measure the density and the decoding of a recorded trace. Same returns. */
int bench_trace(const char *path);

/* The files that engines.c runs. */
struct bench_place {
	const char *vpt;     /* the command */
	const char *guests;  /* folder of the ELF files */
	const char *start;   /* qemu_start.S built, NULL: no QEMU */
	const char *scratch; /* files that begin with this may be written */
	bool kvm;
};

/* native.c: run a guest as a process. Returns its exit status, or -1 if there is none. */
int bench_native(const char *path, uint64_t rounds);

/* Run a command. Returns its exit status, or -1 if it did not exit, and its processor time. */
int bench_run(const char *const argv[], double *seconds);

/* sources.c: measure the same packets for a guest on the software CPU. Same returns. */
int bench_sources(const struct bench_place *place);

/* Compare engines on the same guests, untraced and traced. Same returns. */
int bench_engines(const struct bench_place *place);

#endif /* TESTS_BENCH_BENCH_H */
