// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes .vpt files by hand and mends checksums. */
#include "lib/rawfile.h"

#include <stdlib.h>
#include <string.h>

#include "core/snapshot.h"
#include "trace/crc32c.h"

static void put(struct rawfile *f, const void *bytes, size_t len)
{
	if (len && fwrite(bytes, 1, len, f->out) != len) {
		perror("rawfile: write");
		exit(1);
	}
}

void rawfile_block(struct rawfile *f, unsigned int type, const void *head, size_t nhead,
		   const void *body, size_t nbody)
{
	static const uint8_t zeros[8];
	struct trace_block block = {
		.magic = TRACE_BLOCK_MAGIC,
		.type = (uint16_t)type,
		.len = (uint32_t)(nhead + nbody),
	};

	block.crc = trace_crc32c(0, &block, sizeof(block));
	block.crc = trace_crc32c(block.crc, head, nhead);
	block.crc = trace_crc32c(block.crc, body, nbody);
	put(f, &block, sizeof(block));
	put(f, head, nhead);
	put(f, body, nbody);
	put(f, zeros, -block.len & 7);
}

void rawfile_open(struct rawfile *f, const char *path)
{
	const struct trace_file_header header = {
		.magic = TRACE_FILE_MAGIC,
		.version = TRACE_FILE_OLD,
		.size = sizeof(header),
	};
	const struct trace_file_info info = {
		.caps = *vpt_caps_model("skl"),
		.model = "skl",
		.engine = "none",
		.owner = TRACE_OWNER_HOST,
		.vcpus = 1,
	};

	memset(f, 0, sizeof(*f));
	f->out = fopen(path, "wb");
	if (!f->out) {
		perror(path);
		exit(1);
	}
	put(f, &header, sizeof(header));
	rawfile_block(f, TRACE_BLOCK_INFO, &info, sizeof(info), NULL, 0);
}

void rawfile_trace(struct rawfile *f, const void *packets, size_t len)
{
	const struct trace_chunk chunk = {.offset = f->stream, .gpa = UINT64_MAX};

	if (!len)
		return;
	rawfile_block(f, TRACE_BLOCK_TRACE, &chunk, sizeof(chunk), packets, len);
	f->stream += len;
}

void rawfile_close(struct rawfile *f)
{
	const struct trace_file_end end = {0};

	rawfile_block(f, TRACE_BLOCK_END, &end, sizeof(end), NULL, 0);
	if (fclose(f->out)) {
		perror("rawfile: close");
		exit(1);
	}
}

/* Both kinds of block have a magic, a type of four bytes, a length and a checksum. */
_Static_assert(sizeof(struct trace_block) == sizeof(struct core_snap_block), "one shape of blocks");
_Static_assert(offsetof(struct trace_block, len) == offsetof(struct core_snap_block, len),
	       "one shape of blocks");

void rawfile_mend(uint8_t *bytes, size_t len)
{
	size_t at = sizeof(struct trace_file_header);
	uint64_t magic = 0;

	if (len < at)
		return;
	memcpy(&magic, bytes, sizeof(magic));
	while (len - at >= sizeof(struct trace_block)) {
		uint8_t *payload = bytes + at + sizeof(struct trace_block);
		size_t left = len - at - sizeof(struct trace_block), padded;
		struct trace_block block;

		memcpy(&block, bytes + at, sizeof(block));
		block.magic = magic == CORE_SNAP_MAGIC ? CORE_SNAP_BLOCK_MAGIC : TRACE_BLOCK_MAGIC;
		if (block.len > left)
			block.len = (uint32_t)left;
		padded = ((size_t)block.len + 7) & ~(size_t)7;
		if (padded > left)
			padded = left;
		memset(payload + block.len, 0, padded - block.len);
		block.crc = 0;
		block.crc =
			trace_crc32c(trace_crc32c(0, &block, sizeof(block)), payload, block.len);
		memcpy(bytes + at, &block, sizeof(block));
		at += sizeof(block) + padded;
	}
}
