// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: arbitrary page tables in every paging mode, with accesses to any address. The
 * reference is a second page walk, written here from the manual (SDM vol. 3, 4.3 to 4.7). The
 * software CPU must translate like this walk, set the same accessed and dirty bits, and raise the
 * same #PF with the same error code. It must access the same data and change no other memory. The
 * input is table entries, then accesses, each with a setting.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz/bytes.h"
#include "lib/hostile_seen.h"
#include "soft/access.h"
#include "x86/x86.h"

#define RAM	 (64u << 10)
#define GUARD	 (1ull << 30)
#define ENTRIES	 48
#define ACCESSES 24
#define PHYSICAL 39 /* bits of an address, by CPUID */

enum { P = 1, W = 2, U = 4, A = 0x20, D = 0x40, PS = 0x80 };
enum { PF_P = 1, PF_W = 2, PF_U = 4, PF_R = 8, PF_I = 16 };

struct setting {
	uint64_t cr0, cr3, cr4, efer;
	bool user, ac;
};

/* The reference walk. It sets accessed and dirty bits in a copy of RAM. */
struct second {
	uint8_t *ram;
	const struct setting *s;
	bool write, fetch;
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
	const struct setting *s = w->s;
	bool nx = s->cr4 & X86_CR4_PAE && s->efer & X86_EFER_NXE;

	w->error = why | (w->write ? PF_W : 0) | (s->user ? PF_U : 0);
	if (w->fetch && (nx || s->cr4 & X86_CR4_SMEP))
		w->error |= PF_I;
	return false;
}

/* Is the access allowed by the combined rights of all levels (4.6.1)? */
static bool allowed(const struct second *w, bool writable, bool user_page, bool nx)
{
	const struct setting *s = w->s;

	if (w->fetch)
		return !nx && (s->user ? user_page : !user_page || !(s->cr4 & X86_CR4_SMEP));
	if (s->user)
		return user_page && (!w->write || writable);
	if (user_page && s->cr4 & X86_CR4_SMAP && !s->ac)
		return false;
	return !w->write || writable || !(s->cr0 & X86_CR0_WP);
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
	if (pde & PS && w->s->cr4 & X86_CR4_PSE) {
		/* Bit 21, and the bits of 20:13 beyond the physical address width, are reserved. */
		if (pde >> 21 & 1 || pde >> 13 & 0xff & 0xffu << (PHYSICAL - 32))
			return refuse(w, PF_P | PF_R);
		if (!allowed(w, pde & W, pde & U, false))
			return refuse(w, PF_P);
		set_bits(w, 0);
		w->gpa = (pde >> 13 & 0xff) << 32 | (pde & 0xffc00000) | (va & 0x3fffff);
		return true;
	}
	if (!load(w, (pde & 0xfffff000) + 4 * (va >> 12 & 1023), &pte))
		return refuse(w, 0);
	if (!allowed(w, pde & pte & W, pde & pte & U, false))
		return refuse(w, PF_P);
	set_bits(w, 0);
	w->gpa = (pte & 0xfffff000) | (va & 0xfff);
	return true;
}

/* 4.4 and 4.5: tables of 512 entries, from `level` (5 to 2) on; the entries before
 * `first` have no accessed bit. */
static bool walk_many(struct second *w, uint64_t table, unsigned int level, uint64_t va,
		      unsigned int first)
{
	uint64_t high = 0x000fffffffffffffull & ~0ull << PHYSICAL, rights = W | U, e = 0;
	uint64_t pages = 0;
	bool nx = false;

	if (!(w->s->efer & X86_EFER_LMA))
		high |= 0x7ff0000000000000;
	if (!(w->s->efer & X86_EFER_NXE))
		high |= 1ull << 63;
	for (;; level--) {
		unsigned int shift = 3 + 9 * level;

		if (!load(w, table + 8 * (va >> shift & 511), &e))
			return refuse(w, 0);
		if (e & high || (level >= 4 && e & PS))
			return refuse(w, PF_P | PF_R);
		rights &= e;
		nx |= e >> 63;
		if (level == 1 || e & PS) {
			pages = (1ull << shift) - 1;
			if (level > 1 && e & pages & ~0x1fffull)
				return refuse(w, PF_P | PF_R);
			break;
		}
		table = e & 0x000ffffffffff000;
	}
	if (!allowed(w, rights & W, rights & U, nx))
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
	return walk_many(w, pdpte & 0x000ffffffffff000, 2, va, 1);
}

static bool walk(struct second *w, uint64_t va)
{
	const struct setting *s = w->s;

	w->depth = 0;
	w->width = 8;
	if (!(s->cr0 & X86_CR0_PG)) {
		w->gpa = (uint32_t)va;
		return true;
	}
	if (s->efer & X86_EFER_LMA)
		return walk_many(w, s->cr3 & 0x000ffffffffff000, s->cr4 & X86_CR4_LA57 ? 5 : 4, va,
				 0);
	return s->cr4 & X86_CR4_PAE ? walk_pae(w, (uint32_t)va) : walk_two(w, (uint32_t)va);
}

/* The machine. */

static const struct engine *engine;
static struct engine_vm *vm;
static struct engine_vcpu *vcpu;
static uint8_t *ram;
static uint8_t copy[RAM];
static struct x86_sregs still; /* without paging, in which nothing is translated */

static uint64_t mmio_gpa;
static uint32_t mmio_len;

static void on_mmio(void *opaque, uint64_t gpa, uint32_t len, bool write, void *data)
{
	(void)opaque;
	REQUIRE(gpa >= RAM && len && len <= 8);
	if (!mmio_len)
		mmio_gpa = gpa;
	mmio_len += len;
	if (!write)
		memset(data, 0xff, len);
}

static void start(void)
{
	struct engine_cpuid_entry sizes = {.leaf = 0x80000008, .eax = PHYSICAL | 57 << 8};
	uint8_t *all = mmap(NULL, 2 * GUARD + RAM, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct engine_probe probe;

	REQUIRE(all != MAP_FAILED);
	ram = all + GUARD;
	REQUIRE(!mprotect(ram, RAM, PROT_READ | PROT_WRITE));
	engine = engine_find("soft");
	engine->probe(&probe, false);
	REQUIRE(!engine->vm_create(&probe, &vm) && !engine->vm_map(vm, 0, 0, ram, RAM));
	REQUIRE(!engine->vcpu_create(vm, 0, &sizes, 1, &vcpu));
	vcpu->bus.mmio = on_mmio;
	REQUIRE(!engine->get_sregs(vcpu, &still));
}

static void set(const struct setting *s)
{
	struct x86_sregs sregs = still;
	struct soft *c = soft(vcpu);

	x86_segment_set(&sregs.cs, X86_AR_L, s->efer & X86_EFER_LMA);
	x86_segment_set(&sregs.cs, X86_AR_DPL, s->user);
	x86_segment_set(&sregs.ss, X86_AR_DPL, s->user);
	sregs.cr0 = s->cr0;
	sregs.cr3 = s->cr3;
	sregs.cr4 = s->cr4;
	sregs.efer = s->efer;
	vcpu->regs->rflags = X86_FL_FIXED | (s->ac ? X86_FL_AC : 0);
	soft_set_rflags(c, vcpu->regs->rflags);
	/* Changing the registers flushes all translations. */
	REQUIRE(!engine->set_sregs(vcpu, &still) && !engine->set_sregs(vcpu, &sregs));
}

/* An access, with its actual and its required result. */
struct access {
	uint64_t va;
	uint32_t len;
	bool write, fetch;
	uint8_t data[4096];
};

/* Make the access. Return false if it faults (exit.fault). */
static bool make(struct access *a, struct engine_exit *exit)
{
	struct soft *c = soft(vcpu);
	uint64_t value = 0, gpa;

	c->exit = exit;
	c->call |= SOFT_STEP;
	memset(exit, 0, sizeof(*exit));
	mmio_len = 0;
	if (setjmp(c->escape))
		return false;
	if (a->fetch) {
		if (!soft_translate(c, a->va, X86_WALK_FETCH, &gpa, &exit->fault))
			return false;
		memcpy(a->data, &gpa, sizeof(gpa));
		return true;
	}
	if (a->write) {
		memcpy(&value, a->data, sizeof(value));
		switch (a->len) {
		case 1:
			soft_store8(c, NULL, a->va, (uint8_t)value);
			break;
		case 2:
			soft_store16(c, NULL, a->va, (uint16_t)value);
			break;
		case 4:
			soft_store32(c, NULL, a->va, (uint32_t)value);
			break;
		case 8:
			soft_store64(c, NULL, a->va, value);
			break;
		default:
			soft_write(c, NULL, a->va, a->data, a->len);
			break;
		}
		return true;
	}
	switch (a->len) {
	case 1:
		a->data[0] = soft_load8(c, NULL, a->va);
		return true;
	case 2:
		value = soft_load16(c, NULL, a->va);
		break;
	case 4:
		value = soft_load32(c, NULL, a->va);
		break;
	case 8:
		value = soft_load64(c, NULL, a->va);
		break;
	default:
		soft_read(c, NULL, a->va, a->data, a->len);
		return true;
	}
	memcpy(a->data, &value, a->len);
	return true;
}

static bool canonical(const struct setting *s, uint64_t va)
{
	int64_t top = (int64_t)va >> (s->cr4 & X86_CR4_LA57 ? 56 : 47);

	return top == 0 || top == -1;
}

/* The part of an access that is in one page: 0, or the vector with w->error. */
static uint8_t part(struct second *w, uint64_t va)
{
	if (w->s->efer & X86_EFER_LMA && !canonical(w->s, va))
		return X86_VEC_GP;
	return walk(w, va) ? 0 : X86_VEC_PF;
}

static void move(const struct access *a, uint8_t *to, uint64_t gpa, uint32_t from, uint32_t len)
{
	if (gpa < RAM && a->write)
		memcpy(copy + gpa, a->data + from, len);
	else if (gpa < RAM)
		memcpy(to + from, copy + gpa, len);
	else
		memset(to + from, 0xff, len);
}

/* Check the result of make(). */
static void check(const struct setting *s, const struct access *a, bool made,
		  const struct engine_exit *exit)
{
	struct second w = {.ram = copy, .s = s, .write = a->write, .fetch = a->fetch};
	uint32_t room = 4096 - (a->va & 4095), first = a->len < room ? a->len : room;
	uint64_t va = a->va, gpa;
	static uint8_t want[4096];
	uint8_t vector = part(&w, va);

	gpa = w.gpa;
	if (!vector && a->len > room) {
		va += room;
		if (!(s->efer & X86_EFER_LMA))
			va = (uint32_t)va;
		vector = part(&w, va);
	}
	REQUIRE(made == !vector);
	if (vector) {
		REQUIRE(exit->fault.vector == vector && exit->fault.has_error);
		REQUIRE(vector != X86_VEC_PF ||
			(exit->fault.error == w.error && exit->fault.cr2 == va));
	} else if (a->fetch) {
		REQUIRE(!memcmp(a->data, &w.gpa, sizeof(w.gpa)));
	} else {
		move(a, want, gpa, 0, first);
		if (first < a->len)
			move(a, want, w.gpa, first, a->len - first);
		REQUIRE(a->write || !memcmp(want, a->data, a->len));
		REQUIRE(!mmio_len == (gpa < RAM && w.gpa < RAM));
		REQUIRE(!mmio_len || mmio_gpa == (gpa < RAM ? w.gpa : gpa));
	}
	REQUIRE(!memcmp(ram, copy, RAM));
}

/* Repeat the access through the TLB, where tables that map themselves no longer matter. */
static void again(struct access *a)
{
	static struct access second;
	struct engine_exit exit;

	if (a->len > 8 || a->len & (a->len - 1) || (a->va & 4095) + a->len > 4096 || mmio_len)
		return;
	second = *a;
	REQUIRE(make(&second, &exit));
	REQUIRE(!memcmp(second.data, a->data, a->len));
	REQUIRE(!memcmp(ram, copy, RAM));
}

/* Input. */

/* Page numbers are mostly of RAM, so that tables lead to tables. */
static uint64_t take_page(struct input *in)
{
	uint64_t n = take(in, 1);

	if (n < 0xe0)
		return (n & 15) << 12;
	return n < 0xf0 ? RAM + ((n & 3) << 12) : take(in, 5) << 12;
}

static void take_entries(struct input *in)
{
	unsigned int n = (unsigned int)take(in, 1) % ENTRIES;

	while (n--) {
		uint64_t at = take(in, 2) % (RAM / 8) * 8, bits = take(in, 1), entry;

		entry = take_page(in) | (bits & 0xe7) | P;
		if (bits & 0x18)
			entry ^= take(in, 1) & 1 ? 1ull << (bits >> 2) : P;
		memcpy(copy + at, &entry, sizeof(entry));
	}
	memcpy(ram, copy, RAM);
}

static void take_setting(struct input *in, struct setting *s)
{
	uint64_t bits = take(in, 2);

	memset(s, 0, sizeof(*s));
	s->cr0 = X86_CR0_PE | X86_CR0_PG | (bits & 1 ? X86_CR0_WP : 0);
	s->cr4 = (bits & 2 ? X86_CR4_SMEP : 0) | (bits & 4 ? X86_CR4_SMAP : 0);
	s->efer = bits & 8 ? X86_EFER_NXE : 0;
	s->user = bits & 0x10;
	s->ac = bits & 0x20;
	s->cr3 = take_page(in) | (bits & 0x40 ? 0x18 : 0);
	switch (bits >> 8 & 7) {
	case 0:
		s->cr4 |= X86_CR4_PSE;
		break;
	case 1:
		s->cr0 &= bits & 0x80 ? ~0ull : ~X86_CR0_PG;
		break;
	case 2:
	case 3:
		s->cr4 |= X86_CR4_PAE;
		s->cr3 |= bits & 0x80 ? 0xfe0 : 0;
		break;
	case 4:
		s->cr4 |= X86_CR4_LA57;
		/* fall through */
	default:
		s->cr4 |= X86_CR4_PAE;
		s->efer |= X86_EFER_LME | X86_EFER_LMA;
		break;
	}
}

static void take_access(struct input *in, const struct setting *s, struct access *a)
{
	static const uint16_t sizes[] = {1, 2, 4, 8, 8, 16, 32, 64, 10, 4096, 512, 3};
	uint64_t bits = take(in, 2), n = take(in, 1);
	unsigned int i;

	memset(a, 0, sizeof(*a));
	a->len = sizes[(bits & 15) % (sizeof(sizes) / sizeof(sizes[0]))];
	a->write = bits & 0x10;
	a->fetch = !a->write && (bits & 0x60) == 0x60;
	if (a->fetch)
		a->len = 1;
	a->va = n < 0x40 ? take(in, 8) : 0;
	/* Small indices at each level, and sometimes the last ones. */
	for (i = 0; i < 5 && n >= 0x40; i++)
		a->va |= ((take(in, 1) % 18 - 1) & 511) << (12 + 9 * i);
	if (n >= 0x40 && !(s->cr4 & X86_CR4_LA57))
		a->va = (uint64_t)((int64_t)(a->va << 16) >> 16);
	a->va += bits & 0x80 ? 4096 - (n & 15) : (bits >> 8) * 16;
	if (!(s->efer & X86_EFER_LMA))
		a->va = (uint32_t)a->va;
	for (i = 0; a->write && i < a->len; i++)
		a->data[i] = (uint8_t)(i < 64 ? take(in, 1) : i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct access a;
	struct input in = {data, size};
	struct engine_exit exit;
	struct setting s;
	unsigned int n;
	bool made;

	if (!ram)
		start();
	memset(copy, 0, RAM);
	take_entries(&in);
	take_setting(&in, &s);
	for (n = 0; in.left && n < ACCESSES; n++) {
		if (take(&in, 1) & 1)
			take_setting(&in, &s);
		set(&s);
		take_access(&in, &s, &a);
		made = make(&a, &exit);
		check(&s, &a, made, &exit);
		if (made && !a.write && !a.fetch)
			again(&a);
		hostile_check(vcpu, &(struct x86_mem){ram, RAM});
	}
	return 0;
}
