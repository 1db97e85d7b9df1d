/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decode a trace while it is written, for vpt decode --follow. */
#ifndef VMM_CLI_DECODE_FOLLOW_H
#define VMM_CLI_DECODE_FOLLOW_H

#include "cli/decode_inside.h"
#include "trace/growing.h"

struct cli_decode_followed;

struct cli_decode_follow {
	struct trace_growing file;
	FILE *listing; /* the lines until the trace ends; NULL if the output is no listing */
	struct cli_decode_followed *vcpus; /* the vCPUs that are decoded, in ascending order */
	unsigned int n;
	bool live;	 /* the items so far are those of the whole file, as far as is known */
	const char *why; /* why the file was decoded after its end; NULL if it was not */
	bool broken;	 /* the reader cannot continue, because the file is damaged */
};

/*
 * Open the file, and the file for the lines of a listing. Call this before cli_confine(). Returns an
 * exit status, after one line. The caller calls cli_decode_follow_close() in both cases.
 */
int cli_decode_follow_open(struct cli_decode_follow *f, const struct cli_decode_options *o);
void cli_decode_follow_close(struct cli_decode_follow *f);

/*
 * Decode the file until it ends. Sets d->reader to the whole file, and d->followed if all items were
 * taken. Otherwise @d is prepared for decoding the whole file. Returns an exit status, after one
 * line.
 */
int cli_decode_follow(struct cli_decode_follow *f, struct cli_decode *d);

#endif /* VMM_CLI_DECODE_FOLLOW_H */
