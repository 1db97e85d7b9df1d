// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt-mark: a program of a Linux guest that puts a mark into the trace of its vCPU, or ends the run.
 * It uses the ports of abi/boot.h, so it must be root.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>

#include "vpt/abi/boot.h"

static int usage(void)
{
	fputs("usage: vpt-mark TEXT... or vpt-mark --exit N\n", stderr);
	return 2;
}

static int end_run(const char *number)
{
	unsigned long status;
	char *end;

	errno = 0;
	status = strtoul(number, &end, 0);
	if (errno || end == number || *end || status > 255)
		return usage();
	outl((unsigned int)status, VPT_PORT_EXIT);
	fputs("vpt-mark: the run goes on: this machine is not one of vpt run\n", stderr);
	return 1;
}

static void put(char c)
{
	/* A line feed would end the mark. */
	outb(c == '\n' ? ' ' : (unsigned char)c, VPT_PORT_MARK);
}

static void mark(int words, char **word)
{
	const char *c;
	int i;

	for (i = 0; i < words; i++) {
		if (i)
			put(' ');
		for (c = word[i]; *c; c++)
			put(*c);
	}
	outb('\n', VPT_PORT_MARK);
}

int main(int argc, char **argv)
{
	if (argc < 2 || (!strcmp(argv[1], "--exit") && argc != 3))
		return usage();
	if (iopl(3)) {
		fprintf(stderr, "vpt-mark: no access to ports: %s\n", strerror(errno));
		return 1;
	}
	if (!strcmp(argv[1], "--exit"))
		return end_run(argv[2]);
	mark(argc - 1, argv + 1);
	return 0;
}
