// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One page of code at almost 2^35 addresses: all entries of each page table lead to the same next
 * table, or to the page. The guest runs the page at consecutive addresses, --arg times, or without
 * end if there is no --arg. A recorder that stores data for each address exhausts memory.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/report.h"

PAYLOAD("one page of code at 2^35 addresses");

#define ENTRIES 512u
#define TABLE	(PTE_PRESENT | PTE_WRITE | PTE_USER)

/* Entry 0 of the PML4 maps the guest itself. */
#define FIRST PAGING_FREE_VADDR
#define LAST  0x7ffffffff000ull

/*
 * RAX is the address of the page, and then of its next alias. RDX is the last address, and RBX the
 * return address. RCX counts down; a count of 0 never ends.
 */
static const uint8_t code[] = {
	0x48, 0x05, 0x00, 0x10, 0x00, 0x00, /* add rax, 4096 */
	0x48, 0x39, 0xd0,		    /* cmp rax, rdx */
	0x73, 0x07,			    /* jae 1f */
	0x48, 0xff, 0xc9,		    /* dec rcx */
	0x74, 0x02,			    /* jz 1f */
	0xff, 0xe0,			    /* jmp rax */
	0xff, 0xe3,			    /* 1: jmp rbx */
};

/* Fill a table whose entries all lead to the same page. */
static uint64_t *fill(const void *to)
{
	uint64_t *table = page_alloc(PAGE_SIZE);
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		table[i] = (uintptr_t)to | TABLE;
	return table;
}

static uint64_t walk(uint64_t from, uint64_t count)
{
	uint64_t at = from;

	__asm__ volatile("lea 1f(%%rip), %%rbx\n"
			 "jmp *%%rax\n"
			 "1:\n"
			 : "+a"(at), "+c"(count)
			 : "d"(LAST)
			 : "rbx", "cc", "memory");
	return at;
}

void payload(void)
{
	uint64_t cr3 = paging_new_space(), *pml4 = (uint64_t *)(uintptr_t)cr3, at;
	uint8_t *page = page_alloc(PAGE_SIZE);
	uint64_t *pdpt = fill(fill(fill(page)));
	unsigned int i;

	memcpy(page, code, sizeof(code));
	for (i = FIRST >> 39; i < ENTRIES / 2; i++)
		pml4[i] = (uintptr_t)pdpt | TABLE;
	write_cr3(cr3);
	do {
		at = walk(FIRST, boot->arg[0]);
	} while (!boot->arg[0]);
	report_equal(at, FIRST + boot->arg[0] * PAGE_SIZE, "the address of the last alias");
}
