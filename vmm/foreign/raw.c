// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts the packets of one processor, without side-band, to a .vpt file. */
#include "foreign/raw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/output.h"
#include "foreign/place.h"
#include "trace/vec.h"

/* The bits of a CR3 that address page tables, as in PIPs. */
#define TABLES (~(uint64_t)(TRACE_CODE_BYTES - 1))

/* The CR3 for a trace without any. */
#define ONLY_SPACE 0x1000u

/* Limit for pages of all address spaces. A trace with more is treated as damaged. */
#define MAPS_MAX (1u << 22)

struct out {
	struct foreign_trace *trace;
	const struct foreign_raw *raw;
	const struct foreign_raw_pages *pages;
	struct trace_writer *writer;
	struct foreign_joined joined;
	struct trace_pairs votes, pips;
	struct trace_pairs spaces; /* set of (CR3, 0) */
	uint64_t maps;
	uint64_t *contents; /* ids of the pages */
};

int foreign_raw_read(const char *path, const struct foreign_raw *raw, struct foreign_trace *t,
		     char *why, size_t size)
{
	const struct foreign_stream key = {0};
	struct foreign_piece piece = {0};
	struct trace_source *s;
	int err;

	t->program = "raw";
	t->kind = TRACE_ORIGIN_RAW;
	t->caps = *vpt_caps_model("spr");
	t->caps.signature = raw->signature;
	t->ctl = raw->ctl;
	t->cr3_match = raw->cr3_match;
	if (!trace_vec_room(&t->sources))
		return -ENOMEM;
	s = &t->sources.at[t->sources.n++];
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	err = trace_source_open(s, path, "", 0);
	if (!err && !s->size)
		err = -ENODATA;
	if (err) {
		snprintf(why, size, "%s",
			 err == -ENODATA ? "there are no packets in it" : strerror(-err));
		return err == -ENODATA ? -EINVAL : err;
	}
	piece.len = s->size;
	return foreign_piece(t, &key, &piece);
}

static int write_session(struct out *o, enum trace_session_edge edge)
{
	struct trace_session s = {
		.edge = edge,
		.end = edge == TRACE_SESSION_END ? TRACE_END_CLOSED : TRACE_END_NONE,
		.ctl = o->raw->ctl,
		.cr3_match = o->raw->cr3_match,
		.insns = 1,
	};

	memcpy(s.addr, o->raw->addr, sizeof(s.addr));
	return trace_writer_session(o->writer, 0, &s);
}

static int write_trace(struct out *o)
{
	/* This space is valid until the first PIP, or always if there is none. */
	const struct trace_cr3_switch sw = {.cr3 = o->spaces.at[0].a, .insns = 1};
	int err = write_session(o, TRACE_SESSION_START);

	if (!err)
		err = trace_writer_cr3(o->writer, 0, &sw);
	if (!err)
		err = trace_writer_mapped(o->writer, 0, UINT64_MAX, o->joined.bytes, o->joined.len);
	return err ? err : write_session(o, TRACE_SESSION_END);
}

/* List the address spaces: those of PIPs and of files with code, or a single one. */
static int list_spaces(struct out *o)
{
	size_t i;

	for (i = 0; i < o->pips.n; i++) {
		if (!trace_pairs_add(&o->spaces, o->pips.at[i].a & TABLES, 0))
			return -ENOMEM;
	}
	for (i = 0; i < o->pages->numbers.n; i++) {
		uint64_t cr3 = o->pages->numbers.at[i].a;

		if (cr3 != FOREIGN_ANY_CR3 && !trace_pairs_add(&o->spaces, cr3 & TABLES, 0))
			return -ENOMEM;
	}
	if (!o->spaces.n && !trace_pairs_add(&o->spaces, ONLY_SPACE, 0))
		return -ENOMEM;
	o->trace->report.spaces = o->spaces.n;
	return 0;
}

static int write_map(struct out *o, uint64_t cr3, const struct trace_pair *page)
{
	const struct trace_page_map map = {
		.page = {.cr3 = cr3, .vaddr = page->b, .gpa = UINT64_MAX},
		.content = o->contents[page->value],
	};

	if (++o->maps > MAPS_MAX) {
		o->trace->report.left_out++;
		return 0;
	}
	return trace_writer_map(o->writer, 0, &map, 1);
}

/* Pages of any CR3 belong to all spaces without their own page at that address. */
static int write_code(struct out *o)
{
	const struct trace_pairs *numbers = &o->pages->numbers;
	size_t i, k;
	int err = 0;

	for (i = 0; i < o->pages->pages.n && !err; i++)
		err = trace_writer_page(o->writer, o->pages->pages.at[i], &o->contents[i]);
	for (i = 0; i < numbers->n && !err; i++) {
		const struct trace_pair *page = &numbers->at[i];

		for (k = 0; k < o->spaces.n && !err; k++) {
			uint64_t cr3 = o->spaces.at[k].a;

			if (page->a == FOREIGN_ANY_CR3 ? !trace_pairs_find(numbers, cr3, page->b)
						       : page->a == cr3)
				err = write_map(o, cr3, page);
		}
	}
	o->trace->report.pages = o->pages->pages.n;
	return err;
}

static int write_all(struct out *o, const char *source)
{
	struct foreign_changes none = {0};
	struct foreign_visits visits = {0};
	const struct foreign_place place = {o->trace,  &o->joined, &none,
					    &o->votes, &o->pips,   &visits};
	int err = foreign_join(o->trace, &o->trace->streams.at[0], &o->joined);

	o->contents = calloc(o->pages->pages.n + 1, sizeof(*o->contents));
	if (!err && !o->contents)
		err = -ENOMEM;
	if (!err)
		err = foreign_place(&place);
	free(visits.at);
	if (!err)
		err = foreign_write_origin(o->trace, source, o->writer);
	if (!err)
		err = list_spaces(o);
	if (!err)
		err = write_trace(o);
	return err ? err : write_code(o);
}

int foreign_raw_write(struct foreign_trace *t, const struct foreign_raw *raw,
		      const struct foreign_raw_pages *pages, const char *source,
		      struct trace_writer *writer)
{
	struct out o = {.trace = t, .raw = raw, .pages = pages, .writer = writer};
	int err = write_all(&o, source);

	t->report.bytes = o.joined.len;
	t->report.streams = 1;
	foreign_joined_free(&o.joined);
	trace_pairs_free(&o.votes);
	trace_pairs_free(&o.pips);
	trace_pairs_free(&o.spaces);
	free(o.contents);
	return err;
}
