/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linear memory, as the guest sees it. */
#ifndef VMM_CORE_ACCESS_H
#define VMM_CORE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_vcpu;
struct engine_exception;

/*
 * access.c: linear memory as the guest sees it. False: *e is the exception, and
 * nothing was written. `access`: enum x86_walk_access.
 */
bool core_read(struct core_vcpu *v, uint64_t gva, void *dst, size_t len, unsigned int access,
	       struct engine_exception *e);
bool core_write(struct core_vcpu *v, uint64_t gva, const void *src, size_t len, unsigned int access,
		struct engine_exception *e);
bool core_canonical(const struct core_vcpu *v, uint64_t address);

#endif /* VMM_CORE_ACCESS_H */
