/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a debug section, decompressed if need be, within a limit. */
#ifndef VMM_DEBUG_INFLATE_H
#define VMM_DEBUG_INFLATE_H

#include "debug/object.h"

struct vpt_debug_bytes {
	const uint8_t *at;
	size_t len; /* 0: the file has no such section */
	void *heap; /* `at`, if it was decompressed */
};

/*
 * Load the section of that name, such as ".debug_line". *budget is how many bytes may be
 * decompressed, and becomes less; nothing is allocated before the stated size is within the
 * budget and within what zlib can make of the bytes there are.
 *
 * Returns 0; -ENOMEM; -EFBIG: the budget is too small; -EINVAL: the section is damaged, or
 * compressed in a way other than zlib's. vpt_debug_unload() also after an error.
 */
int vpt_debug_load(const struct vpt_object *o, const char *name, uint64_t *budget,
		   struct vpt_debug_bytes *bytes);
void vpt_debug_unload(struct vpt_debug_bytes *bytes);

#endif /* VMM_DEBUG_INFLATE_H */
