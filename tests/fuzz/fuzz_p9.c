// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any requests of a guest to the server of a shared folder. No reply may be longer
 * than its room, the file outside of the folder must stay as it is, and no reply may contain it.
 * The input is messages, each a head (room, size) and that many bytes; the server writes the size
 * of the message. The first byte says whether the folder is writable.
 */
#include <fcntl.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/bytes.h"
#include "p9/p9.h"

#define MAX_REQUESTS 200
#define SECRET	     "a-secret-outside"

/*
 * libFuzzer learns the operands of memmem(), memcmp() and of comparisons. An input that has the secret
 * from there can put it into the folder itself. So only differences are added up.
 */
static bool is_secret(const uint8_t *bytes)
{
	unsigned int differs = 0, i;

	for (i = 0; i < sizeof(SECRET) - 1; i++)
		differs |= bytes[i] ^ (uint8_t)SECRET[i];
	return !differs;
}

static bool has_secret(const uint8_t *bytes, size_t n)
{
	for (; n >= sizeof(SECRET) - 1; bytes++, n--)
		if (is_secret(bytes))
			return true;
	return false;
}

static char base[64];
static int top = -1; /* open at @base, since the fuzzer's own paths are relative */

static void put(const char *path, const char *text)
{
	int fd = openat(top, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);

	REQUIRE(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void remove_base(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", base);
	(void)!system(command);
}

/* The folder's files, which inputs can change. */
static void make_folder(void)
{
	if (top < 0) {
		snprintf(base, sizeof(base), "/tmp/vpt-fuzz-p9.XXXXXX");
		REQUIRE(mkdtemp(base));
		top = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		REQUIRE(top >= 0 && !mkdirat(top, "in", 0700));
		put("secret", SECRET);
		atexit(remove_base);
	}
	(void)!mkdirat(top, "in/d", 0700);
	(void)!symlinkat("../secret", top, "in/l");
	(void)!symlinkat("..", top, "in/u");
	(void)!mkfifoat(top, "in/p", 0600);
	if (faccessat(top, "in/f", F_OK, AT_SYMLINK_NOFOLLOW))
		put("in/f", "content");
}

static void check_outside(void)
{
	uint8_t text[sizeof(SECRET) + 1];
	int fd = openat(top, "secret", O_RDONLY);

	REQUIRE(fd >= 0 && read(fd, text, sizeof(text)) == sizeof(SECRET) - 1);
	REQUIRE(is_secret(text));
	close(fd);
}

static void ask(struct p9_server *s, struct input *in)
{
	static uint8_t request[65536 + 4], reply[P9_MESSAGE_MAX];
	size_t room = take(in, 1), n = take(in, 2), used;
	const uint8_t *bytes;
	uint8_t *own;

	/* Heap blocks of the exact sizes let the sanitizer find each byte too far. */
	room = room < 128 ? room : sizeof(reply);
	bytes = some(in, &n);
	memcpy(request + 4, bytes, n);
	request[0] = (uint8_t)(n + 4);
	request[1] = (uint8_t)((n + 4) >> 8);
	request[2] = (uint8_t)((n + 4) >> 16);
	own = malloc(n + 4 + room);
	REQUIRE(own);
	memcpy(own, request, n + 4);
	used = p9_serve(s, own, n + 4, own + n + 4, room);
	REQUIRE(used <= room);
	REQUIRE(!has_secret(own + n + 4, used));
	free(own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct p9_server *s;
	unsigned int n;
	bool writable;
	int root;

	/* A file can become too large, and vpt ignores the signal, too. */
	signal(SIGXFSZ, SIG_IGN);
	make_folder();
	writable = take(&in, 1) & 1;
	root = openat(top, "in", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s = p9_create(root, writable ? P9_READ_WRITE : P9_READ_ONLY);
	REQUIRE(root >= 0 && s);
	for (n = 0; in.left && n < MAX_REQUESTS; n++)
		ask(s, &in);
	p9_destroy(s);
	check_outside();
	return 0;
}
