// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: plans and partial results of vpt shard. A file must be refused with one line, or its
 * calls and its listing can be joined and printed. If the first byte of the input is even, the rest is
 * a plan. With bit 1 it is the text of a listing, which is compressed and read back. Otherwise it is a
 * partial result, whose checksums are corrected.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/shard_plan.h"
#include "decode/calls_piece.h"
#include "decode/listing_join.h"
#include "decode/partial_file.h"
#include "decode/partial_spaces.h"
#include "fuzz/bytes.h"
#include "trace/crc32c.h"

/* Of the header of a partial result (decode/partial_file.c). */
#define HEADER	   (1592 + 8 * DECODE_FLOW_COUNT)
#define HEADER_CRC 12
#define TABLE_AT   40
#define TABLE	   16
#define TABLE_CRC  8

static const size_t entry_bytes[] = {
	sizeof(struct decode_block_count),	sizeof(struct decode_calls_piece),
	sizeof(struct decode_calls_piece_node), sizeof(struct decode_calls_piece_frame),
	sizeof(struct decode_partial_space),	sizeof(struct decode_partial_edge),
	sizeof(struct decode_partial_block),	sizeof(struct decode_partial_range),
	sizeof(struct decode_partial_share),	sizeof(struct decode_text_chunk),
	sizeof(struct decode_partial_byte),	1,
};

static void put_crc(uint8_t *at, const uint8_t *bytes, size_t len)
{
	const uint32_t crc = trace_crc32c(0, bytes, len);

	memcpy(at, &crc, sizeof(crc));
}

/* Give the tables all bytes behind the header, in equal parts, and set all checksums. */
static void correct(uint8_t *bytes, size_t size)
{
	const uint64_t magic = 0x0a54524150545056ull;
	const uint32_t version = 4;
	uint8_t *at = bytes + HEADER;
	size_t left = size - HEADER;
	unsigned int i;

	memcpy(bytes, &magic, sizeof(magic));
	memcpy(bytes + 8, &version, sizeof(version));
	for (i = 0; i < sizeof(entry_bytes) / sizeof(entry_bytes[0]); i++) {
		uint8_t *table = bytes + TABLE_AT + i * TABLE;
		uint64_t entries;

		memcpy(&entries, table, sizeof(entries));
		entries %= left / entry_bytes[i] + 1;
		memcpy(table, &entries, sizeof(entries));
		put_crc(table + TABLE_CRC, at, entries * entry_bytes[i]);
		at += entries * entry_bytes[i];
		left -= entries * entry_bytes[i];
	}
	memset(bytes + HEADER_CRC, 0, 4);
	put_crc(bytes + HEADER_CRC, bytes, HEADER);
}

/* Print a tree, which is NULL if the result has none. */
static void print(struct decode_calls *open)
{
	struct decode_calls *calls = decode_calls_new(NULL);
	const struct decode_calls_pieces *pieces;
	FILE *out = fopen("/dev/null", "w");

	REQUIRE(calls && out);
	if (open) {
		pieces = decode_calls_close_open(open);
		REQUIRE(pieces);
		/* The same calls once more, so that a tree with callers is joined to. */
		REQUIRE(decode_calls_join(calls, pieces) && decode_calls_join(calls, pieces));
	}
	decode_calls_print(calls, out, true, NULL, 1000);
	fclose(out);
	decode_calls_free(calls);
}

/* Print a listing, if it is one. */
static void list(const struct decode_text *text)
{
	struct decode_listing_join join = {.out = fopen("/dev/null", "w"), .left = 1000};
	int err;

	REQUIRE(join.out);
	err = decode_text_read(text, decode_listing_join, &join);
	REQUIRE(!err || err == -EINVAL);
	fclose(join.out);
}

/* Compress a text that claims to be a listing, and list it twice. */
static void take_text(const uint8_t *bytes, size_t len)
{
	struct decode_text text = {.chunks.n = 0}, again = {.chunks.n = 0};
	struct decode_text_writer *w;
	FILE *out;

	w = decode_text_begin(&text, &out);
	REQUIRE(w);
	REQUIRE(!len || fwrite(bytes, len, 1, out) == 1);
	REQUIRE(!decode_text_end(w));
	REQUIRE(!decode_text_take(&again, text.chunks.at, text.chunks.n, text.bytes.at,
				  text.bytes.n));
	REQUIRE(decode_text_join(&text, &again));
	list(&text);
	decode_text_free(&text);
}

static void take_result(const char *path)
{
	struct decode_partial a, b;
	char why[128];
	size_t i;

	if (!decode_partial_read(path, &a, why, sizeof(why))) {
		REQUIRE(!decode_partial_read(path, &b, why, sizeof(why)));
		b.first = a.end;
		b.ends[0] = a.ends[1];
		if (decode_partial_fits(&a, &b) == DECODE_PARTIAL_FITS)
			REQUIRE(!decode_partial_join(&a, &b));
		REQUIRE(decode_space_parts_close(&a.parts));
		decode_partial_free(&b);
		print(a.calls);
		for (i = 0; i < a.parts.spaces.n; i++)
			print(a.parts.spaces.at[i].calls);
		list(&a.text);
	} else {
		REQUIRE(*why);
	}
	decode_partial_free(&a);
}

static void take_plan(const char *path)
{
	struct cli_plan plan;
	char line[512] = "";

	cli_fail_keep(line, sizeof(line));
	REQUIRE(!cli_plan_read(path, &plan) == !*line);
	cli_plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[65536] = {0};
	char path[32];
	int fd;

	if (!size || size > sizeof(bytes) - HEADER)
		return 0;
	if ((*data & 3) == 3) {
		take_text(data + 1, size - 1);
		return 0;
	}
	fd = memfd_create("fuzz", 0);
	REQUIRE(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	memcpy(bytes, data + 1, size - 1);
	if (*data & 1) {
		size += HEADER;
		correct(bytes, size - 1);
	}
	REQUIRE(write(fd, bytes, size - 1) == (ssize_t)(size - 1));
	if (*data & 1)
		take_result(path);
	else
		take_plan(path);
	close(fd);
	return 0;
}
