// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sites of memory operands in compiled code. A site is a copy of the TLB's entry of the page that the
 * operand was in before. Its place does not depend on the address. So a check needs no look-up, and the
 * host can access the operand before the check has ended. Code out of line copies another entry, or leaves
 * if there is none. soft_choose_tlb() and its neighbours keep the copies right.
 */
#include "soft/compile/compiler.h"

#define PAGE_BITS 0xfffff000u

/*
 * Return the number of a site. The stack has the first one. Other operands share the rest if
 * there are more of them.
 */
static int32_t place(struct soft_compiler *g, unsigned int base)
{
	unsigned int n = g->mode & SOFT_BLOCK_USER ? SOFT_SITES : 0;

	if (base == H_NONE || !soft_holds(g, SOFT_R_RSP, base))
		n += 1 + g->sites++ % (SOFT_SITES - 1);
	return (int32_t)n;
}

#define AT_SITE(member, n) (SOFT_AT(sites.member) + (n)*8)

static int32_t site_tag(int32_t n, bool write)
{
	return write ? AT_SITE(write, n) : AT_SITE(read, n);
}

/* R10 := an address and-ed with the mask. Returns the jump that is taken if it is not the site's tag. */
static uint8_t *compare(struct soft_compiler *g, unsigned int base, int32_t disp, uint32_t mask,
			int32_t at)
{
	struct soft_emit *e = &g->e;

	if (disp)
		e_rm(e, SOFT_SIZE64, 0x8d, H_R10, base, disp);
	else
		e_rr(e, SOFT_SIZE64, 0x89, base, H_R10);
	e_rr(e, SOFT_SIZE64, 0x81, 4, H_R10);
	e32(e, mask);
	e_rm(e, SOFT_SIZE64, 0x3b, H_R10, H_RDI, at);
	return e_jump(e, SOFT_JNE);
}

/* RAX := the entry of the TLB for the address in R11. */
static void find_entry(struct soft_emit *e)
{
	VPT_STATIC_ASSERT(sizeof(struct soft_tlb) == 32 && SOFT_TLB_BITS <= 20, "the TLB's shape");

	e_rr(e, 2, 0x89, H_R11, H_RAX); /* eax := the page's number, times 32 */
	e_rr(e, 2, 0xc1, 5, H_RAX);
	e8(e, 7);
	e_rr(e, 2, 0x81, 4, H_RAX);
	e32(e, (SOFT_TLB_SIZE - 1) << 5);
	e_rm(e, SOFT_SIZE64, 0x03, H_RAX, H_RDI, SOFT_AT(tlb));
}

/*
 * RAX := the TLB's entry of the first byte's page. Returns the jump that is taken if it is another page's, or
 * if the last byte is in another page.
 */
static uint8_t *match_entry(struct soft_emit *e, unsigned int bytes, bool write)
{
	find_entry(e);
	e_rm(e, SOFT_SIZE64, 0x8d, H_R10, H_R11, (int32_t)bytes - 1);
	e_rr(e, SOFT_SIZE64, 0x81, 4, H_R10);
	e32(e, PAGE_BITS);
	e_rm(e, SOFT_SIZE64, 0x3b, H_R10, H_RAX, write ? SOFT_AT_TLB(write) : SOFT_AT_TLB(read));
	return e_jump(e, SOFT_JNE);
}

static void load_address(struct soft_emit *e, unsigned int base, int32_t disp)
{
	if (base != H_NONE)
		e_rm(e, SOFT_SIZE64, 0x8d, H_R11, base, disp);
}

/*
 * A tag has no low bits. So one comparison finds that an operand is in the page and aligned, if its size is a
 * power of two. An aligned operand does not cross the end of the page. The few that are not aligned always
 * take the way out of line. Both ends of other pieces are compared.
 */
static struct soft_operand check_site(struct soft_compiler *g, const struct soft_uop *u,
				      unsigned int base, int32_t disp, unsigned int bytes,
				      bool write)
{
	const bool aligned = bytes <= 8 && !(bytes & (bytes - 1));
	const unsigned int from = base == H_NONE ? H_R11 : base;
	const int32_t n = place(g, base);
	struct soft_refill *refill = &g->refill[g->refills++];

	*refill = (struct soft_refill){.site = n,
				       .base = (uint8_t)base,
				       .disp = disp,
				       .bytes = bytes,
				       .write = write,
				       .exit = g->exits};
	soft_exit_add(g, (const void *)(uintptr_t)u->plain, u);
	refill->from[0] =
		compare(g, from, disp, PAGE_BITS | (aligned ? bytes - 1 : 0), site_tag(n, write));
	if (!aligned)
		refill->from[1] =
			compare(g, from, disp + (int32_t)bytes - 1, PAGE_BITS, site_tag(n, write));
	refill->back = g->e.at;
	return (struct soft_operand){H_RDI, H_NONE, AT_SITE(host, n)};
}

/* Code outside loops runs too seldom to find its pages in the sites, of which all units have the same. */
struct soft_operand soft_check_tlb(struct soft_compiler *g, const struct soft_uop *u,
				   unsigned int base, int32_t disp, unsigned int bytes, bool write)
{
	struct soft_exit *exit;

	g->live = false;
	if (g->fixed_slots)
		return check_site(g, u, base, disp, bytes, write);
	exit = soft_exit_add(g, (const void *)(uintptr_t)u->plain, u);
	load_address(&g->e, base, disp);
	exit->from[0] = match_entry(&g->e, bytes, write);
	return (struct soft_operand){H_RAX, H_NONE, SOFT_AT_TLB(host)};
}

static void copy(struct soft_emit *e, int32_t from, int32_t to)
{
	e_rm(e, SOFT_SIZE64, 0x8b, H_R10, H_RAX, from);
	e_rm(e, SOFT_SIZE64, 0x89, H_R10, H_RDI, to);
}

/*
 * Make the site an entry of the page of the address in R11, if 2 MiB around it have an entry for this
 * access. Returns the jump that is taken if they have not.
 */
static uint8_t *copy_large(struct soft_emit *e, const struct soft_refill *r)
{
	const int32_t large = (int32_t)(SOFT_TLB_SIZE * sizeof(struct soft_tlb));
	uint8_t *none;

	e_rr(e, SOFT_SIZE64, 0x89, H_R11, H_RAX); /* eax := the number of the 2 MiB, times 32 */
	e_rr(e, SOFT_SIZE64, 0xc1, 5, H_RAX);
	e8(e, SOFT_TLB_SHIFT - 5);
	e_rr(e, 2, 0x81, 4, H_RAX);
	e32(e, (SOFT_TLB_LARGE - 1) << 5);
	e_rm(e, SOFT_SIZE64, 0x03, H_RAX, H_RDI, SOFT_AT(tlb));
	e_rm(e, SOFT_SIZE64, 0x8d, H_R10, H_R11, (int32_t)r->bytes - 1);
	e_rr(e, SOFT_SIZE64, 0x81, 4, H_R10);
	e32(e, -(uint64_t)(1u << SOFT_TLB_SHIFT));
	e_rm(e, SOFT_SIZE64, 0x3b, H_R10, H_RAX,
	     large + (r->write ? SOFT_AT_TLB(write) : SOFT_AT_TLB(read)));
	none = e_jump(e, SOFT_JNE);
	copy(e, large + SOFT_AT_TLB(host), AT_SITE(host, r->site));
	e_rr(e, SOFT_SIZE64, 0x89, H_R11, H_R10);
	e_rr(e, SOFT_SIZE64, 0x81, 4, H_R10);
	e32(e, PAGE_BITS);
	e_rm(e, SOFT_SIZE64, 0x89, H_R10, H_RDI, AT_SITE(read, r->site));
	if (!r->write)
		e_const(e, H_R10, SOFT_TLB_NONE);
	e_rm(e, SOFT_SIZE64, 0x89, H_R10, H_RDI, AT_SITE(write, r->site));
	return none;
}

/* The entry is that of the first byte's page. Memory that can be written without a walk can be read. */
static void emit_refill(struct soft_compiler *g, const struct soft_refill *r)
{
	struct soft_emit *e = &g->e;
	uint8_t *other;
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (r->from[i])
			e_aim(e, r->from[i]);
	load_address(e, r->base, r->disp);
	other = match_entry(e, r->bytes, r->write);
	copy(e, SOFT_AT_TLB(read), AT_SITE(read, r->site));
	copy(e, SOFT_AT_TLB(write), AT_SITE(write, r->site));
	copy(e, SOFT_AT_TLB(host), AT_SITE(host, r->site));
	soft_aim_at(r->back, e_jump(e, SOFT_ALWAYS));
	e_aim(e, other);
	g->exit[r->exit].from[0] = copy_large(e, r);
	soft_aim_at(r->back, e_jump(e, SOFT_ALWAYS));
}

void soft_sites_emit(struct soft_compiler *g)
{
	unsigned int i;

	for (i = 0; i < g->refills; i++)
		emit_refill(g, &g->refill[i]);
}
