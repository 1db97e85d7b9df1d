// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt record: the guests' code. The trace is decoded once, with this machine's memory as the source
 * of its guests' code, and what the decoder asked for goes to the file. A space in which it found an
 * end of the code is left out as a whole: its part would only be an error for the file's readers.
 */
#include "cli/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/flow.h"
#include "image/set.h"
#include "image/table.h"
#include "trace/reader.h"
#include "trace/vec.h"

/* Each pass without the spaces that the one before left out. */
#define PASSES_MAX 4

/* A space of the file. */
struct guest {
	const struct vpt_space *space;
	uint64_t number; /* of the images' set; VPT_SOURCE_NONE: not asked for yet */
	bool left_out, used;
};

struct found {
	size_t guest;
	unsigned int vcpu;
	uint64_t vaddr;
	const uint8_t *bytes;
};

struct collect {
	struct vpt_writer *writer;
	struct vpt_code_source inner, outer;
	struct guest *guests;
	size_t n;
	struct {
		struct found *at;
		size_t n, room;
	} found;
	unsigned int vcpu;
	bool no_memory;
	bool again;		   /* a space was left out in this pass */
	struct img_table contents; /* bytes -> number of the writer's, plus 1 */
};

static struct guest *find_guest(struct collect *c, const struct vpt_source_key *key)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct vpt_space *s = c->guests[i].space;

		if (s->flags & VPT_SPACE_NON_ROOT && s->cr3 == key->cr3 && s->vmcs == key->vmcs)
			return &c->guests[i];
	}
	return NULL;
}

/* Only guests of the file have code here. */
static uint64_t space_number(void *context, const struct vpt_source_key *key)
{
	struct collect *c = context;
	struct guest *guest = key->non_root ? find_guest(c, key) : NULL;

	if (!guest || guest->left_out)
		return VPT_SOURCE_NONE;
	guest->number = c->inner.space(c->inner.context, key);
	return guest->number;
}

static uint64_t guess(void *context, uint64_t ip)
{
	(void)context;
	(void)ip;
	return VPT_SOURCE_NONE;
}

static const uint8_t *page(void *context, uint64_t number, uint64_t vaddr)
{
	struct collect *c = context;
	const uint8_t *bytes = c->inner.page(c->inner.context, number, vaddr);
	size_t i;

	for (i = 0; i < c->n && c->guests[i].number != number; i++)
		;
	if (!bytes || i == c->n)
		return bytes;
	if (!vpt_vec_room(&c->found)) {
		c->no_memory = true;
		return NULL;
	}
	c->found.at[c->found.n++] = (struct found){i, c->vcpu, vaddr, bytes};
	return bytes;
}

static void leave_out(struct collect *c, uint64_t id)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		struct guest *g = &c->guests[i];

		if (g->space->id != id || !(g->space->flags & VPT_SPACE_NON_ROOT))
			continue;
		c->again |= !g->left_out;
		g->left_out = true;
	}
}

static int collect_vcpu(struct collect *c, struct vpt_reader *reader)
{
	struct vpt_flow *flow;
	struct vpt_item item;
	int err = vpt_flow_open(reader, c->vcpu, VPT_FLOW_COUNTS, &flow);

	if (err)
		return err;
	do {
		err = vpt_flow_next(flow, &item);
		if (!err && item.kind == VPT_ITEM_ERROR)
			leave_out(c, item.cr3);
	} while (!err && item.kind != VPT_ITEM_END);
	vpt_flow_close(flow);
	return err;
}

/* Decode all that is in the file. */
static int collect_all(struct collect *c, const char *path)
{
	struct vpt_reader *reader;
	char why[256];
	int err = vpt_reader_open_as(path, VPT_READER_NO_ORACLE, &reader, why, sizeof(why));
	unsigned int vcpus;

	if (err)
		return err;
	c->found.n = 0;
	c->again = false;
	vcpus = vpt_reader_info(reader)->vcpus;
	vpt_reader_set_source(reader, &c->outer);
	for (c->vcpu = 0; c->vcpu < vcpus && !err; c->vcpu++)
		err = collect_vcpu(c, reader);
	vpt_reader_close(reader);
	return c->no_memory ? -ENOMEM : err;
}

/* A page is in the file once, wherever it was found. */
static int content(struct collect *c, const uint8_t *bytes, uint64_t *id)
{
	uintptr_t key = (uintptr_t)bytes;
	const void *was = img_table_find(&c->contents, key, 0);
	int err;

	if (was) {
		*id = (uintptr_t)was - 1;
		return 0;
	}
	err = vpt_writer_page(c->writer, bytes, id);
	if (!err && !img_table_add(&c->contents, key, 0, (const void *)(uintptr_t)(*id + 1)))
		err = -ENOMEM;
	return err;
}

static int write_found(struct collect *c, const struct found *f)
{
	struct guest *guest = &c->guests[f->guest];
	struct vpt_page_map map = {
		.page = {.cr3 = guest->space->id, .vaddr = f->vaddr, .gpa = UINT64_MAX},
	};
	int err;

	if (guest->left_out)
		return 0;
	guest->used = true;
	err = content(c, f->bytes, &map.content);
	return err ? err : vpt_writer_map(c->writer, f->vcpu, &map, 1);
}

static int open_memory(struct img_set *set, const char *path)
{
	const struct img_use use = {
		.side = IMG_HOST,
		.vmcs = VPT_SPACE_ANY_VMCS,
		.paging = IMG_PAGINGS,
		.cr3 = VPT_SOURCE_NONE,
	};
	struct img_image *image;
	char why[256];
	int err = img_open(path, 0, &image, why, sizeof(why));

	if (err == -ENOMEM)
		return err;
	if (err) {
		fprintf(stderr, "vpt record: %s: %s: recording without the guests' code\n", path,
			why);
		return 0;
	}
	return img_set_add(set, image, &use);
}

static int run(struct collect *c, const char *path)
{
	unsigned int passes = 0;
	size_t i;
	int err = vpt_writer_sync(c->writer);

	do {
		if (!err)
			err = collect_all(c, path);
	} while (!err && c->again && ++passes < PASSES_MAX);
	for (i = 0; i < c->found.n && !err; i++)
		err = write_found(c, &c->found.at[i]);
	return err;
}

static void count(const struct collect *c, struct vpt_record_sum *sum)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (c->guests[i].used)
			sum->guest_code++;
	}
}

int vpt_record_guests(struct vpt_writer *writer, const char *path, const char *memory,
		      const struct vpt_space *spaces, size_t n, struct vpt_record_sum *sum)
{
	struct collect c = {.writer = writer, .n = n};
	struct img_set *set = img_set_new();
	bool any = false;
	size_t i;
	int err = -ENOMEM;

	c.guests = calloc(n + 1, sizeof(*c.guests));
	if (!set || !c.guests)
		goto out;
	for (i = 0; i < n; i++) {
		c.guests[i] = (struct guest){.space = &spaces[i], .number = VPT_SOURCE_NONE};
		any |= spaces[i].flags & VPT_SPACE_NON_ROOT;
	}
	err = any ? open_memory(set, memory) : 0;
	c.inner = img_set_source(set);
	c.outer = (struct vpt_code_source){
		.space = space_number, .guess = guess, .page = page, .context = &c};
	if (!err && any)
		err = run(&c, path);
	if (!err)
		count(&c, sum);
out:
	free(c.guests);
	free(c.found.at);
	free(c.contents.slots);
	img_set_free(set);
	return err;
}
