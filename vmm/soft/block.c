// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cache blocks of decoded code by guest-physical address. A write to the bytes of a block, by the
 * guest or by a device, drops the block. So no write to a page with code may bypass soft_wrote().
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "soft/compile.h"
#include "soft/gate.h"
#include "soft/kind.h"
#include "soft/native.h"
#include "soft/tlb.h"
#include "x86/guard.h"

#define HASH_BITS   18
#define HASH_SIZE   (1u << HASH_BITS)
#define ARENA_BYTES (128u << 20)
#define ARENA_OTHER (32u << 20) /* of vCPUs other than the first */
#define PAGE_SHIFT  12
#define PAGE_MASK   (X86_PAGE_SIZE - 1)
/* The largest size of a block. */
#define BLOCK_MAX (sizeof(struct soft_block) + SOFT_BLOCK_MAX_UOPS * sizeof(struct soft_uop))

/*
 * The largest number of blocks of a page. A write to code checks each block of its page. Page
 * tables can make one page run at any number of addresses, each with its own blocks. Above this
 * number all blocks are dropped.
 */
#define PAGE_BLOCKS 4096u

/* A page of RAM with cached code: its blocks, and the 64-byte lines that they are in. */
struct code_page {
	struct soft_block *blocks;
	uint64_t lines; /* a bit for each line that has code; lines of dropped blocks may remain */
	uint32_t count; /* the number of blocks, including dead ones */
};

struct soft_cache {
	struct soft_block *hash[HASH_SIZE];
	struct code_page *page;
	uint64_t pages;
	uint8_t *arena;
	size_t bytes, used;
};

struct soft_cache *soft_cache_create(const struct x86_mem *mem, unsigned int index)
{
	struct soft_cache *cache = calloc(1, sizeof(*cache));
	const size_t bytes = index ? ARENA_OTHER : ARENA_BYTES;
	void *arena = x86_guard_map(bytes, PROT_READ | PROT_WRITE, -1);

	if (!cache || !arena) {
		free(cache);
		x86_guard_unmap(arena, bytes);
		return NULL;
	}
	cache->arena = arena;
	cache->bytes = bytes;
	cache->pages = (mem->bytes + PAGE_MASK) >> PAGE_SHIFT;
	cache->page = calloc(cache->pages, sizeof(*cache->page));
	if (cache->page)
		return cache;
	soft_cache_destroy(cache);
	return NULL;
}

void soft_cache_destroy(struct soft_cache *cache)
{
	if (!cache)
		return;
	x86_guard_unmap(cache->arena, cache->bytes);
	free(cache->page);
	free(cache);
}

/* The arrays of pages have no entries for the addresses between the parts of RAM. */
static struct code_page *page_of(const struct soft *c, uint64_t gpa)
{
	uint64_t at;

	return x86_mem_room(&c->vm->mem, gpa, &at) ? &c->cache->page[at >> PAGE_SHIFT] : NULL;
}

bool soft_has_code(const struct soft *c, uint64_t gpa)
{
	uint64_t at;

	return x86_mem_room(&c->vm->mem, gpa, &at) && c->vm->coded[at >> PAGE_SHIFT];
}

bool soft_has_code_near(const struct soft *c, uint64_t gpa)
{
	enum { PAGES = 1 << (SOFT_TLB_SHIFT - PAGE_SHIFT) };
	uint8_t any = 0;
	uint64_t at;
	unsigned int i;

	if (x86_mem_room(&c->vm->mem, gpa, &at) < 1ull << SOFT_TLB_SHIFT)
		return true;
	for (i = 0; i < PAGES; i++)
		any |= c->vm->coded[(at >> PAGE_SHIFT) + i];
	return any;
}

/* Set the lines of a page that have code, and count the vCPUs that have code there. */
static void set_lines(struct soft *c, struct code_page *page, uint64_t lines)
{
	uint8_t *coded = &c->vm->coded[page - c->cache->page];

	if (!page->lines && lines)
		++*coded;
	else if (page->lines && !lines)
		--*coded;
	page->lines = lines;
}

/* Make each vCPU's writes to a page take the slow path, before it has code. */
static void protect(struct soft *c, uint64_t gpa)
{
	unsigned int i;

	if (soft_has_code(c, gpa))
		return;
	for (i = 0; i < c->vm->vcpus; i++)
		soft_protect(c->vm->vcpu[i], gpa);
}

/* Return the lines of one page that [first, first + len) touches. */
static uint64_t lines_of(uint64_t first, uint64_t len)
{
	unsigned int from = (unsigned int)(first >> 6), to = (unsigned int)((first + len - 1) >> 6);

	return (~0ull << from) & (~0ull >> (63 - to));
}

/* Get the part of a block that is on page `which` of its two. */
static void extent(const struct soft_block *b, unsigned int which, uint64_t *first, uint64_t *len)
{
	uint64_t room = X86_PAGE_SIZE - (b->gpa & PAGE_MASK);

	*first = which ? 0 : b->gpa & PAGE_MASK;
	if (which)
		*len = b->bytes - room;
	else
		*len = b->bytes < room ? b->bytes : room;
}

static unsigned int which_page(const struct soft_block *b, uint64_t gpa)
{
	return b->gpa >> PAGE_SHIFT != gpa >> PAGE_SHIFT;
}

static void add_to_page(struct soft *c, struct soft_block *b, unsigned int which)
{
	uint64_t gpa = which ? b->gpa2 : b->gpa, first, len;
	struct code_page *page = page_of(c, gpa);

	protect(c, gpa);
	extent(b, which, &first, &len);
	set_lines(c, page, page->lines | lines_of(first, len));
	b->page_next[which] = page->blocks;
	page->blocks = b;
	page->count++;
}

static struct soft_block **bucket(struct soft_cache *cache, uint64_t gpa, uint64_t ip,
				  uint32_t mode)
{
	uint64_t hash = (gpa ^ ip << 7 ^ (uint64_t)mode << 40) * 0x9e3779b97f4a7c15ull;

	return &cache->hash[hash >> (64 - HASH_BITS)];
}

/* Leave a block whose bytes have changed. */
static SOFT_NO_ENDBR const struct soft_uop *stale(struct soft *c, const struct soft_uop *u)
{
	if (SOFT_KIND_OP(u->kind) != SOFT_K_LOG)
		soft_log_cut(c, u, false);
	c->left += u->rest;
	c->r[SOFT_R_RIP] = u->ip;
	c->missed = NULL;
	return NULL;
}

/*
 * Make the block unusable. If the block is running, execution leaves it after the instruction of
 * `u`. The block stays in its lists until their next search.
 */
static void kill(const struct soft *c, struct soft_block *b, const struct soft_uop *u)
{
	unsigned int i;

	soft_unit_drop(c->compiler, b);
	b->dead = true;
	for (i = 0; i < b->uops; i++)
		if (!u || b->uop[i].ip != u->ip || b->uop[i].rest != u->rest)
			b->uop[i].fn = stale;
}

static bool touches(const struct soft_block *b, unsigned int which, uint64_t at, uint64_t len)
{
	uint64_t first, bytes;

	extent(b, which, &first, &bytes);
	return at < first + bytes && first < at + len && !b->dead;
}

/* Kill the blocks of a page that [at, at + len) touches, and recompute the page's lines. */
static void drop(struct soft *c, const struct soft_uop *u, struct code_page *page, uint64_t gpa,
		 uint64_t at, uint64_t len)
{
	struct soft_block **link = &page->blocks, *b;
	uint64_t lines = 0;

	while ((b = *link)) {
		unsigned int which = which_page(b, gpa);
		uint64_t first, bytes;

		if (touches(b, which, at, len))
			kill(c, b, u);
		if (b->dead) {
			*link = b->page_next[which];
			page->count--;
			continue;
		}
		extent(b, which, &first, &bytes);
		lines |= lines_of(first, bytes);
		link = &b->page_next[which];
	}
	set_lines(c, page, lines);
	soft_unlink(c);
}

static void wrote_page(struct soft *c, const struct soft_uop *u, uint64_t gpa, uint64_t len)
{
	struct code_page *page = page_of(c, gpa);
	uint64_t at = gpa & PAGE_MASK;
	const struct soft_block *b;

	if (!page || !(page->lines & lines_of(at, len)))
		return;
	/* Most such writes change data in the same line. */
	for (b = page->blocks; b; b = b->page_next[which_page(b, gpa)]) {
		if (touches(b, which_page(b, gpa), at, len)) {
			drop(c, u, page, gpa, at, len);
			return;
		}
	}
}

/* The blocks of other vCPUs are not running. */
static void wrote_coded(struct soft *c, const struct soft_uop *u, uint64_t gpa, uint64_t len)
{
	const struct soft_vm *vm = c->vm;
	unsigned int i;

	for (i = 0; i < vm->vcpus; i++)
		wrote_page(vm->vcpu[i], vm->vcpu[i] == c ? u : NULL, gpa, len);
}

void soft_wrote(struct soft *c, const struct soft_uop *u, uint64_t gpa, uint64_t len)
{
	while (len) {
		uint64_t room = X86_PAGE_SIZE - (gpa & PAGE_MASK);
		uint64_t part = len < room ? len : room;

		if (soft_has_code(c, gpa))
			wrote_coded(c, u, gpa, part);
		gpa += part;
		len -= part;
	}
}

/* Return the number of bytes that a block takes in the arena. */
static size_t room_of(const struct soft_block *b)
{
	return (sizeof(*b) + b->uops * sizeof(b->uop[0]) + 63) & ~(size_t)63;
}

static void empty_page(struct soft *c, uint64_t gpa)
{
	struct code_page *page = page_of(c, gpa);

	set_lines(c, page, 0);
	*page = (struct code_page){0};
}

/* Drop all blocks. None of them is running, because blocks are looked up only between blocks. */
static void empty(struct soft *c)
{
	struct soft_cache *cache = c->cache;
	size_t at = 0;

	while (at < cache->used) {
		const struct soft_block *b = (const struct soft_block *)(cache->arena + at);

		empty_page(c, b->gpa);
		if (b->gpa2)
			empty_page(c, b->gpa2);
		at += room_of(b);
	}
	memset(cache->hash, 0, sizeof(cache->hash));
	cache->used = 0;
	c->emptied++;
	if (c->compiler)
		soft_compiler_reset(c->compiler);
	soft_native_reset(c->native);
	memset(c->jump, 0, sizeof(c->jump));
	c->missed = NULL;
	soft_unlink(c);
}

void soft_drop_blocks(struct soft *c)
{
	empty(c);
}

/* Drop the blocks of a page if the page has no room for one more. */
static void make_page_room(struct soft *c, uint64_t gpa)
{
	struct code_page *page = page_of(c, gpa);

	if (page->count >= PAGE_BLOCKS)
		drop(c, NULL, page, gpa, 0, X86_PAGE_SIZE);
}

/* Return the physical address of the page after that of `lin`. Faults like a fetch. */
static uint64_t next_page(struct soft *c, uint64_t lin)
{
	struct engine_exception e;
	uint64_t gpa;

	lin = (lin | PAGE_MASK) + 1;
	if (!soft_translate(c, soft_long_mode(c) ? lin : (uint32_t)lin, X86_WALK_FETCH, &gpa, &e))
		soft_fault(c, NULL, &e);
	return gpa;
}

static struct soft_block *make(struct soft *c, uint64_t lin, uint64_t gpa, uint32_t mode)
{
	struct soft_cache *cache = c->cache;
	unsigned int room = (unsigned int)(X86_PAGE_SIZE - (gpa & PAGE_MASK));
	const uint8_t *code = x86_mem_at(&c->vm->mem, gpa, room), *more = NULL;
	struct soft_block *b, **at;
	uint64_t gpa2 = 0;

	if (!code)
		soft_raise(c, NULL, X86_VEC_UD);
	if (soft_crosses(c, mode, code, room)) {
		gpa2 = next_page(c, lin);
		more = x86_mem_at(&c->vm->mem, gpa2, X86_PAGE_SIZE);
		if (!more)
			soft_raise(c, NULL, X86_VEC_UD);
	}
	if (cache->used + BLOCK_MAX > cache->bytes ||
	    (c->compiler && !soft_compiler_has_room(c->compiler)) ||
	    !soft_native_has_room(c->native))
		empty(c);
	make_page_room(c, gpa);
	if (gpa2)
		make_page_room(c, gpa2);
	b = (struct soft_block *)(cache->arena + cache->used);
	memset(b, 0, sizeof(*b));
	b->gpa = gpa;
	b->gpa2 = gpa2;
	b->ip = c->r[SOFT_R_RIP];
	b->cs_base = c->bits == 64 ? 0 : c->s.cs.base;
	b->mode = mode;
	soft_fill(c, b, code, room, more);
	if (c->compiler && !(mode & (SOFT_BLOCK_EVERY | SOFT_BLOCK_SINGLE)))
		soft_unit_watch(c->compiler, b);
	cache->used += room_of(b);
	at = bucket(cache, gpa, b->ip, mode);
	b->hash_next = *at;
	*at = b;
	add_to_page(c, b, 0);
	if (b->gpa2)
		add_to_page(c, b, 1);
	return b;
}

static struct soft_block *find(struct soft *c, uint64_t lin, uint64_t gpa, uint32_t mode)
{
	uint64_t base = c->bits == 64 ? 0 : c->s.cs.base, ip = c->r[SOFT_R_RIP];
	struct soft_block **link = bucket(c->cache, gpa, ip, mode), *b;

	while ((b = *link)) {
		if (vpt_unlikely(b->dead)) {
			*link = b->hash_next;
			continue;
		}
		if (b->gpa == gpa && b->ip == ip && b->mode == mode && b->cs_base == base &&
		    (!b->gpa2 || next_page(c, lin) == b->gpa2))
			return b;
		link = &b->hash_next;
	}
	return NULL;
}

/*
 * Returns true if the code segment ends inside the block. A single invalid instruction has no
 * length, and is not checked.
 */
static bool beyond_limit(const struct soft *c, const struct soft_block *b)
{
	uint64_t len = b->mode & SOFT_BLOCK_SINGLE ? b->uop[0].len : b->bytes;

	return c->bits != 64 && len && b->ip + len - 1 > c->s.cs.limit;
}

static struct soft_fetch *fetch_of(struct soft *c, uint64_t lin)
{
	return &c->fetch[(lin >> PAGE_SHIFT ^ c->gen >> SOFT_BLOCK_MODE_BITS) % SOFT_FETCH_SIZE];
}

/*
 * Return the block at RIP without a search, if the stale link led to it before. Most links are stale
 * because the address space has changed, and most code is the same in all of them. Only 64-bit code,
 * which has neither a base nor a limit.
 */
static struct soft_block *known(struct soft *c, const struct soft_link *l, uint32_t mode)
{
	uint64_t ip = c->r[SOFT_R_RIP];
	const struct soft_fetch *fetch = fetch_of(c, ip);
	struct soft_block *b;

	if (!l || !l->first || c->bits != 64 || fetch->gen != c->gen ||
	    fetch->page != (ip & ~PAGE_MASK))
		return NULL;
	b = soft_block_of(l->first);
	if (b->ip != ip || b->gpa != (fetch->gpa | (ip & PAGE_MASK)) || b->mode != mode ||
	    b->gpa2 || b->dead)
		return NULL;
	return b;
}

/* Search for the block, or make it. */
static struct soft_block *search(struct soft *c, uint64_t lin, uint32_t mode)
{
	struct engine_exception e;
	struct soft_block *b;
	uint64_t gpa;

	if (!soft_translate(c, lin, X86_WALK_FETCH, &gpa, &e))
		soft_fault(c, NULL, &e);
	b = find(c, lin, gpa, mode);
	if (!b)
		b = make(c, lin, gpa, mode);
	*fetch_of(c, lin) = (struct soft_fetch){lin & ~PAGE_MASK, gpa & ~PAGE_MASK, c->gen, 0};
	return b;
}

struct soft_block *soft_block(struct soft *c, uint32_t mode)
{
	uint64_t ip = c->r[SOFT_R_RIP], lin = c->bits == 64 ? ip : (uint32_t)(ip + c->s.cs.base);
	const struct engine_observer *o = c->base.observer;
	struct soft_block *b;

	if (c->bits != 64 && ip > c->s.cs.limit)
		soft_raise_code(c, NULL, X86_VEC_GP, 0);
	b = known(c, c->missed, mode);
	if (!b)
		b = search(c, lin, mode);
	if (vpt_unlikely(beyond_limit(c, b))) {
		if (mode & SOFT_BLOCK_SINGLE)
			soft_raise_code(c, NULL, X86_VEC_GP, 0);
		return soft_block(c, mode | SOFT_BLOCK_SINGLE);
	}
	if (c->gate && o && o->wants & ENGINE_WANTS_CODE) {
		soft_report_ran(c);
		o->code(o->opaque, lin, b->bytes, b->gpa, b->gpa2);
		soft_look_at_gate(c);
		soft_code_again(c);
		/* An observer that has ended the trace has requested attention. */
		if (vpt_unlikely(c->base.state & ENGINE_ATTENTION))
			soft_poll_observer(c);
	}
	return b;
}
