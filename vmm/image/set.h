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

#define IMAGE_SET_MAX 64

/* The most pages of code, over all address spaces: 1 GiB. Beyond them there is no code. */
#define IMAGE_SET_PAGES (1u << 18)

enum image_side {
	IMAGE_ALL,   /* every CR3 is of this memory, whether PIP.NR is set or not */
	IMAGE_HOST,  /* PIPs with NR = 0; with NR = 1 by EPT, or by shadow page tables */
	IMAGE_GUEST, /* PIPs with NR = 1: the memory is guest-physical */
};

/* The user's description of an image. */
struct image_use {
	enum image_side side;
	uint64_t vmcs;		  /* GUEST: only this one, TRACE_SPACE_ANY_VMCS: all */
	enum image_paging paging; /* IMAGE_PAGINGS: that of the image's notes, or else a guess */
	uint64_t eptp;		  /* HOST, GUEST: of the guest, in host-physical memory; 0: none */
	uint64_t cr3;		  /* where nothing tells CR3; TRACE_SOURCE_NONE: it is not known */
};

struct image_set;

/* NULL: no memory. */
struct image_set *image_set_new(void);
/* Closes the images, too. */
void image_set_free(struct image_set *set);

/* Add an image, which the set owns from then on. Returns 0, or -E2BIG: there are IMAGE_SET_MAX. */
int image_set_add(struct image_set *set, struct image_image *image, const struct image_use *use);

/* The set as a source of code, as long as it lives. */
struct trace_code_source image_set_source(struct image_set *set);

/* Returns how many pages of code were found, over all address spaces. */
size_t image_set_pages(const struct image_set *set);

/* A line about what is wrong with an image or was left out. NULL: nothing. */
const char *image_set_damage(const struct image_set *set);

#endif /* VMM_IMAGE_SET_H */
