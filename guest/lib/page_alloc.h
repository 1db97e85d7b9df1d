/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RAM past the image, handed out once and never taken back. */
#ifndef GUEST_LIB_PAGE_ALLOC_H
#define GUEST_LIB_PAGE_ALLOC_H

#include "vpt/abi/boot.h"

#define PAGE_SIZE 4096ull

void page_alloc_init(const struct vpt_boot_info *info);

/*
 * `bytes` (a power of two, at least PAGE_SIZE) aligned to their size, in the
 * first GiB. As vpt left them: zero, unless something wrote there. Fails the
 * payload when RAM is used up.
 */
void *page_alloc(uint64_t bytes);

#endif /* GUEST_LIB_PAGE_ALLOC_H */
