// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads guest-physical memory through EPT, and finds EPTPs in VMCS regions. */
#include "image/nested.h"

#include <string.h>

/*
 * EPTP: memory type in 2:0, length of the walk minus 1 in 5:3, accessed and dirty flags in 6, CET
 * in 7.
 */
#define EPTP_TYPE     7ull
#define EPTP_TYPE_WB  6ull
#define EPTP_LENGTH   (7ull << 3)
#define EPTP_LENGTH_4 (3ull << 3)
#define EPTP_LENGTH_5 (4ull << 3)
#define EPTP_RESERVED (0xfff0000000000f00ull)

/* The data are behind the revision identifier and the VMX-abort indicator. */
#define VMCS_DATA 8u

static enum image_paging ept_paging(uint64_t eptp)
{
	return (eptp & EPTP_LENGTH) == EPTP_LENGTH_5 ? IMAGE_EPT5 : IMAGE_EPT4;
}

/* Translate an address of the view to one of the image. */
static bool to_image(const struct image_view *view, uint64_t address, uint64_t *physical)
{
	const struct image_memory memory = {image_read, view->image};

	*physical = address;
	return !view->eptp || image_walk(&memory, ept_paging(view->eptp), view->eptp, address,
					 physical) == IMAGE_MAPPED;
}

const uint8_t *image_view_page(struct image_view *view, uint64_t address)
{
	uint64_t physical;

	return to_image(view, address, &physical) ? image_page(view->image, physical) : NULL;
}

/* Entries do not cross pages. */
static bool read_view(void *context, uint64_t address, void *to, size_t len)
{
	const uint8_t *page = image_view_page(context, address);
	size_t in = address % IMAGE_PAGE_BYTES;

	if (!page || len > IMAGE_PAGE_BYTES - in)
		return false;
	memcpy(to, page + in, len);
	return true;
}

struct image_memory image_view_memory(struct image_view *view)
{
	return (struct image_memory){read_view, view};
}

const uint8_t *image_view_code(struct image_view *view, enum image_paging paging, uint64_t cr3,
			       uint64_t vaddr)
{
	const struct image_memory memory = image_view_memory(view);
	uint64_t physical;

	if (image_walk(&memory, paging, cr3, vaddr, &physical) != IMAGE_MAPPED)
		return NULL;
	return image_view_page(view, physical);
}

bool image_is_eptp(struct image_image *image, uint64_t eptp)
{
	uint64_t length = eptp & EPTP_LENGTH;

	if ((eptp & EPTP_TYPE) != EPTP_TYPE_WB || eptp & EPTP_RESERVED ||
	    (length != EPTP_LENGTH_4 && length != EPTP_LENGTH_5))
		return false;
	return image_page(image, eptp) != NULL;
}

unsigned int image_vmcs_eptps(struct image_image *image, uint64_t vmcs, uint64_t *eptps)
{
	const uint8_t *region = image_page(image, vmcs);
	unsigned int n = 0, i;
	size_t at;

	for (at = VMCS_DATA;
	     region && at + sizeof(*eptps) <= IMAGE_PAGE_BYTES && n < IMAGE_EPTPS_MAX; at += 4) {
		uint64_t value;

		memcpy(&value, region + at, sizeof(value));
		if (!image_is_eptp(image, value))
			continue;
		for (i = 0; i < n && eptps[i] != value; i++)
			;
		if (i == n)
			eptps[n++] = value;
	}
	return n;
}
