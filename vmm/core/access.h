/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linear memory, as the guest sees it. */
#ifndef VMM_CORE_ACCESS_H
#define VMM_CORE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vpt_vcpu;
struct vpt_exception;

/*
 * access.c: linear memory as the guest sees it. False: *e is the exception, and
 * nothing was written. `access`: enum vpt_walk_access.
 */
bool vpt_read(struct vpt_vcpu *v, uint64_t gva, void *dst, size_t len, unsigned int access,
	      struct vpt_exception *e);
bool vpt_write(struct vpt_vcpu *v, uint64_t gva, const void *src, size_t len, unsigned int access,
	       struct vpt_exception *e);
bool vpt_canonical(const struct vpt_vcpu *v, uint64_t address);

#endif /* VMM_CORE_ACCESS_H */
