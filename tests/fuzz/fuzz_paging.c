// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any page tables, in every paging mode, with accesses to any address: the software CPU
 * translates as a second walk does that is written here straight from the manual (SDM
 * vol. 3, 4.3 to 4.7), sets accessed and dirty bits where that does, raises the same #PF
 * with the same error code, and touches nothing but RAM. Nothing is cached that CR3's
 * loads, made before each access, do not forget.
 *
 * Input: HEAD bytes, then entries to be put into tables, then accesses.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/hostile_seen.h"
#include "x86/x86.h"

#define HEAD	4
#define RAM	(64u << 10)
#define GUARD	(1ull << 30)
#define ACCESSES 24
#define PHYSICAL 39 /* bits of an address, by CPUID */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { P = 1, W = 2, U = 4, A = 0x20, D = 0x40, PS = 0x80 };
enum { PF_P = 1, PF_W = 2, PF_U = 4, PF_R = 8, PF_I = 16 };

/* The code, "mov (%rdi), %rax" and so on, is at the end of RAM: see access_code(). */
enum { CODE = RAM - 0x1000 };

struct input {
	const uint8_t *data;
	size_t size;
};

static uint64_t take(struct input *in, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--) {
		value <<= 8;
		if (in->size) {
			value |= *in->data++;
			in->size--;
		}
	}
	return value;
}

struct setting {
	uint64_t cr0, cr3, cr4, efer;
	bool user, ac;
};

/* The second walk. RAM is a copy, which gets the bits that are to be set. */
struct second {
	uint8_t *ram;
	const struct setting *s;
	bool write;
	uint64_t at[5]; /* entries that were passed */
	unsigned int depth, width;
	uint64_t gpa;
	uint32_t error;
};

static bool load(struct second *w, uint64_t at, uint64_t *entry)
{
	*entry = 0;
	if (at > RAM || RAM - at < w->width)
		return false;
	memcpy(entry, w->ram + at, w->width);
	w->at[w->depth++] = at;
	return *entry & P;
}

static bool refuse(struct second *w, uint32_t why)
{
	w->error = why | (w->write ? PF_W : 0) | (w->s->user ? PF_U : 0);
	return false;
}

/* Rights of all levels together: may the access be made (4.6.1)? */
static bool allowed(const struct second *w, bool writable, bool user_page)
{
	const struct setting *s = w->s;

	if (s->user)
		return user_page && (!w->write || writable);
	if (user_page && s->cr4 & VPT_CR4_SMAP && !s->ac)
		return false;
	return !w->write || writable || !(s->cr0 & VPT_CR0_WP);
}

static void set_bits(struct second *w, unsigned int first)
{
	unsigned int i;

	for (i = first; i < w->depth; i++)
		w->ram[w->at[i]] |= A;
	if (w->write)
		w->ram[w->at[w->depth - 1]] |= D;
}

/* 4.3: two levels of 1024 entries. */
static bool walk_two(struct second *w, uint32_t va)
{
	uint64_t pde, pte;

	w->width = 4;
	if (!load(w, (w->s->cr3 & 0xfffff000) + 4 * (va >> 22), &pde))
		return refuse(w, 0);
	if (pde & PS && w->s->cr4 & VPT_CR4_PSE) {
		/* Bit 21; and bits of an address, in 20:13, that there are not. */
		if (pde >> 21 & 1 || pde >> 13 & 0xff & 0xffu << (PHYSICAL - 32))
			return refuse(w, PF_P | PF_R);
		if (!allowed(w, pde & W, pde & U))
			return refuse(w, PF_P);
		set_bits(w, 0);
		w->gpa = (pde >> 13 & 0xff) << 32 | (pde & 0xffc00000) | (va & 0x3fffff);
		return true;
	}
	if (!load(w, (pde & 0xfffff000) + 4 * (va >> 12 & 1023), &pte))
		return refuse(w, 0);
	if (!allowed(w, pde & pte & W, pde & pte & U))
		return refuse(w, PF_P);
	set_bits(w, 0);
	w->gpa = (pte & 0xfffff000) | (va & 0xfff);
	return true;
}

/* 4.4 and 4.5: tables of 512 entries, from `level` (5 to 2) on; `rights`: so far. */
static bool walk_many(struct second *w, uint64_t table, unsigned int level, uint64_t va,
		      unsigned int first)
{
	uint64_t high = 0x000fffffffffffffull & ~0ull << PHYSICAL, rights = W | U, e = 0;
	uint64_t pages = 0;

	if (!(w->s->efer & VPT_EFER_LMA))
		high |= 0x7ff0000000000000;
	if (!(w->s->efer & VPT_EFER_NXE))
		high |= 1ull << 63;
	for (;; level--) {
		unsigned int shift = 3 + 9 * level;

		if (!load(w, table + 8 * (va >> shift & 511), &e))
			return refuse(w, 0);
		if (e & high || (level >= 4 && e & PS))
			return refuse(w, PF_P | PF_R);
		rights &= e;
		if (level == 1 || e & PS) {
			pages = (1ull << shift) - 1;
			if (level > 1 && e & pages & ~0x1fffull)
				return refuse(w, PF_P | PF_R);
			break;
		}
		table = e & 0x000ffffffffff000;
	}
	if (!allowed(w, rights & W, rights & U))
		return refuse(w, PF_P);
	set_bits(w, first);
	w->gpa = (e & 0x000ffffffffff000 & ~pages) | (va & pages);
	return true;
}

static bool walk_pae(struct second *w, uint32_t va)
{
	uint64_t pdpte;

	if (!load(w, (w->s->cr3 & 0xffffffe0) + 8 * (va >> 30), &pdpte))
		return refuse(w, 0);
	if (pdpte & (0x1e6 | ~0ull << PHYSICAL))
		return refuse(w, PF_P | PF_R);
	/* It has no accessed bit. */
	return walk_many(w, pdpte & 0x000ffffffffff000, 2, va, 1);
}

static bool walk(struct second *w, uint64_t va)
{
	const struct setting *s = w->s;

	w->depth = 0;
	w->width = 8;
	if (!(s->cr0 & VPT_CR0_PG)) {
		w->gpa = (uint32_t)va;
		return true;
	}
	if (s->efer & VPT_EFER_LMA)
		return walk_many(w, s->cr3 & 0x000ffffffffff000, s->cr4 & VPT_CR4_LA57 ? 5 : 4, va,
				 0);
	return s->cr4 & VPT_CR4_PAE ? walk_pae(w, (uint32_t)va) : walk_two(w, (uint32_t)va);
}

/* The machine. */

static const struct vpt_engine *engine;
static struct vpt_engine_vm *vm;
static struct vpt_engine_vcpu *vcpu;
static uint8_t *ram;
static uint8_t copy[RAM];
static struct vpt_sregs still; /* without paging, in which nothing is translated */

static uint64_t mmio_gpa;
static uint32_t mmio_len;

static void on_mmio(void *opaque, uint64_t gpa, uint32_t len, bool write, void *data)
{
	(void)opaque;
	if (!mmio_len)
		mmio_gpa = gpa;
	mmio_len += len;
	if (!write)
		memset(data, 0xff, len);
}

static void start(void)
{
	struct vpt_cpuid_entry sizes = {.leaf = 0x80000008, .eax = PHYSICAL | 57 << 8};
	uint8_t *all = mmap(NULL, 2 * GUARD + RAM, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct vpt_probe probe;

	REQUIRE(all != MAP_FAILED);
	ram = all + GUARD;
	REQUIRE(!mprotect(ram, RAM, PROT_READ | PROT_WRITE));
	engine = vpt_engine_find("soft");
	engine->probe(&probe, false);
	REQUIRE(!engine->vm_create(&probe, &vm) && !engine->vm_map(vm, 0, 0, ram, RAM));
	REQUIRE(!engine->vcpu_create(vm, 0, &sizes, 1, &vcpu));
	vcpu->bus.mmio = on_mmio;
	REQUIRE(!engine->get_sregs(vcpu, &still));
}

static struct vpt_segment flat(uint16_t selector, bool code, bool l)
{
	return (struct vpt_segment){
		.limit = ~0u,
		.selector = selector,
		.type = code ? 11 : 3,
		.dpl = selector & 3,
		.s = true,
		.present = true,
		.l = l,
		.db = !l,
		.g = true,
	};
}

static void set(const struct setting *s)
{
	struct vpt_sregs sregs = still;
	uint8_t ring = s->user ? 3 : 0;

	sregs.cs = flat(8 | ring, true, s->efer & VPT_EFER_LMA);
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss = flat(16 | ring, false, false);
	sregs.cr0 = s->cr0;
	sregs.cr3 = s->cr3;
	sregs.cr4 = s->cr4;
	sregs.efer = s->efer;
	/* Two changes of CR3, so that no translation is left. */
	REQUIRE(!engine->set_sregs(vcpu, &still));
	REQUIRE(!engine->set_sregs(vcpu, &sregs));
}
