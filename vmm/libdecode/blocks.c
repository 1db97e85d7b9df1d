// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Allocate blocks and the arrays of their instructions' lengths. */
#include "libdecode/code_inside.h"

#include <errno.h>
#include <stdlib.h>

void dec_blocks_free(struct dec_code *code)
{
	uint32_t i;

	for (i = 0; i < code->nchunks; i++)
		free(code->chunk[i]);
	free(code->chunk);
	free(code->blocks.slots);
	free(code->twins.slots);
	free(code->lens);
}

uint32_t dec_code_count(const struct dec_code *code)
{
	return code->nblocks;
}

struct dec_block *dec_code_at(const struct dec_code *code, uint32_t id)
{
	return &code->chunk[id / DEC_CHUNK][id % DEC_CHUNK];
}

const uint8_t *dec_code_lens(const struct dec_code *code, const struct dec_block *block)
{
	return block->insns ? code->lens + block->lens : NULL;
}

struct dec_block *dec_blocks_new(struct dec_code *code)
{
	struct dec_block *block;

	if (code->nblocks == code->nchunks * DEC_CHUNK) {
		struct dec_block **chunk =
			realloc(code->chunk, (code->nchunks + 1) * sizeof(*chunk));

		if (!chunk)
			return NULL;
		code->chunk = chunk;
		chunk[code->nchunks] = calloc(DEC_CHUNK, sizeof(**chunk));
		if (!chunk[code->nchunks])
			return NULL;
		code->nchunks++;
	}
	block = dec_code_at(code, code->nblocks);
	block->id = code->nblocks++;
	return block;
}

int dec_blocks_lens_room(struct dec_code *code)
{
	uint32_t room = code->room ? 2 * code->room : 65536;
	uint8_t *lens;

	if (code->room - code->nlens >= DEC_INSNS_MAX)
		return 0;
	lens = realloc(code->lens, room);
	if (!lens)
		return -ENOMEM;
	code->lens = lens;
	code->room = room;
	return 0;
}
