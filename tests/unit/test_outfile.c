// SPDX-License-Identifier: GPL-2.0-or-later
/* Output files are written under another name and then renamed: trace/outfile.c, trace/place.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/suite.h"
#include "trace/outfile.h"

/* Calls of the code under test, in order: F fsync of a file, D fsync of a directory, R rename. */
static char calls[64];
static char fails; /* the call that fails with EIO; 0: none */

static int note(char what)
{
	const size_t len = strlen(calls);

	if (len + 1 < sizeof(calls))
		calls[len] = what;
	if (what == fails)
		errno = EIO;
	return what == fails ? -1 : 0;
}

/* These functions replace those of libc. */
int fsync(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISDIR(st.st_mode) ? note('D') : note('F');
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return note('R') ? -1 : (int)syscall(SYS_renameat, from_dir, from, to_dir, to);
}

static char dir[64], why[256];

static void setup(void)
{
	memset(calls, 0, sizeof(calls));
	fails = 0;
	snprintf(dir, sizeof(dir), "/tmp/vpt-outfile-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
}

static void teardown(void)
{
	struct dirent *e;
	DIR *d = opendir(".");

	while ((e = readdir(d)))
		if (unlink(e->d_name))
			rmdir(e->d_name);
	closedir(d);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* Return the sorted names in the directory, each followed by a blank. */
static const char *names(void)
{
	static char text[256];
	struct dirent **all;
	int n = scandir(".", &all, NULL, alphasort), i;

	text[0] = 0;
	for (i = 0; i < n; i++) {
		if (strcmp(all[i]->d_name, ".") && strcmp(all[i]->d_name, ".."))
			strcat(strcat(text, all[i]->d_name), " ");
		free(all[i]);
	}
	free(all);
	return text;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static const char *get(const char *name)
{
	static char text[64];
	FILE *f = fopen(name, "r");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}

static void begin(struct trace_outfile *o, const char *path, enum trace_outfile_kind kind)
{
	ck_assert_msg(!trace_outfile_open(o, path, kind, why, sizeof(why)), "%s", why);
	ck_assert_int_eq(write(o->fd, "new", 3), 3);
}

static void commit(struct trace_outfile *o)
{
	ck_assert_int_eq(trace_outfile_commit(o), 0);
	trace_outfile_free(o);
}

static void drop(struct trace_outfile *o)
{
	trace_outfile_drop(o);
	trace_outfile_free(o);
}

static void refused(const char *path, int error)
{
	struct trace_outfile o;

	ck_assert_int_eq(trace_outfile_open(&o, path, TRACE_OUTFILE_TRACE, why, sizeof(why)),
			 error);
}

/* Check the names in the directory and the content of a file. */
static void check_files(const char *all, const char *name, const char *content)
{
	ck_assert_str_eq(names(), all);
	ck_assert_str_eq(get(name), content);
}

START_TEST(committed)
{
	const mode_t old = umask(0);
	struct trace_outfile o;
	struct stat st;

	put("f", "old");
	begin(&o, "f", _i ? TRACE_OUTFILE_WHOLE : TRACE_OUTFILE_TRACE);
	check_files(_i ? "f " : "f f.part ", "f", "old");
	commit(&o);
	umask(old);
	ck_assert_str_eq(calls, "FRD");
	check_files("f ", "f", "new");
	ck_assert_int_eq(stat("f", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}
END_TEST

/* The call that fails, the names afterwards, and the content of the file "f". */
static const struct {
	enum trace_outfile_kind kind;
	char fails;
	const char *names, *content;
} failures[] = {
	{TRACE_OUTFILE_TRACE, 'F', "f f.part ", "old"},
	{TRACE_OUTFILE_TRACE, 'R', "f f.part ", "old"},
	{TRACE_OUTFILE_TRACE, 'D', "f ", "new"},
	{TRACE_OUTFILE_WHOLE, 'F', "f ", "old"},
	{TRACE_OUTFILE_WHOLE, 'R', "f ", "old"},
	{TRACE_OUTFILE_WHOLE, 'D', "f ", "new"},
};

START_TEST(not_committed)
{
	struct trace_outfile o;

	put("f", "old");
	begin(&o, "f", failures[_i].kind);
	fails = failures[_i].fails;
	ck_assert_int_eq(trace_outfile_commit(&o), -EIO);
	check_files(failures[_i].names, "f", failures[_i].content);
	ck_assert_int_eq(!o.part, !strstr(failures[_i].names, "part"));
	trace_outfile_free(&o);
}
END_TEST

START_TEST(dropped)
{
	struct trace_outfile o;

	put("f", "old");
	begin(&o, "f", _i ? TRACE_OUTFILE_WHOLE : TRACE_OUTFILE_TRACE);
	drop(&o);
	check_files("f ", "f", "old");
}
END_TEST

START_TEST(one_writer)
{
	struct trace_outfile o;
	int fd;

	begin(&o, "f", TRACE_OUTFILE_TRACE);
	refused("f", -EBUSY);
	ck_assert_str_eq(names(), "f.part ");
	fd = open("f.part", O_RDONLY);
	ck_assert_int_eq(trace_outfile_writer(fd), TRACE_OUTFILE_HAS_WRITER);
	trace_outfile_keep(&o);
	trace_outfile_free(&o);
	ck_assert_int_eq(trace_outfile_writer(fd), TRACE_OUTFILE_NO_WRITER);
	close(fd);
	ck_assert_str_eq(names(), "f.part ");
}
END_TEST

/* The part file of a killed run is kept under another name, unless the file is empty. */
START_TEST(earlier_part)
{
	struct trace_outfile o;

	put("f.part", "first");
	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_str_eq(o.earlier, "f.part.1");
	drop(&o);
	check_files("f.part ", "f.part", "first");

	begin(&o, "f", TRACE_OUTFILE_TRACE);
	trace_outfile_keep(&o);
	trace_outfile_free(&o);
	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_str_eq(o.earlier, "f.part.2");
	commit(&o);
	check_files("f f.part.1 f.part.2 ", "f.part.1", "first");

	put("f.part", "");
	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_ptr_null(o.earlier);
	drop(&o);
	ck_assert_str_eq(names(), "f f.part.1 f.part.2 ");
}
END_TEST

/* A directory entry that no run can have left is not changed. */
START_TEST(in_the_way)
{
	struct trace_outfile o;

	put("other", "precious");
	switch (_i) {
	case 0:
		ck_assert_int_eq(symlink("other", "f.part"), 0);
		break;
	case 1:
		ck_assert_int_eq(link("other", "f.part"), 0);
		break;
	case 2:
		ck_assert_int_eq(mkdir("f.part", 0700), 0);
		break;
	default:
		ck_assert_int_eq(mkfifo("f.part", 0600), 0);
		break;
	}
	refused("f", -EEXIST);
	ck_assert_str_eq(why, "f.part is in the way: remove it");
	check_files("f.part other ", "other", "precious");
	/* A snapshot does not use that name. */
	begin(&o, "f", TRACE_OUTFILE_WHOLE);
	commit(&o);
	ck_assert_str_eq(get("other"), "precious");
}
END_TEST

/* Another process replaced the part file. The commit fails and keeps the other file. */
START_TEST(part_was_replaced)
{
	struct trace_outfile o;

	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_int_eq(unlink("f.part"), 0);
	put("f.part", "other");
	ck_assert_int_eq(trace_outfile_commit(&o), -ENOENT);
	trace_outfile_free(&o);
	check_files("f.part ", "f.part", "other");
}
END_TEST

START_TEST(links_are_followed)
{
	struct trace_outfile o;

	ck_assert_int_eq(mkdir("d", 0700), 0);
	ck_assert_int_eq(symlink("d/real", "f"), 0);
	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_str_eq(o.part, "./d/real.part");
	commit(&o);
	ck_assert_str_eq(get("d/real"), "new");
	ck_assert_int_eq(unlink("d/real"), 0);
}
END_TEST

/* Links of other users in sticky directories are refused, like fs.protected_symlinks does. */
START_TEST(links_of_others)
{
	struct trace_place place;

	put("real", "old");
	ck_assert_int_eq(symlink("real", "f"), 0);
	ck_assert_int_eq(chmod(".", 01777), 0);
	ck_assert_int_eq(trace_place_find("f", &place), 0);
	trace_place_free(&place);
	/* Only root can make such a link. */
	if (lchown("f", 65534, 65534)) {
		ck_assert_int_ne(geteuid(), 0);
		return;
	}
	ck_assert_int_eq(trace_place_find("f", &place), -EACCES);
	ck_assert_int_eq(chmod(".", 0700), 0);
	ck_assert_int_eq(trace_place_find("f", &place), 0);
	trace_place_free(&place);
}
END_TEST

/* rename() would replace a read-only file, so the open checks the permission. */
START_TEST(protected_file)
{
	struct trace_outfile o;
	int err;

	put("f", "old");
	ck_assert_int_eq(chmod("f", 0400), 0);
	ck_assert_int_eq(chmod(".", 0777), 0);
	if (!geteuid())
		ck_assert_int_eq(seteuid(65534), 0);
	err = trace_outfile_open(&o, "f", TRACE_OUTFILE_TRACE, why, sizeof(why));
	ck_assert_int_eq(seteuid(getuid()), 0);
	ck_assert_int_eq(err, -EACCES);
	ck_assert_str_eq(names(), "f ");
}
END_TEST

/* Devices, pipes and descriptors are written in place. No name changes. */
START_TEST(in_place)
{
	struct trace_outfile o;
	char path[32];
	int fd;

	put("f", "longer than what follows");
	fd = open("f", O_RDWR);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	begin(&o, path, TRACE_OUTFILE_TRACE);
	ck_assert_ptr_null(o.part);
	commit(&o);
	close(fd);
	ck_assert_str_eq(get("f"), "new");
	begin(&o, "/dev/null", TRACE_OUTFILE_WHOLE);
	drop(&o);
	ck_assert_str_eq(names(), "f ");
	ck_assert_str_eq(calls, "");
	refused(".", -EISDIR);
}
END_TEST

static const struct {
	const char *a, *b;
	bool same;
} pairs[] = {
	{"f", "./f", true},
	{"f", "hard", true},
	{"f", "soft", true},
	{"f", "g", false},
	{"new", "d/../new", true},
	{"new", "other", false},
	{"f", "new", false},
	{"dangling", "new", true},
	{"d", "d/.", true},
	{"d/", "d", true},
	{"/dev/null", "/dev/null", false},
	{"d/new", "new", false},
	{"to-d/new", "d/new", true},
};

START_TEST(same_files)
{
	struct trace_place a, b;

	put("f", "1");
	put("g", "1");
	ck_assert_int_eq(link("f", "hard") | symlink("hard", "soft") | symlink("new", "dangling") |
				 mkdir("d", 0700) | symlink("d", "to-d"),
			 0);
	ck_assert_int_eq(trace_place_find(pairs[_i].a, &a), 0);
	ck_assert_int_eq(trace_place_find(pairs[_i].b, &b), 0);
	ck_assert_int_eq(trace_place_same(&a, &b), pairs[_i].same);
	trace_place_free(&a);
	trace_place_free(&b);
}
END_TEST

START_TEST(invalid_places)
{
	static const struct {
		const char *path;
		int error;
	} rows[] = {{"loop", -ELOOP}, {"none/f", -ENOENT}, {"", -ENOENT}, {"f/g", -ENOTDIR}};
	struct trace_place place;

	ck_assert_int_eq(symlink("loop", "loop"), 0);
	put("f", "");
	ck_assert_msg(trace_place_find(rows[_i].path, &place) == rows[_i].error, "%s",
		      rows[_i].path);
}
END_TEST

TEST_SUITE("outfile", setup, teardown)
{
	TEST_LOOP(tcase, 2, committed, dropped);
	TEST_ROWS(tcase, not_committed, failures);
	TEST_ADD(tcase, one_writer, earlier_part, part_was_replaced, links_are_followed,
		 links_of_others, protected_file, in_place);
	TEST_LOOP(tcase, 4, in_the_way, invalid_places);
	TEST_ROWS(tcase, same_files, pairs);
}
