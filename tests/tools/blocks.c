// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the type of every block of a .vpt or .vps file, one number a line. It knows of the
 * format only what both have in common, and shares no code with the readers of vpt.
 *
 * usage: blocks [-o] FILE...
 *
 *   -o   print the offset of the block before its type
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HEADER_BYTES 32

/* The 16 bytes before each payload. A .vpt file has the vCPU in the upper half of `type`. */
struct block {
	char magic[4];
	uint32_t type;
	uint32_t len;
	uint32_t crc;
};

/* Returns false if the file does not consist of whole blocks. */
static int print_types(FILE *file, bool offsets)
{
	struct block block;
	int is_trace;

	if (fseek(file, HEADER_BYTES, SEEK_SET))
		return 0;
	while (fread(&block, sizeof(block), 1, file) == 1) {
		is_trace = !memcmp(block.magic, "VBLK", 4);
		if (!is_trace && memcmp(block.magic, "SBLK", 4))
			return 0;
		if (offsets)
			printf("%ld ", ftell(file) - (long)sizeof(block));
		printf("%u\n", (unsigned int)(is_trace ? block.type & 0xffff : block.type));
		if (fseek(file, ((long)block.len + 7) & ~7l, SEEK_CUR))
			return 0;
	}
	return feof(file);
}

int main(int argc, char **argv)
{
	bool offsets = argc > 1 && !strcmp(argv[1], "-o");
	int i;

	for (i = offsets ? 2 : 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");

		if (!file || !print_types(file, offsets)) {
			fprintf(stderr, "blocks: %s: cannot be read\n", argv[i]);
			return 1;
		}
		fclose(file);
	}
	return 0;
}
