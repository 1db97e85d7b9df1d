// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt export: converts a trace of another trace system to Intel PT. */
#include "cli/export_pt.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/open.h"
#include "cli/progress.h"
#include "trace/place.h"

int cli_export_pt_errors(const char *path, const struct export_recast_report *report)
{
	if (!report->errors)
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_FAIL,
			"export: %s: places that cannot be decoded: %" PRIu64 "; the first: %s",
			path, report->errors, report->error);
}

static void say(const char *out, const struct export_recast_report *r)
{
	printf("%s: instructions: %" PRIu64 ", sessions: %" PRIu64 ", bytes: %" PRIu64
	       ", time: %s, oracle: %s\n",
	       out, r->insns, r->sessions, r->bytes, r->timed ? "tsc" : "none",
	       r->oracle ? "yes" : "none");
}

static int recast(struct trace_reader *reader, int fd, bool quiet,
		  struct export_recast_report *report)
{
	struct cli_progress progress = {0};
	int err;

	cli_progress_begin(&progress, reader, -1, !quiet);
	err = export_recast(reader, fd, report);
	cli_progress_end(&progress);
	return err;
}

int cli_export_pt(const char *path, struct trace_reader *reader, const char *out, bool quiet)
{
	struct export_recast_report report;
	struct trace_outfile output;
	int err, status;

	if (!export_recast_needed(reader))
		return cli_fail(CLI_EXIT_USAGE, "export: --to=pt: %s is Intel PT already", path);
	status = cli_output("export", out, TRACE_OUTFILE_WHOLE, &output);
	if (status)
		return status;
	err = recast(reader, output.fd, quiet, &report);
	if (err) {
		cli_drop(&output);
		return cli_fail(CLI_EXIT_HOST, "export: %s: %s", out, cli_reason(-err));
	}
	status = cli_commit("export", &output);
	if (status)
		return status;
	if (!quiet)
		say(out, &report);
	status = cli_whole("export", path, reader);
	return status ? status : cli_export_pt_errors(path, &report);
}

/*
 * Open an unnamed file in the directory of @path if the sandbox allows it, or in memory if the file
 * system has no unnamed files. Returns a descriptor or -errno.
 */
static int temporary_beside(const char *path)
{
	struct trace_place place;
	char *dir;
	int err = trace_place_find(path, &place), fd;

	if (err)
		return err;
	dir = trace_place_dir(&place);
	trace_place_free(&place);
	if (!dir)
		return -ENOMEM;
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(dir);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		fd = memfd_create("vpt-export", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cli_export_as_pt(const char *path, struct trace_reader *reader, const char *out, bool quiet,
		     struct trace_reader **pt, struct export_recast_report *report)
{
	int fd = temporary_beside(out), err = fd < 0 ? fd : 0;
	char name[32], why[256];

	if (!err) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		err = recast(reader, fd, quiet, report);
	}
	if (!err && trace_reader_open(name, pt, why, sizeof(why)))
		err = -EIO;
	if (fd >= 0)
		close(fd);
	if (!err)
		return CLI_EXIT_OK;
	*pt = NULL;
	return cli_fail(CLI_EXIT_HOST, "export: %s: as Intel PT, in a temporary file: %s", path,
			cli_reason(-err));
}
