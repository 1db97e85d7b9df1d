/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How the library reaches memory: through its host, which may refuse.
 *
 * Addresses are those of the output registers and ToPA entries: physical ones of
 * the processor that is modelled, or guest-physical ones in its non-root operation
 * (vpt_pt_output_is_guest_physical() in vmx_pt.h). The host decides what is RAM; a
 * hole, MMIO or a read-only page is refused, never touched. Table entries are read once and
 * judged from that copy, so a guest that changes them meanwhile gains nothing.
 */
#ifndef VPT_MEM_H
#define VPT_MEM_H

#include "base.h"

struct vpt_mem_ops {
	/* Copy len bytes from gpa to dst; false and nothing copied if refused. */
	bool (*read)(void *opaque, uint64_t gpa, void *dst, size_t len);
	/* Copy len bytes from src to gpa; false and nothing stored if refused. */
	bool (*write)(void *opaque, uint64_t gpa, const void *src, size_t len);
	/*
	 * Optional. Host address of guest memory at gpa that is plain RAM for
	 * *len bytes; *len holds the wish and receives what there is, at least
	 * 1; more than the wish is no harm. NULL if there is none, then write()
	 * is asked. The address stays valid until the output it was asked for
	 * moves to another region or stops.
	 */
	void *(*map)(void *opaque, uint64_t gpa, size_t *len);
	/*
	 * Optional. Output bytes [gpa, gpa + len) are in memory now. Called in
	 * output order, each byte once, and for all bytes before tracing stops.
	 */
	void (*committed)(void *opaque, uint64_t gpa, size_t len);
};

#endif /* VPT_MEM_H */
