// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hostile.h"

#include <string.h>

#include "x86/x86.h"

/* One page table of each format maps all addresses below 2 MiB one to one. */
enum {
	PML4 = 0x1000,
	PDPT = 0x2000,
	PD = 0x3000,
	PT = 0x4000,
	PDPT_PAE = 0x5000,
	PD_32 = 0x6000,
	PT_32 = 0x7000,
	TABLES_END = 0x8000,
	GDT = 0x8000,
	GDT_BYTES = 0x100,
	IDT_LONG = 0x9000,
	IDT = 0xa000,
	TSS = 0xb000,
	PROLOGUE = 0xc000,
	STATE = 0xd000, /* an XSAVE area */
	STACK = 0x28000,
	P = 1,
	W = 2,
	U = 4,
	PS = 0x80,
	CODE0 = 0x08,
	DATA0 = 0x10,
	CODE3 = 0x1b,
	DATA3 = 0x23,
};

static uint64_t next(uint64_t *random)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint32_t below(uint64_t *random, uint32_t n)
{
	return (uint32_t)(next(random) >> 32) % n;
}

/* Return a boundary value of an address or a number. */
static uint64_t edge(uint64_t *random)
{
	static const uint64_t edges[] = {0,
					 1,
					 ~0ull,
					 0x7f,
					 0x7fff,
					 0x7fffffff,
					 0x80000000,
					 0xffffffff,
					 0x100000000,
					 1ull << 63,
					 (1ull << 63) - 1,
					 0x7fffffffffff,
					 0x800000000000,
					 0xffff7fffffffffff,
					 0xffff800000000000,
					 0xffffffff80000000,
					 HOSTILE_CODE,
					 HOSTILE_CODE + 0x1000,
					 HOSTILE_DATA,
					 HOSTILE_DATA + 0x1000,
					 STACK,
					 PML4,
					 PT,
					 GDT,
					 IDT_LONG,
					 TSS,
					 HOSTILE_RAM,
					 0xfec00000,
					 0xfee00000,
					 0xfee00300,
					 HOSTILE_TOPA,
					 HOSTILE_TRACE};
	uint64_t base = edges[below(random, sizeof(edges) / sizeof(edges[0]))];

	switch (below(random, 4)) {
	case 0:
		return base;
	case 1:
		return base - below(random, 70);
	case 2:
		return base + below(random, 70);
	default:
		return HOSTILE_DATA + below(random, 0x2000);
	}
}

static void put32(uint8_t *ram, uint32_t at, uint32_t value)
{
	memcpy(ram + at, &value, sizeof(value));
}

static void put64(uint8_t *ram, uint32_t at, uint64_t value)
{
	memcpy(ram + at, &value, sizeof(value));
}

static uint64_t rights(const struct hostile *h, uint64_t *random, uint32_t page)
{
	static const uint16_t some[] = {0, P, P | U, P | W, P | W | U, P | W | U | 0x60};

	if (h->how & HOSTILE_PAGES && !(next(random) & 7))
		return some[below(random, sizeof(some) / sizeof(some[0]))];
	/*
	 * Map the page tables only with HOSTILE_PAGES: the effect of changing them depends on when
	 * the TLB drops entries.
	 */
	if (page < TABLES_END && page && !(h->how & HOSTILE_PAGES))
		return 0;
	return P | W | U;
}

static void page_tables(const struct hostile *h, uint64_t *random, uint8_t *ram)
{
	uint32_t i;

	put64(ram, PML4, PDPT | P | W | U);
	put64(ram, PML4 + 8 * 256, PDPT | P | W | U);
	put64(ram, PML4 + 8 * 511, PDPT | P | W | U);
	for (i = 0; i < 4; i++) {
		put64(ram, PDPT + 8 * i, PD | P | W | U);
		put64(ram, PDPT_PAE + 8 * i, PD | P);
	}
	put64(ram, PDPT + 8 * 511, PD | P | W | U);
	put64(ram, PD, PT | P | W | U);
	put64(ram, PD + 8 * 511, PT | P | W | U);
	put32(ram, PD_32, PT_32 | P | W | U);
	put32(ram, PD_32 + 4 * 1023, PT_32 | P | W | U);
	for (i = 1; i < 511; i++)
		put64(ram, PD + 8 * i, (uint64_t)i << 21 | P | W | U | PS);
	for (i = 1; i < 1023; i++)
		put32(ram, PD_32 + 4 * i, i << 22 | P | W | U | PS);
	for (i = 0; i < 512; i++) {
		uint64_t bits = rights(h, random, i << 12);

		put64(ram, PT + 8 * i, (uint64_t)i << 12 | bits);
		put32(ram, PT_32 + 4 * i, i << 12 | (uint32_t)bits);
		put32(ram, PT_32 + 4 * (i + 512), i << 12 | (uint32_t)bits);
	}
}

/* Return a flat code or data descriptor for long mode, 32-bit or 16-bit code. */
static uint64_t descriptor(const struct hostile *h, bool code, uint8_t dpl)
{
	uint64_t d = 0x00cf92000000ffff;

	d |= (uint64_t)dpl << 45;
	if (code) {
		d |= 8ull << 40;
		if (h->mode == HOSTILE_LONG)
			d ^= 3ull << 53;
	}
	if (h->mode == HOSTILE_COMPAT16 || h->mode == HOSTILE_PROTECTED16)
		d &= ~(1ull << 54);
	return d;
}

static void system_tables(const struct hostile *h, uint64_t *random, uint8_t *ram)
{
	uint32_t i;

	for (i = 0x28; i < GDT_BYTES; i += 8)
		put64(ram, GDT + i, next(random) & ~(h->how & HOSTILE_TABLES ? 0 : 1ull << 47));
	put64(ram, GDT, 0);
	put64(ram, GDT + CODE0, descriptor(h, true, 0));
	put64(ram, GDT + DATA0, descriptor(h, false, 0));
	put64(ram, GDT + (CODE3 & ~7), descriptor(h, true, 3));
	put64(ram, GDT + (DATA3 & ~7), descriptor(h, false, 3));
	for (i = 0; i < 256; i++) {
		uint32_t to = HOSTILE_CODE + h->start + (h->len ? i * 7 % (uint32_t)h->len : 0);
		uint32_t kind = h->how & HOSTILE_TABLES ? below(random, 0x10000) : 0xee00;

		put32(ram, 4 * i, to >> 4 << 16 | (to & 15));
		put32(ram, IDT + 8 * i, CODE0 << 16 | (to & 0xffff));
		put32(ram, IDT + 8 * i + 4, (to & 0xffff0000) | kind);
		put32(ram, IDT_LONG + 16 * i, CODE0 << 16 | (to & 0xffff));
		put32(ram, IDT_LONG + 16 * i + 4, (to & 0xffff0000) | kind);
	}
	for (i = 4; i < 0x68; i += 8)
		put64(ram, TSS + i, h->how & HOSTILE_TABLES ? edge(random) : STACK);
	if (h->mode >= HOSTILE_PROTECTED32)
		for (i = 4; i < 28; i += 8) {
			put32(ram, TSS + i, STACK);
			put32(ram, TSS + i + 4, DATA0);
		}
}

static uint64_t xcr0(const struct hostile *h)
{
	static const uint8_t some[] = {1, 3, 7, 0xe7};

	return h->how & HOSTILE_VECTORS ? some[h->seed >> 62] : 0xe7;
}

/* Registers that only instructions can set: see prologue(). */
static void vectors(const struct hostile *h, uint64_t *random, uint8_t *ram)
{
	static const uint8_t xsetbv[] = {0x0f, 0x01, 0xd1}, xrstor64[] = {0x48, 0x0f, 0xae, 0x2f};
	uint32_t i;

	memcpy(ram + PROLOGUE, xsetbv, sizeof(xsetbv));
	memcpy(ram + PROLOGUE + 16, xrstor64, sizeof(xrstor64));
	for (i = 0; i < 0xb00; i += 8)
		put64(ram, STATE + i, next(random) & 1 ? edge(random) : next(random));
	for (i = 512; i < 576; i += 8)
		put64(ram, STATE + i, 0);
	put64(ram, STATE + 512, xcr0(h));
	put32(ram, STATE + 28, 0xffff);
	put32(ram, STATE + 24, h->how & HOSTILE_VECTORS ? below(random, 0x10000) : 0x1f80);
	if (!(h->how & HOSTILE_VECTORS)) {
		put64(ram, STATE, 0x37f);
		put64(ram, STATE + 8, 0);
	}
}

void hostile_ram(const struct hostile *h, uint8_t ram[HOSTILE_RAM])
{
	uint64_t random = h->seed ^ 0x52414d;
	size_t room = HOSTILE_CODE_BYTES - h->start, len = h->len < room ? h->len : room;
	uint32_t i;

	memset(ram, 0, HOSTILE_RAM);
	for (i = 0; i < 0x2000; i += 8)
		put64(ram, HOSTILE_DATA + i, next(&random) & 1 ? edge(&random) : next(&random));
	for (i = 0; i < 0x1000; i += 8)
		put64(ram, STACK + i,
		      next(&random) & 1 ? HOSTILE_CODE + below(&random, 64) : CODE0);
	page_tables(h, &random, ram);
	system_tables(h, &random, ram);
	vectors(h, &random, ram);
	/* ToPA: an entry of 4 KiB with INT, then END. */
	put64(ram, HOSTILE_TOPA, HOSTILE_TRACE | 4);
	put64(ram, HOSTILE_TOPA + 8, HOSTILE_TOPA | 1);
	memcpy(ram + HOSTILE_CODE + h->start, h->code, len);
	if (len < room)
		memset(ram + HOSTILE_CODE + h->start + len, 0xcc, room - len);
}

static struct x86_segment segment(uint16_t selector, bool code, bool l, bool db)
{
	return (struct x86_segment){
		.limit = 0xffffffff,
		.selector = selector,
		.ar = (code ? X86_AR_CODE : X86_AR_DATA) | (selector & 3u) << X86_AR_DPL_SHIFT |
		      (l ? X86_AR_L : 0) | (db ? X86_AR_DB : 0) | X86_AR_G,
	};
}

static void flat(struct x86_sregs *s, bool l, bool db, uint8_t cpl)
{
	s->cs = segment(cpl ? CODE3 : CODE0, true, l, db && !l);
	s->ss = s->ds = s->es = s->fs = s->gs = segment(cpl ? DATA3 : DATA0, false, false, db);
	s->tr = (struct x86_segment){
		.base = TSS, .limit = 0x67, .selector = 0x28, .ar = X86_AR_TSS};
	s->ldt = (struct x86_segment){.ar = X86_AR_UNUSABLE};
	s->gdt = (struct x86_table){GDT, GDT_BYTES - 1};
	s->idt = (struct x86_table){l ? IDT_LONG : IDT, l ? 0xfff : 0x7ff};
}

static void begin_long(struct x86_sregs *s)
{
	flat(s, true, true, 0);
	s->cr0 = X86_CR0_PE | X86_CR0_PG | X86_CR0_NE | X86_CR0_MP | X86_CR0_ET;
	s->cr3 = PML4;
	s->cr4 = X86_CR4_PAE | X86_CR4_OSFXSR | X86_CR4_OSXMMEXCPT | X86_CR4_OSXSAVE;
	s->efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_SCE;
}

/*
 * Step instructions that set state which has no other interface. State that they cannot set is left
 * unchanged.
 */
static void prologue(const struct hostile *h, struct engine_vcpu *v)
{
	unsigned int n;

	for (n = 0; n < 2; n++) {
		struct engine_exit exit;

		memset(v->regs, 0, sizeof(*v->regs));
		v->regs->rip = PROLOGUE + 16 * n;
		v->regs->rflags = X86_FL_FIXED;
		v->regs->rdi = STATE;
		v->regs->rax = xcr0(h);
		v->state |= ENGINE_REGS_DIRTY;
		v->engine->step(v, &(struct engine_step_hint){0}, &exit);
	}
}

static void garble_segment(uint64_t *random, struct x86_segment *seg)
{
	if (next(random) & 1)
		seg->base = edge(random);
	if (next(random) & 1)
		seg->limit = next(random) & 1 ? (uint32_t)edge(random) : below(random, 0x20000);
	if (!(next(random) & 3))
		seg->ar = (seg->ar & ~X86_AR_TYPE) | (next(random) & 7);
	if (!(next(random) & 7))
		seg->ar |= X86_AR_UNUSABLE;
	if (!(next(random) & 3))
		seg->ar ^= X86_AR_DB;
}

static void garble_segments(const struct hostile *h, uint64_t *random, struct x86_sregs *s)
{
	struct x86_segment *all[] = {&s->ds, &s->es, &s->fs, &s->gs, &s->ss};
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		garble_segment(random, all[i]);
		if (h->mode > HOSTILE_COMPAT16 || h->mode == HOSTILE_COMPAT32)
			all[i]->base = (uint32_t)all[i]->base;
	}
	if (h->mode == HOSTILE_LONG)
		s->ss.base = s->ds.base = s->es.base = 0;
	else
		s->ss.base = (uint32_t)s->ss.base & 0xffff;
	s->ss.ar &= ~X86_AR_UNUSABLE;
	if (h->mode != HOSTILE_LONG && next(random) & 1)
		s->cs.limit = HOSTILE_CODE + below(random, HOSTILE_CODE_BYTES);
}

static void garble_tables(uint64_t *random, struct x86_sregs *s)
{
	if (next(random) & 1)
		s->gdt.base = edge(random);
	if (next(random) & 1)
		s->gdt.limit = (uint16_t)next(random);
	if (next(random) & 1)
		s->idt.limit = (uint16_t)next(random);
	if (!(next(random) & 3))
		s->idt.base = edge(random);
	if (next(random) & 1)
		s->tr.limit = (uint16_t)next(random);
	if (!(next(random) & 3))
		s->tr.base = edge(random);
	s->ldt = (struct x86_segment){.base = edge(random),
				      .limit = (uint16_t)next(random),
				      .selector = 0x30,
				      .ar = X86_AR_P | 2};
}

static void garble_control(uint64_t *random, struct x86_sregs *s)
{
	uint64_t cr4 = 0x10 | 0x4 | 0x8 | 0x80 | 0x100 | X86_CR4_UMIP | 1ull << 16 | X86_CR4_SMEP |
		       X86_CR4_SMAP;

	s->cr4 |= next(random) & cr4;
	if (!(next(random) & 3))
		s->cr4 &= ~(X86_CR4_OSXSAVE | X86_CR4_OSFXSR);
	s->cr0 |= next(random) & (X86_CR0_WP | X86_CR0_AM);
	if (!(next(random) & 3))
		s->cr0 |= next(random) & (X86_CR0_TS | X86_CR0_EM);
	s->efer |= next(random) & X86_EFER_NXE;
	s->efer &= ~(next(random) & X86_EFER_SCE);
}

static void set_mode(const struct hostile *h, struct x86_sregs *s)
{
	bool wide = h->mode != HOSTILE_COMPAT16 && h->mode != HOSTILE_PROTECTED16;
	uint8_t cpl = h->how & HOSTILE_USER ? 3 : 0;

	begin_long(s);
	if (h->mode == HOSTILE_REAL) {
		flat(s, false, false, 0);
		s->cr0 &= ~(X86_CR0_PE | X86_CR0_PG);
		s->efer = 0;
		s->idt = (struct x86_table){0, 0x3ff};
		s->cs.limit = s->ss.limit = s->ds.limit = s->es.limit = 0xffff;
		s->cs.base = HOSTILE_CODE;
		s->cs.selector = HOSTILE_CODE >> 4;
		s->ss.base = s->ds.base = STACK;
		s->ss.selector = s->ds.selector = STACK >> 4;
		s->es.base = HOSTILE_DATA;
		s->es.selector = HOSTILE_DATA >> 4;
		return;
	}
	flat(s, h->mode == HOSTILE_LONG, wide, cpl);
	if (h->mode <= HOSTILE_COMPAT16) {
		s->idt = (struct x86_table){IDT_LONG, 0xfff};
		return;
	}
	s->efer = 0;
	s->cr3 = h->mode == HOSTILE_PAE32 ? PDPT_PAE : PD_32;
	if (h->mode != HOSTILE_PAE32)
		s->cr4 ^= X86_CR4_PAE | X86_CR4_PSE;
	if (h->mode != HOSTILE_PAE32 && h->mode != HOSTILE_PAGED32)
		s->cr0 &= ~X86_CR0_PG;
}

static void general(const struct hostile *h, uint64_t *random, struct x86_regs *r)
{
	uint64_t reg[16];
	unsigned int i;

	for (i = 0; i < 16; i++)
		reg[i] = next(random) & 3 ? edge(random) : next(random);
	memcpy(r, reg, sizeof(reg));
	if (next(random) & 3)
		r->rsp = STACK + 8 * below(random, 0x180);
	if (!(next(random) & 3))
		r->rcx = below(random, 100);
	r->rip = HOSTILE_CODE + h->start;
	if (h->mode == HOSTILE_REAL) {
		r->rip = h->start;
		for (i = 0; i < 16; i++)
			reg[i] = (uint16_t)reg[i];
		r->rsp = below(random, 0x1000);
	}
	r->rflags = X86_FL_FIXED | X86_FL_IF;
	if (h->how & HOSTILE_FLAGS) {
		r->rflags |= next(random) & 0x247cd5;
		if (!(next(random) & 3))
			r->rflags |= X86_FL_TF;
	}
}

static void model_specific(uint64_t *random, struct engine_vcpu *v)
{
	static const uint32_t msrs[] = {
		X86_MSR_STAR,	      X86_MSR_LSTAR,	    0xc0000083,
		X86_MSR_FMASK,	      0xc0000102,	    0xc0000103,
		X86_MSR_SYSENTER_ESP, X86_MSR_SYSENTER_EIP, X86_MSR_SYSENTER_CS};
	unsigned int i;

	for (i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++) {
		uint64_t value = edge(random);

		if (msrs[i] == X86_MSR_STAR)
			value = (uint64_t)(CODE0 | (uint64_t)(CODE0 | 3) << 16) << 32;
		else if (msrs[i] == X86_MSR_SYSENTER_CS)
			value = CODE0;
		(void)v->engine->set_msr(v, msrs[i], value);
	}
}

void hostile_vcpu(const struct hostile *h, struct engine_vcpu *v)
{
	uint64_t random = h->seed;
	struct x86_sregs s = {0};
	unsigned int i;

	begin_long(&s);
	(void)v->engine->set_sregs(v, &s);
	prologue(h, v);
	set_mode(h, &s);
	if (h->how & HOSTILE_CONTROL)
		garble_control(&random, &s);
	if (h->how & HOSTILE_SEGMENTS)
		garble_segments(h, &random, &s);
	if (h->how & HOSTILE_TABLES)
		garble_tables(&random, &s);
	model_specific(&random, v);
	if (h->how & HOSTILE_DEBUG) {
		for (i = 0; i < 4; i++)
			(void)v->engine->set_dr(v, i, edge(&random));
		(void)v->engine->set_dr(v, 7, (next(&random) & 0xffff03ff) | 0x400);
	}
	(void)v->engine->set_sregs(v, &s);
	general(h, &random, v->regs);
	v->state |= ENGINE_REGS_DIRTY;
}
