// SPDX-License-Identifier: GPL-2.0-or-later
/* Guest-physical memory, found through EPT, and EPTPs, found in VMCS regions. */
#include "image/nested.h"

#include <string.h>

/* EPTP: memory type in 2:0, length of the walk less 1 in 5:3, accessed and dirty flags in 6, CET in 7. */
#define EPTP_TYPE     7ull
#define EPTP_TYPE_WB  6ull
#define EPTP_LENGTH   (7ull << 3)
#define EPTP_LENGTH_4 (3ull << 3)
#define EPTP_LENGTH_5 (4ull << 3)
#define EPTP_RESERVED (0xfff0000000000f00ull)

/* Behind the revision identifier and the VMX-abort indicator. */
#define VMCS_DATA 8u

static enum img_paging ept_paging(uint64_t eptp)
{
	return (eptp & EPTP_LENGTH) == EPTP_LENGTH_5 ? IMG_EPT5 : IMG_EPT4;
}

/* Translate an address of the view to one of the image. */
static bool to_image(const struct img_view *view, uint64_t address, uint64_t *physical)
{
	const struct img_memory memory = {img_read, view->image};

	*physical = address;
	return !view->eptp || img_walk(&memory, ept_paging(view->eptp), view->eptp, address,
				       physical) == IMG_MAPPED;
}

const uint8_t *img_view_page(struct img_view *view, uint64_t address)
{
	uint64_t physical;

	return to_image(view, address, &physical) ? img_page(view->image, physical) : NULL;
}

/* Entries do not cross pages. */
static bool read_view(void *context, uint64_t address, void *to, size_t len)
{
	const uint8_t *page = img_view_page(context, address);
	size_t in = address % IMG_PAGE_BYTES;

	if (!page || len > IMG_PAGE_BYTES - in)
		return false;
	memcpy(to, page + in, len);
	return true;
}

struct img_memory img_view_memory(struct img_view *view)
{
	return (struct img_memory){read_view, view};
}

const uint8_t *img_view_code(struct img_view *view, enum img_paging paging, uint64_t cr3,
			     uint64_t vaddr)
{
	const struct img_memory memory = img_view_memory(view);
	uint64_t physical;

	if (img_walk(&memory, paging, cr3, vaddr, &physical) != IMG_MAPPED)
		return NULL;
	return img_view_page(view, physical);
}

bool img_is_eptp(struct img_image *image, uint64_t eptp)
{
	uint64_t length = eptp & EPTP_LENGTH;

	if ((eptp & EPTP_TYPE) != EPTP_TYPE_WB || eptp & EPTP_RESERVED ||
	    (length != EPTP_LENGTH_4 && length != EPTP_LENGTH_5))
		return false;
	return img_page(image, eptp) != NULL;
}

unsigned int img_vmcs_eptps(struct img_image *image, uint64_t vmcs, uint64_t *eptps)
{
	const uint8_t *region = img_page(image, vmcs);
	unsigned int n = 0, i;
	size_t at;

	for (at = VMCS_DATA; region && at + sizeof(*eptps) <= IMG_PAGE_BYTES && n < IMG_EPTPS_MAX;
	     at += 4) {
		uint64_t value;

		memcpy(&value, region + at, sizeof(value));
		if (!img_is_eptp(image, value))
			continue;
		for (i = 0; i < n && eptps[i] != value; i++)
			;
		if (i == n)
			eptps[n++] = value;
	}
	return n;
}
