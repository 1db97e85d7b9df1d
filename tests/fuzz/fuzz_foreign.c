// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as perf.data: imported, and what comes of it is a whole trace file, which is read and
 * decoded, all without harm.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "foreign/output.h"
#include "foreign/perf.h"
#include "lib/use_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Only decode what is not hours of work. */
#define TRACE_MAX 65536u

static void use(const char *path)
{
	struct vpt_reader *r;
	char why[128];

	REQUIRE(!vpt_reader_open(path, &r, why, sizeof(why)));
	REQUIRE(!vpt_reader_extent(r)->damages && vpt_reader_extent(r)->closed);
	if (vpt_reader_extent(r)->file_bytes < TRACE_MAX)
		use_file(r, (size_t)vpt_reader_extent(r)->file_bytes, false);
	vpt_reader_close(r);
}

static void import(struct foreign_trace *t, int fd, const char *path)
{
	struct vpt_file_info info;
	struct vpt_writer *writer;
	int err;

	REQUIRE(!ftruncate(fd, 0));
	REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
	foreign_info(t, &info);
	REQUIRE(!vpt_writer_start(fd, &info, &writer));
	err = foreign_write(t, path, writer);
	REQUIRE(!vpt_writer_close(writer, 0));
	REQUIRE(!err);
	use(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int in = -1, out = -1;
	struct foreign_trace t = {.root = "/nonexistent"};
	char path[32], why[256];
	const char *damage;
	uint64_t where;
	int err;

	if (in < 0) {
		in = memfd_create("in", 0);
		out = memfd_create("out", 0);
	}
	REQUIRE(!ftruncate(in, 0));
	REQUIRE(pwrite(in, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
	err = foreign_perf_read(path, &t, &damage, &where, why, sizeof(why));
	REQUIRE(!err || (*why && !strchr(why, '\n')));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	if (!err)
		import(&t, out, path);
	foreign_free(&t);
	return 0;
}
