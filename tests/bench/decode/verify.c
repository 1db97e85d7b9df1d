// SPDX-License-Identifier: GPL-2.0-or-later
/* Do the work of `vpt verify`: read, decode and compare a file with an execution log. */
#include <stdio.h>

#include "bench/decode/measure.h"
#include "oracle/compare.h"

void bench_verify(const char *path, struct bench_sample *sample)
{
	struct oracle_comparison c = {0};
	double begin = bench_seconds();
	struct trace_reader *reader;
	char why[200];
	unsigned int v;
	int err = trace_reader_open(path, &reader, why, sizeof(why));

	*sample = (struct bench_sample){0};
	if (err) {
		fprintf(stderr, "bench: %s: %s\n", path, why);
		return;
	}
	for (v = 0; v < trace_reader_info(reader)->vcpus && !err; v++)
		err = oracle_compare(reader, v, &c);
	trace_reader_close(reader);
	sample->cold = sample->warm = bench_seconds() - begin;
	sample->insns = c.retired;
	sample->ok = !err && !c.mismatches && c.retired;
	oracle_comparison_free(&c);
}
