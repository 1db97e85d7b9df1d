// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that are written beside those they replace: trace/outfile.c, trace/place.c. */
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

/* What the code under test asks of the kernel, in its order: F file, D directory, R rename. */
static char calls[64];
static char fails; /* of these, the one that fails with EIO; 0: none */

static int note(char what)
{
	const size_t len = strlen(calls);

	if (len + 1 < sizeof(calls))
		calls[len] = what;
	if (what == fails)
		errno = EIO;
	return what == fails ? -1 : 0;
}

/* In place of libc's. */
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

/* The names in the directory, sorted, each with a blank behind it. */
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

START_TEST(committed)
{
	const mode_t old = umask(0);
	struct trace_outfile o;
	struct stat st;

	put("f", "old");
	begin(&o, "f", _i ? TRACE_OUTFILE_WHOLE : TRACE_OUTFILE_TRACE);
	ck_assert_str_eq(names(), _i ? "f " : "f f.part ");
	ck_assert_str_eq(get("f"), "old");
	ck_assert_int_eq(trace_outfile_commit(&o), 0);
	trace_outfile_free(&o);
	umask(old);
	ck_assert_str_eq(calls, "FRD");
	ck_assert_str_eq(names(), "f ");
	ck_assert_str_eq(get("f"), "new");
	ck_assert_int_eq(stat("f", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}
END_TEST

/* What fails; what there is then; of the file with the name. */
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
	ck_assert_str_eq(names(), failures[_i].names);
	ck_assert_str_eq(get("f"), failures[_i].content);
	ck_assert_int_eq(!o.part, !strstr(failures[_i].names, "part"));
	trace_outfile_free(&o);
}
END_TEST

START_TEST(dropped)
{
	struct trace_outfile o;

	put("f", "old");
	begin(&o, "f", _i ? TRACE_OUTFILE_WHOLE : TRACE_OUTFILE_TRACE);
	trace_outfile_drop(&o);
	trace_outfile_free(&o);
	ck_assert_str_eq(names(), "f ");
	ck_assert_str_eq(get("f"), "old");
}
END_TEST

START_TEST(one_writer)
{
	struct trace_outfile o, other;
	int fd;

	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_int_eq(trace_outfile_open(&other, "f", TRACE_OUTFILE_TRACE, why, sizeof(why)),
			 -EBUSY);
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

/* A part file that a killed run left is kept; an empty one is not. */
START_TEST(earlier_part)
{
	struct trace_outfile o;

	put("f.part", "first");
	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_str_eq(o.earlier, "f.part.1");
	trace_outfile_drop(&o);
	trace_outfile_free(&o);
	ck_assert_str_eq(names(), "f.part ");
	ck_assert_str_eq(get("f.part"), "first");

	begin(&o, "f", TRACE_OUTFILE_TRACE);
	trace_outfile_keep(&o);
	trace_outfile_free(&o);
	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_str_eq(o.earlier, "f.part.2");
	ck_assert_int_eq(trace_outfile_commit(&o), 0);
	trace_outfile_free(&o);
	ck_assert_str_eq(names(), "f f.part.1 f.part.2 ");
	ck_assert_str_eq(get("f.part.1"), "first");

	put("f.part", "");
	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_ptr_null(o.earlier);
	trace_outfile_drop(&o);
	trace_outfile_free(&o);
	ck_assert_str_eq(names(), "f f.part.1 f.part.2 ");
}
END_TEST

/* Something that no run can have left is not touched. */
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
	ck_assert_int_eq(trace_outfile_open(&o, "f", TRACE_OUTFILE_TRACE, why, sizeof(why)),
			 -EEXIST);
	ck_assert_str_eq(why, "f.part is in the way: remove it");
	ck_assert_str_eq(names(), "f.part other ");
	ck_assert_str_eq(get("other"), "precious");
	/* A snapshot has no use for that name. */
	begin(&o, "f", TRACE_OUTFILE_WHOLE);
	ck_assert_int_eq(trace_outfile_commit(&o), 0);
	trace_outfile_free(&o);
	ck_assert_str_eq(get("other"), "precious");
}
END_TEST

/* The part file was taken away: then what has its name is another file, and stays. */
START_TEST(part_was_replaced)
{
	struct trace_outfile o;

	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_int_eq(unlink("f.part"), 0);
	put("f.part", "other");
	ck_assert_int_eq(trace_outfile_commit(&o), -ENOENT);
	trace_outfile_free(&o);
	ck_assert_str_eq(names(), "f.part ");
	ck_assert_str_eq(get("f.part"), "other");
}
END_TEST

START_TEST(links_are_followed)
{
	struct trace_outfile o;

	ck_assert_int_eq(mkdir("d", 0700), 0);
	ck_assert_int_eq(symlink("d/real", "f"), 0);
	begin(&o, "f", TRACE_OUTFILE_TRACE);
	ck_assert_str_eq(o.part, "./d/real.part");
	ck_assert_int_eq(trace_outfile_commit(&o), 0);
	trace_outfile_free(&o);
	ck_assert_str_eq(get("d/real"), "new");
	ck_assert_int_eq(unlink("d/real"), 0);
}
END_TEST

/* As with the kernel's fs.protected_symlinks. Another user's link takes root to make. */
START_TEST(links_of_others)
{
	struct trace_place place;

	put("real", "old");
	ck_assert_int_eq(symlink("real", "f"), 0);
	ck_assert_int_eq(chmod(".", 01777), 0);
	ck_assert_int_eq(trace_place_find("f", &place), 0);
	trace_place_free(&place);
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

/* Renaming does not ask whether the file may be written to. */
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

/* Devices, pipes and descriptors are written in place, and ending them changes no name. */
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
	ck_assert_int_eq(trace_outfile_commit(&o), 0);
	trace_outfile_free(&o);
	close(fd);
	ck_assert_str_eq(get("f"), "new");
	begin(&o, "/dev/null", TRACE_OUTFILE_WHOLE);
	trace_outfile_drop(&o);
	trace_outfile_free(&o);
	ck_assert_str_eq(names(), "f ");
	ck_assert_str_eq(calls, "");
	ck_assert_int_eq(trace_outfile_open(&o, ".", TRACE_OUTFILE_TRACE, why, sizeof(why)),
			 -EISDIR);
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

START_TEST(places_that_cannot_be)
{
	struct trace_place place;

	ck_assert_int_eq(symlink("loop", "loop"), 0);
	ck_assert_int_eq(trace_place_find("loop", &place), -ELOOP);
	ck_assert_int_eq(trace_place_find("none/f", &place), -ENOENT);
	ck_assert_int_eq(trace_place_find("", &place), -ENOENT);
	put("f", "");
	ck_assert_int_eq(trace_place_find("f/g", &place), -ENOTDIR);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("outfile");
	TCase *tc = tcase_create("files");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, committed, 0, 2);
	tcase_add_loop_test(tc, not_committed, 0, sizeof(failures) / sizeof(failures[0]));
	tcase_add_loop_test(tc, dropped, 0, 2);
	tcase_add_test(tc, one_writer);
	tcase_add_test(tc, earlier_part);
	tcase_add_loop_test(tc, in_the_way, 0, 4);
	tcase_add_test(tc, part_was_replaced);
	tcase_add_test(tc, links_are_followed);
	tcase_add_test(tc, links_of_others);
	tcase_add_test(tc, protected_file);
	tcase_add_test(tc, in_place);
	tcase_add_loop_test(tc, same_files, 0, sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_test(tc, places_that_cannot_be);
	suite_add_tcase(s, tc);
	return s;
}
