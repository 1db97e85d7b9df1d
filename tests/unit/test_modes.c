// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The software CPU boots from reset to 64-bit mode like an operating system. The core does transfers
 * in real mode, in protected mode with each kind of paging, in ring 3, in compatibility mode and in
 * 64-bit mode. The code runs at full speed and an instruction at a time.
 */
#include "lib/suite.h"

#include <string.h>

#include "core/exec.h"
#include "core/vcpu.h"
#include "lib/flat.h"

/* Addresses of tables(), which the code below has as numbers. */
enum where {
	ORG = 0x7c00,
	MODES_GDT = 0x10000,
	MODES_TSS = 0x10800,
	IDT32 = 0x11000,
	IDT64 = 0x12000,
	PD32 = 0x13000,
	MODES_PDPT = 0x14000,
	MODES_PD = 0x15000,
	MODES_PML4 = 0x16000,
	VALUE = 0x17000,
};

/* Each step of the boot sets another bit of EDI. */
#define ALL_STEPS 0x1ff

extern const char modes_start[], modes_end[], modes_k32[], modes_g32[], modes_h64[], modes_s64[];

__asm__(".pushsection .rodata\n"
	".set	ORG, 0x7c00\n"
	".code16\n"
	"modes_start:\n"
	"	cli\n"
	"	xor	%edi, %edi\n"
	"	xor	%ax, %ax\n"
	"	mov	%ax, %ds\n"
	"	mov	%ax, %ss\n"
	"	mov	$0x7000, %sp\n"
	"	movw	$(h16 - modes_start + ORG), 0x100\n"
	"	movw	%ax, 0x102\n"
	"	int	$0x40\n"
	"	lcall	$0x7c0, $(f16 - modes_start)\n"
	"	lgdtl	gdtr - modes_start + ORG\n"
	"	mov	%cr0, %eax\n"
	"	or	$1, %al\n"
	"	mov	%eax, %cr0\n"
	"	ljmpl	$0x08, $(p32 - modes_start + ORG)\n"
	"h16:	or	$0x01, %di\n"
	"	iret\n"
	"f16:	or	$0x02, %di\n"
	"	lret\n"
	"gdtr:	.word	0xff\n"
	"	.long	0x10000\n"
	"idtr:	.word	0x7ff\n"
	"	.long	0x11000\n"
	"idtr64: .word	0xfff\n"
	"	.quad	0x12000\n"
	".code32\n"
	"p32:	mov	$0x10, %eax\n"
	"	mov	%eax, %ds\n"
	"	mov	%eax, %es\n"
	"	mov	%eax, %ss\n"
	"	mov	$0x7000, %esp\n"
	"	lidt	idtr - modes_start + ORG\n"
	"	mov	$0xf0, %eax\n"
	"	ltr	%ax\n"
	"	push	$0x23\n"
	"	push	$0x6000\n"
	"	push	$0x002\n"
	"	push	$0x1b\n"
	"	push	$(u32 - modes_start + ORG)\n"
	"	iret\n"
	"u32:	or	$0x04, %edi\n"
	"	int	$0x41\n"
	"modes_k32:\n"
	"	or	$0x08, %edi\n"
	"	mov	$0x10, %eax\n"
	"	mov	%eax, %ds\n"
	"	lcall	$0x88, $0\n"
	/* 4 MiB pages. The first two map the same memory. */
	"	mov	$0x13000, %eax\n"
	"	mov	%eax, %cr3\n"
	"	mov	$0x10, %eax\n"
	"	mov	%eax, %cr4\n"
	"	mov	$0x80010001, %eax\n"
	"	mov	%eax, %cr0\n"
	"	or	0x417000, %edi\n"
	/* PAE, 2 MiB pages. */
	"	mov	$0x00010001, %eax\n"
	"	mov	%eax, %cr0\n"
	"	mov	$0x20, %eax\n"
	"	mov	%eax, %cr4\n"
	"	mov	$0x14000, %eax\n"
	"	mov	%eax, %cr3\n"
	"	mov	$0x80010001, %eax\n"
	"	mov	%eax, %cr0\n"
	"	or	0x217004, %edi\n"
	/* Long mode. */
	"	mov	$0x00010001, %eax\n"
	"	mov	%eax, %cr0\n"
	"	movl	$0x14007, 0x16000\n"
	"	movl	$0x15007, 0x14000\n"
	"	mov	$0x16000, %eax\n"
	"	mov	%eax, %cr3\n"
	"	mov	$0xc0000080, %ecx\n"
	"	mov	$0x00000101, %eax\n"
	"	xor	%edx, %edx\n"
	"	wrmsr\n"
	"	mov	$0x80010001, %eax\n"
	"	mov	%eax, %cr0\n"
	"	ljmp	$0x70, $(l64 - modes_start + ORG)\n"
	"modes_g32:\n"
	"	or	$0x10, %edi\n"
	"	lret\n"
	".code64\n"
	"l64:	mov	$0x7000, %rsp\n"
	"	lidt	idtr64 - modes_start + ORG\n"
	"	mov	$0xc0000081, %ecx\n" /* STAR, LSTAR, FMASK */
	"	xor	%eax, %eax\n"
	"	mov	$0x00180070, %edx\n"
	"	wrmsr\n"
	"	inc	%ecx\n"
	"	xor	%edx, %edx\n"
	"	mov	$(modes_s64 - modes_start + ORG), %eax\n"
	"	wrmsr\n"
	"	int	$0x42\n"
	"	mov	$(u64 - modes_start + ORG), %ecx\n"
	"	mov	$0x002, %r11d\n"
	"	sysretl\n"
	".code32\n"
	"u64:	int	$0x43\n" /* in compatibility mode, ring 3 */
	".code64\n"
	"modes_h64:\n"
	"	or	$0x80, %edi\n"
	"	iretq\n"
	"modes_s64:\n"
	"	or	$0x100, %edi\n"
	"	hlt\n"
	"modes_end:\n"
	".popsection\n");

static struct core_vm machine;
static struct core_vcpu *cpu;

static void put(uint64_t gpa, uint64_t value)
{
	ck_assert(x86_mem_write(&machine.mem, gpa, &value, 8));
}

static uint32_t at(const char *label)
{
	return (uint32_t)(label - modes_start) + ORG;
}

static void tables(void)
{
	unsigned int i;

	put(MODES_GDT + 0x08, descriptor_bits(0, 0xfffff, 0x9a, 0xc));
	put(MODES_GDT + 0x10, descriptor_bits(0, 0xfffff, 0x92, 0xc));
	put(MODES_GDT + 0x18, descriptor_bits(0, 0xfffff, 0xfa, 0xc));
	put(MODES_GDT + 0x20, descriptor_bits(0, 0xfffff, 0xf2, 0xc));
	put(MODES_GDT + 0x70, descriptor_bits(0, 0xfffff, 0x9a, 0xa));
	put(MODES_GDT + 0x88, gate_bits(0x08, at(modes_g32), 0x8c, 0));
	put(MODES_GDT + 0xf0, descriptor_bits(MODES_TSS, 0x67, 0x89, 0));
	/* ESP0 and SS0 of the 32-bit TSS. */
	put(MODES_TSS + 4, 0x5000 | 0x10ull << 32);
	put(IDT32 + 8 * 0x41, gate_bits(0x08, at(modes_k32), 0xee, 0));
	put(IDT64 + 16 * 0x42, gate_bits(0x70, at(modes_h64), 0x8e, 1));
	put(IDT64 + 16 * 0x43, gate_bits(0x70, at(modes_s64), 0xee, 1));
	/* IST1 of the 64-bit TSS. The gates of 64-bit mode use this stack. */
	put(MODES_TSS + 36, 0x4000);
	put(PD32, 0x83 | 0x87ull << 32);
	put(MODES_PDPT, MODES_PD | 1);
	for (i = 0; i < 2; i++)
		put(MODES_PD + 8 * i, 0x87);
	put(VALUE, 0x20 | 0x40ull << 32);
	ck_assert(x86_mem_write(&machine.mem, ORG, modes_start, (size_t)(modes_end - modes_start)));
}

static struct x86_segment real(uint8_t type)
{
	return (struct x86_segment){.limit = 0xffff, .ar = X86_AR_P | X86_AR_S | type};
}

static void setup(void)
{
	static const struct vpt_caps caps = {.max_phy_addr = 39};
	const struct engine *engine = engine_find("soft");
	struct core_vm_config config = {.caps = &caps, .mem_bytes = 8 << 20};
	struct engine_probe probe;

	ck_assert_ptr_nonnull(engine);
	engine->probe(&probe, false);
	config.engine = engine;
	config.probe = &probe;
	ck_assert_int_eq(core_vm_create(&machine, &config), 0);
	cpu = machine.vcpu;
	tables();
	cpu->s = (struct x86_sregs){.cs = real(11), .cr0 = X86_CR0_ET, .idt.limit = 0x3ff};
	cpu->s.ds = cpu->s.es = cpu->s.fs = cpu->s.gs = cpu->s.ss = real(3);
	cpu->s.tr = (struct x86_segment){.limit = 0xffff, .ar = X86_AR_TSS};
	cpu->s.ldt = (struct x86_segment){.limit = 0xffff, .ar = X86_AR_P | 2};
	*cpu->regs = (struct x86_regs){.rip = ORG, .rflags = X86_FL_FIXED};
	core_vcpu_store(cpu);
}

static void teardown(void)
{
	core_vm_destroy(&machine);
}

static void check_end(void)
{
	ck_assert_msg(cpu->regs->rdi == ALL_STEPS, "%#llx, stopped %d %s",
		      (unsigned long long)cpu->regs->rdi, machine.stop.kind, machine.stop.text);
	ck_assert_uint_eq(cpu->regs->rip, at(modes_end));
	ck_assert_uint_eq(cpu->bits, 64);
	ck_assert_uint_eq(cpu->cpl, 0);
}

START_TEST(at_full_speed)
{
	core_vcpu_loop(cpu);
	ck_assert_int_eq(machine.stop.kind, TRACE_STOP_HALTED);
	check_end();
}
END_TEST

START_TEST(an_instruction_at_a_time)
{
	unsigned int n = 0;

	while (!(cpu->pending & CORE_VCPU_HALTED) && !machine.stop.kind && n++ < 1000)
		core_exec_one(cpu);
	ck_assert_int_eq(machine.stop.kind, TRACE_STOP_NONE);
	check_end();
	/* Each step retired one instruction. */
	ck_assert_uint_eq(cpu->ev->retired, n);
}
END_TEST

TEST_SUITE("modes", setup, teardown)
{
	TEST_ADD(tcase, at_full_speed, an_instruction_at_a_time);
}
