// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies a trace, and moves code behind the packets that need it, as no recorder of vpt does.
 *
 * usage: late FROM TO N
 *
 * Every MAP and CODE block is moved behind the N TRACE and SESSION blocks that follow it, or before
 * the END block. Prints the number of moved blocks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

struct moved {
	long at;
	size_t bytes;
	uint64_t due; /* the number of TRACE and SESSION blocks before it */
};

static FILE *from, *to;
static struct moved *waiting;
static size_t nwaiting;

static int fail(const char *what)
{
	fprintf(stderr, "late: %s\n", what);
	exit(2);
}

static void copy(long at, size_t bytes)
{
	char *block = malloc(bytes);

	if (!block || fseek(from, at, SEEK_SET) || fread(block, 1, bytes, from) != bytes ||
	    fwrite(block, 1, bytes, to) != bytes)
		fail("cannot copy a block");
	free(block);
}

/* Write the waiting blocks that are due. */
static void flush(uint64_t now)
{
	size_t i;

	for (i = 0; i < nwaiting && waiting[i].due <= now; i++)
		copy(waiting[i].at, waiting[i].bytes);
	memmove(waiting, waiting + i, (nwaiting - i) * sizeof(*waiting));
	nwaiting -= i;
}

static void wait(long at, size_t bytes, uint64_t due)
{
	waiting = realloc(waiting, (nwaiting + 1) * sizeof(*waiting));
	if (!waiting)
		fail("no memory");
	waiting[nwaiting++] = (struct moved){at, bytes, due};
}

int main(int argc, char **argv)
{
	uint64_t n, passed = 0, moved = 0;
	struct trace_file_header header;
	struct trace_block block;
	long at;

	if (argc != 4)
		return fail("usage: late FROM TO N");
	from = fopen(argv[1], "rb");
	to = fopen(argv[2], "wb");
	n = strtoull(argv[3], NULL, 0);
	if (!from || !to || fread(&header, sizeof(header), 1, from) != 1)
		fail("cannot open the files");
	copy(0, header.size);
	for (at = header.size;
	     !fseek(from, at, SEEK_SET) && fread(&block, sizeof(block), 1, from) == 1;) {
		const size_t bytes = sizeof(block) + ((block.len + 7u) & ~7u);

		if (block.type == TRACE_BLOCK_MAP || block.type == TRACE_BLOCK_CODE) {
			wait(at, bytes, passed + n);
			moved++;
		} else {
			if (block.type == TRACE_BLOCK_END)
				flush(UINT64_MAX);
			copy(at, bytes);
			passed += block.type == TRACE_BLOCK_TRACE ||
				  block.type == TRACE_BLOCK_SESSION;
			flush(passed);
		}
		at += (long)bytes;
	}
	printf("%" PRIu64 "\n", moved);
	return fclose(to) ? fail("cannot write") : 0;
}
