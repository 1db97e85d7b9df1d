// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measure the cost of timing and event packets for a guest on the software CPU. The same guest is
 * traced for its host with and without each option.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

#define TURNS	4
#define OPTIONS 4

static const struct row {
	const char *name;
	const char *option[OPTIONS];
} rows[] = {
	{"plain", {NULL}},
	{"TSC, MTC 3", {"--tsc", "--mtc"}},
	{"CYC", {"--cyc"}},
	{"CYC, threshold 5", {"--cyc=5"}},
	{"TSC, MTC 3, CYC", {"--tsc", "--mtc", "--cyc"}},
	{"PTW, events", {"--ptw", "--events"}},
	{"no TNT", {"--no-tnt"}},
	{"a buffer that never fills", {"--buffer=65536:65536"}},
	{"deferred TIPs", {"--defer-tips"}},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

struct sources {
	char vpt[512], elf[512], trace[512], arg[64];
	double best[ROWS], bytes[ROWS], insns[ROWS];
};

static int run(struct sources *s, const struct row *row, uint64_t rounds, double *seconds)
{
	const char *argv[16 + OPTIONS] = {s->vpt,	 "run",	  "-q",	  "--engine=soft",
					  "--model=spr", "--pt",  "host", s->arg,
					  "-o",		 s->trace};
	size_t n = 10, i;

	snprintf(s->arg, sizeof(s->arg), "--arg=%" PRIu64, rounds);
	for (i = 0; i < OPTIONS && row->option[i]; i++)
		argv[n++] = row->option[i];
	argv[n] = s->elf;
	return bench_run(argv, seconds) ? -1 : 0;
}

static uint64_t number_of(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Count the bytes of trace and the instructions, by the engine's own count. */
static int count(struct sources *s, size_t number, uint64_t rounds)
{
	const struct row *row = &rows[number];
	char command[2048], line[512];
	size_t n, i;
	FILE *pipe;

	n = (size_t)snprintf(command, sizeof(command),
			     "'%s' run -q --json --engine=soft --model=spr --pt host --arg=%" PRIu64
			     " -o '%s'",
			     s->vpt, rounds, s->trace);
	for (i = 0; i < OPTIONS && row->option[i]; i++)
		n += (size_t)snprintf(command + n, sizeof(command) - n, " %s", row->option[i]);
	snprintf(command + n, sizeof(command) - n, " '%s' 2>/dev/null", s->elf);
	pipe = popen(command, "r");
	while (pipe && fgets(line, sizeof(line), pipe)) {
		if (!strstr(line, "\"trace_bytes\":"))
			continue;
		s->bytes[number] = (double)number_of(line, "\"trace_bytes\":");
		s->insns[number] = (double)number_of(line, "\"instructions\":");
	}
	if (pipe)
		pclose(pipe);
	return s->insns[number] > 0 ? 0 : -1;
}

static int measure(struct sources *s, size_t i, uint64_t rounds)
{
	double little, much;

	if (s->insns[i] <= 0 && count(s, i, rounds))
		return -1;
	if (run(s, &rows[i], 1, &little) || run(s, &rows[i], rounds, &much))
		return -1;
	much -= little;
	if (much > 0 && (!s->best[i] || much < s->best[i]))
		s->best[i] = much;
	return 0;
}

static int bench_guest(struct sources *s, const char *guest, uint64_t rounds)
{
	char name[80];
	unsigned int turn;
	size_t i;

	for (turn = 0; turn < TURNS; turn++)
		for (i = 0; i < ROWS; i++)
			if (measure(s, i, rounds)) {
				fprintf(stderr, "bench: %s: %s: it does not run\n", guest,
					rows[i].name);
				return -1;
			}
	for (i = 0; i < ROWS; i++) {
		snprintf(name, sizeof(name), "%s: %s", guest, rows[i].name);
		bench_report(name, s->insns[i] / s->best[i] / 1e6, "MIPS", "plain",
			     s->insns[0] / s->best[0] / 1e6);
		bench_report(name, s->bytes[i] * 1000 / s->insns[i], "bytes/1000 insns", "plain",
			     s->bytes[0] * 1000 / s->insns[0]);
	}
	return 0;
}

int bench_sources(const struct bench_place *place)
{
	static const struct {
		const char *name;
		uint64_t rounds;
	} guests[] = {{"bench_int", 60}, {"quicksort", 600}, {"bytecode", 600}};
	size_t i;

	for (i = 0; i < sizeof(guests) / sizeof(guests[0]); i++) {
		struct sources s = {.best = {0}};

		snprintf(s.vpt, sizeof(s.vpt), "%s", place->vpt);
		snprintf(s.elf, sizeof(s.elf), "%s/%s.elf", place->guests, guests[i].name);
		snprintf(s.trace, sizeof(s.trace), "%s.vpt", place->scratch);
		if (bench_guest(&s, guests[i].name, guests[i].rounds))
			return -1;
	}
	return 0;
}
