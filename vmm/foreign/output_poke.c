// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes changes of the kernel's code. The first version of a page is that in the file of the
 * kernel's memory. Each change makes another version, which takes effect on each vCPU at the time
 * of the change.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foreign/output_state.h"
#include "trace/vec.h"

/* Limit for versions of pages, 256 MiB. A trace with more is treated as damaged. */
#define VERSIONS_MAX 65536u

/* Changed pages with their current content. */
struct poked {
	struct foreign_output *o;
	int fd;
	const struct foreign_loads *loads;
	struct trace_pairs numbers; /* maps (address, 0) to the index in `pages` */
	struct {
		uint8_t (*at)[TRACE_CODE_BYTES];
		size_t n, room;
	} pages;
	uint64_t versions;
};

/* Read the page from the file. Returns false if the file does not have it. */
static bool read_page(const struct poked *p, uint64_t vaddr, uint8_t *bytes)
{
	size_t i;

	for (i = 0; i < p->loads->n; i++) {
		const struct foreign_load *load = &p->loads->at[i];
		uint64_t at = vaddr - load->vaddr;

		if (vaddr >= load->vaddr && at < load->len && load->offset + at <= INT64_MAX &&
		    pread(p->fd, bytes, TRACE_CODE_BYTES, (off_t)(load->offset + at)) ==
			    TRACE_CODE_BYTES)
			return true;
	}
	return false;
}

/*
 * Find the current page and store it in *@bytes. NULL if there is none; with @make it is then all
 * zeros. Returns 0 or -ENOMEM.
 */
static int find_page(struct poked *p, uint64_t vaddr, bool make, uint8_t **bytes)
{
	struct trace_pair *entry = trace_pairs_find(&p->numbers, vaddr, 0);

	*bytes = NULL;
	if (!entry) {
		if (!trace_vec_room(&p->pages))
			return -ENOMEM;
		if (!read_page(p, vaddr, p->pages.at[p->pages.n])) {
			if (!make)
				return 0;
			memset(p->pages.at[p->pages.n], 0, TRACE_CODE_BYTES);
		}
		entry = trace_pairs_add(&p->numbers, vaddr, 0);
		if (!entry)
			return -ENOMEM;
		entry->value = p->pages.n++;
	}
	*bytes = p->pages.at[entry->value];
	return 0;
}

static int write_version(struct poked *p, uint64_t vaddr, const uint8_t *bytes, uint64_t time)
{
	struct trace_page_map map = {
		.page = {.cr3 = FOREIGN_FIRST_ID, .vaddr = vaddr, .gpa = UINT64_MAX},
	};
	unsigned int vcpu;
	int err = trace_writer_page(p->o->writer, bytes, &map.content);

	for (vcpu = 0; vcpu < p->o->trace->streams.n && !err; vcpu++) {
		map.page.insns = foreign_counter(p->o, vcpu, time);
		if (map.page.insns != UINT64_MAX)
			err = trace_writer_map(p->o->writer, vcpu, &map, 1);
	}
	return err;
}

static int write_poke(struct poked *p, const struct foreign_event *e)
{
	const uint8_t *from = p->o->trace->pokes.at + e->poke.bytes;
	uint64_t at = e->poke.addr, end = at + e->poke.len;
	int err = 0;

	while (!err && at < end) {
		uint64_t in_page = at % TRACE_CODE_BYTES, n = TRACE_CODE_BYTES - in_page;
		uint8_t *bytes;

		if (n > end - at)
			n = end - at;
		if (++p->versions > VERSIONS_MAX) {
			p->o->trace->report.left_out++;
			return 0;
		}
		err = find_page(p, at - in_page, e->poke.alone, &bytes);
		if (!err && bytes) {
			memcpy(bytes + in_page, from, (size_t)n);
			err = write_version(p, at - in_page, bytes, e->time);
		}
		at += n;
		from += n;
	}
	return err;
}

int foreign_write_pokes(struct foreign_output *o, int fd, const struct foreign_loads *loads)
{
	struct poked p = {.o = o, .fd = fd, .loads = loads};
	size_t i;
	int err = 0;

	for (i = 0; i < o->trace->events.n && !err; i++) {
		if (o->trace->events.at[i].kind == FOREIGN_POKE)
			err = write_poke(&p, &o->trace->events.at[i]);
	}
	free(p.pages.at);
	trace_pairs_free(&p.numbers);
	return err;
}
