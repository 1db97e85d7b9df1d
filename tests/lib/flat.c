// SPDX-License-Identifier: GPL-2.0-or-later
/* See flat.h. */
#include "lib/flat.h"
#include "core/descriptor.h"

uint64_t descriptor_bits(uint32_t base, uint32_t limit, uint8_t access, uint8_t flags)
{
	return (limit & 0xffff) | (uint64_t)(base & 0xffffff) << 16 | (uint64_t)access << 40 |
	       (uint64_t)(limit & 0xf0000) << 32 | (uint64_t)flags << 52 |
	       (uint64_t)(base & 0xff000000) << 32;
}

uint64_t gate_bits(uint16_t selector, uint32_t offset, uint8_t access, uint8_t count)
{
	return (offset & 0xffff) | (uint64_t)selector << 16 | (uint64_t)count << 32 |
	       (uint64_t)access << 40 | (uint64_t)(offset & 0xffff0000) << 32;
}

void set_gate(uint8_t vector, uint16_t selector, uint32_t offset, uint8_t access)
{
	uint64_t at = IDT + (core_vcpu_long_mode(&v) ? 16u : 8u) * vector;

	put64(at, gate_bits(selector, offset, access, 0));
	if (core_vcpu_long_mode(&v))
		put64(at + 8, 0);
}

static const struct {
	uint16_t selector;
	uint32_t limit;
	uint8_t access, flags;
} gdt[] = {
	{KCODE, 0xfffff, 0x9a, 0xc},	  {KDATA, 0xfffff, 0x92, 0xc},
	{UCODE, 0xfffff, 0xfa, 0xc},	  {UDATA, 0xfffff, 0xf2, 0xc},
	{CONFORMING, 0xfffff, 0x9e, 0xc}, {KCODE16, 0xffff, 0x9a, 0},
	{KDATA16, 0xffff, 0x92, 0},	  {GONE, 0xfffff, 0x1a, 0xc},
	{READ_ONLY, 0xfffff, 0x90, 0xc},  {SMALL_DATA, 0xfff, 0x92, 4},
	{SMALL_CODE, 0xfff, 0x9a, 4},	  {UDATA16, 0xffff, 0xf2, 0},
	{GONE_DATA, 0xfffff, 0x12, 0xc},  {KCODE64, 0xfffff, 0x9a, 0xa},
	{UCODE64, 0xfffff, 0xfa, 0xa},	  {EXECUTE_ONLY, 0xfffff, 0x98, 0xc},
};

void flat_ring(uint8_t cpl)
{
	bool wide = core_vcpu_long_mode(&v);

	v.s.cs = core_flat_segment(cpl	  ? wide ? UCODE64 : UCODE
				   : wide ? KCODE64
					  : KCODE,
				   true, wide, cpl);
	v.s.ss = core_flat_segment(cpl ? UDATA : KDATA, false, false, cpl);
	v.s.ds = v.s.es = v.s.fs = v.s.gs = v.s.ss;
	core_vcpu_store(&v);
}

static void begin(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(gdt) / sizeof(gdt[0]); i++)
		put64(GDT + (gdt[i].selector & ~7u),
		      descriptor_bits(0, gdt[i].limit, gdt[i].access, gdt[i].flags));
	sregs.gdt = (struct x86_table){GDT, 0xff};
	sregs.idt = (struct x86_table){IDT, 0xfff};
	sregs.tr = (struct x86_segment){
		.base = TSS, .limit = 0x67, .selector = 0xf8, .ar = X86_AR_TSS};
	sregs.ldt.ar |= X86_AR_UNUSABLE;
	regs.rip = CODE;
	regs.rsp = STACK;
	regs.rflags = X86_FL_FIXED | X86_FL_IF | X86_FL_ZF;
}

void flat_protect(void)
{
	still_create(RAM, true);
	begin();
	sregs.cr0 = X86_CR0_PE;
	put32(TSS + 4, STACK0);
	put16(TSS + 8, KDATA);
	core_vcpu_load(&v);
	flat_ring(0);
}

void flat_long(void)
{
	const uint64_t pml4 = 0x4000, pdpt = 0x5000, bits = 7, large = 0x80;
	unsigned int i;

	still_create(RAM, true);
	begin();
	put64(pml4, pdpt | bits);
	for (i = 0; i < 4; i++)
		put64(pdpt + 8 * i, (uint64_t)i << 30 | bits | large);
	sregs.cr0 = X86_CR0_PE | X86_CR0_PG | X86_CR0_WP;
	sregs.cr3 = pml4;
	sregs.cr4 = X86_CR4_PAE;
	sregs.efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE | X86_EFER_SCE;
	put64(TSS + 4, STACK0);
	core_vcpu_load(&v);
	flat_ring(0);
}
