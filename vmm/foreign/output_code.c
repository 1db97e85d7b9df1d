// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the code of the traced processes, from the files that they mapped. */
#include <errno.h>
#include <stdlib.h>

#include "foreign/output_state.h"
#include "trace/vec.h"

/* Limit for entries of MAP blocks. A trace with more is treated as damaged. */
#define ENTRIES_MAX (1u << 24)
#define BATCH	    1024u

struct entries {
	struct foreign_output *o;
	unsigned int vcpu;
	size_t n;
	struct trace_page_map at[BATCH];
};

static int flush(struct entries *e)
{
	int err = e->n ? trace_writer_map(e->o->writer, e->vcpu, e->at, e->n) : 0;

	e->n = 0;
	return err;
}

static int add(struct entries *e, const struct trace_code_page *page, uint64_t content)
{
	e->at[e->n++] = (struct trace_page_map){*page, content};
	return e->n == BATCH ? flush(e) : 0;
}

static int write_map(struct entries *e, size_t mm, const struct foreign_map *map, uint64_t *total)
{
	struct foreign_output *o = e->o;
	uint64_t size = foreign_code_size(&o->code, map->file), at;
	struct trace_code_page page = {.cr3 = foreign_mm_id(mm), .gpa = UINT64_MAX};
	uint64_t len = map->len;
	int err = 0;

	if (map->offset >= size || (map->addr | map->offset) % TRACE_CODE_BYTES)
		return 0;
	if (len > size - map->offset)
		len = size - map->offset;
	if (map->time)
		page.insns = foreign_counter(o, e->vcpu, map->time);
	for (at = 0; at < len && !err; at += TRACE_CODE_BYTES) {
		uint64_t content;
		int some = foreign_code_page(&o->code, map->file, map->offset + at, &content);

		if (some < 0)
			return some;
		if (++*total > ENTRIES_MAX) {
			o->trace->report.left_out++;
			return 0;
		}
		page.vaddr = map->addr + at;
		if (some)
			err = add(e, &page, content);
	}
	return err;
}

static int write_space(struct entries *e, size_t mm, uint64_t *total)
{
	size_t n, i;
	const struct foreign_map *maps = foreign_tasks_maps(&e->o->tasks, mm, &n);
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = write_map(e, mm, &maps[i], total);
	return err ? err : flush(e);
}

int foreign_write_code(struct foreign_output *o)
{
	struct entries *e = calloc(1, sizeof(*e));
	uint64_t total = 0;
	size_t i;
	int err = e ? 0 : -ENOMEM;

	for (i = 0; i < o->used.n && !err; i++) {
		e->o = o;
		e->vcpu = (unsigned int)o->used.at[i].a;
		err = write_space(e, (size_t)o->used.at[i].b, &total);
	}
	free(e);
	return err;
}
