// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/export_pt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/open.h"

int vpt_export_pt_errors(const char *path, const struct vpt_recast_report *report)
{
	if (!report->errors)
		return VPT_EXIT_OK;
	return vpt_fail(VPT_EXIT_FAIL,
			"export: %s: places that cannot be decoded: %" PRIu64 "; the first: %s",
			path, report->errors, report->error);
}

static void say(const char *out, const struct vpt_recast_report *r)
{
	printf("%s: instructions: %" PRIu64 ", sessions: %" PRIu64 ", bytes: %" PRIu64
	       ", time: %s, oracle: %s\n",
	       out, r->insns, r->sessions, r->bytes, r->timed ? "tsc" : "none",
	       r->oracle ? "yes" : "none");
}

/* The file that is read would be gone as it is opened. */
static bool same_file(const char *path, const char *out)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(out, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int vpt_export_pt(const char *path, struct vpt_reader *reader, const char *out, bool quiet)
{
	struct vpt_recast_report report;
	int err, status;

	if (!vpt_recast_needed(reader))
		return vpt_fail(VPT_EXIT_USAGE, "export: --to=pt: %s is Intel PT already", path);
	if (same_file(path, out))
		return vpt_fail(VPT_EXIT_USAGE, "export: %s: FILE and OUT are the same", path);
	err = vpt_recast(reader, out, &report);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "export: %s: %s", out, strerror(-err));
	if (!quiet)
		say(out, &report);
	status = vpt_export_pt_errors(path, &report);
	return status ? status : vpt_cli_whole("export", path, reader);
}

int vpt_export_as_pt(const char *path, struct vpt_reader **reader, struct vpt_recast_report *report)
{
	FILE *file = tmpfile();
	struct vpt_reader *pt;
	char name[32], why[256];
	int err = file ? 0 : -errno;

	if (!err) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fileno(file));
		err = vpt_recast(*reader, name, report);
	}
	if (!err && vpt_reader_open(name, &pt, why, sizeof(why)))
		err = -EIO;
	if (file)
		fclose(file);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "export: %s: as Intel PT, in a temporary file: %s",
				path, strerror(-err));
	vpt_reader_close(*reader);
	*reader = pt;
	return VPT_EXIT_OK;
}
