// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forged files: .vpt files, snapshots, ELF files and symbol maps that were changed by their
 * structure are read by every verb that reads such files. Each seed is one input. Verbs run in
 * a child process, which this one watches: a crash, 10 seconds of processor time or 1 GiB of
 * memory are failures of the seed in use, and so are the answers that verbs.c calls wrong.
 *
 * usage: forged [-n COUNT] [-f FIRST] [-j JOBS] [-b BATCH] [-l LEDGER] [-k KIND] [-t] IN SCRATCH
 *        forged -k KIND -1 SEED IN SCRATCH      show what the verbs print; the file stays
 * -t prints TAP. Else there is a table for each kind, and last "N passed, N failed".
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/forged/forged.h"

#define JOBS_MAX 64
#define POLL_NS	 20000000

struct options {
	const char *in, *scratch, *ledger, *kind;
	uint64_t count, first, batch;
	unsigned int jobs;
	bool tap, one;
};

struct worker {
	pid_t pid; /* 0: none */
	struct forged_slot *slot;
	uint64_t first, end; /* the batch */
	char dir[512];
	char killed[64]; /* why this process killed it */
	uint64_t seed;	 /* in use when this process looked last */
	uint64_t looks;	 /* how often it looked since that seed began */
};

struct run {
	const struct options *o;
	const struct forged_kind *kind;
	struct worker worker[JOBS_MAX];
	uint8_t *done; /* a byte for each batch */
	uint64_t batches, next;
	struct forged_sums sums;
	unsigned int shown;
};

static void die(const char *what)
{
	fprintf(stderr, "forged: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* Show the last lines of standard error, such as a sanitizer's report. */
static void show_log(const struct worker *w)
{
	char path[600], line[256];
	unsigned int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", w->dir);
	f = fopen(path, "r");
	while (f && n < 24 && fgets(line, sizeof(line), f)) {
		if (strstr(line, "ERROR") || strstr(line, "runtime error") || strstr(line, " #") ||
		    strstr(line, "SUMMARY")) {
			printf("#   %s", line);
			n++;
		}
	}
	if (f)
		fclose(f);
}

static void start(struct run *r, struct worker *w)
{
	w->killed[0] = 0;
	w->slot->busy = 0;
	w->slot->why[0] = 0;
	fflush(stdout);
	w->pid = fork();
	if (w->pid < 0)
		die("fork");
	if (w->pid)
		return;
	setpgid(0, 0);
	if (chdir(w->dir))
		die(w->dir);
	forged_work(w->slot, r->kind, w->end, r->o->one);
}

/* Take the next batch that the ledger does not have. */
static bool take_batch(struct run *r, struct worker *w)
{
	while (r->next < r->batches && r->done[r->next])
		r->next++;
	if (r->next == r->batches)
		return false;
	w->first = r->o->first + r->next++ * r->o->batch;
	w->end = w->first + r->o->batch;
	if (w->end > r->o->first + r->o->count)
		w->end = r->o->first + r->o->count;
	memset(w->slot, 0, sizeof(*w->slot));
	w->slot->next = w->first;
	start(r, w);
	return true;
}

static void failed(struct run *r, struct worker *w, int status)
{
	struct forged_slot *slot = w->slot;
	char why[320];

	slot->sums.failed++;
	slot->sums.inputs++;
	if (w->killed[0])
		snprintf(why, sizeof(why), "%s", w->killed);
	else if (slot->why[0])
		snprintf(why, sizeof(why), "%s", slot->why);
	else if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "signal %d", WTERMSIG(status));
	else
		snprintf(why, sizeof(why), "ended with status %d", WEXITSTATUS(status));
	if (r->shown++ > 40)
		return;
	printf("# %s: seed %" PRIu64 ": %s: %s\n", r->kind->name, (uint64_t)slot->seed, slot->doing,
	       why);
	printf("#   again: forged -k %s -1 %" PRIu64 " IN SCRATCH\n", r->kind->name,
	       (uint64_t)slot->seed);
	show_log(w);
	fflush(stdout);
}

static void finish(struct run *r, struct worker *w, int status)
{
	struct forged_slot *slot = w->slot;

	w->pid = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		failed(r, w, status);
		if (slot->next < w->end && !r->o->one) {
			start(r, w);
			return;
		}
	}
	forged_add(&r->sums, &slot->sums);
	if (r->o->ledger && !forged_ledger_write(r->o->ledger, r->kind->name, w->first,
						 w->end - w->first, &slot->sums))
		die(r->o->ledger);
	take_batch(r, w);
}

/* Return the current memory of a process in KiB. */
static uint64_t resident(pid_t pid)
{
	unsigned long long pages = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%*u %llu", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

/* Return the processor time of a process without its children, in ns. */
static uint64_t spent(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void watch(const struct options *o, struct worker *w)
{
	uint64_t before = w->slot->spent, kib;

	if (!w->pid || w->killed[0] || !w->slot->busy || o->one)
		return;
	/*
	 * Count looks rather than time: if this process is stopped, so are the processes that it
	 * watches.
	 */
	w->looks = w->seed == w->slot->seed ? w->looks + 1 : 0;
	w->seed = w->slot->seed;
	kib = resident(w->pid);
	if (kib > FORGED_KIB)
		snprintf(w->killed, sizeof(w->killed), "%" PRIu64 " MiB of memory", kib >> 10);
	else if (spent(w->pid) > before + FORGED_SECONDS * 1000000000ull)
		snprintf(w->killed, sizeof(w->killed), "%u seconds", FORGED_SECONDS);
	else if (w->looks > FORGED_HANG * 1000000000ull / POLL_NS)
		snprintf(w->killed, sizeof(w->killed), "it hangs");
	/* Its children belong to its group. */
	if (w->killed[0])
		kill(-w->pid, SIGKILL);
}

static void wait_for_all(struct run *r)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	bool any = true;

	while (any) {
		any = false;
		for (unsigned int i = 0; i < r->o->jobs; i++) {
			struct worker *w = &r->worker[i];
			int status;

			if (!w->pid)
				continue;
			any = true;
			watch(r->o, w);
			if (waitpid(w->pid, &status, WNOHANG) == w->pid)
				finish(r, w, status);
		}
		nanosleep(&pause, NULL);
	}
}

static void copy_base(const struct options *o, const char *dir)
{
	char command[1200];

	snprintf(command, sizeof(command), "mkdir -p '%s' && cp '%s/base.vpt' '%s'", dir, o->in,
		 dir);
	if (system(command))
		die(dir);
}

static void run_kind(struct run *r)
{
	const struct options *o = r->o;

	r->batches = (o->count + o->batch - 1) / o->batch;
	r->done = calloc(r->batches, 1);
	if (!r->done)
		die("memory");
	if (o->ledger)
		forged_ledger_read(o->ledger, r->kind->name, o->first, o->batch, r->done,
				   r->batches, &r->sums);
	for (unsigned int i = 0; i < o->jobs; i++) {
		struct worker *w = &r->worker[i];

		snprintf(w->dir, sizeof(w->dir), "%s/%s.%u", o->scratch, r->kind->name, i);
		copy_base(o, w->dir);
		w->slot = mmap(NULL, sizeof(*w->slot), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (w->slot == MAP_FAILED)
			die("mmap");
		take_batch(r, w);
	}
	wait_for_all(r);
	free(r->done);
}

/*
 * Use a separate process for each kind, so that the files of one kind do not use memory in the
 * others.
 */
static void do_kind(const struct options *o, const struct forged_kind *kind,
		    struct forged_sums *sums)
{
	struct run *r;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid) {
		int status;

		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
			sums->failed++;
		return;
	}
	r = calloc(1, sizeof(*r));
	if (!r || !forged_load(o->in, kind))
		_exit(2);
	r->o = o;
	r->kind = kind;
	run_kind(r);
	*sums = r->sums;
	fflush(stdout);
	_exit(0);
}

static bool enough(const struct forged_sums *s)
{
	/*
	 * Many changed files must pass the checks, or the code behind the checks would not be
	 * tested.
	 */
	return !s->failed && s->decoded * 5 >= s->inputs && s->decoded;
}

static int report(const struct options *o, const struct forged_sums *sums)
{
	uint64_t passed = 0, bad = 0;
	unsigned int n = 0;

	for (unsigned int i = 0; i < FORGED_KINDS; i++) {
		const struct forged_sums *s = &sums[i];

		if (o->kind && strcmp(o->kind, forged_kinds[i].name))
			continue;
		if (!o->tap)
			forged_table(&forged_kinds[i], s);
		else
			printf("%sok %u - %s: inputs: %" PRIu64 ", accepted: %" PRIu64
			       ", %s: %" PRIu64 ", failed: %" PRIu64 "\n",
			       enough(s) ? "" : "not ", ++n, forged_kinds[i].name, s->inputs,
			       s->accepted, forged_kinds[i].what, s->decoded, s->failed);
		passed += s->inputs - (s->failed < s->inputs ? s->failed : s->inputs);
		bad += s->failed + (!s->failed && !enough(s));
	}
	if (o->tap)
		printf("1..%u\n", n);
	else
		printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, bad);
	return bad != 0;
}

static void parse(struct options *o, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "n:f:j:b:l:k:t1:")) != -1) {
		uint64_t number = optarg ? strtoull(optarg, NULL, 0) : 0;

		switch (option) {
		case 'n':
			o->count = number;
			break;
		case 'f':
			o->first = number;
			break;
		case 'j':
			o->jobs = (unsigned int)number;
			break;
		case 'b':
			o->batch = number;
			break;
		case 'l':
			o->ledger = optarg;
			break;
		case 'k':
			o->kind = optarg;
			break;
		case 't':
			o->tap = true;
			break;
		case '1':
			o->one = true;
			o->first = number;
			o->count = 1;
			break;
		default:
			exit(2);
		}
	}
	if (optind + 2 != argc || !o->jobs || o->jobs > JOBS_MAX || !o->batch || !o->count) {
		fputs("usage: see tests/fuzz/forged/forged.c\n", stderr);
		exit(2);
	}
	o->in = argv[optind];
	o->scratch = argv[optind + 1];
}

int main(int argc, char **argv)
{
	struct options o = {.count = 1000, .first = 1, .batch = 200, .jobs = 1};
	struct forged_sums *sums = mmap(NULL, FORGED_KINDS * sizeof(*sums), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	parse(&o, argc, argv);
	if (sums == MAP_FAILED)
		die("mmap");
	for (unsigned int i = 0; i < FORGED_KINDS; i++)
		if (!o.kind || !strcmp(o.kind, forged_kinds[i].name))
			do_kind(&o, &forged_kinds[i], &sums[i]);
	return o.one ? 0 : report(&o, sums);
}
