// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For tests of --memory: a trace without its code, and the guest's memory as an image.
 *
 *   memory blind TRACE OUT          TRACE, with no byte of its pages of code
 *   memory blind-guests TRACE OUT   TRACE, with none of its guests' pages
 *   memory FORMAT SNAPSHOT OUT      the RAM of a .vps file, as lib/imagefile.h has the formats
 *   memory FORMAT SNAPSHOT OUT TEXT   with TEXT as VMCOREINFO
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/snapshot.h"
#include "lib/imagefile.h"
#include "lib/rawfile.h"

/* A block type that no reader knows. */
#define UNKNOWN_TYPE 0x7ffe

struct bytes {
	uint8_t *at;
	size_t n;
};

static int fail(const char *what)
{
	fprintf(stderr, "memory: %s\n", what);
	return 2;
}

static bool load(const char *path, struct bytes *b)
{
	FILE *file = fopen(path, "r");
	long n = -1;

	if (file && !fseek(file, 0, SEEK_END))
		n = ftell(file);
	if (n < 0)
		return false;
	rewind(file);
	b->n = (size_t)n;
	b->at = malloc(b->n + 1);
	return b->at && fread(b->at, 1, b->n, file) == b->n && !fclose(file);
}

static bool is_code(unsigned int type)
{
	return type == TRACE_BLOCK_CODE || type == TRACE_BLOCK_PAGE || type == TRACE_BLOCK_MAP;
}

/* Ids of guests' spaces, which come before their code. */
struct guests {
	uint64_t id[256];
	size_t n;
};

static void note_spaces(struct guests *g, const uint8_t *payload, size_t len)
{
	struct trace_space space;

	for (; len >= sizeof(space); payload += sizeof(space), len -= sizeof(space)) {
		memcpy(&space, payload, sizeof(space));
		if (space.flags & TRACE_SPACE_NON_ROOT && g->n < sizeof(g->id) / sizeof(g->id[0]))
			g->id[g->n++] = space.id;
	}
}

/* Returns true for a CODE block of a guest, and false for every other type, such as PAGE and MAP. */
static bool is_guests(const struct guests *g, unsigned int type, const uint8_t *payload)
{
	struct trace_code_page page;
	size_t i;

	if (type != TRACE_BLOCK_CODE)
		return false;
	memcpy(&page, payload, sizeof(page));
	for (i = 0; i < g->n && g->id[i] != page.cr3; i++)
		;
	return i < g->n;
}

/*
 * Returns the number of blocks that had code, 0 if the file is damaged. @guests: only theirs is
 * removed.
 */
static unsigned int blind(struct bytes *b, bool guests)
{
	struct guests g = {.n = 0};
	size_t at = sizeof(struct trace_file_header);
	unsigned int n = 0;

	while (at + sizeof(struct trace_block) <= b->n) {
		struct trace_block block;
		size_t len;

		memcpy(&block, b->at + at, sizeof(block));
		len = sizeof(block) + ((block.len + 7ull) & ~7ull);
		if (block.magic != TRACE_BLOCK_MAGIC || len > b->n - at)
			return 0;
		if (block.type == TRACE_BLOCK_SPACE)
			note_spaces(&g, b->at + at + sizeof(block), block.len);
		if (guests ? is_guests(&g, block.type, b->at + at + sizeof(block))
			   : is_code(block.type)) {
			block.type = UNKNOWN_TYPE;
			memset(b->at + at + sizeof(block), 0, len - sizeof(block));
			memcpy(b->at + at, &block, sizeof(block));
			n++;
		}
		at += len;
	}
	rawfile_mend(b->at, b->n);
	return n;
}

/* Find the RAM of a snapshot. Pages that no block has are zero. */
static bool find_ram(const struct bytes *b, struct bytes *ram)
{
	size_t at = sizeof(struct core_snap_header);

	while (at + sizeof(struct core_snap_block) <= b->n) {
		const uint8_t *payload = b->at + at + sizeof(struct core_snap_block);
		struct core_snap_block block;
		struct core_snap_info info;
		uint64_t address;

		memcpy(&block, b->at + at, sizeof(block));
		if (block.magic != CORE_SNAP_BLOCK_MAGIC || block.len > b->n - at - sizeof(block))
			return false;
		if (block.type == CORE_SNAP_INFO) {
			memcpy(&info, payload, sizeof(info));
			ram->n = info.mem_bytes;
			ram->at = calloc(1, ram->n);
		}
		if (block.type == CORE_SNAP_RAM) {
			memcpy(&address, payload, sizeof(address));
			if (!ram->at || address + block.len - sizeof(address) > ram->n)
				return false;
			memcpy(ram->at + address, payload + sizeof(address),
			       block.len - sizeof(address));
		}
		at += sizeof(block) + ((block.len + 7ull) & ~7ull);
	}
	return ram->at != NULL;
}

static int write_blind(struct bytes *b, const char *path, bool guests)
{
	unsigned int n = blind(b, guests);
	FILE *file;

	if (!n)
		return fail("not a trace, or it has no code");
	file = fopen(path, "w");
	if (!file || fwrite(b->at, 1, b->n, file) != b->n || fclose(file))
		return fail("cannot write");
	printf("blocks of code that were blanked: %u\n", n);
	return 0;
}

int main(int argc, char **argv)
{
	struct bytes in = {0}, ram = {0};
	struct imagefile image = {0};
	unsigned int i;

	if (argc < 4 || argc > 5)
		return fail("FORMAT IN OUT [TEXT]");
	if (!load(argv[2], &in))
		return fail("cannot read");
	if (!strcmp(argv[1], "blind"))
		return write_blind(&in, argv[3], false);
	if (!strcmp(argv[1], "blind-guests"))
		return write_blind(&in, argv[3], true);
	if (!find_ram(&in, &ram))
		return fail("not a snapshot");
	image = (struct imagefile){ram.at, ram.n, 0, argv[4]};
	for (i = 0; i < IMAGEFILE_FORMATS; i++) {
		if (!strcmp(argv[1], imagefile_names[i]))
			return imagefile_write(argv[3], (enum imagefile_format)i, &image)
				       ? 0
				       : fail("cannot write");
	}
	return fail("no such format");
}
