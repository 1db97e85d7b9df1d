// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a trace several times behind itself, as if the guest had run again: a longer trace of the
 * same work.
 *
 * usage: repeat FROM TO N
 *
 * Blocks with a place in a stream or with a counter are written N times. They are moved by the length
 * of the stream, and by the instructions of the rounds before. All others are written once. POINT and
 * STOP blocks and inputs are left out. Prints the instructions of the result.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/crc32c.h"
#include "trace/format.h"

#define VCPUS_MAX 64

/* The length of each vCPU's stream, and its counter at the end. */
static struct {
	uint64_t bytes, insns;
} whole[VCPUS_MAX];

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "repeat: %s\n", what);
	exit(2);
}

static void add(char *field, uint64_t what)
{
	uint64_t value;

	memcpy(&value, field, sizeof(value));
	value += what;
	memcpy(field, &value, sizeof(value));
}

/* The fields of each entry of a block that repeat moves. */
struct moves {
	size_t entry; /* size of an entry, 0: the block is one */
	int offset, insns;
};
#define MOVES(type, entry, offset, insns) [TRACE_BLOCK_##type] = {entry, offset, insns}
#define AT(what, field)			  ((int)offsetof(struct what, field))
#define NOWHERE				  (-1)

static const struct moves moved[TRACE_BLOCK_TYPES] = {
	MOVES(TRACE, 0, AT(trace_chunk, offset), NOWHERE),
	MOVES(SESSION, 0, AT(trace_session, offset), AT(trace_session, insns)),
	MOVES(CODE, 0, NOWHERE, AT(trace_code_page, insns)),
	MOVES(MAP, sizeof(struct trace_page_map), NOWHERE, AT(trace_page_map, page.insns)),
	MOVES(CR3, 0, NOWHERE, AT(trace_cr3_switch, insns)),
	MOVES(TASK, sizeof(struct trace_task), AT(trace_task, offset), AT(trace_task, insns)),
};

static int is_moved(unsigned int type)
{
	return type < TRACE_BLOCK_TYPES && moved[type].offset + moved[type].insns != 0;
}

/* Note how long the streams are. */
static void measure(const struct trace_block *block, const char *payload)
{
	struct trace_session session;

	if (block->vcpu >= VCPUS_MAX)
		fail("too many vCPUs");
	if (block->type == TRACE_BLOCK_TRACE)
		whole[block->vcpu].bytes += block->len - sizeof(struct trace_chunk);
	if (block->type != TRACE_BLOCK_SESSION)
		return;
	memcpy(&session, payload, sizeof(session));
	whole[block->vcpu].insns = session.insns;
}

static void move(const struct trace_block *block, char *payload, uint64_t round)
{
	const struct moves *m = &moved[block->type];
	const size_t entry = m->entry ? m->entry : block->len;
	size_t at;

	for (at = 0; at + entry <= block->len; at += entry) {
		if (m->offset >= 0)
			add(payload + at + m->offset, round * whole[block->vcpu].bytes);
		if (m->insns >= 0)
			add(payload + at + m->insns, round * whole[block->vcpu].insns);
	}
}

static int is_written(unsigned int type, uint64_t round)
{
	switch (type) {
	case TRACE_BLOCK_POINT:
	case TRACE_BLOCK_STOP:
	case TRACE_BLOCK_INPUT:
	case TRACE_BLOCK_OPTIONS:
	case TRACE_BLOCK_END:
		return 0;
	case TRACE_BLOCK_ORACLE:
	case TRACE_BLOCK_INDEX:
		fail("this trace has blocks that cannot be repeated");
	default:
		return !round || is_moved(type);
	}
}

static void write_block(FILE *to, struct trace_block *block, const char *payload)
{
	const size_t padded = (block->len + 7u) & ~7u;

	block->crc = 0;
	block->crc = trace_crc32c(trace_crc32c(0, block, sizeof(*block)), payload, block->len);
	if (fwrite(block, sizeof(*block), 1, to) != 1 || fwrite(payload, 1, padded, to) != padded)
		fail("cannot write");
}

static void write_end(FILE *to)
{
	const struct trace_file_end end = {0};
	struct trace_block block = {TRACE_BLOCK_MAGIC, TRACE_BLOCK_END, 0, sizeof(end), 0};

	write_block(to, &block, (const char *)&end);
}

/* Read all blocks, and write those of this round unless `to` is NULL. */
static void pass(FILE *from, long begin, FILE *to, uint64_t round)
{
	struct trace_block block;
	size_t padded;
	char *payload;

	if (fseek(from, begin, SEEK_SET))
		fail("cannot read");
	while (fread(&block, sizeof(block), 1, from) == 1) {
		padded = (block.len + 7u) & ~7u;
		payload = calloc(1, padded + 1);
		if (!payload || fread(payload, 1, padded, from) != padded)
			fail("a block cannot be read");
		if (!to) {
			measure(&block, payload);
		} else if (is_written(block.type, round)) {
			if (is_moved(block.type))
				move(&block, payload, round);
			write_block(to, &block, payload);
		}
		free(payload);
	}
}

int main(int argc, char **argv)
{
	struct trace_file_header header;
	uint64_t round, times, insns = 0;
	FILE *from, *to;
	unsigned int i;

	if (argc != 4)
		fail("usage: repeat FROM TO N");
	from = fopen(argv[1], "rb");
	to = fopen(argv[2], "wb");
	times = strtoull(argv[3], NULL, 0);
	if (!from || !to || fread(&header, sizeof(header), 1, from) != 1 ||
	    header.size != sizeof(header) || fwrite(&header, sizeof(header), 1, to) != 1)
		fail("cannot open the files");
	pass(from, sizeof(header), NULL, 0);
	for (round = 0; round < times; round++)
		pass(from, sizeof(header), to, round);
	write_end(to);
	for (i = 0; i < VCPUS_MAX; i++)
		insns += times * whole[i].insns;
	printf("%" PRIu64 "\n", insns);
	return fclose(to) ? fail("cannot write"), 1 : 0;
}
