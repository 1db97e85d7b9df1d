/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large mappings that hold what a guest wrote or made. Inaccessible memory lies on both sides
 * of each, so that an access beyond an end faults and does not reach another mapping. A core
 * dump leaves them out, since they may hold a guest's secrets.
 */
#ifndef VMM_X86_GUARD_H
#define VMM_X86_GUARD_H

#include <stddef.h>

/* Inaccessible on each side of a mapping: larger than any access that an index can miss by. */
#define X86_GUARD_BYTES ((size_t)2 << 20)

/*
 * Map @bytes with the rights @prot between two guards. @fd is a file that is shared from its
 * beginning on; -1 maps private zeroed memory, which costs nothing until it is used. The mapping
 * begins at a multiple of 2 MiB, so that the kernel can use large pages. Returns NULL with errno
 * set if there is no room.
 */
void *x86_guard_map(size_t bytes, int prot, int fd);

/* Unmap what x86_guard_map() returned for the same @bytes, with its guards. @at may be NULL. */
void x86_guard_unmap(void *at, size_t bytes);

#endif /* VMM_X86_GUARD_H */
