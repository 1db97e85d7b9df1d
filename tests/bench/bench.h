/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measurements: each compares with something that does the same work. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* Rounds of a comparison; ours and the other's take turns, and the best of each counts. */
#define BENCH_ROUNDS 15

/* Seconds that this process has computed: others may be at work on this machine. */
double bench_now(void);

/*
 * One line of the table, one entry of bench.json. `against`: the value of the peer
 * named `peer`, 0 and NULL where there is nothing to compare with.
 */
void bench_report(const char *name, double value, const char *unit, const char *peer,
		  double against);

/* Keeps the compiler from dropping what nobody reads. */
static inline void bench_keep(uint64_t value)
{
	__asm__ volatile("" : : "r"(value));
}

/* Generating packets, against libipt's encoder. 0, or -1 with a message on stderr. */
int bench_generate(void);

/* Timing and event packets against branches alone; the generator's part. Same returns. */
int bench_packets(void);

/*
 * Our part of one row of the above, @rounds times, for make bench-against. Returns 0, or -1 if
 * there is no row of that name or it does not start.
 */
int bench_generate_row(const char *name, unsigned int rounds);
int bench_packets_row(const char *name, unsigned int rounds);

/* A recorded trace: its density, and decoding it. Same returns. */
int bench_trace(const char *path);

/* Where to find what engines.c runs. */
struct bench_place {
	const char *vpt;     /* the command */
	const char *guests;  /* folder of the ELF files */
	const char *start;   /* qemu_start.S built, NULL: no QEMU */
	const char *scratch; /* files that begin with this may be written */
	bool kvm;
};

/* native.c: run a guest as a process. Its exit status, -1 if there is none. */
int bench_native(const char *path, uint64_t rounds);

/* Run a command; its exit status, and the processor time it took. -1: it did not end. */
int bench_run(const char *const argv[], double *seconds);

/* sources.c: the same packets, of a guest on the software CPU. Same returns. */
int bench_sources(const struct bench_place *place);

/* Engines on the same guests, untraced and traced. Same returns. */
int bench_engines(const struct bench_place *place);

#endif /* TESTS_BENCH_BENCH_H */
