// SPDX-License-Identifier: GPL-2.0-or-later
/* The ledger (a file with a line per finished batch), and the table of its sums. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/forged/forged.h"

#define MS 1000000u

void forged_add(struct forged_sums *to, const struct forged_sums *from)
{
	to->inputs += from->inputs;
	to->accepted += from->accepted;
	to->decoded += from->decoded;
	to->failed += from->failed;
	to->ns += from->ns;
	if (from->longest_ns > to->longest_ns) {
		to->longest_ns = from->longest_ns;
		to->longest_seed = from->longest_seed;
	}
	if (from->most_kib > to->most_kib) {
		to->most_kib = from->most_kib;
		to->most_seed = from->most_seed;
	}
	for (unsigned int i = 0; i < FORGED_VERBS; i++)
		for (unsigned int k = 0; k < FORGED_STATUSES; k++)
			to->status[i][k] += from->status[i][k];
}

/* The sums as an array of numbers, all of which are uint64_t. */
#define NUMBERS (sizeof(struct forged_sums) / sizeof(uint64_t))

static bool parse(char *line, const char *kind, uint64_t *first, uint64_t *count,
		  struct forged_sums *sums)
{
	char *word = strtok(line, " \n");
	uint64_t numbers[2 + NUMBERS];
	size_t n;

	if (!word || strcmp(word, kind))
		return false;
	for (n = 0; n < 2 + NUMBERS && (word = strtok(NULL, " \n")); n++)
		numbers[n] = strtoull(word, NULL, 10);
	/* A truncated line does not end with a full stop. */
	word = strtok(NULL, " \n");
	if (n < 2 + NUMBERS || !word || strcmp(word, "."))
		return false;
	*first = numbers[0];
	*count = numbers[1];
	memcpy(sums, numbers + 2, sizeof(*sums));
	return true;
}

void forged_ledger_read(const char *path, const char *kind, uint64_t first, uint64_t batch,
			uint8_t *done, uint64_t batches, struct forged_sums *sums)
{
	FILE *f = fopen(path, "r");
	char line[4096];

	while (f && fgets(line, sizeof(line), f)) {
		struct forged_sums one;
		uint64_t at, count;

		if (!parse(line, kind, &at, &count, &one) || at < first || (at - first) % batch ||
		    (at - first) / batch >= batches || count != batch || done[(at - first) / batch])
			continue;
		done[(at - first) / batch] = 1;
		forged_add(sums, &one);
	}
	if (f)
		fclose(f);
}

bool forged_ledger_write(const char *path, const char *kind, uint64_t first, uint64_t count,
			 const struct forged_sums *sums)
{
	FILE *f = fopen(path, "a");
	uint64_t numbers[NUMBERS];
	size_t n;

	if (!f)
		return false;
	memcpy(numbers, sums, sizeof(numbers));
	fprintf(f, "%s %" PRIu64 " %" PRIu64, kind, first, count);
	for (n = 0; n < NUMBERS; n++)
		fprintf(f, " %" PRIu64, numbers[n]);
	fputs(" .\n", f);
	return !fclose(f);
}

void forged_table(const struct forged_kind *kind, const struct forged_sums *s)
{
	printf("%s: inputs: %" PRIu64 ", accepted: %" PRIu64 ", %s: %" PRIu64 ", failed: %" PRIu64
	       "\n",
	       kind->name, s->inputs, s->accepted, kind->what, s->decoded, s->failed);
	printf("  processor time: %.1f ms each; longest: %" PRIu64 " ms (seed %" PRIu64
	       "); most memory: %" PRIu64 " MiB (seed %" PRIu64 ")\n",
	       s->inputs ? (double)s->ns / (double)s->inputs / MS : 0.0, s->longest_ns / MS,
	       s->longest_seed, s->most_kib >> 10, s->most_seed);
	for (unsigned int i = 0; i < FORGED_VERBS; i++) {
		uint64_t calls = 0;

		for (unsigned int k = 0; k < FORGED_STATUSES; k++)
			calls += s->status[i][k];
		if (!calls)
			continue;
		printf("  %-8s %8" PRIu64 " calls; by status:", forged_names[i], calls);
		for (unsigned int k = 0; k < FORGED_STATUSES; k++)
			if (s->status[i][k])
				printf(" %u: %" PRIu64, k, s->status[i][k]);
		putchar('\n');
	}
}
