// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes a part of a trace once more, from a piece that is cut for it. */
#include "lib/via_piece.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/partial_file.h"
#include "lib/require.h"
#include "trace/piece.h"

static size_t size_of(int fd)
{
	struct stat st;

	REQUIRE(!fstat(fd, &st));
	return (size_t)st.st_size;
}

static bool same_files(int a, int b)
{
	const size_t n = size_of(a);
	uint8_t *x = malloc(n), *y = malloc(n);
	bool same = size_of(b) == n;

	REQUIRE(x && y && n);
	REQUIRE(pread(a, x, n, 0) == (ssize_t)n);
	same = same && pread(b, y, n, 0) == (ssize_t)n && !memcmp(x, y, n);
	free(x);
	free(y);
	return same;
}

/* Cut the piece into a file. */
static int cut(const struct decode_shard_part *part)
{
	struct decode_shard_code code;
	struct decode_shard_part with = *part;
	struct trace_piece_want want = {
		.vcpu = part->vcpu,
		.from = part->shard ? part->shard->from.psb : 0,
		.to = part->shard ? part->shard->to.end : UINT64_MAX,
		.images = decode_partial_has_names(part->kind),
	};
	struct decode_partial p;
	const int fd = memfd_create("piece", 0);

	with.code = &code;
	REQUIRE(fd >= 0 && !decode_shard_part(&with, &p));
	want.code = code.list;
	want.ncode = code.n;
	want.piece.insns = p.sum.insns;
	want.piece.errors = p.sum.errors;
	REQUIRE(!trace_piece_write(part->reader, &want, fd));
	free(code.list);
	decode_partial_free(&p);
	return fd;
}

/* Decode a piece, and write its result to a file. */
static int decode(int piece, const struct decode_shard_part *part,
		  const struct decode_partial *want)
{
	struct debug_symbols *symbols = NULL;
	struct decode_shard_part with = *part;
	struct decode_partial p;
	const int fd = memfd_create("result", 0);
	unsigned int vcpu;
	char why[256];

	REQUIRE(fd >= 0);
	REQUIRE(!trace_reader_open_fd(piece, TRACE_READER_PIECE, &with.reader, why, sizeof(why)));
	REQUIRE(!trace_reader_extent(with.reader)->why);
	REQUIRE(trace_reader_piece(with.reader, &vcpu) && vcpu == part->vcpu);
	REQUIRE(trace_reader_stream_bytes(with.reader, vcpu) ==
		trace_reader_stream_bytes(part->reader, vcpu));
	REQUIRE(!debug_symbols_open(with.reader, &symbols));
	if (decode_partial_is_listing(part->kind) && part->listing.lines)
		REQUIRE(!debug_symbols_read_lines(symbols));
	with.symbols = symbols;
	REQUIRE(!decode_shard_part(&with, &p));
	p.first = want->first;
	p.end = want->end;
	REQUIRE(!decode_partial_write(&p, fd));
	REQUIRE(p.sum.insns == trace_reader_piece(with.reader, &vcpu)->insns);
	decode_partial_free(&p);
	debug_symbols_close(symbols);
	trace_reader_close(with.reader);
	return fd;
}

bool via_piece(const struct decode_shard_part *part, const struct decode_partial *want, int result,
	       uint64_t *bytes)
{
	const int piece = cut(part), again = decode(piece, part, want);
	const bool same = same_files(result, again);

	*bytes += size_of(piece);
	close(again);
	close(piece);
	return same;
}
