// SPDX-License-Identifier: GPL-2.0-or-later
/* Accesses to memory that miss the first-level TLB, and TLB fills. */
#include "soft/access.h"
#include "soft/system.h"
#include "soft/tlb.h"

#define PAGE_MASK  (X86_PAGE_SIZE - 1)
#define TLB_NONE   SOFT_TLB_NONE
#define MOST_BYTES 15u /* of an instruction */

/* Part of an access, within one page. */
struct piece {
	uint64_t gpa;
	uint8_t *host; /* NULL if the piece is not RAM */
	uint32_t len;  /* 0 if there is no such piece */
};

static bool walk(struct soft *c, uint64_t va, unsigned int access, struct x86_page *page,
		 struct engine_exception *e)
{
	if (soft_long_mode(c) && !soft_canonical(c, va)) {
		*e = (struct engine_exception){.vector = X86_VEC_GP, .has_error = true};
		return false;
	}
	c->paging.rflags = (uint32_t)c->r[SOFT_R_RFLAGS];
	if (x86_walk_page(&c->vm->mem, &c->paging, va, access, page))
		return true;
	/* A page fault invalidates the translation (SDM vol. 3, 4.10.4.1). */
	soft_flush_page(c, va, soft_pcid(c), true);
	*e = (struct engine_exception){
		.vector = X86_VEC_PF, .has_error = true, .error = page->error, .cr2 = va};
	return false;
}

/* Fill the first-level TLB entry of a page, and record whether a write needs a walk. */
static void fill(struct soft *c, uint64_t va, const struct x86_page *found)
{
	const uint64_t gpa = found->gpa;
	struct soft_tlb *t = soft_find_tlb(c, va);
	uint64_t page = va & ~PAGE_MASK;
	const uint8_t *host = soft_ram_at(c, gpa & ~PAGE_MASK, X86_PAGE_SIZE);
	uint32_t watched = 0;

	if (vpt_unlikely(c->data_watches))
		watched = soft_data_watched(c, page, X86_PAGE_SIZE);
	if (c->set == SOFT_TLB_SLOW || !host)
		return;
	if (t->read == TLB_NONE)
		soft_note_filled(c, t);
	t->read = watched & ENGINE_DATA_READ ? TLB_NONE : page;
	t->host = (uintptr_t)host - page;
	t->write = found->writable && !soft_has_code(c, gpa) && !watched ? page : TLB_NONE;
}

/* Fill the first-level entry of 2 MiB that a whole page of the second level has. */
static void fill_large(struct soft *c, uint64_t va, const struct soft_page *known)
{
	const uint64_t first = va & -(1ull << SOFT_TLB_SHIFT), gpa = soft_page_gpa(known, first);
	const uint8_t *host = soft_ram_at(c, gpa, 1ull << SOFT_TLB_SHIFT);
	struct soft_tlb *t = soft_large_entry(c->tlb, va);

	/* An entry that is there stays as it is. At most its right to write is missing. */
	if (!host || t->read == first)
		return;
	if (t->read == TLB_NONE)
		soft_note_filled(c, t);
	t->read = first;
	t->host = (uintptr_t)host - first;
	t->write = known->word & SOFT_PAGE_WRITE && !soft_has_code_near(c, gpa) ? first : TLB_NONE;
}

/* Translate like the processor does: walk the page tables if the second-level TLB has no entry. */
static bool find(struct soft *c, uint64_t va, unsigned int access, unsigned int set,
		 struct x86_page *page, struct engine_exception *e)
{
	const struct soft_page *known = soft_find_page(c, set, va);

	if (known && (!(access & X86_WALK_WRITE) || known->word & SOFT_PAGE_WRITE)) {
		page->gpa = soft_page_gpa(known, va);
		page->writable = known->word & SOFT_PAGE_WRITE;
		return true;
	}
	if (!walk(c, va, access, page, e))
		return false;
	if (soft_ram_at(c, page->gpa & ~PAGE_MASK, X86_PAGE_SIZE))
		soft_add_page(c, set, va, page);
	return true;
}

bool soft_translate(struct soft *c, uint64_t va, unsigned int access, uint64_t *gpa,
		    struct engine_exception *e)
{
	unsigned int set = c->cpl == 3 ? SOFT_FETCH_USER : SOFT_FETCH_KERNEL;
	struct x86_page page;

	if (access == X86_WALK_FETCH ? !find(c, va, access, set, &page, e)
				     : !walk(c, va, access, &page, e))
		return false;
	*gpa = page.gpa;
	return true;
}

void soft_drop_stale_code(struct soft *c)
{
	const unsigned int set = c->cpl == 3 ? SOFT_FETCH_USER : SOFT_FETCH_KERNEL;
	const uint64_t ip = c->r[SOFT_R_RIP];
	uint64_t va = c->bits == 64 ? ip : (uint32_t)(ip + c->s.cs.base);
	const uint64_t last = va + MOST_BYTES - 1;
	const struct soft_page *known;
	struct x86_page page;
	unsigned int n;

	for (n = 0; n < 2; n++, va = last) {
		known = soft_find_page(c, set, va);
		if (known && (!x86_walk_page(&c->vm->mem, &c->paging, va, X86_WALK_FETCH, &page) ||
			      (page.gpa ^ soft_page_gpa(known, va)) & ~PAGE_MASK))
			soft_flush_page(c, va, soft_pcid(c), true);
	}
}

/* Check the data breakpoints in DR0 to DR3. */
static void watch(struct soft *c, uint64_t va, unsigned int len, bool write)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		uint64_t control = c->dr[7] >> (16 + 4 * i) & 15;
		uint64_t bytes = control >> 2 == 2 ? 8 : (control >> 2) + 1;
		uint64_t first = c->dr[i] & ~(bytes - 1);

		if (!(c->dr[7] >> (2 * i) & 3) || !(control & 1) || (!write && !(control & 2)))
			continue;
		if (va < first + bytes && first < va + len)
			c->debug |= 1ull << i;
	}
}

static void check_alignment(struct soft *c, const struct soft_uop *u, uint64_t va,
			    unsigned int size)
{
	if (c->cpl == 3 && c->s.cr0 & X86_CR0_AM && c->r[SOFT_R_RFLAGS] & X86_FL_AC &&
	    !(size & (size - 1)) && size <= 8 && va & (size - 1))
		soft_raise_code(c, u, X86_VEC_AC, 0);
}

static void locate(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len,
		   unsigned int access, struct piece *piece)
{
	struct engine_exception e;
	struct x86_page page;

	if (c->set == SOFT_TLB_SLOW ? !walk(c, va, access, &page, &e)
				    : !find(c, va, access, c->set, &page, &e)) {
		if (e.vector == X86_VEC_GP && u && u->flags & SOFT_UOP_SS)
			e.vector = X86_VEC_SS;
		soft_fault(c, u, &e);
	}
	piece->gpa = page.gpa;
	piece->len = (uint32_t)len;
	piece->host = soft_ram_at(c, piece->gpa, len);
	if (piece->host)
		fill(c, va, &page);
	else
		soft_isolate(c, u);
}

/* Translate all pieces of an access before any is accessed. */
static void locate_all(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len,
		       unsigned int access, struct piece piece[2])
{
	size_t room = (size_t)(X86_PAGE_SIZE - (va & PAGE_MASK));

	if (c->set == SOFT_TLB_SLOW) {
		check_alignment(c, u, va, (unsigned int)len);
		watch(c, va, (unsigned int)len, access & X86_WALK_WRITE);
	}
	piece[1].len = 0;
	if (len <= room) {
		locate(c, u, va, len, access, &piece[0]);
	} else {
		const uint64_t next = va + room;

		locate(c, u, va, room, access, &piece[0]);
		locate(c, u, soft_long_mode(c) ? next : (uint32_t)next, len - room, access,
		       &piece[1]);
	}
	if (vpt_unlikely(c->data_watches))
		soft_data_check(c, u, va, len, access & X86_WALK_WRITE);
}

static void from_piece(struct soft *c, const struct soft_uop *u, const struct piece *piece,
		       uint8_t *to)
{
	uint32_t done, part;

	if (piece->host) {
		memcpy(to, piece->host, piece->len);
		return;
	}
	for (done = 0; done < piece->len; done += part) {
		part = piece->len - done < 8 ? piece->len - done : 8;
		soft_bus_mmio(c, u, piece->gpa + done, part, false, to + done);
	}
}

static void to_piece(struct soft *c, const struct soft_uop *u, const struct piece *piece,
		     const uint8_t *from)
{
	uint8_t data[8];
	uint32_t done, part;

	if (piece->host) {
		memcpy(piece->host, from, piece->len);
		soft_wrote(c, u, piece->gpa, piece->len);
		return;
	}
	for (done = 0; done < piece->len; done += part) {
		part = piece->len - done < 8 ? piece->len - done : 8;
		memcpy(data, from + done, part);
		soft_bus_mmio(c, u, piece->gpa + done, part, true, data);
	}
}

void soft_read(struct soft *c, const struct soft_uop *u, uint64_t va, void *to, size_t len)
{
	struct piece piece[2];

	locate_all(c, u, va, len, X86_WALK_READ, piece);
	from_piece(c, u, &piece[0], to);
	if (piece[1].len)
		from_piece(c, u, &piece[1], (uint8_t *)to + piece[0].len);
}

void soft_write(struct soft *c, const struct soft_uop *u, uint64_t va, const void *from, size_t len)
{
	struct piece piece[2];

	locate_all(c, u, va, len, X86_WALK_WRITE, piece);
	to_piece(c, u, &piece[0], from);
	if (piece[1].len)
		to_piece(c, u, &piece[1], (const uint8_t *)from + piece[0].len);
}

void soft_probe_write(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len)
{
	struct piece piece[2];

	locate_all(c, u, va, len, X86_WALK_WRITE, piece);
}

/*
 * Fill the first-level TLB for an access that needs neither a walk nor a check. Returns the host
 * address of its bytes, or NULL for any other access.
 */
static void *refill(struct soft *c, uint64_t va, unsigned int size, bool write)
{
	const struct soft_page *known;
	struct x86_page page;
	uint8_t *host;

	if (c->set == SOFT_TLB_SLOW || c->data_watches || (va & PAGE_MASK) + size > X86_PAGE_SIZE)
		return NULL;
	known = soft_find_page(c, c->set, va);
	if (!known || (write && !(known->word & SOFT_PAGE_WRITE)))
		return NULL;
	page.gpa = soft_page_gpa(known, va);
	page.writable = known->word & SOFT_PAGE_WRITE;
	if (write && soft_has_code(c, page.gpa))
		return NULL;
	host = soft_ram_at(c, page.gpa, size);
	if (!host)
		return NULL;
	fill(c, va, &page);
	if (known->word & SOFT_PAGE_WHOLE && soft_page_shift(known) >= SOFT_TLB_SHIFT)
		fill_large(c, va, known);
	return host;
}

uint64_t soft_load_slow(struct soft *c, const struct soft_uop *u, uint64_t va, unsigned int size)
{
	const void *host = refill(c, va, size, false);
	uint64_t value = 0;

	if (vpt_unlikely(!host))
		soft_read(c, u, va, &value, size);
	else if (size == 8)
		memcpy(&value, host, 8);
	else
		memcpy(&value, host, size);
	return value;
}

void soft_store_slow(struct soft *c, const struct soft_uop *u, uint64_t va, uint64_t value,
		     unsigned int size)
{
	void *host = refill(c, va, size, true);

	if (vpt_unlikely(!host))
		soft_write(c, u, va, &value, size);
	else if (size == 8)
		memcpy(host, &value, 8);
	else
		memcpy(host, &value, size);
}

void *soft_host(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len, bool write)
{
	struct piece piece[2];

	locate_all(c, u, va, len, write ? X86_WALK_WRITE : X86_WALK_READ, piece);
	if (piece[1].len || (write && soft_has_code(c, piece[0].gpa)))
		return NULL;
	return piece[0].host;
}

void *soft_rmw_slow(struct soft *c, const struct soft_uop *u, uint64_t va, unsigned int size)
{
	void *host = refill(c, va, size, true);

	if (vpt_likely(host))
		return host;
	host = soft_host(c, u, va, size, true);
	if (host) {
		if (vpt_unlikely(c->data_watches))
			soft_data_check(c, u, va, size, false);
		return host;
	}
	soft_read(c, u, va, c->bounce, size);
	c->bounce_va = va;
	c->bounce_bytes = size;
	return c->bounce;
}

void soft_rmw_end(struct soft *c, const struct soft_uop *u)
{
	uint32_t size = c->bounce_bytes;

	c->bounce_bytes = 0;
	soft_write(c, u, c->bounce_va, c->bounce, size);
}
