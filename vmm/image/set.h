/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory images as a source of code. The set selects the image for a CR3, and finds the page that
 * its page tables map at an address.
 *
 * The tables are those at the time of the image. If a page was mapped differently when the trace
 * was recorded, it is missing or wrong.
 */
#ifndef VMM_IMAGE_SET_H
#define VMM_IMAGE_SET_H

#include "image/image.h"
#include "trace/code_source.h"

#define IMAGE_SET_MAX 64

/* The maximum number of code pages, over all address spaces: 1 GiB. Further pages are not found. */
#define IMAGE_SET_PAGES (1u << 18)

enum image_side {
	IMAGE_ALL,   /* every CR3 belongs to this memory, with any PIP.NR */
	IMAGE_HOST,  /* PIPs with NR = 0; with NR = 1 through EPT or shadow page tables */
	IMAGE_GUEST, /* PIPs with NR = 1: the memory is guest-physical */
};

/* The user's description of an image. */
struct image_use {
	enum image_side side;
	uint64_t vmcs;		  /* GUEST: the only VMCS; TRACE_SPACE_ANY_VMCS: all */
	enum image_paging paging; /* paging mode; IMAGE_PAGINGS: from the image's notes, or else
	                           * guessed */
	uint64_t eptp;		  /* HOST, GUEST: EPTP of the guest, in host-physical memory; 0
	              		   * if none */
	uint64_t cr3;		  /* CR3 to use where it is not known; TRACE_SOURCE_NONE if there
	             		   * is none */
};

struct image_set;

/* Returns NULL if there is no memory. */
struct image_set *image_set_new(void);
/* Free the set, and close its images. */
void image_set_free(struct image_set *set);

/*
 * Add an image, which the set owns from then on. Returns 0, or -E2BIG if there are IMAGE_SET_MAX.
 */
int image_set_add(struct image_set *set, struct image_image *image, const struct image_use *use);

/* Return the set as a source of code, valid as long as the set. */
struct trace_code_source image_set_source(struct image_set *set);

/* Return the number of found code pages, over all address spaces. */
size_t image_set_pages(const struct image_set *set);

/* Return a line about damage or omissions in an image, or NULL. */
const char *image_set_damage(const struct image_set *set);

#endif /* VMM_IMAGE_SET_H */
