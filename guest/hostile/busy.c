// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Endless work that a VMM does without interruption. --arg selects the work by its index in
 * `works`. A VMM that checks its own limits only between such pieces of work is late.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/report.h"

PAYLOAD("work that takes long");

#define APIC	0xfee00000ull
#define ENTRIES 512u
#define TABLE	(PTE_PRESENT | PTE_WRITE | PTE_USER)
#define FIRST	PAGING_FREE_VADDR

static uint64_t cr3;
static uint8_t *page;

/* Map `page` at 2^35 addresses: all entries of each table lead to the same next table. */
static void map_everywhere(void)
{
	const void *to;
	unsigned int level, i;

	cr3 = paging_new_space();
	page = page_alloc(PAGE_SIZE);
	to = page;
	for (level = 0; level < 3; level++) {
		uint64_t *table = page_alloc(PAGE_SIZE);

		for (i = 0; i < ENTRIES; i++)
			table[i] = (uintptr_t)to | TABLE;
		to = table;
	}
	for (i = FIRST >> 39; i < ENTRIES / 2; i++)
		((uint64_t *)(uintptr_t)cr3)[i] = (uintptr_t)to | TABLE;
	*paging_entry(cr3, APIC, 2) = APIC | PTE_LARGE | TABLE | PTE_UNCACHED;
	write_cr3(cr3);
}

static void rep_stos(uint64_t to, uint64_t count)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0xc3) : "memory");
}

/* One REP of some 2^35 iterations, in RAM. */
static void rep_ram(void)
{
	rep_stos(FIRST, 0x7fffffffffull);
}

static void rep_device(void)
{
	rep_stos(APIC + 0x1000, 0x100000ull);
}

static void rep_backwards(void)
{
	uint64_t to = FIRST + 0x7fffffffffull, count = 0x7fffffffffull;

	__asm__ volatile("std; rep stosb; cld" : "+D"(to), "+c"(count) : "a"(0xc3) : "memory");
}

static void rep_port(void)
{
	uint64_t from = FIRST, count = 1ull << 34;

	__asm__ volatile("rep outsb" : "+S"(from), "+c"(count) : "d"(0x80) : "memory");
}

/*
 * Execute a page of RETs at thousands of addresses, each a separate block; then store to the page.
 */
static void store_to_blocks(void)
{
	uint64_t at;
	unsigned int i;

	memset(page, 0xc3, PAGE_SIZE);
	for (at = FIRST; at < FIRST + 100000 * PAGE_SIZE; at += PAGE_SIZE)
		((void (*)(void))(uintptr_t)(at + at / PAGE_SIZE % 32))();
	for (i = 0; i < 64; i++)
		((volatile uint8_t *)page)[40] = 0xc3;
	rep_stos((uintptr_t)page, 64);
}

static void flush(void)
{
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		invlpg(FIRST);
		write_cr3(cr3);
		(void)*(volatile uint8_t *)(FIRST + i * PAGE_SIZE);
	}
}

static void cpuids(void)
{
	(void)cpuid(0, 0);
}

static void console(void)
{
	unsigned int i;

	for (i = 0; i < 64; i++)
		outb(VPT_PORT_CONSOLE, 'x');
}

static void faults(void)
{
	__asm__ volatile("1: ud2; jmp 1b");
}

static void misses(void)
{
	uint64_t at;

	for (at = FIRST; at < FIRST + (1ull << 34); at += PAGE_SIZE)
		(void)*(volatile uint8_t *)at;
}

static void on_ud(struct trap_frame *frame)
{
	frame->rip += 2;
}

static void jump(void)
{
	for (;;)
		barrier();
}

void payload(void)
{
	static void (*const works[])(void) = {rep_ram,	       rep_device, rep_backwards, rep_port,
					      store_to_blocks, flush,	   cpuids,	  console,
					      faults,	       misses,	   jump};

	map_everywhere();
	idt_hook(VEC_UD, on_ud);
	for (;;)
		works[boot->arg[0] % ARRAY_SIZE(works)]();
}
