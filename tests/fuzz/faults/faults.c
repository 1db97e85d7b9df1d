// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the k-th allocation or system call of each verb fail, and judges what becomes of it:
 *
 *   faults [-n MAX] [-e SAMPLE] [-q] [-c CASE] [-k KIND] [-l LEDGER] VPT SHIM CASES DIR
 *
 * VPT and SHIM are the command and the library to be preloaded; DIR holds the inputs, as
 * inputs.sh makes them, and what the commands write. CASES has a command in each line. For each
 * command and kind k goes from 1 to MAX (200), or over SAMPLE of these; once only the k-th call
 * fails, and once all from there on.
 *
 * The command must end by itself with the status, the output and the files that it has without
 * a failure, or with status 4 and one line on standard error. Then a file under a final name is
 * either whole or what it was before.
 *
 * With a ledger a command and kind that passed with the same programs is not run again. Prints
 * TAP: a line for each verb and kind, which must have had failures, unless `none` lists them.
 *
 * The output of a command whose name ends in ~ has figures that differ from run to run: its
 * digits and points do not count.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/faults/inject.h"
#include "fuzz/faults/tree.h"

#define CASES_MAX  128
#define VERBS_MAX  32
#define ARGS_MAX   32
#define STATUS_ENV 4 /* CLI_EXIT_HOST */
#define SHOWN_MAX  40
#define OLD_TEXT   "what was there before\n"
#define OLD_BYTES  (sizeof(OLD_TEXT) - 1)

struct test_case {
	char name[64];
	char verb[32];
	char old[64]; /* a file that exists before the run, or "" */
	char *argv[ARGS_MAX];
};

/* The result of a run without failures. */
struct baseline {
	int status;
	uint64_t out_hash, out_size;
	struct tree files;
};

struct counts {
	uint64_t calls, fired, failed;
};

static struct {
	uint64_t max, sample, seed;
	bool quick; /* the first three cases of each verb, and no KVM */
	const char *only_case, *only_kind, *ledger;
	const char *vpt, *shim, *cases, *dir;
	char in[4096], work[4096], out[4096], err[4096];
	uint64_t id;
} o = {.max = 200};

static struct test_case cases[CASES_MAX];
static size_t ncases;
static struct {
	char name[32];
	struct counts kinds[FAULT_KINDS];
} verbs[VERBS_MAX];
static size_t nverbs;
static unsigned int shown;

/* Hash the output of a case. *size receives the number of bytes that count. */
static uint64_t hash_output(const struct test_case *c, uint64_t *size)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	FILE *f;
	int ch;

	if (c->name[strlen(c->name) - 1] != '~')
		return tree_hash(o.out, size);
	*size = 0;
	f = fopen(o.out, "r");
	while (f && (ch = getc(f)) != EOF) {
		if ((ch >= '0' && ch <= '9') || ch == '.' || ch == ' ')
			continue;
		hash = (hash ^ (uint8_t)ch) * 0x100000001b3ull;
		++*size;
	}
	if (f)
		fclose(f);
	return hash;
}

static struct counts *counts_of(const char *verb, enum fault_kind kind)
{
	size_t i;

	for (i = 0; i < nverbs && strcmp(verbs[i].name, verb); i++)
		;
	if (i == nverbs) {
		if (nverbs == VERBS_MAX)
			abort();
		snprintf(verbs[nverbs++].name, sizeof(verbs[0].name), "%s", verb);
	}
	return &verbs[i].kinds[kind];
}

/* Expand "@" in a word to the folder of inputs. */
static char *word_of(const char *word)
{
	char text[8192], *at;

	snprintf(text, sizeof(text), "%s", word);
	at = strchr(text, '@');
	if (!at || (at[1] != '/'))
		return strdup(text);
	*at = 0;
	{
		char whole[16384];

		snprintf(whole, sizeof(whole), "%s%s%s", text, o.in, at + 1);
		return strdup(whole);
	}
}

static void read_cases(void)
{
	FILE *f = fopen(o.cases, "r");
	char line[1024], *word;
	size_t n;

	if (!f) {
		perror(o.cases);
		exit(2);
	}
	while (fgets(line, sizeof(line), f)) {
		struct test_case *c = &cases[ncases];

		word = strtok(line, " \t\n");
		if (!word || *word == '#')
			continue;
		if (++ncases == CASES_MAX)
			abort();
		snprintf(c->name, sizeof(c->name), "%s", word);
		word = strtok(NULL, " \t\n");
		snprintf(c->old, sizeof(c->old), "%s", word && strcmp(word, "-") ? word : "");
		c->argv[0] = (char *)o.vpt;
		for (n = 1; (word = strtok(NULL, " \t\n")) && n < ARGS_MAX - 1; n++)
			c->argv[n] = word_of(word);
		snprintf(c->verb, sizeof(c->verb), "%s", c->argv[1] ? c->argv[1] : "");
	}
	fclose(f);
}

static void put_old(const struct test_case *c)
{
	char path[8192];
	FILE *f;

	if (!*c->old)
		return;
	snprintf(path, sizeof(path), "%s/%s", o.work, c->old);
	f = fopen(path, "w");
	if (!f || fputs(OLD_TEXT, f) < 0 || fclose(f)) {
		perror(path);
		exit(2);
	}
}

static void run_case(const struct test_case *c, const struct fault *fault, struct fault_run *run)
{
	tree_remove(o.work);
	put_old(c);
	fault_inject(c->argv, o.work, o.out, o.err, o.shim, fault, run);
}

static void complain(const struct test_case *c, const struct fault *f, const char *what,
		     const char *detail)
{
	char line[256] = "";
	FILE *err;

	if (shown++ >= SHOWN_MAX)
		return;
	err = fopen(o.err, "r");
	if (err) {
		if (!fgets(line, sizeof(line), err))
			line[0] = 0;
		line[strcspn(line, "\n")] = 0;
		fclose(err);
	}
	printf("# %s: %s %llu%s: %s%s%s%s\n", c->name, fault_names[f->kind],
	       (unsigned long long)f->k, f->stay ? " and all after it" : "", what, detail,
	       *line ? ": " : "", line);
	fflush(stdout);
}

/* Is standard error one line that begins with "vpt VERB: "? */
static bool has_line(const struct test_case *c)
{
	char line[1024], want[64];
	FILE *f = fopen(o.err, "r");
	unsigned int lines = 0;
	bool good = true;

	snprintf(want, sizeof(want), "vpt %s: ", c->verb);
	while (f && fgets(line, sizeof(line), f)) {
		lines++;
		good &= !strncmp(line, want, strlen(want));
	}
	if (f)
		fclose(f);
	/* A case without a verb begins with the name of the command alone. */
	return lines == 1 && (good || *c->verb == '-' || !strcmp(c->verb, "help"));
}

/*
 * Is the name not final? The part recorded before the failure stays in FILE.part. A folder .vpt-*
 * is an unfinished export, which cannot be removed without memory.
 */
static bool is_part(const char *path)
{
	size_t len = strlen(path);

	return (len > 5 && !strcmp(path + len - 5, ".part")) || !strncmp(path, ".vpt-", 5);
}

/* Return the path of a file that is neither complete nor unchanged, or NULL. */
static const char *partial(const struct test_case *c, const struct baseline *b,
			   const struct tree *files)
{
	const struct tree_file *whole;
	size_t i;

	for (i = 0; i < files->n; i++) {
		const struct tree_file *is = &files->at[i];

		whole = tree_find(&b->files, is->path);
		if (whole && whole->size == is->size && whole->hash == is->hash)
			continue;
		if ((!strcmp(is->path, c->old) && is->size == OLD_BYTES) || is_part(is->path))
			continue;
		return is->path;
	}
	return *c->old && !tree_find(files, c->old) ? c->old : NULL;
}

static bool judge_files(const struct test_case *c, const struct fault *f, const struct baseline *b,
			bool same_status)
{
	struct tree files;
	const char *path;
	bool good = true;

	tree_read(&files, o.work);
	if (same_status && !tree_same(&files, &b->files)) {
		complain(c, f, "the same status, but other files", "");
		good = false;
	} else if (!same_status && (path = partial(c, b, &files))) {
		complain(c, f, "a file is neither whole nor as before: ", path);
		good = false;
	}
	tree_free(&files);
	return good;
}

static bool judge(const struct test_case *c, const struct fault *f, const struct baseline *b,
		  const struct fault_run *run)
{
	uint64_t size;
	char text[32];
	int status;

	if (run->hung) {
		complain(c, f, "hung", "");
		return false;
	}
	if (WIFSIGNALED(run->status)) {
		snprintf(text, sizeof(text), "%d", WTERMSIG(run->status));
		complain(c, f, "killed by signal ", text);
		return false;
	}
	status = WEXITSTATUS(run->status);
	if (status == b->status) {
		if (hash_output(c, &size) == b->out_hash && size == b->out_size)
			return judge_files(c, f, b, true);
		/* A command may need what this machine lacks, such as a KVM. */
		if (status != STATUS_ENV) {
			complain(c, f, "the same status, but other output", "");
			return false;
		}
	}
	if (status != STATUS_ENV) {
		snprintf(text, sizeof(text), "%d", status);
		complain(c, f, "exit status ", text);
		return false;
	}
	if (!has_line(c)) {
		complain(c, f, "status 4, but not one line \"vpt VERB: \"", "");
		return false;
	}
	return judge_files(c, f, b, false);
}

static void take_baseline(const struct test_case *c, struct baseline *b)
{
	const struct fault none = {.kind = FAULT_MALLOC};
	struct fault_run run;

	run_case(c, &none, &run);
	if (!WIFEXITED(run.status)) {
		complain(c, &none, "does not end by itself without a failure", "");
		exit(1);
	}
	b->status = WEXITSTATUS(run.status);
	b->out_hash = hash_output(c, &b->out_size);
	tree_read(&b->files, o.work);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Make each of the calls 1 to `calls` fail, or a sample of them. */
static void inject_all(const struct test_case *c, const struct baseline *b, struct fault *f,
		       uint64_t calls, struct counts *sum)
{
	uint64_t n = calls < o.max ? calls : o.max, i, random = o.seed + c->name[0] * 977 + f->kind;
	struct fault_run run;

	if (o.sample && o.sample < n)
		n = o.sample;
	else
		random = 0;
	for (i = 1; i <= n; i++) {
		f->k = random ? next_random(&random) % (calls < o.max ? calls : o.max) + 1 : i;
		run_case(c, f, &run);
		sum->fired += run.fired ? 1 : 0;
		sum->failed += !judge(c, f, b, &run);
	}
}

static bool in_ledger(const struct test_case *c, const struct fault *f, struct counts *was)
{
	char line[256], name[64], kind[16];
	unsigned long long id, max, stay, calls, fired;
	FILE *file = o.ledger ? fopen(o.ledger, "r") : NULL;
	bool found = false;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %63s %15s %llu %llu %llu %llu", &id, name, kind, &stay, &max,
			   &calls, &fired) != 7)
			continue;
		if (id == o.id && !strcmp(name, c->name) && !strcmp(kind, fault_names[f->kind]) &&
		    stay == f->stay && max == o.max) {
			was->calls = calls;
			was->fired = fired;
			found = true;
		}
	}
	if (file)
		fclose(file);
	return found;
}

static void note(const struct test_case *c, const struct fault *f, const struct counts *is)
{
	FILE *file = o.ledger ? fopen(o.ledger, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "%llx %s %s %d %llu %llu %llu\n", (unsigned long long)o.id, c->name,
		fault_names[f->kind], f->stay, (unsigned long long)o.max,
		(unsigned long long)is->calls, (unsigned long long)is->fired);
	fclose(file);
}

static void test_kind(const struct test_case *c, const struct baseline *b, enum fault_kind kind,
		      bool stay)
{
	struct counts *all = counts_of(c->verb, kind), is = {0, 0, 0};
	struct fault f = {.kind = kind, .stay = stay};
	struct fault_run run;

	if (!in_ledger(c, &f, &is)) {
		run_case(c, &f, &run);
		is.calls = run.calls;
		if (!judge(c, &f, b, &run)) {
			is.failed++;
			complain(c, &f, "not the same twice without a failure", "");
		} else {
			inject_all(c, b, &f, is.calls, &is);
		}
		if (!is.failed && !o.sample)
			note(c, &f, &is);
	}
	all->calls += is.calls;
	all->fired += is.fired;
	all->failed += is.failed;
}

static void test_case(const struct test_case *c)
{
	struct baseline b = {0};
	int kind;

	take_baseline(c, &b);
	for (kind = 0; kind < FAULT_KINDS; kind++) {
		if (o.only_kind && strcmp(o.only_kind, fault_names[kind]))
			continue;
		test_kind(c, &b, (enum fault_kind)kind, false);
		test_kind(c, &b, (enum fault_kind)kind, true);
	}
	tree_free(&b.files);
}

/*
 * Does `none`, beside the cases, say that the verb has no call of the kind? A row that begins with
 * "no-kvm" is for machines without a KVM.
 */
static bool has_none(const char *verb, const char *kind)
{
	const bool kvm = !access("/dev/kvm", R_OK | W_OK);
	const char no_kvm[] = "no-kvm ";
	char path[4096], line[256], a[32], b[32];
	bool found = false, only;
	const char *row;
	FILE *f;

	snprintf(path, sizeof(path), "%.*s/none", (int)(strrchr(o.cases, '/') - o.cases), o.cases);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		only = !strncmp(line, no_kvm, sizeof(no_kvm) - 1);
		row = only ? line + sizeof(no_kvm) - 1 : line;
		found |= sscanf(row, "%31s %31s", a, b) == 2 && !strcmp(a, verb) &&
			 !strcmp(b, kind) && !(only && kvm);
	}
	if (f)
		fclose(f);
	return found;
}

static int report(void)
{
	unsigned int n = 0, bad = 0;
	size_t i;
	int kind;

	for (i = 0; i < nverbs; i++) {
		for (kind = 0; kind < FAULT_KINDS; kind++) {
			const struct counts *c = &verbs[i].kinds[kind];
			bool none = has_none(verbs[i].name, fault_names[kind]);
			bool good = !c->failed && (c->fired ? !none : none);

			if (o.only_kind && strcmp(o.only_kind, fault_names[kind]))
				continue;
			bad += !good;
			printf("%sok %u - %s, %s: failures %llu, judged wrong %llu%s\n",
			       good ? "" : "not ", ++n, verbs[i].name, fault_names[kind],
			       (unsigned long long)c->fired, (unsigned long long)c->failed,
			       c->fired && none ? ": but tests/fuzz/faults/none says there are none"
			       : !c->fired && !none ? ": none took place"
						    : "");
		}
	}
	printf("1..%u\n", n);
	return bad != 0;
}

/* Is the case one of the first three of its verb, and not on KVM, where probing is slow? */
static bool is_quick(const struct test_case *c)
{
	const struct test_case *at;
	unsigned int n = 0;
	size_t i;

	for (i = 0; c->argv[i]; i++) {
		if (strstr(c->argv[i], "kvm"))
			return false;
	}
	for (at = cases; at < c; at++)
		n += !strcmp(at->verb, c->verb);
	return n < 3;
}

static void prepare(char **argv)
{
	uint64_t size;

	o.vpt = realpath(argv[0], NULL);
	o.shim = realpath(argv[1], NULL);
	o.cases = argv[2];
	o.dir = realpath(argv[3], NULL);
	if (!o.vpt || !o.shim || !o.dir) {
		perror("faults");
		exit(2);
	}
	snprintf(o.in, sizeof(o.in), "%s/in", o.dir);
	snprintf(o.work, sizeof(o.work), "%s/work", o.dir);
	snprintf(o.out, sizeof(o.out), "%s/stdout", o.dir);
	snprintf(o.err, sizeof(o.err), "%s/stderr", o.dir);
	mkdir(o.work, 0700);
	o.id = tree_hash(o.vpt, &size) ^ 3 * tree_hash(o.shim, &size) ^
	       5 * tree_hash(o.cases, &size) ^ 7 * tree_hash("/proc/self/exe", &size);
}

int main(int argc, char **argv)
{
	size_t i;
	int opt;

	while ((opt = getopt(argc, argv, "n:e:c:k:l:s:q")) != -1) {
		switch (opt) {
		case 'q':
			o.quick = true;
			break;
		case 'n':
			o.max = strtoull(optarg, NULL, 10);
			break;
		case 'e':
			o.sample = strtoull(optarg, NULL, 10);
			break;
		case 's':
			o.seed = strtoull(optarg, NULL, 10);
			break;
		case 'c':
			o.only_case = optarg;
			break;
		case 'k':
			o.only_kind = optarg;
			break;
		case 'l':
			o.ledger = optarg;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 4) {
		fputs("usage: faults [OPTION]... VPT SHIM CASES DIR\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	prepare(argv + optind);
	read_cases();
	for (i = 0; i < ncases; i++) {
		if (o.quick && !is_quick(&cases[i]))
			continue;
		if (!o.only_case || !strncmp(cases[i].name, o.only_case, strlen(o.only_case)))
			test_case(&cases[i]);
	}
	return report();
}
