// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a .vpt file: opened, decoded both ways, compared with its oracle and
 * its images searched for symbols, all without harm. Where the first byte is odd the
 * checksums are made right first, so that what is behind them is reached.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/use_file.h"
#include "trace/crc32c.h"
#include "trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fix_checksums(uint8_t *at, size_t size)
{
	size_t where = sizeof(struct vpt_file_header);

	while (size > where && size - where >= sizeof(struct vpt_block)) {
		struct vpt_block block;
		size_t left = size - where - sizeof(block);

		memcpy(&block, at + where, sizeof(block));
		block.magic = VPT_BLOCK_MAGIC;
		if (block.len > left)
			block.len = (uint32_t)left;
		block.crc = 0;
		block.crc = vpt_crc32c(vpt_crc32c(0, &block, sizeof(block)),
				       at + where + sizeof(block), block.len);
		memcpy(at + where, &block, sizeof(block));
		where += sizeof(block) + ((block.len + 7) & ~7u);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct vpt_reader *r;
	char path[32], why[128];
	uint8_t *copy;
	int err;

	if (!size)
		return 0;
	copy = malloc(size);
	REQUIRE(copy);
	memcpy(copy, data + 1, size - 1);
	if (data[0] & 1)
		fix_checksums(copy, size - 1);
	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	REQUIRE(!ftruncate(fd, 0));
	REQUIRE(pwrite(fd, copy, size - 1, 0) == (ssize_t)size - 1);
	free(copy);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = vpt_reader_open(path, &r, why, sizeof(why));
	if (err) {
		REQUIRE(*why && !strchr(why, '\n'));
		return 0;
	}
	use_file(r, size - 1, data[0] & 2);
	vpt_reader_close(r);
	return 0;
}
