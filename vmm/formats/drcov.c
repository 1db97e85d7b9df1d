// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks that ran, as DynamoRIO's drcov writes them: a table of modules as text, then an entry of
 * 8 bytes for each block. Each address space on a vCPU has modules of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "formats/modules.h"
#include "text/text.h"
#include "trace/pairs.h"
#include "trace/vec.h"

#define MODULES_MAX 65536u /* their number has 16 bits in a block */

struct module {
	const struct format_lane *lane;
	struct format_module range;
};

struct drcov {
	struct format_modules images;
	struct {
		struct module *at;
		size_t n, room;
	} modules;
	uint64_t blocks;
};

/* An entry of the file, little-endian. */
struct entry {
	uint32_t start;
	uint16_t size, module;
};

static int begin(struct format_run *run)
{
	struct drcov *d = calloc(1, sizeof(*d));

	run->own = d;
	return d ? format_modules_open(run->reader, &d->images) : -ENOMEM;
}

static int lane(struct format_run *run, struct format_lane *l)
{
	(void)run;
	l->own = calloc(1, sizeof(struct trace_pairs));
	return l->own ? 0 : -ENOMEM;
}

/* Add a block by its first and last byte. */
static int add(struct format_lane *l, uint64_t ip, uint64_t last, uint8_t size)
{
	return trace_pairs_add(l->own, ip, last + (size ? size - 1u : 0)) ? 0 : -ENOMEM;
}

static int block(struct format_run *run, struct format_lane *l, const struct format_block *b)
{
	(void)run;
	return add(l, b->ip, b->last, b->size);
}

static int join(struct format_run *run, struct format_lane *l, const struct decode_space_edges *e)
{
	size_t i;
	int err = 0;

	(void)run;
	for (i = 0; !err && i < e->blocks.n; i++)
		err = add(l, e->blocks.at[i].a, decode_block_last(&e->blocks.at[i]),
			  decode_block_size(&e->blocks.at[i]));
	return err;
}

/* Find or add the module of an address. Returns 0, -ENOMEM, or -EOVERFLOW. */
static int find_module(struct drcov *d, const struct format_lane *l, uint64_t ip, size_t *index)
{
	const struct format_module range = format_modules_find(&d->images, ip);
	size_t i;

	/* Blocks of a lane come together, and so do their modules. */
	for (i = d->modules.n; i-- && d->modules.at[i].lane == l;) {
		const struct format_module *m = &d->modules.at[i].range;

		if (m->start == range.start && m->image == range.image) {
			*index = i;
			return 0;
		}
	}
	if (d->modules.n == MODULES_MAX)
		return -EOVERFLOW;
	if (!trace_vec_room(&d->modules))
		return -ENOMEM;
	*index = d->modules.n++;
	d->modules.at[*index] = (struct module){l, range};
	return 0;
}

/* Find the modules of all blocks of a lane. pair->value becomes the number of the module. */
static int bind(struct drcov *d, const struct format_lane *l)
{
	struct trace_pairs *pairs = l->own;
	size_t i, module = 0;
	int err = 0;

	trace_pairs_sort(pairs);
	for (i = 0; i < pairs->n && !err; i++) {
		err = find_module(d, l, pairs->at[i].a, &module);
		pairs->at[i].value = module;
	}
	d->blocks += pairs->n;
	return err;
}

static void write_modules(struct format_run *run, const struct drcov *d)
{
	char name[sizeof(((struct trace_elf_image *)0)->name) + 1];
	size_t i;

	fprintf(run->out,
		"DRCOV VERSION: 2\nDRCOV FLAVOR: vpt\nModule Table: version 4, count %zu\n"
		"Columns: id, containing_id, start, end, entry, offset, path\n",
		d->modules.n);
	for (i = 0; i < d->modules.n; i++) {
		const struct module *m = &d->modules.at[i];

		fprintf(run->out,
			"%3zu, %3zu, 0x%016" PRIx64 ", 0x%016" PRIx64
			", 0x0000000000000000, 0x0000000000000000, ",
			i, i, m->range.start, m->range.end);
		if (m->range.image) {
			text_copy(name, sizeof(name), m->range.image->name,
				  sizeof(m->range.image->name));
			fprintf(run->out, "%s\n", name);
		} else {
			fprintf(run->out, "[%s]\n", m->lane->name);
		}
	}
	fprintf(run->out, "BB Table: %" PRIu64 " bbs\n", d->blocks);
}

static void write_blocks(struct format_run *run, const struct drcov *d,
			 const struct trace_pairs *pairs)
{
	size_t i;

	for (i = 0; i < pairs->n; i++) {
		const struct trace_pair *p = &pairs->at[i];
		const uint64_t size = p->b - p->a + 1;
		const struct entry entry = {
			.start = (uint32_t)(p->a - d->modules.at[p->value].range.start),
			.size = (uint16_t)(size > UINT16_MAX ? UINT16_MAX : size),
			.module = (uint16_t)p->value,
		};

		fwrite(&entry, sizeof(entry), 1, run->out);
	}
}

static int end(struct format_run *run)
{
	struct drcov *d = run->own;
	size_t i;
	int err = 0;

	for (i = 0; i < run->lanes.n && !err; i++)
		err = bind(d, run->lanes.at[i]);
	if (err)
		return err;
	write_modules(run, d);
	for (i = 0; i < run->lanes.n; i++)
		write_blocks(run, d, run->lanes.at[i]->own);
	return 0;
}

static void close(struct format_run *run)
{
	struct drcov *d = run->own;
	size_t i;

	for (i = 0; i < run->lanes.n; i++) {
		if (run->lanes.at[i]->own)
			trace_pairs_free(run->lanes.at[i]->own);
		free(run->lanes.at[i]->own);
	}
	if (d) {
		format_modules_close(&d->images);
		free(d->modules.at);
	}
	free(d);
}

const struct format_type format_type_drcov = {
	.name = "drcov",
	.begin = begin,
	.lane = lane,
	.block = block,
	.join = join,
	.end = end,
	.close = close,
};
