// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare the code that perf has with the code of the trace. */
#include "export/pages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

#define FIRST_PID 1000
#define ISOLATED  0x1000ull /* the CR3 bit that selects one of a process's two page tables */

/* The address of a code page in the file. */
struct block {
	uint64_t cr3, vaddr;
};

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_cr3(const void *a, const void *b)
{
	const struct export_process *x = a, *y = b;

	return compare(x->cr3, y->cr3);
}

static int by_process(const void *a, const void *b)
{
	const struct export_page *x = a, *y = b;
	int d = compare((uintptr_t)x->process, (uintptr_t)y->process);

	return d ? d : compare(x->vaddr, y->vaddr);
}

struct export_process *export_process(const struct export_pages *p, uint64_t cr3)
{
	struct export_process key = {.cr3 = cr3}, *found;

	found = bsearch(&key, p->processes, p->nprocesses, sizeof(key), by_cr3);
	return found && found->of ? found->of : found;
}

struct export_page *export_page(const struct export_pages *p, const struct export_process *process,
				uint64_t vaddr)
{
	struct export_page key = {.vaddr = vaddr};

	if (vaddr < EXPORT_KERNEL)
		key.process = (struct export_process *)process;

	return bsearch(&key, p->pages, p->npages, sizeof(key), by_process);
}

/* Return the index of the first page that does not sort before @process. */
static size_t first_page(const struct export_pages *p, uintptr_t process)
{
	return trace_vec_before(p->pages, p->npages, e, (uintptr_t)e->process < process);
}

const struct export_page *export_pages_of(const struct export_pages *p,
					  const struct export_process *process, size_t *count)
{
	size_t first = first_page(p, (uintptr_t)process);

	*count = first_page(p, (uintptr_t)process + 1) - first;
	return p->pages + first;
}

/* List one process per CR3. */
static int list_processes(struct export_pages *p, const struct block *all, size_t n)
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

/* Merge the kernel's half of a process with page-table isolation into the user's half. */
static void join(struct export_pages *p, const struct block *all, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (all[i].vaddr < EXPORT_KERNEL)
			export_process(p, all[i].cr3)->user = true;
	}
	for (i = 0; i < p->nprocesses; i++) {
		struct export_process *process = &p->processes[i];

		snprintf(process->name, sizeof(process->name), "cr3:%" PRIx64, process->cr3);
	}
	for (i = 0; i < p->nprocesses; i++) {
		struct export_process *side = &p->processes[i];
		struct export_process *process;

		if (side->user || side->cr3 & ISOLATED)
			continue;
		process = export_process(p, side->cr3 | ISOLATED);
		if (!process || !process->user)
			continue;
		side->of = process;
		memcpy(process->name, side->name, sizeof(process->name));
	}
}

static struct export_process *owner(const struct export_pages *p, const struct block *b)
{
	return b->vaddr < EXPORT_KERNEL ? export_process(p, b->cr3) : NULL;
}

static int list_pages(struct export_pages *p, const struct block *all, size_t n)
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

int export_pages_open(struct export_pages *p, const struct trace_reader *reader)
{
	unsigned int vcpus = trace_reader_info(reader)->vcpus, vcpu;
	size_t n = 0, count, i;
	struct block *all;
	int err;

	memset(p, 0, sizeof(*p));
	for (vcpu = 0; vcpu < vcpus; vcpu++) {
		trace_reader_code(reader, vcpu, &count);
		n += count;
	}
	all = calloc(n + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	n = 0;
	for (vcpu = 0; vcpu < vcpus; vcpu++) {
		const struct trace_code *code = trace_reader_code(reader, vcpu, &count);

		for (i = 0; i < count; i++)
			all[n++] = (struct block){code[i].page->cr3, code[i].page->vaddr};
	}
	err = list_processes(p, all, n);
	if (!err) {
		join(p, all, n);
		err = list_pages(p, all, n);
	}
	free(all);
	if (err)
		export_pages_close(p);
	return err;
}

void export_pages_close(struct export_pages *p)
{
	size_t i, k;

	for (i = 0; i < p->nprocesses; i++) {
		for (k = 0; k < EXPORT_WIDTHS; k++)
			free(p->processes[i].patches[k].at);
	}
	free(p->processes);
	free(p->pages);
	memset(p, 0, sizeof(*p));
}
