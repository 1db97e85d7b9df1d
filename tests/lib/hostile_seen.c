// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hostile_seen.h"

#include <string.h>

#include "lib/require.h"
#include "soft/soft.h"
#include "soft/tlb.h"

#define PAGE_MASK (X86_PAGE_SIZE - 1)
#define NONE	  SOFT_TLB_NONE

static void check_bytes(const struct soft_tlb *t, const struct x86_mem *mem, uint64_t bytes)
{
	uint64_t at = t->read + t->host - (uintptr_t)mem->host;

	REQUIRE(t->read == NONE || t->write == NONE || t->write == t->read);
	REQUIRE(t->read != NONE || t->write == NONE);
	REQUIRE(t->read == NONE || !(t->read & (bytes - 1)));
	REQUIRE(t->read == NONE ||
		(!(at & PAGE_MASK) && at < mem->bytes && bytes <= mem->bytes - at));
}

static void check_entry(const struct soft_tlb *t, const struct x86_mem *mem)
{
	check_bytes(t, mem, X86_PAGE_SIZE);
}

/* Check an entry of 2 MiB of the TLB in use: the second level has the whole page, and writes find no code. */
static void check_large(const struct soft *c, const struct soft_tlb *t, const struct x86_mem *mem)
{
	const struct soft_page *page;
	uint64_t at;

	if (t->read == NONE)
		return;
	page = soft_find_page(c, c->set, t->read);
	REQUIRE(page && page->word & SOFT_PAGE_WHOLE && soft_page_shift(page) >= SOFT_TLB_SHIFT);
	REQUIRE(x86_mem_room(mem, soft_page_gpa(page, t->read), &at) &&
		t->host + t->read == (uintptr_t)mem->host + at);
	REQUIRE(t->write == NONE || (page->word & SOFT_PAGE_WRITE &&
				     !soft_has_code_near(c, soft_page_gpa(page, t->read))));
}

/* Check entry i of a TLB. */
static void check(const struct soft_tlb *t, unsigned int i, const struct x86_mem *mem)
{
	check_bytes(&t[i], mem, i < SOFT_TLB_SIZE ? X86_PAGE_SIZE : 1ull << SOFT_TLB_SHIFT);
}

/* Check the entries that are listed. With `all`, check that no other entry is in use as well. */
static void check_tlb(const struct soft_tlb *t, const struct soft_filled *f, bool all,
		      const struct x86_mem *mem)
{
	const bool listed = f->count <= SOFT_FILLED;
	uint8_t known[SOFT_TLB_ALL] = {0};
	unsigned int i;

	for (i = 0; listed && i < f->count; i++) {
		REQUIRE(f->at[i] < SOFT_TLB_ALL);
		known[f->at[i]] = 1;
		check(t, f->at[i], mem);
	}
	for (i = 0; (all || !listed) && i < SOFT_TLB_ALL; i++) {
		check(t, i, mem);
		REQUIRE(!listed || known[i] || t[i].read == NONE);
	}
}

/* A site has nothing that the second level has not. */
static void check_site(const struct soft *c, const struct soft_tlb *t, const struct x86_mem *mem)
{
	const struct soft_page *page;
	uint64_t gpa, at;

	check_entry(t, mem);
	if (t->read == NONE)
		return;
	page = soft_find_page(c, c->set, t->read);
	REQUIRE(page);
	gpa = soft_page_gpa(page, t->read);
	REQUIRE(x86_mem_room(mem, gpa, &at) && t->host + t->read == (uintptr_t)mem->host + at);
	REQUIRE(t->write == NONE || (page->word & SOFT_PAGE_WRITE && !soft_has_code(c, gpa)));
}

static void check_sites(const struct soft *c, const struct x86_mem *mem)
{
	unsigned int half, i;

	for (half = 0; half < 2; half++)
		for (i = 0; c->sites.of[half] && i < SOFT_SITES; i++) {
			const unsigned int n = half * SOFT_SITES + i;
			const struct soft_tlb t = {.read = c->sites.read[n],
						   .write = c->sites.write[n],
						   .host = c->sites.host[n]};

			if (c->sites.of[half] == c->tlb)
				check_site(c, &t, mem);
			else
				check_entry(&t, mem);
		}
}

/* These invariants hold between two instructions, whatever the guest does. */
void hostile_check(const struct engine_vcpu *v, const struct x86_mem *mem)
{
	const struct soft *c = (const struct soft *)v;
	unsigned int n, last = SOFT_SPACES * SOFT_TLB_SLOW;

	REQUIRE(!c->r[SOFT_R_ZERO] && !c->bounce_bytes && c->cpl <= 3);
	REQUIRE(!(c->fpu.mxcsr & ~0xffffu));
	for (n = 0; n < last; n++) {
		const struct soft_tlb *t = c->tlbs[n / SOFT_TLB_SLOW][n % SOFT_TLB_SLOW];

		REQUIRE(t != c->tlb || c->made >> n & 1);
		if (c->space[n / SOFT_TLB_SLOW].filled >> n % SOFT_TLB_SLOW & 1)
			check_tlb(t, &c->filled[n / SOFT_TLB_SLOW][n % SOFT_TLB_SLOW], t == c->tlb,
				  mem);
	}
	for (n = SOFT_TLB_SIZE; n < SOFT_TLB_ALL; n++)
		check_large(c, &c->tlb[n], mem);
	for (n = 0; c->tlb == c->slow && n < SOFT_TLB_ALL; n++)
		REQUIRE(c->slow[n].read == NONE && c->slow[n].write == NONE);
	check_sites(c, mem);
}

void hostile_see(const struct engine_vcpu *v, struct hostile_seen *seen)
{
	const struct soft *c = (const struct soft *)v;

	_Static_assert(sizeof(c->msr) <= sizeof(seen->msr), "room");
	_Static_assert(sizeof(c->fpu) <= sizeof(seen->fpu), "room");
	memset(seen, 0, sizeof(*seen));
	seen->regs = c->regs;
	seen->regs.rflags = soft_rflags(c);
	seen->retired = c->base.retired;
	seen->tsc_offset = c->base.time.offset;
	seen->s = c->s;
	memcpy(seen->dr, c->dr, sizeof(seen->dr));
	memcpy(seen->msr, &c->msr, sizeof(c->msr));
	memcpy(seen->fpu, &c->fpu, sizeof(c->fpu));
	seen->shadow = !!(c->base.state & ENGINE_SHADOW);
}

static bool same_segment(const struct x86_segment *a, const struct x86_segment *b)
{
	return a->base == b->base && a->limit == b->limit && a->selector == b->selector &&
	       a->ar == b->ar;
}

void hostile_require_same(const struct hostile_seen *a, const struct hostile_seen *b)
{
	const struct x86_segment *one = &a->s.cs, *two = &b->s.cs;
	unsigned int i;

	REQUIRE(a->retired == b->retired);
	REQUIRE(a->regs.rip == b->regs.rip);
	REQUIRE(!memcmp(&a->regs, &b->regs, offsetof(struct x86_regs, rip)));
	REQUIRE(a->regs.rflags == b->regs.rflags && a->shadow == b->shadow);
	for (i = 0; i < 8; i++)
		REQUIRE(same_segment(&one[i], &two[i]));
	REQUIRE(a->s.gdt.base == b->s.gdt.base && a->s.gdt.limit == b->s.gdt.limit);
	REQUIRE(a->s.idt.base == b->s.idt.base && a->s.idt.limit == b->s.idt.limit);
	REQUIRE(a->s.cr0 == b->s.cr0 && a->s.cr2 == b->s.cr2 && a->s.cr3 == b->s.cr3);
	REQUIRE(a->s.cr4 == b->s.cr4 && a->s.efer == b->s.efer);
	REQUIRE(a->tsc_offset == b->tsc_offset && a->more == b->more);
	REQUIRE(!memcmp(a->dr, b->dr, sizeof(a->dr)));
	REQUIRE(!memcmp(a->msr, b->msr, sizeof(a->msr)));
	REQUIRE(!memcmp(a->fpu, b->fpu, sizeof(a->fpu)));
}
