// SPDX-License-Identifier: GPL-2.0-or-later
/* The 9P server: each request and its refusals, and the bounds of what it shows. */
#include "lib/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/p9client.h"
#include "p9/host.h"

#define U64(value) ((uint64_t)(value))
#define NOFID	   U64(P9_NO_FID)
#define LONG_NAME  200u

static char base[64];
static struct test_p9 client;
static struct test_p9 *const c = &client;

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(close(fd), 0);
}

/* base/secret is outside of the share base/in. */
static void make_tree(void)
{
	snprintf(base, sizeof(base), "/tmp/vpt-p9.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(base));
	ck_assert_int_eq(chdir(base), 0);
	ck_assert_int_eq(mkdir("in", 0700), 0);
	ck_assert_int_eq(mkdir("in/dir", 0700), 0);
	ck_assert_int_eq(mkdir("in/dir/sub", 0700), 0);
	write_file("secret", "secret", 0600);
	write_file("in/b", "hello", 0600);
	write_file("in/a", "", 0700);
	write_file("in/dir/deep", "deep", 0600);
	ck_assert_int_eq(symlink("../secret", "in/link"), 0);
	ck_assert_int_eq(symlink("..", "in/up"), 0);
	ck_assert_int_eq(symlink("dir", "in/to-dir"), 0);
	ck_assert_int_eq(mkfifo("in/fifo", 0600), 0);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void serve_as(enum p9_access access)
{
	int root = open("in", O_PATH | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_ge(root, 0);
	c->server = p9_create(root, access);
	ck_assert_ptr_nonnull(c->server);
	c->room = sizeof(c->reply);
}

static int start(void)
{
	int err = TEST_P9_ASK(c, P9_TVERSION, "4s", U64(8192), "9P2000.L");

	return err ? err : TEST_P9_ASK(c, P9_TATTACH, "44ss4", U64(1), NOFID, "root", "", U64(0));
}

static void setup(void)
{
	make_tree();
	serve_as(P9_READ_ONLY);
	ck_assert_int_eq(start(), 0);
}

static void setup_writable(void)
{
	make_tree();
	serve_as(P9_READ_WRITE);
	ck_assert_int_eq(start(), 0);
}

static void teardown(void)
{
	p9_destroy(c->server);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static int walk(uint32_t from, uint32_t to, const char *name)
{
	return TEST_P9_ASK(c, P9_TWALK, "442s", U64(from), U64(to), U64(1), name);
}

static int clunk(uint32_t fid)
{
	return TEST_P9_ASK(c, P9_TCLUNK, "4", U64(fid));
}

static int lopen(uint32_t fid, uint32_t flags)
{
	return TEST_P9_ASK(c, P9_TLOPEN, "44", U64(fid), U64(flags));
}

/* Walk from the root to a path with one component or two, and open the file. */
static int open_at(uint32_t fid, const char *name, uint32_t flags)
{
	int err = walk(1, fid, name);

	return err ? err : lopen(fid, flags);
}

static int read_at(uint32_t fid, uint64_t offset, uint32_t count)
{
	return TEST_P9_ASK(c, P9_TREAD, "484", U64(fid), offset, U64(count));
}

static void check_data(const char *text)
{
	ck_assert_uint_eq(p9_get(&c->in, 4), strlen(text));
	ck_assert_uint_eq(c->in.left, strlen(text));
	ck_assert_mem_eq(c->in.at, text, strlen(text));
}

START_TEST(version)
{
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TVERSION, "4s", U64(1 << 30), "9P2000.L"), 0);
	ck_assert_uint_eq(p9_get(&c->in, 4), P9_MESSAGE_MAX);
	/* The fids of the session before are gone. */
	ck_assert_int_eq(clunk(1), EBADF);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TVERSION, "4s", U64(4095), "9P2000.L"), EMSGSIZE);
	ck_assert_int_eq(clunk(1), EPROTO);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TVERSION, "4s", U64(8192), "9P2000.u"), 0);
	ck_assert_uint_eq(p9_get(&c->in, 4), 8192);
	ck_assert_mem_eq(c->in.at, "\7\0unknown", 9);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TATTACH, "44ss4", U64(1), NOFID, "", "", U64(0)),
			 EPROTO);
}
END_TEST

START_TEST(attach)
{
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TAUTH, "4ss4", U64(9), "", "", U64(0)), EOPNOTSUPP);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TATTACH, "44ss4", U64(2), U64(1), "", "", U64(0)),
			 EOPNOTSUPP);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TATTACH, "44ss4", U64(2), NOFID, "", "..", U64(0)),
			 ENOENT);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TATTACH, "44ss4", U64(1), NOFID, "", "", U64(0)), EBADF);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TATTACH, "44ss4", NOFID, NOFID, "", "", U64(0)), EBADF);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TATTACH, "44ss4", U64(2), NOFID, "", "/", U64(0)), 0);
	ck_assert_uint_eq(p9_get(&c->in, 1), P9_QID_DIR);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TFLUSH, "2", U64(7)), 0);
}
END_TEST

/* Names that no component can have, and what they are. */
static const struct {
	const char *name;
	int error;
} names[] = {
	{"", ENOENT},	  {".", ENOENT},
	{"/", ENOENT},	  {"dir/deep", ENOENT},
	{"/etc", ENOENT}, {"../secret", ENOENT},
	{"fifo", ENOENT}, {"none", ENOENT},
	{"dir/", ENOENT}, {"..", 0},
	{"dir", 0},	  {"link", 0},
};

START_TEST(walk_names)
{
	ck_assert_int_eq(walk(1, 2, names[_i].name), names[_i].error);
	ck_assert_int_eq(clunk(2), names[_i].error ? EBADF : 0);
}
END_TEST

START_TEST(walk_out)
{
	uint8_t root[P9_QID];

	/* The parent of the root is the root. */
	ck_assert_int_eq(walk(1, 2, ".."), 0);
	memcpy(root, c->in.at + 2, sizeof(root));
	ck_assert_int_eq(walk(2, 3, "secret"), ENOENT);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442ssss", U64(1), U64(3), U64(4), "dir", "sub",
				     "..", ".."),
			 0);
	ck_assert_uint_eq(p9_get(&c->in, 2), 4);
	ck_assert_mem_eq(c->in.at + 3 * P9_QID, root, sizeof(root));
	/* A link is not followed, neither to a directory in the share nor out of it. */
	ck_assert_int_eq(walk(1, 4, "to-dir"), 0);
	ck_assert_int_eq(walk(4, 5, "deep"), ENOTDIR);
	ck_assert_int_eq(walk(4, 5, ".."), ENOTDIR);
	ck_assert_int_eq(walk(1, 6, "up"), 0);
	ck_assert_int_eq(walk(6, 7, "secret"), ENOTDIR);
	ck_assert_int_eq(walk(1, 8, "link"), 0);
	ck_assert_int_eq(lopen(8, 0), ELOOP);
}
END_TEST

/* A directory that is replaced by a link after the walk does not lead out either. */
START_TEST(replaced)
{
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442ss", U64(1), U64(2), U64(2), "dir", "deep"),
			 0);
	ck_assert_int_eq(rename("in/dir", "moved"), 0);
	ck_assert_int_eq(symlink("../moved", "in/dir"), 0);
	ck_assert_int_eq(lopen(2, 0), ENOTDIR);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TGETATTR, "48", U64(2), U64(0x7ff)), ENOTDIR);
}
END_TEST

START_TEST(walk_part)
{
	/* The first name exists: its qid is returned, and there is no new fid. */
	ck_assert_int_eq(
		TEST_P9_ASK(c, P9_TWALK, "442sss", U64(1), U64(2), U64(3), "dir", "none", "x"), 0);
	ck_assert_uint_eq(p9_get(&c->in, 2), 1);
	ck_assert_uint_eq(c->in.left, P9_QID);
	ck_assert_int_eq(clunk(2), EBADF);
	/* No name copies a fid. */
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442", U64(1), U64(2), U64(0)), 0);
	ck_assert_uint_eq(p9_get(&c->in, 2), 0);
	ck_assert_int_eq(walk(1, 2, "dir"), EBADF);
	ck_assert_int_eq(walk(9, 3, "dir"), EBADF);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442", U64(1), U64(3), U64(17)), EINVAL);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442s", U64(1), U64(3), U64(2), "dir"), EINVAL);
	ck_assert_int_eq(clunk(3), EBADF);
	/* The same number moves the fid, unless it is open. */
	ck_assert_int_eq(walk(2, 2, "b"), 0);
	ck_assert_int_eq(lopen(2, 0), 0);
	ck_assert_int_eq(lopen(2, 0), EBADF);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442", U64(2), U64(2), U64(0)), EBADF);
	ck_assert_int_eq(clunk(2), 0);
	ck_assert_int_eq(clunk(2), EBADF);
}
END_TEST

START_TEST(long_names)
{
	char name[P9_NAME_MAX + 2];
	unsigned int depth;

	memset(name, 'n', sizeof(name));
	name[P9_NAME_MAX + 1] = 0;
	ck_assert_int_eq(walk(1, 2, name), ENAMETOOLONG);
	name[P9_NAME_MAX] = 0;
	ck_assert_int_eq(walk(1, 2, name), ENOENT);
	/* A path has at most 4095 bytes, even if each name is short enough. */
	name[LONG_NAME] = 0;
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442", U64(1), U64(2), U64(0)), 0);
	ck_assert_int_eq(chdir("in"), 0);
	for (depth = 0; depth < P9_PATH_MAX / (LONG_NAME + 1); depth++) {
		ck_assert_int_eq(mkdir(name, 0700), 0);
		ck_assert_int_eq(chdir(name), 0);
		ck_assert_int_eq(walk(2, 2, name), 0);
	}
	ck_assert_int_eq(mkdir(name, 0700), 0);
	ck_assert_int_eq(walk(2, 2, name), ENAMETOOLONG);
	/* The path is also too long for nftw(). */
	for (; depth; depth--) {
		ck_assert_int_eq(rmdir(name), 0);
		ck_assert_int_eq(chdir(".."), 0);
	}
	ck_assert_int_eq(chdir(base), 0);
}
END_TEST

START_TEST(reads)
{
	ck_assert_int_eq(open_at(2, "b", 0), 0);
	ck_assert_uint_eq(p9_get(&c->in, 1), P9_QID_FILE);
	ck_assert_int_eq(read_at(2, 0, 100), 0);
	check_data("hello");
	ck_assert_int_eq(read_at(2, 1, 3), 0);
	check_data("ell");
	ck_assert_int_eq(read_at(2, 5, 3), 0);
	check_data("");
	ck_assert_int_eq(read_at(2, UINT64_MAX, 3), EINVAL);
	ck_assert_int_eq(read_at(1, 0, 3), EBADF);
	ck_assert_int_eq(read_at(9, 0, 3), EBADF);
	ck_assert_int_eq(lopen(1, 0), 0);
	ck_assert_int_eq(read_at(1, 0, 3), EISDIR);
	ck_assert_int_eq(lopen(9, 0), EBADF);
	ck_assert_int_eq(walk(1, 3, "a"), 0);
	ck_assert_int_eq(lopen(3, 3), EINVAL);
}
END_TEST

/* A reply has at most the bytes of the session's limit, and those that the client has room for. */
START_TEST(sizes)
{
	char text[9000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	write_file("in/big", text, 0600);
	ck_assert_int_eq(open_at(2, "big", 0), 0);
	ck_assert_int_eq(read_at(2, 0, UINT32_MAX), 0);
	ck_assert_uint_eq(p9_get(&c->in, 4), 8192 - P9_DATA);
	c->room = 100;
	ck_assert_int_eq(read_at(2, 0, UINT32_MAX), 0);
	ck_assert_uint_eq(p9_get(&c->in, 4), 100 - P9_DATA);
	c->room = P9_DATA;
	ck_assert_int_eq(read_at(2, 0, UINT32_MAX), 0);
	check_data("");
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TGETATTR, "48", U64(1), U64(0x7ff)), EMSGSIZE);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442s", U64(1), U64(3), U64(1), "b"), EMSGSIZE);
	/* An error does not fit, either. */
	ck_assert_uint_eq(p9_serve(c->server, c->request, c->bytes, c->reply, P9_ERROR - 1), 0);
}
END_TEST

START_TEST(broken_messages)
{
	size_t n;

	test_p9_write(c, P9_TGETATTR, "48", U64(1), U64(0x7ff));
	for (n = 0; n < P9_HEADER; n++)
		ck_assert_uint_eq(p9_serve(c->server, c->request, n, c->reply, c->room), 0);
	/* Shorter than its own size. */
	for (; n < c->bytes; n++) {
		ck_assert_uint_eq(p9_serve(c->server, c->request, n, c->reply, c->room), P9_ERROR);
		ck_assert_uint_eq(c->reply[P9_HEADER], EINVAL);
	}
	/* Shorter than its fields. Bytes behind its size do not count. */
	for (n = 0; n < c->bytes; n++) {
		c->request[0] = (uint8_t)n;
		ck_assert_int_eq(test_p9_send(c), EINVAL);
	}
	c->request[0] = (uint8_t)n;
	ck_assert_int_eq(test_p9_send(c), 0);
	/* Longer than the session's limit. */
	c->bytes = 8193;
	c->request[0] = 8193 & 0xff;
	c->request[1] = 8193 >> 8;
	ck_assert_int_eq(test_p9_send(c), EMSGSIZE);
}
END_TEST

START_TEST(unknown_types)
{
	static const uint8_t types[] = {0, 6, 7, 9, 104 + 1, 112, 127, 128, 255};
	size_t i;

	for (i = 0; i < sizeof(types); i++)
		ck_assert_int_eq(TEST_P9_ASK(c, types[i], "48", U64(1), U64(0)), EOPNOTSUPP);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TXATTRWALK, "44s", U64(1), U64(2), "x"), EOPNOTSUPP);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TXATTRCREATE, "4s84", U64(1), "x", U64(1), U64(0)),
			 EOPNOTSUPP);
}
END_TEST

static const struct {
	const char *name;
	uint32_t mode;
	uint64_t size;
} attrs[] = {
	{"a", S_IFREG | 0755, 0},
	{"b", S_IFREG | 0644, 5},
	{"dir", S_IFDIR | 0755, 4096},
	{"link", S_IFLNK | 0777, 9},
};

START_TEST(attributes)
{
	struct timespec times[2] = {{1, 0}, {1, 0}};
	uint8_t first[160];

	ck_assert_int_eq(walk(1, 2, attrs[_i].name), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TGETATTR, "48", U64(2), U64(0x3fff)), 0);
	ck_assert_uint_eq(c->in.left, 153);
	memcpy(first, c->in.at, 153);
	ck_assert_uint_eq(p9_get(&c->in, 8), 0x7ff);
	p9_get(&c->in, 5);
	p9_get(&c->in, 8);
	ck_assert_uint_eq(p9_get(&c->in, 4), attrs[_i].mode);
	ck_assert_uint_eq(p9_get(&c->in, 8), 0);
	ck_assert_uint_eq(p9_get(&c->in, 8), 1);
	ck_assert_uint_eq(p9_get(&c->in, 8), 0);
	ck_assert_uint_eq(p9_get(&c->in, 8), attrs[_i].size);
	/* Neither the times nor the owner of the host's file change the reply. */
	ck_assert_int_eq(chdir("in"), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, attrs[_i].name, times, AT_SYMLINK_NOFOLLOW), 0);
	ck_assert_int_eq(chdir(base), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TGETATTR, "48", U64(2), U64(0x3fff)), 0);
	ck_assert_mem_eq(c->in.at, first, 153);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TGETATTR, "48", U64(9), U64(0x3fff)), EBADF);
}
END_TEST

static int readdir_at(uint32_t fid, uint64_t offset, uint32_t count)
{
	return TEST_P9_ASK(c, P9_TREADDIR, "484", U64(fid), offset, U64(count));
}

/* Append the names of the reply to @list, each with a space. Returns the last offset. */
static uint64_t take_names(char *list)
{
	uint64_t at = 0;
	struct p9_text name;

	p9_get(&c->in, 4);
	while (c->in.left) {
		p9_get(&c->in, 5);
		p9_get(&c->in, 8);
		at = p9_get(&c->in, 8);
		p9_get(&c->in, 1);
		name = p9_get_text(&c->in);
		strncat(list, name.at, name.len);
		strcat(list, " ");
	}
	ck_assert(!c->in.bad);
	return at;
}

#define ALL ". .. a b dir link to-dir up "

START_TEST(directories)
{
	char list[200] = "";
	uint64_t at;

	ck_assert_int_eq(readdir_at(1, 0, 4000), EBADF);
	ck_assert_int_eq(lopen(1, 0), 0);
	ck_assert_int_eq(readdir_at(1, 0, 4000), 0);
	at = take_names(list);
	ck_assert_str_eq(list, ALL);
	ck_assert_int_eq(readdir_at(1, at, 4000), 0);
	check_data("");
	ck_assert_int_eq(readdir_at(1, UINT64_MAX, 4000), 0);
	check_data("");
	/* Entry by entry. The list does not change in between. */
	list[0] = 0;
	ck_assert_int_eq(readdir_at(1, 0, 40), 0);
	at = take_names(list);
	write_file("in/aa", "", 0600);
	while (!readdir_at(1, at, 40) && c->in.left > 4)
		at = take_names(list);
	ck_assert_str_eq(list, ALL);
	/* From the start the new file is there. */
	list[0] = 0;
	ck_assert_int_eq(readdir_at(1, 0, 4000), 0);
	take_names(list);
	ck_assert_str_eq(list, ". .. a aa b dir link to-dir up ");
	ck_assert_int_eq(readdir_at(1, 0, 10), 0);
	check_data("");
	ck_assert_int_eq(open_at(2, "b", 0), 0);
	ck_assert_int_eq(readdir_at(2, 0, 100), ENOTDIR);
}
END_TEST

START_TEST(links)
{
	ck_assert_int_eq(walk(1, 2, "link"), 0);
	ck_assert_uint_eq((p9_get(&c->in, 2), p9_get(&c->in, 1)), P9_QID_LINK);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TREADLINK, "4", U64(2)), 0);
	ck_assert_mem_eq(c->in.at, "\11\0../secret", 11);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TREADLINK, "4", U64(1)), EINVAL);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TREADLINK, "4", U64(9)), EBADF);
}
END_TEST

START_TEST(others)
{
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TSTATFS, "4", U64(1)), 0);
	ck_assert_uint_eq(p9_get(&c->in, 4), 0x01021997);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TSTATFS, "4", U64(9)), EBADF);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TFSYNC, "44", U64(1), U64(0)), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TFSYNC, "44", U64(9), U64(0)), EBADF);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TLOCK, "414884s", U64(1), U64(0), U64(0), U64(0), U64(0),
				     U64(1), "host"),
			 0);
	ck_assert_uint_eq(p9_get(&c->in, 1), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TLOCK, "4", U64(9)), EBADF);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TGETLOCK, "41884s", U64(1), U64(0), U64(3), U64(4),
				     U64(5), "host"),
			 0);
	ck_assert_uint_eq(p9_get(&c->in, 1), 2);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TGETLOCK, "41884s", U64(9), U64(0), U64(3), U64(4),
				     U64(5), "host"),
			 EBADF);
}
END_TEST

/* Each request that would change something. */
START_TEST(read_only)
{
	struct stat before, after;

	ck_assert_int_eq(stat("in", &before), 0);
	ck_assert_int_eq(walk(1, 2, "b"), 0);
	ck_assert_int_eq(lopen(2, P9_OPEN_WRITE), EROFS);
	ck_assert_int_eq(lopen(2, P9_OPEN_BOTH), EROFS);
	ck_assert_int_eq(lopen(2, P9_OPEN_TRUNC), EROFS);
	ck_assert_int_eq(lopen(1, P9_OPEN_WRITE), EISDIR);
	ck_assert_int_eq(
		TEST_P9_ASK(c, P9_TLCREATE, "4s444", U64(1), "n", U64(1), U64(0600), U64(0)),
		EROFS);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TSYMLINK, "4ss4", U64(1), "n", "x", U64(0)), EROFS);
	ck_assert_int_eq(
		TEST_P9_ASK(c, P9_TMKNOD, "4s4444", U64(1), "n", U64(0), U64(0), U64(0), U64(0)),
		EROFS);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TLINK, "44s", U64(1), U64(2), "n"), EROFS);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TMKDIR, "4s44", U64(1), "n", U64(0), U64(0)), EROFS);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TRENAME, "44s", U64(2), U64(1), "n"), EROFS);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TRENAMEAT, "4s4s", U64(1), "b", U64(1), "n"), EROFS);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TUNLINKAT, "4s4", U64(1), "b", U64(0)), EROFS);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TSETATTR, "4444488888", U64(2), U64(8), U64(0), U64(0),
				     U64(0), U64(0), U64(0), U64(0), U64(0), U64(0)),
			 EROFS);
	ck_assert_int_eq(lopen(2, 0), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWRITE, "4841", U64(2), U64(0), U64(1), U64('x')),
			 EBADF);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TREMOVE, "4", U64(2)), EROFS);
	ck_assert_int_eq(clunk(2), EBADF);
	ck_assert_int_eq(stat("in", &after), 0);
	ck_assert_int_eq(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
	ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	ck_assert_int_eq(stat("in/b", &after), 0);
	ck_assert_int_eq(after.st_size, 5);
}
END_TEST

START_TEST(many_fids)
{
	uint32_t i;

	for (i = 2; i <= 65536; i++)
		ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442", U64(1), U64(i), U64(0)), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442", U64(1), U64(i), U64(0)), ENFILE);
	ck_assert_int_eq(clunk(1000), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442", U64(1), U64(i), U64(0)), 0);
	/* A new session has room for all. */
	ck_assert_int_eq(start(), 0);
	for (i = 2; i < 258; i++)
		ck_assert_int_eq(open_at(i, "b", 0), 0);
	ck_assert_int_eq(open_at(i, "b", 0), ENFILE);
	ck_assert_int_eq(clunk(2), 0);
	ck_assert_int_eq(lopen(i, 0), 0);
}
END_TEST

static void check_file(const char *path, const char *text)
{
	char is[100] = "";
	int fd = open(path, O_RDONLY | O_NOFOLLOW);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, is, sizeof(is)), (ssize_t)strlen(text));
	ck_assert_str_eq(is, text);
	close(fd);
}

static int set_size(uint32_t fid, uint64_t size)
{
	return TEST_P9_ASK(c, P9_TSETATTR, "4444488888", U64(fid), U64(8), U64(0), U64(0), U64(0),
			   size, U64(0), U64(0), U64(0), U64(0));
}

static int create(uint32_t fid, const char *name, uint32_t flags)
{
	return TEST_P9_ASK(c, P9_TLCREATE, "4s444", U64(fid), name, U64(flags), U64(0755), U64(0));
}

static int write_at(uint32_t fid, uint64_t offset, const char *text)
{
	const size_t len = strlen(text);

	test_p9_write(c, P9_TWRITE, "484", U64(fid), offset, U64(len));
	memcpy(c->request + c->bytes, text, len);
	c->bytes += len;
	c->request[0] = (uint8_t)c->bytes;
	return test_p9_send(c);
}

START_TEST(writes)
{
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442", U64(1), U64(2), U64(0)), 0);
	ck_assert_int_eq(create(2, "new", P9_OPEN_WRITE | P9_OPEN_EXCL), 0);
	ck_assert_int_eq(write_at(2, 0, "written"), 0);
	ck_assert_uint_eq(p9_get(&c->in, 4), 7);
	ck_assert_int_eq(read_at(2, 0, 1), EBADF);
	ck_assert_int_eq(create(2, "other", 0), EBADF);
	check_file("in/new", "written");
	ck_assert_int_eq(set_size(2, 3), 0);
	check_file("in/new", "wri");
	ck_assert_int_eq(set_size(2, UINT64_MAX), EFBIG);
	ck_assert_int_eq(write_at(2, UINT64_MAX, "x"), EFBIG);
	/* The count is more than the message has. */
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWRITE, "484", U64(2), U64(0), U64(1)), EINVAL);
	ck_assert_int_eq(open_at(3, "b", P9_OPEN_BOTH), 0);
	ck_assert_int_eq(write_at(3, 5, " you"), 0);
	ck_assert_int_eq(read_at(3, 0, 100), 0);
	check_data("hello you");
	ck_assert_int_eq(open_at(4, "b", P9_OPEN_WRITE | P9_OPEN_TRUNC), 0);
	check_file("in/b", "");
	ck_assert_int_eq(walk(1, 5, "new"), 0);
	ck_assert_int_eq(set_size(5, 2), 0);
	check_file("in/new", "wr");
}
END_TEST

START_TEST(creation_refused)
{
	uint32_t fid = 2;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442", U64(1), U64(fid), U64(0)), 0);
		if (strcmp(names[i].name, "none") != 0)
			ck_assert_int_ne(create(fid++, names[i].name, P9_OPEN_WRITE), 0);
		else
			ck_assert_int_eq(create(fid++, names[i].name, P9_OPEN_WRITE), 0);
	}
	check_file("secret", "secret");
	ck_assert_int_eq(create(1, "b", P9_OPEN_WRITE | P9_OPEN_EXCL), EEXIST);
	ck_assert_int_eq(create(1, "fifo", P9_OPEN_WRITE), EEXIST);
	ck_assert_int_eq(create(1, "link", P9_OPEN_WRITE), ELOOP);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TSYMLINK, "4ss4", U64(1), "n", "x", U64(0)), EPERM);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TLINK, "44s", U64(1), U64(1), "n"), EPERM);
	ck_assert_int_eq(
		TEST_P9_ASK(c, P9_TMKNOD, "4s4444", U64(1), "n", U64(0), U64(0), U64(0), U64(0)),
		EPERM);
}
END_TEST

static int rename_at(uint32_t from, const char *name, uint32_t to, const char *new_name)
{
	return TEST_P9_ASK(c, P9_TRENAMEAT, "4s4s", U64(from), name, U64(to), new_name);
}

START_TEST(renames)
{
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TMKDIR, "4s44", U64(1), "made", U64(0), U64(0)), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TMKDIR, "4s44", U64(1), "made", U64(0), U64(0)), EEXIST);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TMKDIR, "4s44", U64(1), "../m", U64(0), U64(0)), ENOENT);
	ck_assert_int_eq(walk(1, 2, "made"), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TWALK, "442ss", U64(1), U64(3), U64(2), "dir", "deep"),
			 0);
	/* The fid of a file in a directory that is renamed keeps its file. */
	ck_assert_int_eq(rename_at(1, "dir", 2, "d"), 0);
	ck_assert_int_eq(lopen(3, 0), 0);
	ck_assert_int_eq(read_at(3, 0, 10), 0);
	check_data("deep");
	check_file("in/made/d/deep", "deep");
	ck_assert_int_eq(rename_at(1, "..", 1, "n"), ENOENT);
	ck_assert_int_eq(rename_at(1, "b", 1, "../n"), ENOENT);
	ck_assert_int_eq(rename_at(1, "none", 1, "n"), ENOENT);
	ck_assert_int_eq(rename_at(1, "fifo", 1, "n"), ENOENT);
	ck_assert_int_eq(rename_at(1, "b", 1, "fifo"), EEXIST);
	ck_assert_int_eq(rename_at(9, "b", 1, "n"), EBADF);
	ck_assert_int_eq(rename_at(1, "b", 9, "n"), EBADF);
	ck_assert_int_eq(walk(1, 4, "b"), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TRENAME, "44s", U64(4), U64(2), "b2"), 0);
	check_file("in/made/b2", "hello");
	ck_assert_int_eq(lopen(4, 0), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TRENAME, "44s", U64(1), U64(2), "root"), EBUSY);
}
END_TEST

START_TEST(removals)
{
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TUNLINKAT, "4s4", U64(1), "b", U64(0)), 0);
	ck_assert_int_eq(access("in/b", F_OK), -1);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TUNLINKAT, "4s4", U64(1), "fifo", U64(0)), ENOENT);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TUNLINKAT, "4s4", U64(1), "a", U64(1)), EINVAL);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TUNLINKAT, "4s4", U64(1), "..", U64(0)), ENOENT);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TUNLINKAT, "4s4", U64(1), "dir", U64(0)), EISDIR);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TUNLINKAT, "4s4", U64(1), "dir", U64(0x200)), ENOTEMPTY);
	/* A link is removed, not its target. */
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TUNLINKAT, "4s4", U64(1), "link", U64(0)), 0);
	check_file("secret", "secret");
	ck_assert_int_eq(walk(1, 2, "a"), 0);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TREMOVE, "4", U64(2)), 0);
	ck_assert_int_eq(access("in/a", F_OK), -1);
	ck_assert_int_eq(clunk(2), EBADF);
	ck_assert_int_eq(TEST_P9_ASK(c, P9_TREMOVE, "4", U64(1)), EINVAL);
	ck_assert_int_eq(access("in", F_OK), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("p9");
	TCase *reader = tcase_create("read-only"), *writer = tcase_create("writable");

	tcase_add_checked_fixture(reader, setup, teardown);
	tcase_add_checked_fixture(writer, setup_writable, teardown);
	suite_add_tcase(suite, reader);
	suite_add_tcase(suite, writer);
	TEST_ADD(reader, version, attach, walk_out, replaced, walk_part, long_names, reads, sizes,
		 broken_messages, unknown_types, directories, links, others, read_only, many_fids);
	TEST_ROWS(reader, walk_names, names);
	TEST_ROWS(reader, attributes, attrs);
	TEST_ADD(writer, writes, creation_refused, renames, removals);
	return suite;
}
