/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RAM past the image. It is allocated once and never freed. */
#ifndef GUEST_LIB_PAGE_ALLOC_H
#define GUEST_LIB_PAGE_ALLOC_H

#include "vpt/abi/boot.h"

#define PAGE_SIZE 4096ull

void page_alloc_init(const struct vpt_boot_info *info);

/*
 * Allocate `bytes` (a power of two, at least PAGE_SIZE), aligned to their size, in the first GiB.
 * The memory is zero, unless the guest wrote to it. Fails the payload when RAM is exhausted.
 */
void *page_alloc(uint64_t bytes);

#endif /* GUEST_LIB_PAGE_ALLOC_H */
