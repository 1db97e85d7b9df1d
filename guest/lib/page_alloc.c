// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocates pages for page tables and payloads. */
#include "page_alloc.h"

#include "guest.h"
#include "mem.h"
#include "printk.h"
#include "report.h"

/* The end of the memory that paging.c maps. */
#define LIMIT (1ull << 30)

static uint64_t next, end;

void page_alloc_init(const struct vpt_boot_info *info)
{
	next = (info->free_start + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
	end = info->ram_bytes < LIMIT ? info->ram_bytes : LIMIT;
}

void *page_alloc(uint64_t bytes)
{
	uint64_t at = (next + bytes - 1) & ~(bytes - 1);

	if (at > end || bytes > end - at) {
		printk("FAIL: out of memory: %lu bytes wanted, RAM ends at %#lx\n", bytes, end);
		guest_exit(REPORT_FAIL);
	}
	next = at + bytes;
	/* vpt clears memory; other machines may not. */
	if (boot->flags & VPT_BOOT_BARE)
		memset((void *)(uintptr_t)at, 0, bytes);
	return (void *)(uintptr_t)at;
}
