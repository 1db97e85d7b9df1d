// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare vpt's decoder of RTIT with the same decoder using gathered outcomes (lib/atom_follow.h).
 * Usage: follow_atom [-d] FILE. FILE is a trace of RTIT, of which vCPU 0 is compared; -d lists the
 * items that gathered outcomes yield.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/atom_follow.h"

int main(int argc, char **argv)
{
	bool list = argc == 3 && !strcmp(argv[1], "-d");
	struct trace_reader *reader;
	char why[256];
	struct atom_followed followed;

	if (argc != 2 + list || trace_reader_open(argv[1 + list], &reader, why, sizeof(why))) {
		fprintf(stderr, "usage: follow_atom [-d] FILE\n");
		return 2;
	}
	if (!(trace_reader_info(reader)->flags & TRACE_INFO_ATOM)) {
		fprintf(stderr, "follow_atom: not a trace of RTIT\n");
		trace_reader_close(reader);
		return 3;
	}
	atom_follow(reader, list, &followed);
	printf("%" PRIu64 " instructions, %" PRIu64 " events, %" PRIu64 " errors\n", followed.insns,
	       followed.events, followed.errors);
	trace_reader_close(reader);
	return followed.differs;
}
