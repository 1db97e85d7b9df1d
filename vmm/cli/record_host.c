// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt record: reads the kernel's code and the processes of this host. */
#include "cli/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

#define BTF_MAX (64u << 20)

/* The direct map without CONFIG_RANDOMIZE_MEMORY and with four levels. */
#define PAGE_OFFSET 0xffff888000000000ull

static void without(const char *what, const char *file, int err)
{
	fprintf(stderr, "vpt record: %s: %s: recording without %s\n", file, strerror(-err), what);
}

static uint8_t *read_file(const char *path, size_t *len, int *err)
{
	FILE *file = fopen(path, "re");
	uint8_t *bytes = file ? malloc(BTF_MAX) : NULL;

	*err = file ? -ENOMEM : -errno;
	if (bytes) {
		*len = fread(bytes, 1, BTF_MAX, file);
		*err = 0;
	}
	if (file)
		fclose(file);
	return bytes;
}

static int read_layout(struct cli_record_host *h)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	const char *why = path;
	size_t len = 0;
	int err;
	uint8_t *btf = read_file(path, &len, &err);

	if (!err)
		err = host_tasks_layout(btf, len, &h->where, &why);
	free(btf);
	if (!err && !h->syms.init_task) {
		why = "/proc/kallsyms: init_task";
		err = -ENOENT;
	}
	if (err) {
		without("names of processes and their code", why, err);
		return 0;
	}
	h->where.init_task = h->syms.init_task;
	h->where.page_offset = PAGE_OFFSET;
	if (h->syms.page_offset_base)
		err = h->memory.read(h->memory.from, h->syms.page_offset_base,
				     &h->where.page_offset, sizeof(h->where.page_offset));
	if (err)
		without("names of processes and their code", "/proc/kcore", err);
	h->has_tasks = !err;
	return 0;
}

static int read_symbols(struct host_ksyms *syms)
{
	FILE *kallsyms = fopen("/proc/kallsyms", "re");
	FILE *modules = fopen("/proc/modules", "re");
	int err = kallsyms ? host_ksyms_read(kallsyms, modules, syms) : -errno;

	if (kallsyms)
		fclose(kallsyms);
	if (modules)
		fclose(modules);
	return err;
}

int cli_record_host_open(struct cli_record_host *h)
{
	int err;

	memset(h, 0, sizeof(*h));
	err = host_kcore_open("/proc/kcore", &h->kcore);
	if (err) {
		without("the kernel's code and names of processes", "/proc/kcore", err);
		return 0;
	}
	h->memory = host_kcore_memory(h->kcore);
	err = read_symbols(&h->syms);
	if (err == -ENOMEM)
		return err;
	if (err) {
		without("the kernel's code and names of processes", "/proc/kallsyms", err);
		return 0;
	}
	return read_layout(h);
}

static int keep(struct cli_record_host *h, uint64_t vaddr)
{
	struct cli_record_page *page;

	if (!trace_vec_room(&h->kernel))
		return -ENOMEM;
	page = &h->kernel.at[h->kernel.n];
	page->vaddr = vaddr;
	/* Some addresses have no memory. */
	if (!h->memory.read(h->memory.from, vaddr, page->bytes, sizeof(page->bytes)))
		h->kernel.n++;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct host_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int cli_record_host_kernel(struct cli_record_host *h)
{
	uint64_t vaddr, last = 0;
	size_t i;
	int err = 0;

	if (h->syms.code.n)
		qsort(h->syms.code.at, h->syms.code.n, sizeof(*h->syms.code.at), by_start);
	for (i = 0; i < h->syms.code.n && !err; i++) {
		const struct host_range *r = &h->syms.code.at[i];

		for (vaddr = r->start; vaddr < r->end && !err; vaddr += TRACE_CODE_BYTES) {
			if (vaddr >= last)
				err = keep(h, vaddr);
		}
		if (r->end > last)
			last = r->end;
	}
	return err;
}

int cli_record_host_tasks(struct cli_record_host *h, bool all)
{
	int err;

	if (!h->has_tasks)
		return 0;
	err = host_procs_update(&h->procs, &h->where, &h->memory, "/proc", all);
	/* The list was changing; a later call reads it again. */
	return err == -EFAULT ? 0 : err;
}

void cli_record_host_close(struct cli_record_host *h)
{
	host_procs_free(&h->procs);
	host_ksyms_free(&h->syms);
	host_kcore_close(h->kcore);
	free(h->kernel.at);
	memset(h, 0, sizeof(*h));
}
