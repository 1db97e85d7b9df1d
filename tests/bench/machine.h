/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A processor that only branches, made of libvpt's PT and a buffer. */
#ifndef TESTS_BENCH_MACHINE_H
#define TESTS_BENCH_MACHINE_H

#include "vpt/pt.h"

#define BENCH_BUFFER_BYTES (1u << 20)
#define BENCH_PATTERN	   1024u

struct bench_machine {
	struct vpt_pt pt;
	struct vpt_clock clock;
	uint8_t *buffer;
	uint64_t bytes; /* of trace */
};

struct bench_pattern {
	uint8_t taken[BENCH_PATTERN];
	uint64_t target[BENCH_PATTERN];
};

/*
 * Start a trace of this model, with these bits of CTL besides TraceEn, OS and User. `counts`: count
 * the bytes, which costs some time. Returns false if the trace does not start.
 */
bool bench_machine_start(struct bench_machine *m, const char *model, uint64_t ctl,
			 const struct vpt_pt_options *options, bool counts);
struct bench_machine *bench_machine_create(void);
void bench_machine_destroy(struct bench_machine *m);

void bench_pattern_fill(struct bench_pattern *p);

#endif /* TESTS_BENCH_MACHINE_H */
