/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the running kernel keeps a member of a struct, as its BTF tells. */
#ifndef VMM_HOST_BTF_H
#define VMM_HOST_BTF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the offset in bytes of a member, also of a member of an unnamed struct or union inside.
 * Else -EINVAL: the bytes are no BTF; -ENOENT: there is no such struct or member, or it is a bit
 * field.
 */
int host_btf_offset(const void *btf, size_t len, const char *of, const char *member,
		    uint32_t *offset);

#endif /* VMM_HOST_BTF_H */
