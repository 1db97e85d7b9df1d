// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens the trace that a verb reads, or its part file. */
#include "cli/open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/foreign.h"
#include "trace/outfile.h"

/* The size of files that are read in windows. */
#define WINDOW_FROM ((off_t)256 << 20)

/* Files that belong to a trace. */
struct beside {
	char *part; /* NULL if there is no part file, or if the trace is newer */
	bool alone; /* there is no trace */
	enum trace_outfile_writer writer;
};

static struct beside find_beside(const char *path)
{
	struct beside b = {0};
	struct trace_place place;
	struct stat st;
	int fd = -1;

	if (!strcmp(path, "-") || trace_place_find(path, &place))
		return b;
	b.alone = place.kind == TRACE_PLACE_NONE;
	b.part = trace_outfile_part(&place);
	if (b.part)
		fd = open(b.part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size ||
	    (!b.alone && st.st_mtime < place.st.st_mtime)) {
		free(b.part);
		b.part = NULL;
	} else {
		b.writer = trace_outfile_writer(fd);
	}
	if (fd >= 0)
		close(fd);
	trace_place_free(&place);
	return b;
}

char *cli_growing_name(const char *path)
{
	const struct beside b = find_beside(path);

	if (b.part && (b.alone || b.writer == TRACE_OUTFILE_HAS_WRITER))
		return b.part;
	free(b.part);
	return strdup(path);
}

unsigned int cli_open_window(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size >= WINDOW_FROM
		       ? TRACE_READER_WINDOW
		       : 0;
}

int cli_input_status(int err)
{
	return err == -ENOMEM ? CLI_EXIT_HOST : CLI_EXIT_INPUT;
}

static int refuse(const char *verb, const char *path, int err, const char *why, const char *hint)
{
	return cli_fail(cli_input_status(err), "%s: %s: %s%s", verb, path, why,
			hint && err == -EINVAL ? hint : "");
}

int cli_open_or(const char *verb, const char *path, unsigned int how, const char *hint,
		struct trace_reader **reader)
{
	struct beside b;
	const char *name;
	int status = CLI_EXIT_OK, err;
	char why[256];

	if (cli_foreign_is(path))
		return cli_foreign_open(verb, path, how, reader);
	b = find_beside(path);
	name = b.part && b.alone ? b.part : path;
	err = trace_reader_open_as(name, how, reader, why, sizeof(why));
	if (err)
		status = refuse(verb, name, err, why, hint);
	else if (b.part && !b.alone)
		fprintf(stderr, "vpt %s: %s: an earlier trace: %s is what a later run %s\n", verb,
			path, b.part, b.writer == TRACE_OUTFILE_HAS_WRITER ? "is writing" : "left");
	free(b.part);
	return status;
}

int cli_open(const char *verb, const char *path, unsigned int how, struct trace_reader **reader)
{
	return cli_open_or(verb, path, how, NULL, reader);
}

static int damaged(const char *verb, const char *name, const struct trace_extent *extent)
{
	return cli_fail(CLI_EXIT_INPUT,
			"%s: %s: damaged at byte %" PRIu64
			": %s; places: %zu, bytes left out: %" PRIu64,
			verb, name, extent->readable, extent->why, extent->damages, extent->lost);
}

int cli_whole(const char *verb, const char *path, const struct trace_reader *reader)
{
	const struct trace_extent *extent = trace_reader_extent(reader);
	struct beside b;
	const char *name;
	int status;

	if (!extent->why && trace_reader_torn(reader))
		return cli_fail(CLI_EXIT_INPUT, "%s: %s: it was made shorter meanwhile", verb,
				path);
	if (!extent->why)
		return CLI_EXIT_OK;
	b = find_beside(path);
	name = b.part && b.alone ? b.part : path;
	if (extent->cut)
		status = cli_fail(
			CLI_EXIT_INPUT, "%s: %s: %s: %s; bytes lost: %" PRIu64, verb, name,
			b.alone && b.writer == TRACE_OUTFILE_HAS_WRITER ? "still being written"
									: "cut",
			extent->why, extent->lost);
	else
		status = damaged(verb, name, extent);
	free(b.part);
	return status;
}

const char *cli_empty(const struct trace_reader *reader)
{
	const struct trace_file_info *info = trace_reader_info(reader);
	unsigned int v;
	size_t n;

	if (info->owner != TRACE_OWNER_GUEST)
		return NULL;
	for (v = 0; v < info->vcpus; v++) {
		trace_reader_sessions(reader, v, &n);
		if (n || trace_reader_stream_bytes(reader, v))
			return NULL;
	}
	return info->flags & TRACE_INFO_ATOM
		       ? "nothing was traced: the guest never enabled RTIT; --pt=host traces it "
			 "without its help"
		       : "nothing was traced: the guest never enabled PT; --pt=host traces it "
			 "without its help";
}
