// SPDX-License-Identifier: GPL-2.0-or-later
/* The sample id that records of the kernel end with, and samples that have packets. */
#include <errno.h>

#include "perf_file.h"

/* The event of an id, else the first one: perf gives all events the same layout. */
static const struct perf_attr *attr_of(const struct perf_file *f, const struct span *body)
{
	const struct perf_attr *a = f->attrs.n ? &f->attrs.at[0] : NULL;
	const struct vpt_pair *entry;
	uint64_t id;

	if (!a || !(a->sample_type & SAMPLE_IDENTIFIER) || body->left < sizeof(id))
		return a;
	memcpy(&id, body->at + body->left - sizeof(id), sizeof(id));
	entry = vpt_pairs_find(&f->ids, id, 0);
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

int perf_sample(struct perf_file *f, struct perf_record *r)
{
	(void)f;
	(void)r;
	return 0;
}
