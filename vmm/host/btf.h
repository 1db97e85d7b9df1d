/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets of struct members and of per-CPU variables in a kernel, from its BTF. */
#ifndef VMM_HOST_BTF_H
#define VMM_HOST_BTF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Return the offset in bytes of a member, or of a member of an unnamed struct or union inside.
 * Returns -EINVAL if the bytes are not BTF. Returns -ENOENT if there is no such struct or member,
 * or if it is a bit field.
 */
int host_btf_offset(const void *btf, size_t len, const char *of, const char *member,
		    uint32_t *offset);

/*
 * Return the offset in bytes of a per-CPU variable from the beginning of its section. Returns -EINVAL
 * if the bytes are not BTF, and -ENOENT if there is no such variable.
 */
int host_btf_percpu(const void *btf, size_t len, const char *name, uint32_t *offset);

#endif /* VMM_HOST_BTF_H */
