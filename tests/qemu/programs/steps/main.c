// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose trace is known in advance.
 *
 * usage: steps COUNT WORK [alone | PARTS]
 *
 * The program calls the next of four functions COUNT times. Before each call it reads WORK
 * bytes with one instruction. With `alone` it stops its parent meanwhile, and waits until the
 * parent has stopped, because the signal takes effect with a delay on another CPU. With PARTS it
 * makes the steps in so many equal parts, and sleeps for 10 ms before each.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORK_MAX 65536

/* Make @count steps, and read the first @work bytes before each. */
void steps(uint64_t count, uint64_t work, const uint8_t *bytes);

static const uint8_t bytes[WORK_MAX];

/* Read the state from /proc/PID/stat, in the field after the name. */
static bool is_stopped(pid_t pid)
{
	char path[64], stat[256], *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return true; /* The process is gone. */
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (n <= 0)
		return true;
	stat[n] = 0;
	state = strrchr(stat, ')');
	return !state || state[2] == 'T';
}

static void stop(pid_t pid)
{
	useconds_t wait;

	kill(pid, SIGSTOP);
	/* Each check is part of the trace, so that the waits double. */
	for (wait = 1000; !is_stopped(pid); wait *= 2)
		usleep(wait);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	uint64_t work = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	bool alone = argc == 4 && !strcmp(argv[3], "alone");
	uint64_t parts = argc == 4 && !alone ? strtoull(argv[3], NULL, 0) : 1, i;

	if (!count || argc < 3 || argc > 4 || !parts || count % parts || work > WORK_MAX) {
		fprintf(stderr, "usage: steps COUNT WORK [alone | PARTS]\n");
		return 2;
	}
	if (alone)
		stop(getppid());
	for (i = 0; i < parts; i++) {
		if (parts > 1)
			usleep(10000);
		steps(count / parts, work, bytes);
	}
	if (alone)
		kill(getppid(), SIGCONT);
	return 0;
}
