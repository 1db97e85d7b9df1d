// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hold vpt's decoder of RTIT against itself, with gathered outcomes (lib/rtit_follow.h).
 * usage: follow_rtit [-d] FILE	a trace of RTIT; vCPU 0 is compared.
 *				-d: list what gathered outcomes make
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/rtit_follow.h"

int main(int argc, char **argv)
{
	bool list = argc == 3 && !strcmp(argv[1], "-d");
	struct vpt_reader *reader;
	char why[256];
	struct rtit_followed followed;

	if (argc != 2 + list || vpt_reader_open(argv[1 + list], &reader, why, sizeof(why))) {
		fprintf(stderr, "usage: follow_rtit [-d] FILE\n");
		return 2;
	}
	if (!(vpt_reader_info(reader)->flags & VPT_INFO_RTIT)) {
		fprintf(stderr, "follow_rtit: not a trace of RTIT\n");
		vpt_reader_close(reader);
		return 3;
	}
	rtit_follow(reader, list, &followed);
	printf("%" PRIu64 " instructions, %" PRIu64 " events, %" PRIu64 " errors\n", followed.insns,
	       followed.events, followed.errors);
	vpt_reader_close(reader);
	return followed.differs;
}
