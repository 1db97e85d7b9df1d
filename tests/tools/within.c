// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command and fails if it takes more than so much memory or processor time:
 * within MEGABYTES SECONDS COMMAND [ARG...]. The exit status is the command's; 125, with a
 * line on standard error, if it took more. Memory is the largest resident set. A sanitizer's
 * own memory does not count: there the bound is four times as large, and so is the time.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOO_MUCH 125

#if defined(__SANITIZE_ADDRESS__) || defined(TEST_SANITIZED)
#define FACTOR 4
#else
#define FACTOR 1
#endif

static double seconds(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

static int start(char **argv, unsigned long limit)
{
	const struct rlimit cpu = {limit + 1, limit + 2};

	setrlimit(RLIMIT_CPU, &cpu);
	execvp(argv[0], argv);
	perror(argv[0]);
	return 127;
}

int main(int argc, char **argv)
{
	unsigned long megabytes, limit;
	struct rusage used;
	int status;
	pid_t pid;

	if (argc < 4) {
		fputs("usage: within MEGABYTES SECONDS COMMAND [ARG...]\n", stderr);
		return 2;
	}
	megabytes = FACTOR * strtoul(argv[1], NULL, 10);
	limit = FACTOR * strtoul(argv[2], NULL, 10);
	pid = fork();
	if (!pid)
		_exit(start(argv + 3, limit));
	while (pid < 0 || wait4(pid, &status, 0, &used) < 0) {
		if (pid > 0 && errno == EINTR)
			continue;
		perror("within");
		return 127;
	}
	if (getenv("WITHIN"))
		fprintf(stderr, "within: %ld MiB, %.2f s\n", used.ru_maxrss >> 10, seconds(&used));
	if ((unsigned long)used.ru_maxrss >> 10 > megabytes || seconds(&used) > (double)limit) {
		fprintf(stderr, "within: %ld MiB, %.2f s: more than %lu MiB, %lu s: %s\n",
			used.ru_maxrss >> 10, seconds(&used), megabytes, limit, argv[3]);
		return TOO_MUCH;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
