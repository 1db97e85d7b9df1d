// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt record: finds the guests' code. The trace is decoded once, with memory of this machine as the
 * source of its guests' code. The code that the decoder requests goes to the file. If the decoder
 * lacks code of a space, the whole space is omitted, because a part would only cause errors for the
 * file's readers.
 *
 * There are several ways to find a guest's memory. Each is an attempt, and the attempt that omits
 * the fewest spaces is used.
 */
#include "cli/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "decode/flow.h"
#include "host/vmm.h"
#include "image/set.h"
#include "image/table.h"
#include "trace/reader.h"
#include "trace/vec.h"

/* Each pass excludes the spaces that the pass before omitted. */
#define PASSES_MAX 4

/* A space of the file. */
struct guest {
	const struct trace_space *space;
	uint64_t number; /* number in the set of images; TRACE_SOURCE_NONE before the first
	                  * request */
	bool left_out;
};

struct found {
	size_t guest;
	unsigned int vcpu;
	uint64_t vaddr;
	const uint8_t *bytes;
};

/* The space has no process to read. */
#define NO_LAYOUT UINT32_MAX

struct collect {
	struct image_set *set;
	struct trace_code_source inner, outer;
	struct guest *guests;
	size_t n;
	struct {
		struct found *at;
		size_t n, room;
	} found;
	unsigned int vcpu;
	bool no_memory;
	bool again; /* this pass omitted a space */
};

struct output {
	struct trace_writer *writer;
	struct image_table contents; /* maps bytes to the writer's number plus 1 */
};

static struct guest *find_guest(struct collect *c, const struct trace_source_key *key)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct trace_space *s = c->guests[i].space;

		if (s->flags & TRACE_SPACE_NON_ROOT && s->cr3 == key->cr3 && s->vmcs == key->vmcs)
			return &c->guests[i];
	}
	return NULL;
}

/* Only guests of the file have code here. */
static uint64_t space_number(void *context, const struct trace_source_key *key)
{
	struct collect *c = context;
	struct guest *guest = key->non_root ? find_guest(c, key) : NULL;

	if (!guest || guest->left_out)
		return TRACE_SOURCE_NONE;
	guest->number = c->inner.space(c->inner.context, key);
	return guest->number;
}

static uint64_t guess(void *context, uint64_t ip)
{
	(void)context;
	(void)ip;
	return TRACE_SOURCE_NONE;
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
	if (!trace_vec_room(&c->found)) {
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

		if (g->space->id != id || !(g->space->flags & TRACE_SPACE_NON_ROOT))
			continue;
		c->again |= !g->left_out;
		g->left_out = true;
	}
}

static int collect_vcpu(struct collect *c, struct trace_reader *reader)
{
	struct decode_flow *flow;
	struct decode_item item;
	int err = decode_flow_open(reader, c->vcpu, DECODE_FLOW_COUNTS, &flow);

	if (err)
		return err;
	do {
		err = decode_flow_next(flow, &item);
		if (!err && item.kind == DECODE_ITEM_ERROR)
			leave_out(c, item.cr3);
	} while (!err && item.kind != DECODE_ITEM_END);
	decode_flow_close(flow);
	return err;
}

/* Decode the whole file. */
static int collect_all(struct collect *c, const char *path)
{
	struct trace_reader *reader;
	char why[256];
	int err = trace_reader_open_as(path, TRACE_READER_NO_ORACLE, &reader, why, sizeof(why));
	unsigned int vcpus;

	if (err)
		return err;
	c->found.n = 0;
	c->again = false;
	vcpus = trace_reader_info(reader)->vcpus;
	trace_reader_set_source(reader, &c->outer);
	for (c->vcpu = 0; c->vcpu < vcpus && !err; c->vcpu++)
		err = collect_vcpu(c, reader);
	trace_reader_close(reader);
	return c->no_memory ? -ENOMEM : err;
}

static int collect_passes(struct collect *c, const char *path)
{
	unsigned int passes = 0;
	int err;

	do {
		err = collect_all(c, path);
	} while (!err && c->again && ++passes < PASSES_MAX);
	return err;
}

static bool is_missing(const struct guest *g)
{
	return g->space->flags & TRACE_SPACE_NON_ROOT &&
	       (g->left_out || g->number == TRACE_SOURCE_NONE);
}

static size_t count_missing(const struct collect *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->n; i++)
		n += is_missing(&c->guests[i]);
	return n;
}

static void close_collect(struct collect *c)
{
	if (!c)
		return;
	image_set_free(c->set);
	free(c->guests);
	free(c->found.at);
	free(c);
}

static struct collect *open_collect(const struct cli_record_guests *in)
{
	struct collect *c = calloc(1, sizeof(*c));
	size_t i;

	if (!c)
		return NULL;
	c->set = image_set_new();
	c->guests = calloc(in->nspaces + 1, sizeof(*c->guests));
	if (!c->set || !c->guests) {
		close_collect(c);
		return NULL;
	}
	c->n = in->nspaces;
	for (i = 0; i < c->n; i++)
		c->guests[i] = (struct guest){.space = &in->spaces[i], .number = TRACE_SOURCE_NONE};
	c->inner = image_set_source(c->set);
	c->outer = (struct trace_code_source){
		.space = space_number, .guess = guess, .page = page, .context = c};
	return c;
}

/* Add the machine's memory, in which EPT finds guests. @first: this is the first attempt. */
static int add_machine(struct collect *c, const char *path, bool first)
{
	const struct image_use use = {
		.side = IMAGE_HOST,
		.vmcs = TRACE_SPACE_ANY_VMCS,
		.paging = IMAGE_PAGINGS,
		.cr3 = TRACE_SOURCE_NONE,
	};
	struct image_image *image;
	char why[256];
	int err = image_open(path, 0, &image, why, sizeof(why));

	if (err == -ENOMEM)
		return err;
	if (err && first)
		fprintf(stderr, "vpt record: %s: %s: the guests' code is not looked for there\n",
			path, why);
	if (err)
		return 0;
	return image_set_add(c->set, image, &use);
}

static int open_proc(unsigned int pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool find_ram(unsigned int pid, struct host_range *ram)
{
	int fd = open_proc(pid, "maps");
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	bool found = maps && host_vmm_ram(maps, ram);

	if (maps)
		fclose(maps);
	return found;
}

/* Add a guest's memory in its VMM's process. *added counts the added images. */
static int add_process(struct collect *c, const struct cli_record_vmm *vmm, unsigned int layout,
		       unsigned int *added)
{
	const struct image_use use = {
		.side = IMAGE_GUEST,
		.vmcs = vmm->vmcs,
		.paging = IMAGE_PAGINGS,
		.cr3 = TRACE_SOURCE_NONE,
	};
	struct host_range ram;
	struct image_image *image;
	uint64_t low;
	int fd, err;

	if (!find_ram(vmm->pid, &ram))
		return 0;
	low = host_vmm_low(ram.end - ram.start, layout);
	fd = low ? open_proc(vmm->pid, "mem") : -1;
	if (fd < 0)
		return 0;
	err = image_of_ranges(fd,
			      (const struct image_range[]){
				      {0, low, ram.start},
				      {1ull << 32, ram.end - ram.start - low, ram.start + low}},
			      2, &image);
	if (!err)
		err = image_set_add(c->set, image, &use);
	*added += !err;
	/* If there are too many guests, the last ones are omitted. */
	return err == -E2BIG ? 0 : err;
}

static bool wants(const struct collect *best, uint64_t vmcs)
{
	size_t i;

	for (i = 0; best && i < best->n; i++) {
		if (best->guests[i].space->vmcs == vmcs && is_missing(&best->guests[i]))
			return true;
	}
	return !best;
}

/* Add the processes of the VMCSs whose code is incomplete in @best. */
static int add_processes(struct collect *c, const struct cli_record_guests *in, unsigned int layout,
			 const struct collect *best, unsigned int *added)
{
	size_t i, k;
	int err = 0;

	for (i = 0; i < in->nvmms && !err; i++) {
		for (k = 0; k < i && in->vmms[k].vmcs != in->vmms[i].vmcs; k++)
			;
		if (k == i && wants(best, in->vmms[i].vmcs))
			err = add_process(c, &in->vmms[i], layout, added);
	}
	return err;
}

/* Try one source, and keep the result in *best if it is better. */
static int attempt(const struct cli_record_guests *in, const char *path, unsigned int layout,
		   struct collect **best)
{
	struct collect *c = open_collect(in);
	unsigned int added = layout == NO_LAYOUT;
	int err = c ? 0 : -ENOMEM;

	if (!err && in->where != CLI_RECORD_PROCESS)
		err = add_machine(c, in->memory, !*best);
	if (!err && layout != NO_LAYOUT)
		err = add_processes(c, in, layout, *best, &added);
	if (!err && added)
		err = collect_passes(c, path);
	if (!err && added && (!*best || count_missing(c) < count_missing(*best))) {
		close_collect(*best);
		*best = c;
		return 0;
	}
	close_collect(c);
	return err;
}

static int attempt_all(const struct cli_record_guests *in, const char *path, struct collect **best)
{
	unsigned int layout;
	int err = 0;

	if (in->where != CLI_RECORD_PROCESS)
		err = attempt(in, path, NO_LAYOUT, best);
	if (in->where == CLI_RECORD_KCORE)
		return err;
	for (layout = 0; layout < HOST_VMM_LAYOUTS && !err; layout++) {
		if (*best && !count_missing(*best))
			break;
		err = attempt(in, path, layout, best);
	}
	return err;
}

/* Write each page to the file once, even if it was found at several places. */
static int content(struct output *o, const uint8_t *bytes, uint64_t *id)
{
	uintptr_t key = (uintptr_t)bytes;
	const void *was = image_table_find(&o->contents, key, 0);
	int err;

	if (was) {
		*id = (uintptr_t)was - 1;
		return 0;
	}
	err = trace_writer_page(o->writer, bytes, id);
	if (!err && !image_table_add(&o->contents, key, 0, (const void *)(uintptr_t)(*id + 1)))
		err = -ENOMEM;
	return err;
}

static int write_found(struct output *o, const struct collect *c, const struct found *f)
{
	const struct guest *guest = &c->guests[f->guest];
	struct trace_page_map map = {
		.page = {.cr3 = guest->space->id, .vaddr = f->vaddr, .gpa = UINT64_MAX},
	};
	int err;

	if (guest->left_out)
		return 0;
	err = content(o, f->bytes, &map.content);
	return err ? err : trace_writer_map(o->writer, f->vcpu, &map, 1);
}

static int write_all(const struct collect *c, struct trace_writer *writer,
		     struct cli_record_sum *sum)
{
	struct output o = {.writer = writer};
	size_t i;
	int err = 0;

	for (i = 0; i < c->found.n && !err; i++)
		err = write_found(&o, c, &c->found.at[i]);
	for (i = 0; i < c->n; i++)
		sum->guest_code += c->guests[i].space->flags & TRACE_SPACE_NON_ROOT &&
				   !is_missing(&c->guests[i]);
	free(o.contents.slots);
	return err;
}

int cli_record_guests(const struct cli_record_guests *in, struct trace_writer *writer,
		      const char *path, struct cli_record_sum *sum)
{
	struct collect *best = NULL;
	size_t i;
	int err;

	for (i = 0; i < in->nspaces && !(in->spaces[i].flags & TRACE_SPACE_NON_ROOT); i++)
		;
	if (i == in->nspaces)
		return 0;
	err = trace_writer_sync(writer);
	if (!err)
		err = attempt_all(in, path, &best);
	if (!err && best)
		err = write_all(best, writer, sum);
	close_collect(best);
	return err;
}
