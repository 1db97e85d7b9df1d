// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run a command some times, and print the microseconds of processor time that it took, user and
 * system, its children included.
 *
 * usage: cputime TIMES COMMAND [ARGUMENT...]
 *
 * The output of the command is dropped. Exits with 1 if the command ends with another status
 * than 0.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int once(char **argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	long times, i;
	int status;

	times = argc < 3 ? 0 : strtol(argv[1], NULL, 10);
	if (times < 1) {
		fprintf(stderr, "usage: cputime TIMES COMMAND [ARGUMENT...]\n");
		return EXIT_FAILURE;
	}
	for (i = 0; i < times; i++) {
		status = once(argv + 2);
		if (status) {
			fprintf(stderr, "cputime: %s ended with status %d\n", argv[2], status);
			return EXIT_FAILURE;
		}
	}
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("%lld\n", (long long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
				 usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	return EXIT_SUCCESS;
}
