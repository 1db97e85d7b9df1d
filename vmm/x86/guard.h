/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large mappings that hold data which a guest wrote or generated. Inaccessible memory lies on both
 * sides of each, so that an access beyond an end faults and does not reach another mapping. A core
 * dump omits them, because they may hold a guest's secrets.
 */
#ifndef VMM_X86_GUARD_H
#define VMM_X86_GUARD_H

#include <stddef.h>

/* Size of the guard on each side, larger than the offset of any wrong index. */
#define X86_GUARD_BYTES ((size_t)2 << 20)

/*
 * Map @bytes with the rights @prot between two guards. @fd is a file that is shared from its
 * beginning. -1 maps private zeroed memory, which costs nothing until it is used. The mapping
 * begins at a multiple of 2 MiB, so that the kernel can use large pages. Returns NULL with errno
 * set if there is no room.
 */
void *x86_guard_map(size_t bytes, int prot, int fd);

/* Unmap a mapping from x86_guard_map() of the same @bytes, with its guards. @at may be NULL. */
void x86_guard_unmap(void *at, size_t bytes);

#endif /* VMM_X86_GUARD_H */
