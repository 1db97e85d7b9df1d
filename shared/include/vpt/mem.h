/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How the library reaches memory: through its host, which may refuse.
 *
 * Addresses are those of the output registers and of ToPA entries. They are physical addresses of
 * the modelled processor, or guest-physical ones in its non-root operation
 * (vpt_pt_output_is_guest_physical() in vmx_pt.h). The host decides which addresses are RAM. It
 * refuses a hole, MMIO or a read-only page. The library reads a table entry once and checks that
 * copy, so a guest that changes the entry meanwhile gains nothing.
 */
#ifndef VPT_MEM_H
#define VPT_MEM_H

#include "base.h"

struct vpt_mem_ops {
	/* Copy len bytes from gpa to dst. Returns false with nothing copied if the host refuses. */
	bool (*read)(void *opaque, uint64_t gpa, void *dst, size_t len);
	/* Copy len bytes from src to gpa. Returns false with nothing stored if the host refuses. */
	bool (*write)(void *opaque, uint64_t gpa, const void *src, size_t len);
	/*
	 * Optional. Returns the host address of guest RAM at gpa. *len is the number of bytes
	 * wanted, and returns the number of bytes available, at least 1. It may be more than
	 * wanted. Returns NULL if there is no such address. The library then calls write(). The
	 * address stays valid until that output moves to another region or stops.
	 */
	void *(*map)(void *opaque, uint64_t gpa, size_t *len);
	/*
	 * Optional. Reports that the output bytes [gpa, gpa + len) are in memory. Called in output
	 * order, once for each byte, and for all bytes before tracing stops.
	 */
	void (*committed)(void *opaque, uint64_t gpa, size_t len);
};

#endif /* VPT_MEM_H */
