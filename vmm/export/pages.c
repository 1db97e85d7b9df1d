// SPDX-License-Identifier: GPL-2.0-or-later
#include "pages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PID 1000
#define ISOLATED  0x1000ull /* CR3 bit that tells a process's two page tables apart */

/* A CODE block on the way to its place. */
struct block {
	uint64_t cr3, vaddr, insns;
	size_t order;
	const uint8_t *bytes;
	struct vpt_export_process *process;
};

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
	const struct block *x = a, *y = b;
	int d = compare(x->cr3, y->cr3);

	if (!d)
		d = compare(x->vaddr, y->vaddr);
	if (!d)
		d = compare(x->insns, y->insns);
	return d ? d : compare(x->order, y->order);
}

static int by_cr3(const void *a, const void *b)
{
	const struct vpt_export_process *x = a, *y = b;

	return compare(x->cr3, y->cr3);
}

static int by_process(const void *a, const void *b)
{
	const struct vpt_export_page *x = a, *y = b;
	int d = compare((uintptr_t)x->process, (uintptr_t)y->process);

	return d ? d : compare(x->vaddr, y->vaddr);
}

struct vpt_export_process *vpt_export_process(const struct vpt_export_pages *p, uint64_t cr3)
{
	struct vpt_export_process key = {.cr3 = cr3}, *found;

	found = bsearch(&key, p->processes, p->nprocesses, sizeof(key), by_cr3);
	return found && found->of ? found->of : found;
}

struct vpt_export_page *vpt_export_page(const struct vpt_export_pages *p,
					const struct vpt_export_process *process, uint64_t vaddr)
{
	struct vpt_export_page key = {.process = (struct vpt_export_process *)process,
				      .vaddr = vaddr};

	return bsearch(&key, p->pages, p->npages, sizeof(key), by_process);
}

/* The index of the first page that does not sort before @process. */
static size_t first_page(const struct vpt_export_pages *p, uintptr_t process)
{
	size_t lo = 0, hi = p->npages;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if ((uintptr_t)p->pages[mid].process < process)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct vpt_export_page *vpt_export_pages_of(const struct vpt_export_pages *p,
						  const struct vpt_export_process *process,
						  size_t *count)
{
	size_t first = first_page(p, (uintptr_t)process);

	*count = first_page(p, (uintptr_t)process + 1) - first;
	return p->pages + first;
}

static uint64_t mix(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

static uint64_t hash_bytes(const uint8_t *bytes)
{
	uint64_t sum = 0, word;
	size_t i;

	for (i = 0; i < VPT_CODE_BYTES; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		sum = mix(sum ^ word);
	}
	return sum;
}

/* A power of two that leaves half of the places free. */
static size_t table_size(size_t n)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	return size;
}

/* Make content that is the same the same pointer. */
static int fold(struct block *all, size_t n)
{
	size_t mask = table_size(n) - 1, i;
	const uint8_t **table = calloc(mask + 1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		size_t at = hash_bytes(all[i].bytes) & mask;

		while (table[at] && memcmp(table[at], all[i].bytes, VPT_CODE_BYTES))
			at = (at + 1) & mask;
		if (!table[at])
			table[at] = all[i].bytes;
		all[i].bytes = table[at];
	}
	free(table);
	return 0;
}

/* One process per CR3. */
static int list_processes(struct vpt_export_pages *p, const struct block *all, size_t n)
{
	size_t i, last = 0;

	p->processes = calloc(n + 1, sizeof(*p->processes));
	if (!p->processes)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		p->processes[i].cr3 = all[i].cr3;
	if (n)
		qsort(p->processes, n, sizeof(*p->processes), by_cr3);
	for (i = 0; i < n; i++) {
		if (!i || p->processes[last - 1].cr3 != p->processes[i].cr3)
			p->processes[last++].cr3 = p->processes[i].cr3;
	}
	p->nprocesses = last;
	for (i = 0; i < last; i++)
		p->processes[i].pid = (uint32_t)(FIRST_PID + i);
	return 0;
}

/* The kernel's side of a process with page-table isolation becomes part of the other. */
static void join(struct vpt_export_pages *p, const struct block *all, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (all[i].vaddr < VPT_EXPORT_KERNEL)
			vpt_export_process(p, all[i].cr3)->user = true;
	}
	for (i = 0; i < p->nprocesses; i++) {
		struct vpt_export_process *process = &p->processes[i];

		snprintf(process->name, sizeof(process->name), "cr3:%" PRIx64, process->cr3);
	}
	for (i = 0; i < p->nprocesses; i++) {
		struct vpt_export_process *side = &p->processes[i];
		struct vpt_export_process *process;

		if (side->user || side->cr3 & ISOLATED)
			continue;
		process = vpt_export_process(p, side->cr3 | ISOLATED);
		if (!process || !process->user)
			continue;
		side->of = process;
		memcpy(process->name, side->name, sizeof(process->name));
	}
}

static struct vpt_export_process *owner(const struct vpt_export_pages *p, const struct block *b)
{
	return b->vaddr < VPT_EXPORT_KERNEL ? vpt_export_process(p, b->cr3) : NULL;
}

static int list_pages(struct vpt_export_pages *p, const struct block *all, size_t n)
{
	size_t i, last = 0;

	p->pages = calloc(n + 1, sizeof(*p->pages));
	if (!p->pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		p->pages[i].process = owner(p, &all[i]);
		p->pages[i].vaddr = all[i].vaddr;
	}
	if (n)
		qsort(p->pages, n, sizeof(*p->pages), by_process);
	for (i = 0; i < n; i++) {
		if (!i || by_process(&p->pages[last - 1], &p->pages[i]))
			p->pages[last++] = p->pages[i];
	}
	p->npages = last;
	return 0;
}

static size_t place(const struct vpt_export_view *v, uint64_t cr3, uint64_t vaddr)
{
	return mix(cr3 ^ mix(vaddr)) & v->mask;
}

/* The blocks of one vCPU, sorted, as its view. */
static int make_view(struct vpt_export_pages *p, struct vpt_export_view *v,
		     const struct block *blocks, size_t n)
{
	size_t i;

	v->mask = table_size(n) - 1;
	v->wants = calloc(n + 1, sizeof(*v->wants));
	v->versions = calloc(n + 1, sizeof(*v->versions));
	v->table = calloc(v->mask + 1, sizeof(*v->table));
	if (!v->wants || !v->versions || !v->table)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct block *b = &blocks[i];
		struct vpt_export_want *w;
		size_t at;

		v->versions[i] = (struct vpt_export_version){b->insns, b->bytes};
		if (i && b[-1].cr3 == b->cr3 && b[-1].vaddr == b->vaddr) {
			v->wants[v->nwants - 1].count++;
			continue;
		}
		w = &v->wants[v->nwants++];
		*w = (struct vpt_export_want){
			.cr3 = b->cr3,
			.vaddr = b->vaddr,
			.page = vpt_export_page(p, owner(p, b), b->vaddr),
			.process = vpt_export_process(p, b->cr3),
			.first = i,
			.count = 1,
		};
		for (at = place(v, b->cr3, b->vaddr); v->table[at]; at = (at + 1) & v->mask)
			;
		v->table[at] = (uint32_t)v->nwants;
	}
	return 0;
}

static int load(struct vpt_export_pages *p, const struct vpt_reader *reader, struct block *all,
		const size_t *ends, size_t n)
{
	unsigned int vcpu;
	int err = fold(all, n);

	if (!err)
		err = list_processes(p, all, n);
	if (err)
		return err;
	join(p, all, n);
	err = list_pages(p, all, n);
	for (vcpu = 0; vcpu < vpt_reader_info(reader)->vcpus && !err; vcpu++) {
		size_t first = vcpu ? ends[vcpu - 1] : 0;

		qsort(all + first, ends[vcpu] - first, sizeof(*all), by_place);
		err = make_view(p, &p->views[vcpu], all + first, ends[vcpu] - first);
	}
	return err;
}

int vpt_export_pages_open(struct vpt_export_pages *p, const struct vpt_reader *reader)
{
	unsigned int vcpus = vpt_reader_info(reader)->vcpus, vcpu;
	size_t n = 0, count, i;
	struct block *all;
	size_t *ends;
	int err = -ENOMEM;

	memset(p, 0, sizeof(*p));
	for (vcpu = 0; vcpu < vcpus; vcpu++) {
		vpt_reader_code(reader, vcpu, &count);
		n += count;
	}
	all = calloc(n + 1, sizeof(*all));
	ends = calloc(vcpus, sizeof(*ends));
	p->views = calloc(vcpus, sizeof(*p->views));
	p->vcpus = vcpus;
	if (!all || !ends || !p->views || n >= UINT32_MAX)
		goto out;
	n = 0;
	for (vcpu = 0; vcpu < vcpus; vcpu++) {
		const struct vpt_code *code = vpt_reader_code(reader, vcpu, &count);

		for (i = 0; i < count; i++)
			all[n++] = (struct block){code[i].page->cr3,   code[i].page->vaddr,
						  code[i].page->insns, i,
						  code[i].bytes,       NULL};
		ends[vcpu] = n;
	}
	err = load(p, reader, all, ends, n);
out:
	free(all);
	free(ends);
	if (err)
		vpt_export_pages_close(p);
	return err;
}

void vpt_export_pages_close(struct vpt_export_pages *p)
{
	unsigned int vcpu;
	size_t i, k;

	for (i = 0; i < p->nprocesses; i++) {
		for (k = 0; k < VPT_EXPORT_WIDTHS; k++)
			free(p->processes[i].patches[k].at);
	}
	for (vcpu = 0; vcpu < p->vcpus && p->views; vcpu++) {
		free(p->views[vcpu].wants);
		free(p->views[vcpu].versions);
		free(p->views[vcpu].table);
	}
	free(p->views);
	free(p->processes);
	free(p->pages);
	memset(p, 0, sizeof(*p));
}

const uint8_t *vpt_export_want(struct vpt_export_pages *p, unsigned int vcpu, uint64_t cr3,
			       uint64_t vaddr, uint64_t insns, struct vpt_export_want **want)
{
	const struct vpt_export_view *v = &p->views[vcpu];
	struct vpt_export_want *w;
	size_t at;

	for (at = place(v, cr3, vaddr); v->table[at]; at = (at + 1) & v->mask) {
		w = &v->wants[v->table[at] - 1];
		if (w->cr3 != cr3 || w->vaddr != vaddr)
			continue;
		while (w->now + 1 < w->count && v->versions[w->first + w->now + 1].insns <= insns)
			w->now++;
		*want = w;
		return v->versions[w->first + w->now].bytes;
	}
	return NULL;
}
