// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: arbitrary bytes as a .vpt file. The file is opened, decoded both ways and compared
 * with its oracle, and its images are searched for symbols, all without memory errors. If the first
 * byte is odd, the checksums are corrected first, so that the code behind that check is reached. If
 * its bit 2 is set, all blocks but the first are compressed first. Its bit 3 permits pieces, and with
 * bit 4 trace bytes are loaded only when they are used.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/bytes.h"
#include "lib/use_file.h"
#include "trace/crc32c.h"
#include "trace/reader.h"
#include "trace/zstd.h"

static void fix_checksums(uint8_t *at, size_t size)
{
	size_t where = sizeof(struct trace_file_header);

	while (size > where && size - where >= sizeof(struct trace_block)) {
		struct trace_block block;
		size_t left = size - where - sizeof(block);

		memcpy(&block, at + where, sizeof(block));
		block.magic = TRACE_BLOCK_MAGIC;
		if (block.len > left)
			block.len = (uint32_t)left;
		block.crc = 0;
		block.crc = trace_crc32c(trace_crc32c(0, &block, sizeof(block)),
					 at + where + sizeof(block), block.len);
		memcpy(at + where, &block, sizeof(block));
		where += sizeof(block) + ((block.len + 7) & ~7u);
	}
}

/*
 * Put all blocks but the first into a PACKED block in @to, which has @room bytes. Returns the new
 * size, or 0 if that is not possible.
 */
static size_t pack(const uint8_t *at, size_t size, uint8_t *to, size_t room)
{
	struct trace_packed packed = {.method = TRACE_PACKED_ZSTD};
	struct trace_block block = {.magic = TRACE_BLOCK_MAGIC, .type = TRACE_BLOCK_PACKED};
	size_t first = sizeof(struct trace_file_header), head;
	uint8_t *payload;

	if (size < first + sizeof(block))
		return 0;
	memcpy(&block.len, at + first + 8, 4);
	first += sizeof(block) + (((size_t)block.len + 7) & ~(size_t)7);
	if (first >= size || room < first + sizeof(block) + sizeof(packed))
		return 0;
	packed.bytes = (uint32_t)(size - first) & ~7u;
	head = first + sizeof(block);
	packed.packed =
		(uint32_t)trace_zstd_pack(to + head + sizeof(packed), room - head - sizeof(packed),
					  at + first, packed.bytes, 1);
	if (!packed.packed)
		return 0;
	block.len = (uint32_t)sizeof(packed) + packed.packed;
	payload = to + head;
	memcpy(payload, &packed, sizeof(packed));
	memset(payload + block.len, 0, 8);
	block.crc = trace_crc32c(trace_crc32c(0, &block, sizeof(block)), payload, block.len);
	memcpy(to, at, first);
	memcpy(to + first, &block, sizeof(block));
	return head + ((block.len + 7) & ~7u);
}

/* The part of a stream that is small enough to be used as a whole. */
#define STREAM_MAX (1u << 20)

/* Load and unload parts of the streams. Returns false if a stream is too large to be decoded. */
static bool load(struct trace_reader *r, uint8_t seed)
{
	const unsigned int vcpus = trace_reader_info(r)->vcpus;
	bool small = true;
	unsigned int i, vcpu;

	for (i = 0; i < vcpus; i++) {
		const uint64_t bytes = trace_reader_stream_bytes(r, i);
		const uint64_t from = bytes / 256 * seed, to = from + (bytes - from) / 2;

		(void)trace_reader_load(r, i, from, to);
		(void)trace_reader_unload(r, i, 0, to);
		(void)trace_reader_load(r, i, 0, bytes);
		small = small && bytes <= STREAM_MAX;
	}
	REQUIRE(!trace_reader_piece(r, &vcpu) || vcpu < vcpus);
	return small;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct trace_reader *r;
	char path[32], why[160];
	size_t room = 2 * size + 1024, len, packed;
	uint8_t *copy, *repacked;
	unsigned int how;
	int err;

	if (!size)
		return 0;
	copy = malloc(size);
	repacked = malloc(room);
	REQUIRE(copy && repacked);
	memcpy(copy, data + 1, size - 1);
	if (data[0] & 1)
		fix_checksums(copy, size - 1);
	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	packed = data[0] & 4 ? pack(copy, size - 1, repacked, room - 8) : 0;
	len = packed ? packed : size - 1;
	REQUIRE(!ftruncate(fd, 0));
	REQUIRE(pwrite(fd, packed ? repacked : copy, len, 0) == (ssize_t)len);
	free(copy);
	free(repacked);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	how = (data[0] & 8 ? TRACE_READER_PIECE : 0) | (data[0] & 16 ? TRACE_READER_LAZY : 0);
	err = trace_reader_open_as(path, how, &r, why, sizeof(why));
	if (err) {
		REQUIRE(*why && !strchr(why, '\n'));
		return 0;
	}
	if (load(r, data[0]))
		use_file(r, len, data[0] & 2);
	trace_reader_close(r);
	return 0;
}
