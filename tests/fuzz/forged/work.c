// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that uses forged files, one seed after the other. */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/confine.h"
#include "fuzz/forged/forged.h"

#define FILES_MAX  64
#define ROOM	   (1u << 20)
#define FILE_LIMIT (1u << 30) /* limit of the size of files that a verb writes */

#if defined(__SANITIZE_ADDRESS__)
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=4:malloc_context_size=8:allocator_may_return_null=1:"
	       "max_allocation_size_mb=1024:detect_leaks=1";
}
#endif
#if defined(FORGED_UBSAN)
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1";
}
#endif

static struct {
	uint8_t *bytes;
	size_t len;
} files[FILES_MAX];
static unsigned int nfiles;
static uint8_t bytes[ROOM];

/* Do nothing: these tests do not need files on disk, and syncing would take most of the time. */
int fsync(int fd)
{
	return fd < 0;
}

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000;
}

/* Processor time that this process and its children had so far. */
static uint64_t spent(void)
{
	uint64_t ns = 0;
	struct rusage u;

	for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
		getrusage(who, &u);
		ns += ns_of(&u.ru_utime) + ns_of(&u.ru_stime);
	}
	return ns;
}

static bool load(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;

	if (!f || fstat(fileno(f), &st) || st.st_size > ROOM / 2)
		return false;
	files[nfiles].len = (size_t)st.st_size;
	files[nfiles].bytes = malloc((size_t)st.st_size + 1);
	if (!files[nfiles].bytes ||
	    fread(files[nfiles].bytes, 1, files[nfiles].len, f) != files[nfiles].len)
		return false;
	nfiles++;
	fclose(f);
	return true;
}

unsigned int forged_load(const char *dir, const struct forged_kind *kind)
{
	struct dirent **names;
	char path[512];
	int n, i;

	snprintf(path, sizeof(path), "%s/%s", dir, kind->name);
	n = scandir(path, &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", dir, kind->name, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && (nfiles == FILES_MAX || !load(path))) {
			fprintf(stderr, "forged: %s: cannot be read, or is too large\n", path);
			return 0;
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return nfiles;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	return ftw->level ? remove(path) : 0;
}

static bool write_file(const uint8_t *at, size_t len)
{
	FILE *f = fopen("in", "wb");
	bool good = f && fwrite(at, 1, len, f) == len;

	return f && !fclose(f) && good;
}

/* Remove the files that the verbs wrote. */
static void clean(struct forged_slot *slot)
{
	static const char *const single[] = {"ran", "again", "console"};
	struct stat st;

	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		(void)unlink(single[i]);
	(void)unlink("ran.part");
	(void)unlink("out.part");
	if (!lstat("out", &st) && S_ISDIR(st.st_mode) &&
	    (nftw("out", remove_one, 16, FTW_DEPTH | FTW_PHYS) || rmdir("out")))
		forged_wrong(slot, "what export wrote cannot be removed: %s", strerror(errno));
	(void)unlink("out");
}

static void use(struct forged_slot *slot, const struct forged_kind *kind, bool show)
{
	struct forged_input input = {.slot = slot, .show = show};
	struct change *c = &input.change;
	size_t which;

	*c = (struct change){.bytes = bytes, .room = ROOM};
	change_begin(c, slot->seed);
	which = change_below(c, nfiles);
	c->len = files[which].len;
	memcpy(bytes, files[which].bytes, c->len);
	kind->change(c);
	if (!write_file(bytes, c->len))
		forged_wrong(slot, "the forged file cannot be written: %s", strerror(errno));
	kind->use(&input);
	slot->sums.inputs++;
	slot->sums.accepted += input.accepted;
	slot->sums.decoded += input.decoded;
	if (!show)
		clean(slot);
}

/* Return the peak memory of this process or of one of its children. */
static uint64_t peak(void)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	return (uint64_t)(self.ru_maxrss > children.ru_maxrss ? self.ru_maxrss
							      : children.ru_maxrss);
}

static void account(struct forged_slot *slot)
{
	struct forged_sums *sums = &slot->sums;
	uint64_t ns = spent() - slot->spent, kib = peak();

	sums->ns += ns;
	if (ns > sums->longest_ns) {
		sums->longest_ns = ns;
		sums->longest_seed = slot->seed;
	}
	if (kib > sums->most_kib) {
		sums->most_kib = kib;
		sums->most_seed = slot->seed;
	}
	if (kib > FORGED_KIB)
		forged_wrong(slot, "%llu MiB of memory", (unsigned long long)kib >> 10);
	if (ns > FORGED_SECONDS * 1000000000ull)
		forged_wrong(slot, "%u seconds", FORGED_SECONDS);
}

void forged_work(struct forged_slot *slot, const struct forged_kind *kind, uint64_t end, bool show)
{
	const struct rlimit limit = {FILE_LIMIT, FILE_LIMIT}, none = {0, 0};
	char name[] = "vpt", option[] = "--sandbox=off", *argv[] = {name, option, NULL};
	int argc = 2;

	setrlimit(RLIMIT_FSIZE, &limit);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGXFSZ, SIG_DFL);
	/* A sandbox cannot be left, and this process calls further verbs. */
	if (cli_confine_take(&argc, argv))
		forged_wrong(slot, "--sandbox=off is refused");
	while (slot->next < end) {
		slot->seed = slot->next++;
		slot->spent = spent();
		slot->busy = 1;
		use(slot, kind, show);
		account(slot);
		slot->busy = 0;
	}
	/* Not _exit(): AddressSanitizer looks for leaks. */
	exit(0);
}
