// SPDX-License-Identifier: GPL-2.0-or-later
/* A program of a few system calls, for the Linux of make demo. */
#include <fcntl.h>
#include <unistd.h>

static char text[256];

static __attribute__((noinline)) ssize_t read_version(void)
{
	int fd = open("/proc/version", O_RDONLY);
	ssize_t len;

	if (fd < 0)
		return -1;
	len = read(fd, text, sizeof(text));
	close(fd);
	return len;
}

int main(void)
{
	ssize_t len = read_version();

	return len > 0 && write(STDOUT_FILENO, text, (size_t)len) == len ? 0 : 1;
}
