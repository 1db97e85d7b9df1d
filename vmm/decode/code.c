// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All versions of all pages go to one memory file, the first versions first and
 * in order, so that pages in a row become one section. The file does not change
 * after that; libipt would refuse it if it did.
 */
#include "code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* One version of a page. */
struct version {
	uint64_t cr3;
	uint64_t vaddr;
	uint64_t insns;
	size_t order; /* in the trace file */
	const uint8_t *bytes;
};

/* A page of an address space, in its current version. */
struct page {
	uint64_t cr3;
	uint64_t vaddr;
	const uint8_t *bytes;
};

struct space {
	uint64_t cr3;
	bool common; /* it has the pages of the common one too */
	struct vpt_ipt_image *image;
};

struct vpt_code_store {
	int fd;
	struct vpt_ipt_code *code;

	struct page *pages; /* sorted by CR3 and address */
	size_t npages;
	struct space *spaces; /* sorted by CR3 */
	size_t nspaces;
	uint64_t common; /* the space that is part of all of the host's; 0: none */

	/* Versions that replace others, sorted by their counter. */
	struct version *later;
	size_t nlater;
	size_t next;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_page(const void *a, const void *b)
{
	const struct version *x = a, *y = b;
	int d = compare_u64(x->cr3, y->cr3);

	if (!d)
		d = compare_u64(x->vaddr, y->vaddr);
	if (!d)
		d = compare_u64(x->insns, y->insns);
	return d ? d : compare_u64(x->order, y->order);
}

static int by_time(const void *a, const void *b)
{
	const struct version *x = a, *y = b;
	int d = compare_u64(x->insns, y->insns);

	return d ? d : compare_u64(x->order, y->order);
}

/* Index of the page, or -1. */
static ssize_t find_page(const struct vpt_code_store *store, uint64_t cr3, uint64_t vaddr)
{
	size_t lo = 0, hi = store->npages;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct page *page = &store->pages[mid];
		int d = compare_u64(page->cr3, cr3);

		if (!d)
			d = compare_u64(page->vaddr, vaddr);
		if (!d)
			return (ssize_t)mid;
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}

static const struct space *find_space(const struct vpt_code_store *store, uint64_t cr3)
{
	size_t lo = 0, hi = store->nspaces;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int d = compare_u64(store->spaces[mid].cr3, cr3);

		if (!d)
			return &store->spaces[mid];
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* The page as a space has it, by itself or in common with others; or -1. */
static ssize_t find_in_space(const struct vpt_code_store *store, uint64_t cr3, uint64_t vaddr)
{
	ssize_t page = find_page(store, cr3, vaddr);
	const struct space *space;

	if (page >= 0 || !store->common)
		return page;
	space = find_space(store, cr3);
	return space && space->common ? find_page(store, store->common, vaddr) : -1;
}

static int write_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

static void add_space(struct vpt_code_store *store, uint64_t cr3)
{
	if (!store->nspaces || store->spaces[store->nspaces - 1].cr3 != cr3)
		store->spaces[store->nspaces++].cr3 = cr3;
}

static int by_space(const void *a, const void *b)
{
	const struct space *x = a, *y = b;

	return compare_u64(x->cr3, y->cr3);
}

/* Spaces of the host that have nothing but what is common have that. */
static void share_common(struct vpt_code_store *store, const struct vpt_space *all, size_t n)
{
	size_t i, pages = store->nspaces;

	if (!store->common)
		return;
	for (i = 0; i < n; i++)
		store->spaces[pages + i].cr3 =
			all[i].flags & VPT_SPACE_NON_ROOT ? store->common : all[i].id;
	qsort(store->spaces, pages + n, sizeof(*store->spaces), by_space);
	store->nspaces = 0;
	for (i = 0; i < pages + n; i++)
		add_space(store, store->spaces[i].cr3);
	for (i = 0; i < n; i++) {
		struct space key = {.cr3 = all[i].id};
		struct space *space =
			bsearch(&key, store->spaces, store->nspaces, sizeof(key), by_space);

		if (space && !(all[i].flags & VPT_SPACE_NON_ROOT))
			space->common = space->cr3 != store->common;
	}
}

/* First versions become pages, the others wait in `later`. */
static void sort_out(struct vpt_code_store *store, struct version *all, size_t n)
{
	size_t i;

	qsort(all, n, sizeof(*all), by_page);
	for (i = 0; i < n; i++) {
		const struct version *v = &all[i];

		if (i && all[i - 1].cr3 == v->cr3 && all[i - 1].vaddr == v->vaddr) {
			store->later[store->nlater++] = *v;
			continue;
		}
		store->pages[store->npages++] = (struct page){v->cr3, v->vaddr, v->bytes};
		add_space(store, v->cr3);
	}
	qsort(store->later, store->nlater, sizeof(*store->later), by_time);
}

static int write_file(struct vpt_code_store *store)
{
	size_t i;
	int err = 0;

	store->fd = memfd_create("vpt-code", MFD_CLOEXEC);
	if (store->fd < 0)
		return -errno;
	for (i = 0; i < store->npages && !err; i++)
		err = write_all(store->fd, store->pages[i].bytes, VPT_CODE_BYTES);
	for (i = 0; i < store->nlater && !err; i++)
		err = write_all(store->fd, store->later[i].bytes, VPT_CODE_BYTES);
	return err;
}

/* The pages first up to end, which are in a row, for a space. */
static int add_section(struct vpt_code_store *store, struct space *space, size_t first, size_t end)
{
	if (!space->image)
		space->image = vpt_ipt_image_new(store->code);
	if (!space->image)
		return -ENOMEM;
	return vpt_ipt_image_add(space->image, first * VPT_CODE_BYTES,
				 (end - first) * VPT_CODE_BYTES, store->pages[first].vaddr);
}

/* Give each space its pages, those in a row as one section. */
static int make_images(struct vpt_code_store *store)
{
	size_t first, i, k;
	int err;

	for (first = 0; first < store->npages; first = i) {
		const struct page *page = &store->pages[first];

		for (i = first + 1; i < store->npages; i++) {
			if (store->pages[i].cr3 != page->cr3 ||
			    store->pages[i].vaddr != page->vaddr + (i - first) * VPT_CODE_BYTES)
				break;
		}
		for (k = 0; k < store->nspaces; k++) {
			struct space *space = &store->spaces[k];

			if (space->cr3 != page->cr3 &&
			    !(space->common && page->cr3 == store->common))
				continue;
			err = add_section(store, space, first, i);
			if (err)
				return err;
		}
	}
	return 0;
}

/* The space that others share, 0: none. */
static uint64_t find_common(const struct vpt_space *spaces, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if ((spaces[i].flags & (VPT_SPACE_COMMON | VPT_SPACE_NON_ROOT)) == VPT_SPACE_COMMON)
			return spaces[i].id;
	}
	return 0;
}

/* The code of a vCPU, and what it has in common with vCPU 0. NULL: memory. */
static struct version *list_code(const struct vpt_reader *reader, unsigned int vcpu,
				 uint64_t common, size_t *count)
{
	size_t n, nfirst = 0, i;
	const struct vpt_code *code = vpt_reader_code(reader, vcpu, &n), *first = NULL;
	struct version *all;

	if (vcpu && common)
		first = vpt_reader_code(reader, 0, &nfirst);
	all = calloc(n + nfirst + 1, sizeof(*all));
	if (!all)
		return NULL;
	for (i = 0; i < n; i++)
		all[i] = (struct version){code[i].page->cr3, code[i].page->vaddr,
					  code[i].page->insns, i, code[i].bytes};
	*count = n;
	for (i = 0; i < nfirst; i++) {
		if (first[i].page->cr3 == common)
			all[(*count)++] = (struct version){common, first[i].page->vaddr, 0, i,
							   first[i].bytes};
	}
	return all;
}

int vpt_code_open(const struct vpt_reader *reader, unsigned int vcpu, struct vpt_code_store **out)
{
	struct vpt_code_store *store = calloc(1, sizeof(*store));
	const struct vpt_space *spaces;
	struct version *all;
	size_t n = 0, nspaces;
	int err = -ENOMEM;

	if (!store)
		return -ENOMEM;
	store->fd = -1;

	spaces = vpt_reader_spaces(reader, &nspaces);
	store->common = find_common(spaces, nspaces);
	all = list_code(reader, vcpu, store->common, &n);
	store->pages = calloc(n + 1, sizeof(*store->pages));
	store->later = calloc(n + 1, sizeof(*store->later));
	store->spaces = calloc(n + nspaces + 1, sizeof(*store->spaces));
	if (!all || !store->pages || !store->later || !store->spaces)
		goto out;

	sort_out(store, all, n);
	share_common(store, spaces, nspaces);

	err = write_file(store);
	if (err)
		goto out;
	store->code = vpt_ipt_code_new(store->fd);
	err = store->code ? make_images(store) : -ENOMEM;
out:
	free(all);
	if (err)
		vpt_code_close(store);
	else
		*out = store;
	return err;
}

void vpt_code_close(struct vpt_code_store *store)
{
	size_t i;

	if (!store)
		return;
	for (i = 0; i < store->nspaces; i++)
		vpt_ipt_image_free(store->spaces[i].image);
	vpt_ipt_code_free(store->code);
	if (store->fd >= 0)
		close(store->fd);
	free(store->pages);
	free(store->later);
	free(store->spaces);
	free(store);
}

uint64_t vpt_code_next_change(const struct vpt_code_store *store)
{
	return store->next < store->nlater ? store->later[store->next].insns : UINT64_MAX;
}

int vpt_code_advance(struct vpt_code_store *store, uint64_t insns)
{
	for (; store->next < store->nlater && store->later[store->next].insns <= insns;
	     store->next++) {
		const struct version *v = &store->later[store->next];
		ssize_t page = find_page(store, v->cr3, v->vaddr);
		int err;

		store->pages[page].bytes = v->bytes;
		err = vpt_ipt_image_add(find_space(store, v->cr3)->image,
					(store->npages + store->next) * VPT_CODE_BYTES,
					VPT_CODE_BYTES, v->vaddr);
		if (err)
			return err;
	}
	return 0;
}

uint64_t vpt_code_space(const struct vpt_code_store *store, uint64_t cr3)
{
	const struct space *space = find_space(store, cr3);

	if (!space)
		space = find_space(store, cr3 & ~(uint64_t)0xfff);
	return space ? space->cr3 : VPT_CR3_UNKNOWN;
}

uint64_t vpt_code_guess(const struct vpt_code_store *store, uint64_t ip)
{
	uint64_t found = VPT_CR3_UNKNOWN;
	size_t i;

	for (i = 0; i < store->nspaces; i++) {
		if (find_page(store, store->spaces[i].cr3, ip & ~(uint64_t)0xfff) < 0)
			continue;
		if (found != VPT_CR3_UNKNOWN)
			return VPT_CR3_UNKNOWN;
		found = store->spaces[i].cr3;
	}
	return found;
}

struct vpt_ipt_image *vpt_code_image(const struct vpt_code_store *store, uint64_t space)
{
	const struct space *s = find_space(store, space);

	return s ? s->image : NULL;
}

size_t vpt_code_read(const struct vpt_code_store *store, uint64_t space, uint64_t ip,
		     uint8_t *bytes, size_t len)
{
	size_t done = 0;

	while (done < len) {
		uint64_t at = ip + done;
		size_t in_page = at % VPT_CODE_BYTES;
		size_t n = VPT_CODE_BYTES - in_page;
		ssize_t page = find_in_space(store, space, at - in_page);

		if (page < 0)
			break;
		if (n > len - done)
			n = len - done;
		memcpy(bytes + done, store->pages[page].bytes + in_page, n);
		done += n;
	}
	return done;
}
