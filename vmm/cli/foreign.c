// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a recording of another program in place of a .vpt file. */
#include "cli/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/open.h"
#include "foreign/output.h"
#include "foreign/perf.h"

bool cli_foreign_is(const char *path)
{
	uint8_t magic[8] = {0};
	struct stat st;
	char name[4400];
	bool is = false;
	int fd;

	if (stat(path, &st) || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) ||
	    snprintf(name, sizeof(name), "%s%s", path, S_ISDIR(st.st_mode) ? "/data" : "") >=
		    (int)sizeof(name))
		return false;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	is = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && !memcmp(magic, "PERFILE2", 8);
	close(fd);
	return is;
}

static void warn(const char *verb, uint64_t count, const char *what, const char *first)
{
	if (count)
		fprintf(stderr, "vpt %s: %s: %" PRIu64 "%s%s\n", verb, what, count,
			*first ? ": the first: " : "", first);
}

void cli_foreign_warn(const char *verb, const struct foreign_report *r)
{
	warn(verb, r->unknown_records, "records of unknown types, left out", "");
	warn(verb, r->bad_records, "damaged records, left out", "");
	warn(verb, r->lost_records, "records that perf lost", "");
	warn(verb, r->truncated, "places where trace was lost", "");
	warn(verb, r->no_file, "mapped code of which there is no file", r->first_no_file);
	warn(verb, r->wrong_build, "files that are not those that were traced", r->first_wrong);
	warn(verb, r->generated, "code that the kernel made, of which there is none", "");
	warn(verb, r->guests, "address spaces of guests, whose code is not known", "");
	warn(verb, r->reused, "values of CR3 that stood for several processes", "");
	warn(verb, r->left_out, "pages and mappings over the limit, left out", "");
	if (r->no_times)
		fprintf(stderr, "vpt %s: the trace has no times: which process ran is not known\n",
			verb);
	if (r->no_kernel)
		fprintf(stderr,
			"vpt %s: the kernel was traced, and there is no code of it: use vpt import "
			"--kcore\n",
			verb);
}

static int write_file(struct foreign_trace *t, const char *path, int fd, bool whole)
{
	struct trace_file_info info;
	struct trace_writer *writer;
	int err, late;

	foreign_info(t, &info);
	err = trace_writer_start(fd, &info, &writer);
	if (err)
		return err;
	err = foreign_write(t, path, writer);
	if (whole) {
		late = trace_writer_close(writer, 0);
		return err ? err : late;
	}
	/* A file without an end is incomplete. */
	late = trace_writer_sync(writer);
	trace_writer_drop(writer);
	return err ? err : late;
}

static int open_written(const char *verb, const char *path, int fd, unsigned int how,
			struct trace_reader **reader)
{
	char name[64], why[256];
	int err;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	err = trace_reader_open_as(name, how, reader, why, sizeof(why));
	return err ? cli_fail(cli_input_status(err), "%s: %s: %s", verb, path, why) : CLI_EXIT_OK;
}

int cli_foreign_open(const char *verb, const char *path, unsigned int how,
		     struct trace_reader **reader)
{
	struct foreign_trace t = {0};
	const char *damage;
	char why[256];
	uint64_t where;
	int err = foreign_perf_read(path, &t, &damage, &where, why, sizeof(why)), fd, status;

	if (err) {
		status = cli_fail(cli_input_status(err), "%s: %s: %s", verb, path, why);
		foreign_free(&t);
		return status;
	}
	fd = memfd_create("vpt-import", MFD_CLOEXEC);
	err = fd < 0 ? -errno : write_file(&t, path, fd, !damage);
	if (err)
		status = cli_fail(CLI_EXIT_HOST, "%s: %s: %s", verb, path, cli_reason(-err));
	else
		status = open_written(verb, path, fd, how, reader);
	if (!status)
		cli_foreign_warn(verb, &t.report);
	if (!status && damage)
		fprintf(stderr, "vpt %s: %s: byte %" PRIu64 ": %s\n", verb, path, where, damage);
	if (fd >= 0)
		close(fd);
	foreign_free(&t);
	return status;
}
