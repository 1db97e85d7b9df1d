// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode a trace with libipt's block decoder, which reads code from sections of a file. The
 * kernel's half is the same in all address spaces; below it each CR3 has its own sections. Pages
 * that never change are joined to large sections. A page that changes is a section of its own, and
 * is replaced in front of the packet that leads to its new content.
 */
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/decode/measure.h"

/* One content of a page. */
struct content {
	const struct bench_code *code;
	uint64_t cr3;	    /* pt_asid_no_cr3: all spaces */
	uint64_t place;	    /* in the file */
	int isid;	    /* of a section of its own, or 0 */
	bool first, varies; /* the first of the page; the page has others */
};

struct ipt {
	const struct bench_input *in;
	struct content *contents; /* by page, then by time */
	size_t ncontents;
	struct content **changes; /* contents of pages that vary, by time */
	size_t nchanges, next;
	int fd;
	char path[32];
	struct pt_image_section_cache *cache;
	struct pt_image *image;
	struct pt_block_decoder *decoder;
};

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_page(const void *a, const void *b)
{
	const struct content *x = a, *y = b;
	int d = compare(x->cr3, y->cr3);

	if (!d)
		d = compare(x->code->vaddr, y->code->vaddr);
	if (!d)
		d = compare(x->code->insns, y->code->insns);
	return d ? d : compare(x->code->order, y->code->order);
}

static int by_offset(const void *a, const void *b)
{
	const struct content *x = *(struct content *const *)a, *y = *(struct content *const *)b;
	int d = compare(x->code->offset, y->code->offset);

	if (!d)
		d = compare(x->code->insns, y->code->insns);
	return d ? d : compare(x->code->order, y->code->order);
}

static bool same_page(const struct content *a, const struct content *b)
{
	return a->cr3 == b->cr3 && a->code->vaddr == b->code->vaddr;
}

/* List the contents of each page, without repetitions. */
static void list_contents(struct ipt *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->in->ncode; i++) {
		const struct bench_code *c = &t->in->code[i];

		t->contents[i] = (struct content){
			.code = c, .cr3 = bench_is_kernel(c->vaddr) ? pt_asid_no_cr3 : c->space};
	}
	qsort(t->contents, t->in->ncode, sizeof(*t->contents), by_page);
	for (i = 0; i < t->in->ncode; i++) {
		struct content *c = &t->contents[i];
		struct content *last = n ? &t->contents[n - 1] : NULL;

		c->first = !last || !same_page(last, c);
		if (!c->first && !memcmp(last->code->bytes, c->code->bytes, TRACE_CODE_BYTES))
			continue;
		if (!c->first)
			last->varies = c->varies = true;
		t->contents[n++] = *c;
	}
	t->ncontents = n;
	for (i = 0; i < n; i++) {
		if (t->contents[i].varies)
			t->changes[t->nchanges++] = &t->contents[i];
	}
	qsort(t->changes, t->nchanges, sizeof(*t->changes), by_offset);
}

static void write_file(struct ipt *t)
{
	size_t i;

	t->fd = memfd_create("code", 0);
	if (t->fd < 0)
		abort();
	snprintf(t->path, sizeof(t->path), "/proc/self/fd/%d", t->fd);
	for (i = 0; i < t->ncontents; i++) {
		t->contents[i].place = i * TRACE_CODE_BYTES;
		if (write(t->fd, t->contents[i].code->bytes, TRACE_CODE_BYTES) != TRACE_CODE_BYTES)
			abort();
	}
}

static void add_section(struct ipt *t, struct content *c, size_t pages)
{
	struct pt_asid asid;

	pt_asid_init(&asid);
	asid.cr3 = c->cr3;
	if (c->isid <= 0)
		c->isid = pt_iscache_add_file(t->cache, t->path, c->place, pages * TRACE_CODE_BYTES,
					      c->code->vaddr);
	if (c->isid <= 0 || pt_image_add_cached(t->image, t->cache, c->isid, &asid) < 0)
		abort();
}

/* Return the end of the adjacent contents that can form one section. */
static size_t end_of_section(const struct ipt *t, size_t first)
{
	const struct content *c = &t->contents[first];
	size_t i;

	for (i = first + 1; i < t->ncontents && !c->varies; i++) {
		const struct content *next = &t->contents[i];

		if (next->varies || next->cr3 != c->cr3 ||
		    next->code->vaddr != c->code->vaddr + (i - first) * TRACE_CODE_BYTES)
			break;
	}
	return i;
}

static void make_image(struct ipt *t)
{
	size_t i, end;

	t->cache = pt_iscache_alloc(NULL);
	t->image = pt_image_alloc(NULL);
	if (!t->cache || !t->image ||
	    pt_iscache_set_limit(t->cache, 2 * t->ncontents * TRACE_CODE_BYTES) < 0)
		abort();
	for (i = 0; i < t->ncontents; i++)
		t->contents[i].isid = 0;
	for (i = 0; i < t->ncontents; i = end) {
		end = end_of_section(t, i);
		if (t->contents[i].first)
			add_section(t, &t->contents[i], end - i);
	}
}

/* Load the contents that pages have at the beginning of the trace. */
static void reset_image(struct ipt *t)
{
	size_t i;

	t->next = 0;
	for (i = 0; i < t->nchanges; i++) {
		if (t->changes[i]->first)
			add_section(t, t->changes[i], 1);
	}
}

static void make_decoder(struct ipt *t)
{
	struct pt_config config;

	pt_config_init(&config);
	config.begin = (uint8_t *)t->in->stream;
	config.end = (uint8_t *)t->in->stream + t->in->len;
	config.cpuid_0x15_eax = t->in->caps->l15_eax;
	config.cpuid_0x15_ebx = t->in->caps->l15_ebx;
	config.mtc_freq = (uint8_t)(t->in->ctl >> 14 & 15);
	config.nom_freq = t->in->caps->max_nonturbo;
	t->decoder = pt_blk_alloc_decoder(&config);
	if (!t->decoder || pt_blk_set_image(t->decoder, t->image) < 0)
		abort();
}

/*
 * Replace the contents whose packet the decoder reaches next. The decoder itself continues to the
 * branch that needs the packet.
 */
static void change_code(struct ipt *t)
{
	uint64_t offset = 0;

	if (t->next == t->nchanges || pt_blk_get_offset(t->decoder, &offset) < 0)
		return;
	for (; t->next < t->nchanges && t->changes[t->next]->code->offset <= offset; t->next++) {
		if (!t->changes[t->next]->first)
			add_section(t, t->changes[t->next], 1);
	}
}

/* Return the status after an event. *enabled: tracing is enabled. */
static int take_event(struct ipt *t, bool *enabled)
{
	struct pt_event event;
	int status = pt_blk_event(t->decoder, &event, sizeof(event));

	if (status < 0)
		return status;
	if (event.type == ptev_enabled)
		*enabled = true;
	else if (event.type == ptev_disabled || event.type == ptev_async_disabled)
		*enabled = false;
	else if (event.type == ptev_overflow)
		*enabled = !event.ip_suppressed;
	return status;
}

/* Decode from the first PSB on. Returns instructions, or 0 after an error. */
static uint64_t pass(struct ipt *t)
{
	uint64_t n = 0;
	bool enabled;
	int status = pt_blk_sync_set(t->decoder, 0);

	if (status < 0)
		status = pt_blk_sync_forward(t->decoder);
	enabled = status >= 0 && !(status & pts_ip_suppressed);
	while (status >= 0) {
		struct pt_block block = {0};

		change_code(t);
		if (status & pts_event_pending) {
			status = take_event(t, &enabled);
			continue;
		}
		/* The last packet may not have been used when all packets have been read. */
		if (status & pts_eos && !enabled)
			return n;
		status = pt_blk_next(t->decoder, &block, sizeof(block));
		n += block.ninsn;
	}
	if (status == -pte_eos)
		return n;
	fprintf(stderr, "bench: %s: libipt after %llu instructions: %s\n", t->in->name,
		(unsigned long long)n, pt_errstr(pt_errcode(status)));
	return 0;
}

static void free_decoder(struct ipt *t)
{
	pt_blk_free_decoder(t->decoder);
	pt_image_free(t->image);
	pt_iscache_free(t->cache);
}

void bench_ipt(const struct bench_input *in, unsigned int times, struct bench_sample *sample)
{
	struct ipt t = {.in = in};
	uint64_t n = 0;
	unsigned int i;
	double start;

	t.contents = calloc(in->ncode + 1, sizeof(*t.contents));
	t.changes = calloc(in->ncode + 1, sizeof(*t.changes));
	if (!t.contents || !t.changes)
		abort();
	list_contents(&t);
	write_file(&t);
	sample->ok = true;
	start = bench_seconds();
	for (i = 0; i < times; i++) {
		free_decoder(&t);
		make_image(&t);
		make_decoder(&t);
		t.next = 0;
		n = pass(&t);
		sample->ok &= n != 0;
	}
	sample->cold = (bench_seconds() - start) / times;
	sample->insns = n;
	start = bench_seconds();
	for (i = 0; i < times; i++) {
		reset_image(&t);
		sample->ok &= pass(&t) == n;
	}
	sample->warm = (bench_seconds() - start) / times;
}
