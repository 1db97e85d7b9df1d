/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory images as a source of code: which image a CR3 belongs to, and the page that its page
 * tables map at an address.
 *
 * The tables are those at the time of the image. A page that was mapped otherwise when the trace
 * was recorded is not found, or is another one.
 */
#ifndef VMM_IMAGE_SET_H
#define VMM_IMAGE_SET_H

#include "image/image.h"
#include "trace/code_source.h"

#define IMG_SET_MAX 64

/* The most pages of code, over all address spaces: 1 GiB. Beyond them there is no code. */
#define IMG_SET_PAGES (1u << 18)

enum img_side {
	IMG_ALL,   /* every CR3 is of this memory, whether PIP.NR is set or not */
	IMG_HOST,  /* PIPs with NR = 0; with NR = 1 by EPT, or by shadow page tables */
	IMG_GUEST, /* PIPs with NR = 1: the memory is guest-physical */
};

/* The user's description of an image. */
struct img_use {
	enum img_side side;
	uint64_t vmcs;		/* GUEST: only this one, TRACE_SPACE_ANY_VMCS: all */
	enum img_paging paging; /* IMG_PAGINGS: that of the image's notes, or else a guess */
	uint64_t eptp;		/* HOST, GUEST: of the guest, in host-physical memory; 0: none */
	uint64_t cr3;		/* where nothing tells CR3; TRACE_SOURCE_NONE: it is not known */
};

struct img_set;

/* NULL: no memory. */
struct img_set *img_set_new(void);
/* Closes the images, too. */
void img_set_free(struct img_set *set);

/* Add an image, which the set owns from then on. Returns 0, or -E2BIG: there are IMG_SET_MAX. */
int img_set_add(struct img_set *set, struct img_image *image, const struct img_use *use);

/* The set as a source of code, as long as it lives. */
struct trace_code_source img_set_source(struct img_set *set);

/* Returns how many pages of code were found, over all address spaces. */
size_t img_set_pages(const struct img_set *set);

/* A line about what is wrong with an image or was left out. NULL: nothing. */
const char *img_set_damage(const struct img_set *set);

#endif /* VMM_IMAGE_SET_H */
