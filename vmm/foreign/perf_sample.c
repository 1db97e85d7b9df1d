// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the sample id at the end of the kernel's records, and samples with packets. */
#include <errno.h>
#include <stdio.h>

#include "foreign/perf_file.h"

/* Return the event of an id, or else the first one: perf gives all events the same layout. */
static const struct perf_attr *attr_of(const struct perf_file *f, const struct span *body)
{
	const struct perf_attr *a = f->attrs.n ? &f->attrs.at[0] : NULL;
	const struct trace_pair *entry;
	uint64_t id;

	if (!a || !(a->sample_type & SAMPLE_IDENTIFIER) || body->left < sizeof(id))
		return a;
	memcpy(&id, body->at + body->left - sizeof(id), sizeof(id));
	entry = trace_pairs_find(&f->ids, id, 0);
	return entry ? &f->attrs.at[entry->value] : a;
}

void perf_sample_id(const struct perf_file *f, struct span *body, struct perf_sample_id *id)
{
	static const uint32_t fields[] = {SAMPLE_TID,	    SAMPLE_TIME, SAMPLE_ID,
					  SAMPLE_STREAM_ID, SAMPLE_CPU,	 SAMPLE_IDENTIFIER};
	const struct perf_attr *a = attr_of(f, body);
	struct span s;
	size_t size = 0, i;

	*id = (struct perf_sample_id){.cpu = FOREIGN_ANY_CPU};
	if (!a || !(a->flags & ATTR_SAMPLE_ID_ALL))
		return;
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		size += a->sample_type & fields[i] ? 8 : 0;
	if (size > body->left) {
		body->bad = true;
		return;
	}
	body->left -= size;
	s = (struct span){body->at + body->left, size, false};
	if (a->sample_type & SAMPLE_TID) {
		id->pid = span_u32(&s);
		id->tid = span_u32(&s);
	}
	if (a->sample_type & SAMPLE_TIME)
		id->time = span_u64(&s);
	if (a->sample_type & SAMPLE_ID)
		(void)span_u64(&s);
	if (a->sample_type & SAMPLE_STREAM_ID)
		(void)span_u64(&s);
	if (a->sample_type & SAMPLE_CPU)
		id->cpu = span_u32(&s);
}

/* Skip values of counters, single or in a group. */
static void skip_read(struct span *s, uint64_t format)
{
	const unsigned int each = 1u + !!(format & READ_ID) + !!(format & READ_LOST);
	const unsigned int times = !!(format & READ_ENABLED) + !!(format & READ_RUNNING);
	uint64_t n = format & READ_GROUP ? span_u64(s) : 1;

	if (n > s->left / 8)
		s->bad = true;
	else
		(void)span_bytes(s, ((size_t)n * each + times) * 8);
}

/* Skip @n items of @size bytes. The count is hostile. */
static void skip_items(struct span *s, uint64_t n, size_t size)
{
	if (n > s->left)
		s->bad = true;
	else
		(void)span_bytes(s, (size_t)n * size);
}

static void skip_registers(struct span *s, uint64_t mask)
{
	/* Without an ABI there are no registers. */
	if (span_u64(s))
		skip_items(s, (uint64_t)__builtin_popcountll(mask), 8);
}

static void skip_stack(struct span *s)
{
	uint64_t size = span_u64(s);

	skip_items(s, size, 1);
	if (size)
		(void)span_u64(s);
}

/* Read the fields before the time, and skip unused fields. */
static void read_head(const struct perf_attr *a, struct span *s, struct perf_sample_id *id)
{
	const uint64_t type = a->sample_type;

	skip_items(s, !!(type & SAMPLE_IDENTIFIER) + !!(type & SAMPLE_IP), 8);
	if (type & SAMPLE_TID) {
		id->pid = span_u32(s);
		id->tid = span_u32(s);
	}
	if (type & SAMPLE_TIME)
		id->time = span_u64(s);
	skip_items(s, !!(type & SAMPLE_ADDR) + !!(type & SAMPLE_ID) + !!(type & SAMPLE_STREAM_ID),
		   8);
	if (type & SAMPLE_CPU) {
		id->cpu = span_u32(s);
		(void)span_u32(s);
	}
	skip_items(s, !!(type & SAMPLE_PERIOD), 8);
}

/* Skip the fields up to the trace, in the order of struct perf_event_mmap_page's documentation. */
static void skip_middle(const struct perf_attr *a, struct span *s)
{
	const uint64_t type = a->sample_type;

	if (type & SAMPLE_READ)
		skip_read(s, a->read_format);
	if (type & SAMPLE_CALLCHAIN)
		skip_items(s, span_u64(s), 8);
	if (type & SAMPLE_RAW)
		skip_items(s, span_u32(s), 1);
	if (type & SAMPLE_BRANCH_STACK) {
		uint64_t n = span_u64(s);

		skip_items(s, !!(a->branches & BRANCH_HW_INDEX), 8);
		skip_items(s, n, 24);
	}
	if (type & SAMPLE_REGS_USER)
		skip_registers(s, a->regs_user);
	if (type & SAMPLE_STACK_USER)
		skip_stack(s);
	skip_items(s, !!(type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT)), 8);
	skip_items(s, !!(type & SAMPLE_DATA_SRC) + !!(type & SAMPLE_TRANSACTION), 8);
	if (type & SAMPLE_REGS_INTR)
		skip_registers(s, a->regs_intr);
	skip_items(s, !!(type & SAMPLE_PHYS_ADDR) + !!(type & SAMPLE_CGROUP), 8);
	skip_items(s, !!(type & SAMPLE_DATA_PAGE_SIZE) + !!(type & SAMPLE_CODE_PAGE_SIZE), 8);
}

/*
 * Return the event of a sample. The id is the sample's first field, if it can be found without the
 * event.
 */
static const struct perf_attr *attr_of_sample(const struct perf_file *f, const struct span *body)
{
	const struct perf_attr *a = f->attrs.n ? &f->attrs.at[0] : NULL;
	const struct trace_pair *entry;
	uint64_t id;

	if (!a || !(a->sample_type & SAMPLE_IDENTIFIER) || body->left < sizeof(id))
		return a;
	memcpy(&id, body->at, sizeof(id));
	entry = trace_pairs_find(&f->ids, id, 0);
	return entry ? &f->attrs.at[entry->value] : a;
}

int perf_sample(struct perf_file *f, struct perf_record *r)
{
	const struct perf_attr *a = attr_of_sample(f, &r->body);
	struct perf_sample_id id = {.cpu = FOREIGN_ANY_CPU};
	struct foreign_stream key = {.tid = FOREIGN_ANY_CPU};
	struct foreign_piece piece = {.source = r->source, .order = r->behind, .fresh = true};
	int err;

	if (!a || !(a->sample_type & SAMPLE_AUX))
		return 0;
	read_head(a, &r->body, &id);
	skip_middle(a, &r->body);
	piece.len = span_u64(&r->body);
	if (r->body.bad || piece.len > r->body.left || r->packed) {
		f->trace->report.bad_records++;
		return 0;
	}
	piece.at = r->behind - r->body.left;
	key.idx = key.cpu = id.cpu;
	if (id.cpu == FOREIGN_ANY_CPU)
		key.tid = id.tid;
	err = piece.len ? foreign_piece(f->trace, &key, &piece) : 0;
	if (err == -E2BIG)
		snprintf(f->why, f->size, "it has more streams than a .vpt file can have");
	return err;
}
