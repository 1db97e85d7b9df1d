// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Set NR in all PIPs of a trace, as if a host had traced its guest and said nothing of it.
 *
 * usage: perf-nr TRACE        of one vCPU; it is changed in place
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/crc32c.h"
#include "trace/reader.h"
#include "vpt/packet.h"

static void die(const char *what)
{
	fprintf(stderr, "perf-nr: %s\n", what);
	exit(2);
}

/* Return a copy of the packets with NR set. */
static uint8_t *convert(const char *path, size_t *len)
{
	struct vpt_parser parser = {0};
	struct trace_reader *r;
	struct vpt_packet p;
	char why[256];
	uint8_t *bytes;
	size_t at;

	if (trace_reader_open(path, &r, why, sizeof(why)))
		die(why);
	bytes = (uint8_t *)trace_reader_stream(r, 0, len);
	if (!bytes || !*len)
		die("no trace");
	bytes = memcpy(malloc(*len), bytes, *len);
	trace_reader_close(r);
	for (at = 0; at < *len; at += p.size) {
		if (vpt_packet_read(&parser, bytes + at, *len - at, &p) != VPT_OK)
			die("not packets from end to end");
		if (p.kind == VPT_PKT_PIP)
			bytes[at + 2] |= 1; /* 33.4.2.7: the lowest bit of the payload */
	}
	return bytes;
}

/* Copy the packets back into their TRACE blocks. */
static void put(uint8_t *file, size_t size, const uint8_t *packets, size_t len)
{
	size_t at = sizeof(struct trace_file_header);

	while (at + sizeof(struct trace_block) <= size) {
		struct trace_block *b = (struct trace_block *)(file + at);
		uint8_t *payload = (uint8_t *)(b + 1);
		struct trace_chunk chunk;

		if (b->type == TRACE_BLOCK_TRACE) {
			memcpy(&chunk, payload, sizeof(chunk));
			if (chunk.offset + b->len - sizeof(chunk) > len)
				die("more packets than there are");
			memcpy(payload + sizeof(chunk), packets + chunk.offset,
			       b->len - sizeof(chunk));
			b->crc = 0;
			b->crc = trace_crc32c(trace_crc32c(0, b, sizeof(*b)), payload, b->len);
		}
		at += sizeof(*b) + ((b->len + 7) & ~7u);
	}
}

int main(int argc, char **argv)
{
	struct stat st;
	uint8_t *packets, *file;
	size_t len;
	int fd;

	if (argc != 2)
		die("usage: perf-nr TRACE");
	packets = convert(argv[1], &len);
	fd = open(argv[1], O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		die("cannot open");
	file = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		die("cannot map");
	put(file, (size_t)st.st_size, packets, len);
	munmap(file, (size_t)st.st_size);
	close(fd);
	free(packets);
	return 0;
}
