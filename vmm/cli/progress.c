// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows the progress of decoding on a terminal. */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND	   1000000000ull
#define SHOW_AFTER (2 * SECOND)
#define SHOW_EVERY (SECOND / 2)

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Draw a line such as "12.3 %, 4.56 MB/s, 1:02 left, 0 mismatches". */
static void draw(const struct cli_progress *p, uint64_t done, uint64_t elapsed)
{
	double seconds = (double)elapsed / (double)SECOND;
	double left = seconds * (double)(p->total - done) / (double)done;

	fprintf(stderr, "\r\033[K%.1f %%, %.2f MB/s, %u:%02u left",
		100 * (double)done / (double)p->total, (double)done / seconds / 1e6,
		(unsigned int)(left / 60), (unsigned int)left % 60);
	if (p->mismatches)
		fprintf(stderr, ", %" PRIu64 " mismatches",
			__atomic_load_n(p->mismatches, __ATOMIC_RELAXED));
	fflush(stderr);
}

static void show(struct cli_progress *p, unsigned int vcpu, uint64_t offset)
{
	unsigned int vcpus = trace_reader_info(p->reader)->vcpus, v;
	uint64_t at = now(), done = 0;

	p->at[vcpu] = offset;
	if (at - p->began < SHOW_AFTER || at - p->shown < SHOW_EVERY)
		return;
	for (v = 0; v < vcpus; v++)
		done += p->at[v];
	if (!done || done > p->total)
		return;
	p->shown = at;
	draw(p, done, at - p->began);
}

static void on_progress(void *context, unsigned int vcpu, uint64_t offset)
{
	struct cli_progress *p = context;

	pthread_mutex_lock(&p->lock);
	show(p, vcpu, offset);
	pthread_mutex_unlock(&p->lock);
}

void cli_progress_begin(struct cli_progress *p, struct trace_reader *reader, int vcpu, bool wanted)
{
	unsigned int vcpus = trace_reader_info(reader)->vcpus, v;

	p->at = NULL;
	if (!wanted || !isatty(STDERR_FILENO))
		return;
	p->reader = reader;
	p->began = now();
	p->shown = 0;
	p->total = 0;
	for (v = 0; v < vcpus; v++)
		if (vcpu < 0 || (unsigned int)vcpu == v)
			p->total += trace_reader_stream_bytes(reader, v);
	p->at = calloc(vcpus, sizeof(*p->at));
	if (!p->at)
		return;
	pthread_mutex_init(&p->lock, NULL);
	p->watch = (struct trace_watch){.progress = on_progress, .context = p};
	trace_reader_watch(reader, &p->watch);
}

void cli_progress_end(struct cli_progress *p)
{
	if (!p->at)
		return;
	trace_reader_watch(p->reader, NULL);
	if (p->shown)
		fputs("\r\033[K", stderr);
	pthread_mutex_destroy(&p->lock);
	free(p->at);
	p->at = NULL;
}
