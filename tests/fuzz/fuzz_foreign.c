// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: imports arbitrary bytes as perf.data, as LLDB's trace.json if they begin like one,
 * or as an ELF file with code. The result must be a whole trace file. It is read and decoded, all
 * without memory errors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "foreign/lldb.h"
#include "foreign/output.h"
#include "foreign/perf.h"
#include "foreign/raw.h"
#include "fuzz/bytes.h"
#include "lib/use_file.h"

/* Larger traces are not decoded, since that could take hours. */
#define TRACE_MAX 65536u

static void use(const char *path)
{
	struct trace_reader *r;
	char why[128];

	REQUIRE(!trace_reader_open(path, &r, why, sizeof(why)));
	REQUIRE(!trace_reader_extent(r)->damages && trace_reader_extent(r)->closed);
	if (trace_reader_extent(r)->file_bytes < TRACE_MAX)
		use_file(r, (size_t)trace_reader_extent(r)->file_bytes, false);
	trace_reader_close(r);
}

static void import(struct foreign_trace *t, int fd, const char *path)
{
	struct trace_file_info info;
	struct trace_writer *writer;
	int err;

	REQUIRE(!ftruncate(fd, 0));
	REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
	foreign_info(t, &info);
	REQUIRE(!trace_writer_start(fd, &info, &writer));
	err = foreign_write(t, "fuzz", writer);
	REQUIRE(!trace_writer_close(writer, 0));
	REQUIRE(!err);
	use(path);
}

static void check(int err, const char *why)
{
	REQUIRE(!err || (*why && !strchr(why, '\n')));
}

/* Import the bytes as trace.json in a separate folder. */
static void use_lldb(struct foreign_trace *t, int out, const char *to, const uint8_t *data,
		     size_t size)
{
	static char folder[] = "/tmp/fuzz-lldb-XXXXXX", name[64];
	char why[256];
	FILE *file;
	int err;

	if (!*name) {
		REQUIRE(mkdtemp(folder));
		snprintf(name, sizeof(name), "%s/trace.json", folder);
	}
	file = fopen(name, "w");
	REQUIRE(file && fwrite(data, 1, size, file) == size && !fclose(file));
	err = foreign_lldb_read(folder, t, why, sizeof(why));
	check(err, why);
	if (!err)
		import(t, out, to);
}

static void use_elf(const char *path)
{
	const struct foreign_raw_code code = {.path = path, .cr3 = FOREIGN_ANY_CR3};
	struct foreign_raw_pages pages = {0};
	char why[256];

	check(foreign_raw_load(&pages, &code, why, sizeof(why)), why);
	foreign_raw_pages_free(&pages);
}

static void use_perf(struct foreign_trace *t, int out, const char *from, const char *to)
{
	const char *damage;
	char why[256];
	uint64_t where;
	int err = foreign_perf_read(from, t, &damage, &where, why, sizeof(why));

	check(err, why);
	if (!err)
		import(t, out, to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int in = -1, out = -1;
	struct foreign_trace t = {.root = "/nonexistent"};
	char from[32], to[32];

	if (in < 0) {
		in = memfd_create("in", 0);
		out = memfd_create("out", 0);
	}
	REQUIRE(!ftruncate(in, 0));
	REQUIRE(pwrite(in, data, size, 0) == (ssize_t)size);
	snprintf(from, sizeof(from), "/proc/self/fd/%d", in);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", out);
	if (size && *data == '{')
		use_lldb(&t, out, to, data, size);
	else if (size && *data == 0x7f)
		use_elf(from);
	else
		use_perf(&t, out, from, to);
	foreign_free(&t);
	return 0;
}
