/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a guest inside an image of its host's memory, through EPT. */
#ifndef VMM_IMAGE_NESTED_H
#define VMM_IMAGE_NESTED_H

#include "image/image.h"

/* The memory that contains the page tables. */
struct image_view {
	struct image_image *image;
	uint64_t eptp; /* 0: physical memory of the image */
};

/* The view as memory for image_walk(). */
struct image_memory image_view_memory(struct image_view *view);

/* Return the page at a physical address of the view, like image_page(). */
const uint8_t *image_view_page(struct image_view *view, uint64_t address);

/*
 * Return the page that @cr3 maps at @vaddr with this paging mode. NULL if it is not mapped, or if
 * the view does not have it.
 */
const uint8_t *image_view_code(struct image_view *view, enum image_paging paging, uint64_t cr3,
			       uint64_t vaddr);

/* Returns true if @eptp is an EPTP whose root table is in the image (table 25-9). */
bool image_is_eptp(struct image_image *image, uint64_t eptp);

/* The maximum number of EPTPs to try for a VMCS. */
#define IMAGE_EPTPS_MAX 8

/*
 * Search for values with the form of an EPTP in the VMCS region at @vmcs, whose format depends on
 * the processor. Returns their number, at most IMAGE_EPTPS_MAX.
 */
unsigned int image_vmcs_eptps(struct image_image *image, uint64_t vmcs, uint64_t *eptps);

#endif /* VMM_IMAGE_NESTED_H */
