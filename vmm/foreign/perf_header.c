// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the header of perf.data: events, features, and the position of the records. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "foreign/perf_file.h"
#include "trace/vec.h"

#define FILE_HEADER  104u
#define PIPE_HEADER  16u
#define ATTR_LEAST   64u /* PERF_ATTR_SIZE_VER0 */
#define ATTR_MOST    4096u
#define ATTRS_MAX    65536u
#define SECTION_MOST (16u << 20) /* maximum bytes of a feature */

struct section {
	uint64_t offset, size;
};

static struct trace_source *first(struct perf_file *f)
{
	return &f->trace->sources.at[0];
}

static int wrong(struct perf_file *f, const char *what)
{
	snprintf(f->why, f->size, "%s", what);
	return -EINVAL;
}

int perf_attr_add(struct perf_file *f, struct span attr, struct span ids)
{
	struct perf_attr a = {0};
	uint32_t size;

	a.type = span_u32(&attr);
	size = span_u32(&attr);
	a.config = span_u64(&attr);
	(void)span_u64(&attr); /* the period */
	a.sample_type = span_u64(&attr);
	a.read_format = span_u64(&attr);
	a.flags = span_u64(&attr);
	if (attr.bad || size < ATTR_LEAST || f->attrs.n >= ATTRS_MAX)
		return -EINVAL;
	/* Newer fields may be absent. */
	(void)span_bytes(&attr, 3 * sizeof(uint64_t));
	a.branches = span_u64(&attr);
	a.regs_user = span_u64(&attr);
	(void)span_u64(&attr);
	a.regs_intr = span_u64(&attr);
	if (!trace_vec_room(&f->attrs))
		return -ENOMEM;
	while (ids.left >= sizeof(uint64_t)) {
		struct trace_pair *entry = trace_pairs_add(&f->ids, span_u64(&ids), 0);

		if (!entry)
			return -ENOMEM;
		entry->value = f->attrs.n;
	}
	f->attrs.at[f->attrs.n++] = a;
	return 0;
}

/*
 * Read the bytes of a section, which the caller frees. Returns NULL if it is not in the file, or
 * too large.
 */
static uint8_t *read_section(struct perf_file *f, const struct section *s, uint64_t most)
{
	uint8_t *bytes;

	if (s->size > most || s->offset > first(f)->size || s->size > first(f)->size - s->offset)
		return NULL;
	bytes = malloc((size_t)s->size + 1);
	if (bytes && trace_source_read(first(f), s->offset, bytes, (size_t)s->size)) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

static int read_attr(struct perf_file *f, const uint8_t *bytes, uint64_t size)
{
	struct span ids = {bytes + size - 16, 16, false}, attr = {bytes, (size_t)size - 16, false};
	const struct section where = {span_u64(&ids), span_u64(&ids)};
	uint8_t *list = read_section(f, &where, SECTION_MOST);
	int err;

	if (!list)
		return wrong(f, "the ids of an event are not in the file");
	err = perf_attr_add(f, attr, (struct span){list, (size_t)where.size, false});
	free(list);
	return err == -EINVAL ? wrong(f, "an event is not as it must be") : err;
}

static int read_attrs(struct perf_file *f, const struct section *attrs, uint64_t size)
{
	uint8_t *bytes;
	uint64_t at;
	int err = 0;

	if (size < ATTR_LEAST + 16 || size > ATTR_MOST || !attrs->size || attrs->size % size)
		return wrong(f, "the size of its events is wrong");
	bytes = read_section(f, attrs, ATTRS_MAX * size);
	if (!bytes)
		return wrong(f, "its events are not in the file");
	for (at = 0; at < attrs->size && !err; at += size)
		err = read_attr(f, bytes + at, size);
	free(bytes);
	return err;
}

static int incomplete(struct perf_file *f, uint64_t at)
{
	f->damage = "the file ends within its features";
	f->where = at;
	return 0;
}

/* Treat a feature that is too large as absent. */
static int read_features(struct perf_file *f, const uint64_t *bits)
{
	unsigned int i;
	uint64_t at = f->end;
	int err = 0;

	for (i = 0; i < FEAT_BITS && !err; i++) {
		uint64_t place[2];
		struct section s;
		uint8_t *bytes;

		if (!(bits[i / 64] >> i % 64 & 1))
			continue;
		if (trace_source_read(first(f), at, place, sizeof(place)))
			return incomplete(f, at);
		s = (struct section){place[0], place[1]};
		if (s.offset > first(f)->size || s.size > first(f)->size - s.offset)
			return incomplete(f, at);
		at += sizeof(place);
		bytes = read_section(f, &s, SECTION_MOST);
		if (!bytes)
			continue;
		err = perf_feature(f, i, (struct span){bytes, (size_t)s.size, false});
		free(bytes);
	}
	return err;
}

static int read_file(struct perf_file *f, struct span *h)
{
	const uint64_t attr_size = span_u64(h);
	const struct section attrs = {span_u64(h), span_u64(h)}, data = {span_u64(h), span_u64(h)};
	uint64_t features[FEAT_BITS / 64];
	unsigned int i;
	int err;

	(void)span_u64(h); /* event types, which are always empty today */
	(void)span_u64(h);
	for (i = 0; i < FEAT_BITS / 64; i++)
		features[i] = span_u64(h);
	err = read_attrs(f, &attrs, attr_size);
	if (err)
		return err;
	if (data.offset > first(f)->size)
		return wrong(f, "its records are not in the file");
	f->data = data.offset;
	f->end = first(f)->size;
	/* A killed perf has not set the size. */
	if (!data.size || data.size > f->end - data.offset) {
		f->damage = "perf did not complete the file";
		f->where = f->end;
		return 0;
	}
	f->end = data.offset + data.size;
	return read_features(f, features);
}

int perf_header_read(struct perf_file *f)
{
	uint8_t bytes[FILE_HEADER] = {0};
	struct span h = {bytes, sizeof(bytes), false};
	uint64_t size;
	int err = trace_source_read(first(f), 0, bytes, PIPE_HEADER);

	if (err == -ENODATA || (!err && span_u64(&h) != PERF_FILE_MAGIC))
		return wrong(f, "not a perf.data file");
	if (err)
		return err;
	size = span_u64(&h);
	f->pipe = size == PIPE_HEADER;
	if (f->pipe) {
		f->data = size;
		f->end = first(f)->size;
		return 0;
	}
	if (size < FILE_HEADER || trace_source_read(first(f), 0, bytes, sizeof(bytes)))
		return wrong(f, "its header is damaged");
	return read_file(f, &h);
}
