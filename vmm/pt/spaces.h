/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assign ids to the address spaces of a trace in VMX operation: see struct trace_space. */
#ifndef VMM_PT_SPACES_H
#define VMM_PT_SPACES_H

#include "trace/format.h"
#include "vpt/pt.h"

/* The name of the space in root operation, whose code is a model (root.h). */
#define TRACER_ROOT_NAME "vmm (model)"

/* The bound of spaces, because the guest loads CR3. It corresponds to 5 MiB of memory. */
#define TRACER_SPACES_MOST 65536u

struct tracer_space_table {
	struct trace_space *at;
	size_t n, room, last;
	uint32_t *bucket; /* index of a space, plus 1; 0 if free */
};

/*
 * Find the space of this context. Returns 1 if the space is new, so that the file does not have it
 * yet, and 0 if it is known. Returns -ENOSPC for one more than TRACER_SPACES_MOST, or -ENOMEM. The
 * id is then 0.
 */
int tracer_spaces_note(struct tracer_space_table *spaces, const struct vpt_pt_vmx *vmx,
		       const struct vpt_context *ctx, struct trace_space *space);
void tracer_spaces_free(struct tracer_space_table *spaces);

#endif /* VMM_PT_SPACES_H */
