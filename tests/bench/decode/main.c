// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libvptdecode beside libipt's block decoder, on recorded traces.
 * usage: vpt-bench-decode OUT.json TRACE.vpt...
 *
 * All that is compared runs in turn, three times, and the best of each counts. A figure is a goal,
 * and missing it is no failure. A trace fails if the decoders do not come to the same number of
 * instructions, or one of them reports an error. A file whose name begins with verify-blocks or
 * verify-records has a log of what ran, and is verified instead. BENCH_ROUNDS is another number of times; 0 only
 * compares instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/decode/measure.h"
#include "vpt/msr.h"

/* A measurement of a small trace is repeated until it takes so many seconds. */
#define LEAST 0.05
/* Traces from this size on are large. */
#define LARGE 10000000

static unsigned int rounds = 3;
static FILE *json;
static const char *separator = "";

double bench_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

void bench_measure(const struct bench_input *in, enum bench_what what, unsigned int times,
		   struct bench_sample *sample)
{
	struct bench_sample *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int status;

	if (shared == MAP_FAILED)
		abort();
	fflush(NULL);
	child = fork();
	if (!child) {
		if (what == BENCH_IPT)
			bench_ipt(in, times, shared);
		else if (what == BENCH_VERIFY)
			bench_verify(in->path, shared);
		else
			bench_ours(in, what, times, shared);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		shared->ok = false;
	*sample = *shared;
	munmap(shared, sizeof(*shared));
}

/* A goal for a value: at most, or at least so much; 0: none. */
struct figure {
	double at_most, at_least;
};

static void report(const struct bench_input *in, const char *what, double value, const char *unit,
		   struct figure figure)
{
	bool met = (!figure.at_most || value <= figure.at_most) && value >= figure.at_least;
	const char *verdict = met ? "met" : "not met";
	char goal[32] = "";

	if (figure.at_most)
		snprintf(goal, sizeof(goal), "<= %g", figure.at_most);
	else if (figure.at_least)
		snprintf(goal, sizeof(goal), ">= %g", figure.at_least);
	else
		verdict = "";
	printf("%-20s %-44s %12.*f %-8s %-8s %s\n", in->name, what, value < 100 ? 3 : 0, value,
	       unit, goal, verdict);
	fprintf(json,
		"%s\n  {\"trace\": \"%s\", \"name\": \"%s\", \"value\": %.10g, \"unit\": \"%s\"",
		separator, in->name, what, value, unit);
	if (*goal)
		fprintf(json, ", \"figure\": \"%s\", \"met\": %s", goal, met ? "true" : "false");
	fprintf(json, "}");
	separator = ",";
}

static void keep_best(struct bench_sample *best, const struct bench_sample *s, bool first)
{
	bool ok = s->ok && (first || best->ok);
	double cold = first || s->cold < best->cold ? s->cold : best->cold;
	double warm = first || s->warm < best->warm ? s->warm : best->warm;

	*best = *s;
	best->ok = ok;
	best->cold = cold;
	best->warm = warm;
}

/* Measure everything of @whats, which ends with BENCH_WHATS. Returns 0, or -1 with a message. */
static int measure(const struct bench_input *in, const enum bench_what *whats,
		   struct bench_sample *best)
{
	unsigned int times[BENCH_WHATS], round, i;

	for (round = 0; round <= rounds; round++) {
		for (i = 0; whats[i] != BENCH_WHATS; i++) {
			enum bench_what what = whats[i];
			struct bench_sample s;
			uint64_t insns;

			/* The first round is not counted: it tells how often to repeat. */
			bench_measure(in, what, round ? times[what] : 1, &s);
			insns = s.insns + (what == BENCH_IPT ? in->hidden : 0);
			if (!s.ok || insns != in->insns) {
				fprintf(stderr, "bench: %s: %s: %llu instructions of %llu%s\n",
					in->name, what == BENCH_IPT ? "libipt" : "libvptdecode",
					(unsigned long long)insns, (unsigned long long)in->insns,
					s.ok ? "" : ", with errors");
				return -1;
			}
			if (round)
				keep_best(&best[what], &s, round == 1);
			else
				times[what] = s.warm < LEAST
						      ? 1 + (unsigned int)(LEAST / (s.warm + 1e-7))
						      : 1;
		}
	}
	return 0;
}

static int against_libipt(const struct bench_input *in)
{
	static const enum bench_what whats[] = {BENCH_SUMMARY, BENCH_EDGES, BENCH_IPT, BENCH_WHATS};
	struct bench_sample best[BENCH_WHATS];
	bool large = in->len >= LARGE, boot = !strcmp(in->name, "boot");
	const struct bench_sample *ours = &best[BENCH_SUMMARY], *edges = &best[BENCH_EDGES],
				  *ipt = &best[BENCH_IPT];
	double insns = (double)in->insns;

	if (measure(in, whats, best))
		return -1;
	if (!rounds)
		return 0;
	report(in, "bytes of packets", (double)in->len, "", (struct figure){0, 0});
	report(in, "instructions", insns, "", (struct figure){0, 0});
	report(in, "new decoder", ours->cold * 1e3, "ms", (struct figure){boot ? 1200 : 0, 0});
	report(in, "libipt / ours, new decoder", ipt->cold / ours->cold, "x",
	       (struct figure){0, large ? 8 : 1});
	report(in, "libipt / ours, second pass", ipt->warm / ours->warm, "x",
	       (struct figure){0, large ? 10 : 1});
	if (!large)
		return 0;
	report(in, "libipt, new decoder", ipt->cold * 1e3, "ms", (struct figure){0, 0});
	report(in, "new decoder, instructions", insns / ours->cold, "/s", (struct figure){0, 0});
	report(in, "second pass, instructions", insns / ours->warm, "/s",
	       (struct figure){0, boot ? 3e9 : 0});
	report(in, "libipt, second pass, instructions", insns / ipt->warm, "/s",
	       (struct figure){0, 0});
	report(in, "edges counted / not", edges->cold / ours->cold, "x", (struct figure){1.1, 0});
	report(in, "edges counted / not, second pass", edges->warm / ours->warm, "x",
	       (struct figure){0, 0});
	report(in, "memory beside the trace", (double)ours->peak * 1e-6, "MB",
	       (struct figure){boot ? 300 : 0, 0});
	return 0;
}

static int with_time(const struct bench_input *in)
{
	static const enum bench_what whats[] = {BENCH_SUMMARY,	  BENCH_SUMMARY_TIME, BENCH_CALLS,
						BENCH_CALLS_IDLE, BENCH_CALLS_TIME,   BENCH_WHATS};
	double figure = in->ctl & VPT_CTL_MASK(CYC_EN) ? 1.6 : 1.3;
	struct bench_sample best[BENCH_WHATS];
	uint64_t asked;

	if (measure(in, whats, best))
		return -1;
	if (!rounds)
		return 0;
	asked = best[BENCH_CALLS_TIME].asked;
	report(in, "bytes of packets", (double)in->len, "", (struct figure){0, 0});
	report(in, "instructions", (double)in->insns, "", (struct figure){0, 0});
	if (asked)
		report(in, "instructions for each CALL", (double)in->insns / (double)asked, "",
		       (struct figure){0, 0});
	report(in, "runs, time asked at each CALL / no time",
	       best[BENCH_CALLS_TIME].cold / best[BENCH_CALLS].cold, "x",
	       (struct figure){figure, 0});
	report(in, "runs, nobody asks / no time",
	       best[BENCH_CALLS_IDLE].cold / best[BENCH_CALLS].cold, "x", (struct figure){0, 0});
	report(in, "nobody asks / no time",
	       best[BENCH_SUMMARY_TIME].cold / best[BENCH_SUMMARY].cold, "x",
	       (struct figure){1.0, 0});
	report(in, "nobody asks / no time, second pass",
	       best[BENCH_SUMMARY_TIME].warm / best[BENCH_SUMMARY].warm, "x",
	       (struct figure){1.0, 0});
	return 0;
}

/* A file whose log of what ran is of blocks, or, as that of vpt run, of single instructions. */
static int verify(struct bench_input *in, bool blocks)
{
	const char *what = blocks ? "verify against a block oracle, instructions"
				  : "verify against single records, instructions";
	struct bench_sample best = {0}, s;
	unsigned int round;

	/* The first round reads the file into memory. */
	for (round = 0; round <= rounds; round++) {
		bench_measure(in, BENCH_VERIFY, 1, &s);
		if (!s.ok)
			return -1;
		if (round)
			keep_best(&best, &s, round == 1);
	}
	if (!rounds)
		return 0;
	report(in, "instructions", (double)s.insns, "", (struct figure){0, 0});
	report(in, what, (double)s.insns / best.cold, "/s", (struct figure){0, blocks ? 3e8 : 0});
	return 0;
}

/* Set what the rows are held against. Returns 0, or -1. */
static int check(struct bench_input *in)
{
	struct bench_sample sample;

	bench_measure(in, BENCH_CHECK, 1, &sample);
	in->insns = sample.insns;
	in->hidden = sample.hidden;
	return sample.ok ? 0 : -1;
}

static bool begins(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, name, strlen(name));
}

static int measure_trace(const char *path)
{
	const bool blocks = begins(path, "verify-blocks"), records = begins(path, "verify-records");
	struct bench_input in;
	int err = bench_input_open(path, &in);

	in.path = path;
	if (!err && (blocks || records))
		err = verify(&in, blocks);
	else if (!err)
		err = check(&in);
	if (!err && !blocks && !records)
		err = in.ctl & (VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(CYC_EN)) ? with_time(&in)
									     : against_libipt(&in);
	if (err) {
		printf("%-20s %-44s FAILED\n", in.name, "");
		fprintf(json, "%s\n  {\"trace\": \"%s\", \"name\": \"failed\"}", separator,
			in.name);
		separator = ",";
	}
	bench_input_close(&in);
	return err;
}

int main(int argc, char **argv)
{
	const char *wanted = getenv("BENCH_ROUNDS");
	int i, failed = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: vpt-bench-decode OUT.json TRACE.vpt...\n");
		return EXIT_FAILURE;
	}
	if (wanted)
		rounds = (unsigned int)strtoul(wanted, NULL, 10);
	json = fopen(argv[1], "w");
	if (!json) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	fprintf(json, "[");
	printf("%-20s %-44s %12s %-8s %-8s %s\n", "trace", "what", "value", "", "figure", "");
	for (i = 2; i < argc; i++)
		failed += measure_trace(argv[i]) != 0;
	fprintf(json, "\n]\n");
	if (fclose(json)) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	if (failed)
		fprintf(stderr, "bench: %d of %d traces failed\n", failed, argc - 2);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
