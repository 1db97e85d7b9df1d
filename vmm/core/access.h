/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes of linear memory on behalf of the guest. */
#ifndef VMM_CORE_ACCESS_H
#define VMM_CORE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_vcpu;
struct engine_exception;

/*
 * Read or write guest memory at a linear address, through the guest's page tables (access.c).
 * @access has bits of enum x86_walk_access. Return false and set *e if the access faults; no byte
 * is transferred then.
 */
bool core_read(struct core_vcpu *v, uint64_t gva, void *dst, size_t len, unsigned int access,
	       struct engine_exception *e);
bool core_write(struct core_vcpu *v, uint64_t gva, const void *src, size_t len, unsigned int access,
		struct engine_exception *e);
bool core_canonical(const struct core_vcpu *v, uint64_t address);

#endif /* VMM_CORE_ACCESS_H */
