// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a file to a pipe piece by piece, for tests of a reader that follows.
 *
 * usage: trickle SEED PIECES [BYTES] <FILE
 *
 * The sizes are random, from 1 byte up to twice the size of a PIECES-th part. A piece is written
 * when the reader has read all earlier ones, and a moment later. With BYTES the writer ends after
 * so many bytes. Exits with status 1 if the reader goes away first.
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOMENT_US 300

static uint32_t next_random(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

/* Wait until the reader has read everything, or has gone away. */
static void wait_for_reader(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	int unread = 1;

	while (!ioctl(STDOUT_FILENO, FIONREAD, &unread) && unread && !poll(&out, 1, 0))
		usleep(MOMENT_US);
	usleep(MOMENT_US);
}

/* Copy @left bytes. Returns false if the reader went away. */
static int copy(uint64_t left)
{
	static char piece[65536];

	while (left) {
		size_t n = left < sizeof(piece) ? (size_t)left : sizeof(piece);
		ssize_t got = read(STDIN_FILENO, piece, n);

		if (got <= 0 || write(STDOUT_FILENO, piece, (size_t)got) != got)
			return 0;
		left -= (uint64_t)got;
	}
	return 1;
}

int main(int argc, char **argv)
{
	struct stat st;
	uint64_t bytes, most;
	uint32_t random;

	if (argc < 3 || argc > 4 || fstat(STDIN_FILENO, &st)) {
		fputs("usage: trickle SEED PIECES [BYTES] <FILE\n", stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	random = (uint32_t)strtoul(argv[1], NULL, 0) * 2654435761u | 1;
	bytes = argc > 3 ? strtoull(argv[3], NULL, 0) : (uint64_t)st.st_size;
	most = 2 * bytes / (strtoull(argv[2], NULL, 0) + 1) + 1;
	while (bytes) {
		uint64_t n = 1 + next_random(&random) % most;

		if (n > bytes)
			n = bytes;
		if (!copy(n))
			return 1;
		bytes -= n;
		wait_for_reader();
	}
	return 0;
}
