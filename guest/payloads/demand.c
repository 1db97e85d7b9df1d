// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demand paging. A #PF handler maps each page at its first access, copies it at its first write,
 * and unmaps pages again. The faulting instructions are of all kinds: REP over several pages,
 * accesses across two, read-modify-write, calls into unmapped code. Then accessed and dirty bits
 * are checked, in pages of 4 KiB, 2 MiB and 1 GiB.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/rand.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("demand paging, copy on write, accessed and dirty bits");

#define ROUNDS 60 /* --arg: another number */
#define PAGES  12u
#define REGION (PAGING_FREE_VADDR + (4ull << 30))
#define CODE   (PAGING_FREE_VADDR + (5ull << 30))
#define LARGE  (PAGING_FREE_VADDR + (6ull << 30))
#define GIB    (PAGING_FREE_VADDR + (8ull << 30))
#define WORDS  (PAGES * (uint32_t)PAGE_SIZE / 8)

/* Error codes (SDM vol. 3, 4.7). */
#define PF_PRESENT 1u
#define PF_WRITE   2u
#define PF_FETCH   16u

static uint64_t rounds, cr3;
/* The region's pages. All read as `common` until they are written. */
static uint8_t *own[PAGES], *common, *code_page;
static bool owned[PAGES];
static uint64_t absent, protected, fetched, wrong_error;

static void on_region(uint64_t page, uint64_t vaddr, uint64_t error)
{
	bool write = error & PF_WRITE;

	if (error & PF_PRESENT)
	protected++;
	else absent++;
	/* Present pages can be read. */
	wrong_error += error & ~(PF_PRESENT | PF_WRITE) || error == PF_PRESENT;
	if (write && !owned[page]) {
		memcpy(own[page], common, PAGE_SIZE);
		owned[page] = true;
	}
	/* More rights need no INVLPG: the fault has invalidated the entry (4.10.4.3). */
	paging_map(cr3, vaddr, owned[page] ? own[page] : common, (write ? PTE_WRITE : 0) | PTE_NX);
}

static void on_pf(struct trap_frame *f)
{
	uint64_t at = read_cr2(), page = (at - REGION) / PAGE_SIZE;

	if ((at & ~(PAGE_SIZE - 1)) == CODE) {
		fetched++;
		wrong_error += f->error != PF_FETCH || f->rip != at;
		paging_map(cr3, CODE, code_page, 0);
	} else if (page < PAGES) {
		on_region(page, at & ~(PAGE_SIZE - 1), f->error);
	} else {
		report(false, "#PF at %#lx, error %#lx, rip %#lx", at, f->error, f->rip);
		guest_exit(report_summary());
	}
}

/* The contents of the region if paging works. */
static uint64_t mirror[WORDS];
static uint64_t wrong;

static uint64_t *region(uint32_t n)
{
	return (uint64_t *)REGION + n;
}

static bool same_words(const uint64_t *a, const uint64_t *b, uint64_t n)
{
	bool same;

	__asm__ volatile("repe cmpsq" : "+D"(a), "+S"(b), "+c"(n), "=@cce"(same) : : "memory");
	return same;
}

static void copy_words(uint64_t *to, const uint64_t *from, uint64_t n)
{
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static noinline void touch(struct rng *rng)
{
	uint32_t n = rng_below(rng, WORDS), m = rng_below(rng, WORDS), at;
	uint64_t value = rng_next(rng);

	switch (rng_below(rng, 5)) {
	case 0:
		wrong += *(volatile uint64_t *)region(n) != mirror[n];
		break;
	case 1:
		*(volatile uint64_t *)region(n) = value;
		mirror[n] = value;
		break;
	case 2:
		__asm__ volatile("lock addq %1, %0" : "+m"(*region(n)) : "r"(value) : "cc");
		mirror[n] += value;
		break;
	case 3:
		/* Access across the end of a page: two faults for one instruction. */
		at = (1 + n % (PAGES - 1)) * (uint32_t)(PAGE_SIZE / 8);
		__builtin_memcpy((uint8_t *)region(at) - 3, &value, sizeof(value));
		__builtin_memcpy((uint8_t *)&mirror[at] - 3, &value, sizeof(value));
		break;
	default:
		at = 300 + rng_below(rng, 300);
		n %= WORDS - at;
		m %= WORDS - at;
		copy_words(region(n), region(m), at);
		copy_words(&mirror[n], &mirror[m], at);
		break;
	}
}

static void evict(struct rng *rng)
{
	paging_unmap(cr3, REGION + rng_below(rng, PAGES) * PAGE_SIZE);
	if (rng_chance(rng, 30))
		paging_unmap(cr3, CODE);
}

static uint64_t calls, wrong_call;

static void work(void)
{
	struct rng rng;
	uint64_t i;

	rng_seed(&rng, boot->seed);
	for (i = 0; i < rounds; i++) {
		touch(&rng);
		evict(&rng);
		if (i % 4)
			continue;
		calls++;
		wrong_call += ((uint64_t(*)(uint64_t))(uintptr_t)CODE)(i) != 2 * i + 3;
	}
}

static uint64_t bits(const uint64_t *entry)
{
	return *(const volatile uint64_t *)entry & (PTE_ACCESSED | PTE_DIRTY);
}

/*
 * Check the bits of the entry that maps `vaddr`. A speculative access may set A, so A need not be
 * clear.
 */
static void report_bits(uint64_t vaddr, unsigned int level, const char *size)
{
	volatile uint64_t *at = (volatile uint64_t *)vaddr;
	uint64_t *entry = paging_entry(cr3, vaddr, level), value = 12345;

	*entry &= ~(uint64_t)(PTE_ACCESSED | PTE_DIRTY);
	invlpg(vaddr);
	(void)*at;
	report_equal(bits(entry), PTE_ACCESSED, size);
	*at = 1;
	report(bits(entry) == (PTE_ACCESSED | PTE_DIRTY), "%s: a write after a read sets D", size);
	*entry &= ~(uint64_t)(PTE_ACCESSED | PTE_DIRTY);
	invlpg(vaddr);
	(void)*at;
	report(bits(entry) == PTE_ACCESSED, "%s: set again after INVLPG, D clear", size);
	/* Write the same value back. */
	__asm__ volatile("lock cmpxchgq %2, %1"
			 : "+a"(value), "+m"(*at)
			 : "r"(value)
			 : "cc", "memory");
	report(value == 1 && *at == 1 && bits(entry) == (PTE_ACCESSED | PTE_DIRTY),
	       "%s: a CMPXCHG that does not exchange sets D", size);
}

static void report_large(void)
{
	volatile uint64_t *page = page_alloc(2ull << 20), *other = page_alloc(PAGE_SIZE);
	volatile uint64_t *at = (volatile uint64_t *)LARGE;
	uint64_t last = (2ull << 20) / 8 - 1;

	*paging_entry(cr3, LARGE, 2) =
		(uintptr_t)page | PTE_PRESENT | PTE_WRITE | PTE_LARGE | PTE_NX;
	at[0] = 17;
	at[last] = 19;
	report(page[0] == 17 && page[last] == 19, "2 MiB: both ends are where they should be");
	report_bits(LARGE, 2, "2 MiB: a read sets A only");
	/* Split it into 512 pages of 4 KiB, and remap one of them. */
	paging_map(cr3, LARGE + PAGE_SIZE, (void *)(uintptr_t)other, PTE_WRITE);
	write_cr3(cr3);
	at[PAGE_SIZE / 8] = 23;
	report(other[0] == 23 && page[PAGE_SIZE / 8] == 0 && at[last] == 19,
	       "2 MiB split: one page is another one, the rest as before");

	if (!cpu_has(CPU_GIB_PAGES)) {
		report_note("no pages of 1 GiB");
		return;
	}
	*paging_entry(cr3, GIB, 3) = PTE_PRESENT | PTE_WRITE | PTE_LARGE | PTE_NX;
	at = (volatile uint64_t *)(GIB + (uintptr_t)page);
	at[1] = 29;
	report_equal(page[1], 29, "1 GiB: a write arrives");
	report_bits(GIB + (uintptr_t)page, 3, "1 GiB: a read sets A only");
}

static void set_up(void)
{
	/* LEA RAX, [2 * RDI + 3]; RET */
	static const uint8_t code[] = {0x48, 0x8d, 0x44, 0x3f, 0x03, 0xc3};
	unsigned int i;

	cr3 = paging_new_space();
	write_cr3(cr3);
	common = page_alloc(PAGE_SIZE);
	code_page = page_alloc(PAGE_SIZE);
	memcpy(code_page, code, sizeof(code));
	for (i = 0; i < PAGE_SIZE; i++)
		common[i] = (uint8_t)(i * 7);
	for (i = 0; i < PAGES; i++) {
		own[i] = page_alloc(PAGE_SIZE);
		memcpy((uint8_t *)mirror + i * PAGE_SIZE, common, PAGE_SIZE);
	}
	idt_hook(VEC_PF, on_pf);
}

void payload(void)
{
	struct trace t;

	rounds = boot->arg[0] ? boot->arg[0] : ROUNDS;
	set_up();
	trace_long(&t, work);
	report_equal(wrong, 0, "what was read");
	/* Map and fault in everything once more. */
	report(same_words(region(0), mirror, WORDS), "what the region holds");
	report_equal(wrong_call, 0, "calls into a page that comes when it is called");
	report_equal(wrong_error, 0, "error codes");
	report(absent > rounds / 2 && protected && fetched && fetched <= calls,
	       "pages were missing, read-only, and code");
	report_bits(REGION, 1, "4 KiB: a read sets A only");
	report_large();
}
