// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages of random code for tests of decoders. */
#include "lib/randcode.h"

#include <string.h>

uint64_t randcode_seed;

unsigned int randcode_below(unsigned int n)
{
	randcode_seed ^= randcode_seed << 13;
	randcode_seed ^= randcode_seed >> 7;
	randcode_seed ^= randcode_seed << 17;
	return (unsigned int)((randcode_seed * 0x2545f4914f6cdd1dull >> 33) % n);
}

/* @disp is the size of the displacement at the end of the instruction. */
static const struct {
	const char *bytes;
	uint8_t len, disp;
} insns[] = {
	{"\x90", 1, 0},
	{"\x74\x00", 2, 1},
	{"\x75\x00", 2, 1},
	{"\xeb\x00", 2, 1},
	{"\xe8\x00\x00\x00", 5, 4},
	{"\xe8\x00\x00\x00", 5, 4},
	{"\xe9\x00\x00\x00", 5, 4},
	{"\xc3", 1, 0},
	{"\xc3", 1, 0},
	{"\xff\xe0", 2, 0},
	{"\xff\xd0", 2, 0},
	{"\x0f\x05", 2, 0},
	{"\x0f\x22\xd8", 3, 0},
	{"\x0f\x22\xc0", 3, 0},
	{"\xcd\x80", 2, 0},
	{"\xce", 1, 0},
	{"\xcf", 1, 0},
	{"\x48\xcf", 2, 0},
	{"\x0f\x30", 2, 0},
	{"\x0f\x01\xc2", 3, 0},
	{"\x89\xc8", 2, 0},
	{"\x48\x89\xc8", 3, 0},
	{"\x06", 1, 0},
};

void randcode_fill(uint8_t (*page)[RANDCODE_PAGE], bool *missing, unsigned int pages)
{
	unsigned int p, at;

	for (p = 0; p < pages; p++) {
		missing[p] = p && !randcode_below(4);
		for (at = 0; at + 5 <= RANDCODE_PAGE;) {
			unsigned int i = randcode_below(sizeof(insns) / sizeof(insns[0]));
			unsigned int end = at + insns[i].len;
			int32_t disp =
				(int32_t)(randcode_below(4) * RANDCODE_PAGE + randcode_below(128)) -
				(int32_t)(p * RANDCODE_PAGE + end);

			memcpy(page[p] + at, insns[i].bytes, insns[i].len);
			if (insns[i].disp == 1)
				page[p][end - 1] = (uint8_t)(randcode_below(32) - 16);
			if (insns[i].disp == 4)
				memcpy(page[p] + end - 4, &disp, 4);
			at = end;
		}
		/* The last instruction continues on the next page. */
		memset(page[p] + at, 0x0f, RANDCODE_PAGE - at);
	}
}
