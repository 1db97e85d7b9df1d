// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System instructions: their effects, and the exceptions for forbidden uses, in ring 0 and in ring
 * 3.
 */
#include "lib/cpu.h"
#include "lib/fixup.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "lib/simd.h"
#include "pt/trace.h"

PAYLOAD("CPUID, TSC, GS, FSGSBASE, XCR0, INVLPG, PCID, and what is forbidden");

#define VEC_AC	     17
#define NOTHING	     0xff
#define CR0_AM	     (1ull << 18)
#define CR3_NO_FLUSH (1ull << 63)

static uint64_t cr3, cr4;

/* The exception during `fn`. Execution continues at RCX, or at the target of FIXUP. */
static uint64_t taken, taken_error;

static void on_fault(struct trap_frame *f)
{
	uint64_t to = f->cs & 3 ? f->rcx : fixup_find(f->rip);

	taken = f->vector;
	taken_error = f->error;
	if (!to) {
		report(false, "vector %lu at %#lx", f->vector, f->rip);
		guest_exit(report_summary());
	}
	f->rip = to;
}

/* CPUID: 32-bit results, the same each time, and OSXSAVE equal to CR4's. */
static bool cpuid_ok(void)
{
	struct cpuid_regs a = cpuid(0, 0), b = cpuid(0, 0);
	bool ok = !memcmp(&a, &b, sizeof(a)) && a.eax >= 1;
	uint32_t leaf;

	for (leaf = 0; leaf <= a.eax && leaf < 0x20; leaf++) {
		if (leaf == 1)
			continue;
		b = cpuid(leaf, 0);
		a = cpuid(leaf, 0);
		ok &= !memcmp(&a, &b, sizeof(a));
	}
	if (!cpu_has(CPU_XSAVE))
		return ok && !cpu_has(CPU_OSXSAVE);
	write_cr4(cr4 | CR4_OSXSAVE);
	ok &= cpu_has(CPU_OSXSAVE);
	write_cr4(cr4 & ~CR4_OSXSAVE);
	ok &= !cpu_has(CPU_OSXSAVE);
	write_cr4(cr4);
	return ok;
}

static bool tsc_ok(void)
{
	uint64_t first = rdtsc(), last = first, now;
	uint32_t lo, hi, aux;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		now = rdtsc();
		if (now < last)
			return false;
		last = now;
	}
	if (last == first)
		return false;
	if (!cpu_has(CPU_RDTSCP))
		return true;
	wrmsr(MSR_TSC_AUX, 0x1234567);
	__asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(aux));
	return aux == 0x1234567 && ((uint64_t)hi << 32 | lo) >= last;
}

static uint64_t read_gs(void)
{
	uint64_t value;

	__asm__ volatile("mov %%gs:8, %0" : "=r"(value) : : "memory");
	return value;
}

static bool swapgs_ok(void)
{
	static uint64_t mine[2] = {1, 2}, other[2] = {3, 4};
	bool ok = true;
	unsigned int i;

	wrmsr(MSR_GS_BASE, (uintptr_t)mine);
	wrmsr(MSR_KERNEL_GS_BASE, (uintptr_t)other);
	for (i = 0; i < 8; i++) {
		ok &= read_gs() == (i & 1 ? 4 : 2);
		__asm__ volatile("swapgs" : : : "memory");
	}
	ok &= rdmsr(MSR_GS_BASE) == (uintptr_t)mine;
	ok &= rdmsr(MSR_KERNEL_GS_BASE) == (uintptr_t)other;
	/* Use an unusual FS base. */
	wrmsr(MSR_FS_BASE, (uintptr_t)other - 0x1000);
	__asm__ volatile("addq $5, %%fs:0x1000" : : : "memory", "cc");
	ok &= other[0] == 8;
	other[0] = 3;
	return ok;
}

static bool fsgsbase_ok(void)
{
	uint64_t fs, gs, mine = 0x123456789000;
	bool ok;

	taken = NOTHING;
	__asm__ volatile("1: rdfsbase %0\n"
			 "2:\n" FIXUP(1b, 2b)
			 : "=r"(fs)
			 :
			 : "memory");
	ok = taken == VEC_UD;
	if (!cpu_has(CPU_FSGSBASE)) {
		report_note("no RDFSBASE");
		return ok;
	}
	write_cr4(cr4 | CR4_FSGSBASE);
	__asm__ volatile("wrfsbase %2\n"
			 "rdfsbase %0\n"
			 "wrgsbase %k2\n"
			 "rdgsbase %1"
			 : "=&r"(fs), "=&r"(gs)
			 : "r"(mine));
	ok &= fs == mine && gs == (uint32_t)mine && rdmsr(MSR_FS_BASE) == mine;
	taken = NOTHING;
	__asm__ volatile("1: wrfsbase %0\n"
			 "2:\n" FIXUP(1b, 2b)
			 :
			 : "r"(1ull << 63)
			 : "memory");
	ok &= taken == VEC_GP && taken_error == 0 && rdmsr(MSR_FS_BASE) == mine;
	write_cr4(cr4);
	return ok;
}

static uint64_t try_xsetbv(uint32_t index, uint64_t value)
{
	taken = NOTHING;
	__asm__ volatile("1: xsetbv\n"
			 "2:\n" FIXUP(1b, 2b)
			 :
			 : "c"(index), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
			 : "memory");
	return taken;
}

static bool xcr_ok(void)
{
	uint64_t xcr0, all;
	bool ok;

	if (!cpu_has(CPU_XSAVE)) {
		report_note("no XSAVE");
		return true;
	}
	write_cr4(cr4 | CR4_OSXSAVE);
	xcr0 = xgetbv(0);
	all = cpuid(0xd, 0).eax | (uint64_t)cpuid(0xd, 0).edx << 32;
	ok = xcr0 & 1 && !(xcr0 & ~all);
	ok &= try_xsetbv(0, xcr0 & ~1ull) == VEC_GP && try_xsetbv(0, ~0ull) == VEC_GP;
	ok &= try_xsetbv(7, 1) == VEC_GP && try_xsetbv(0, xcr0) == NOTHING;
	ok &= try_xsetbv(0, XCR0_X87 | XCR0_AVX) == VEC_GP; /* AVX needs SSE */
	ok &= try_xsetbv(0, 3) == NOTHING && xgetbv(0) == 3 && try_xsetbv(0, xcr0) == NOTHING;
	write_cr4(cr4 & ~CR4_OSXSAVE);
	ok &= try_xsetbv(0, xcr0) == VEC_UD;
	write_cr4(cr4);
	return ok;
}

#define PAGE_AT (PAGING_FREE_VADDR + 0x7000)

static uint64_t *pages[2];

static bool invlpg_ok(void)
{
	volatile uint64_t *at = (volatile uint64_t *)PAGE_AT;
	bool ok = true;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		paging_map(cr3, PAGE_AT, pages[i & 1], PTE_WRITE);
		invlpg(PAGE_AT);
		*at = i;
		ok &= *(volatile uint64_t *)pages[i & 1] == i;
		/* Flush by CR3 as well. */
		paging_map(cr3, PAGE_AT, pages[~i & 1], PTE_WRITE);
		write_cr3(cr3);
		*at = 100 + i;
		ok &= *(volatile uint64_t *)pages[~i & 1] == 100 + i;
	}
	return ok;
}

/* Two spaces with two PCIDs, and different pages at one address. */
static bool pcid_ok(void)
{
	volatile uint64_t *at = (volatile uint64_t *)PAGE_AT;
	uint64_t space[2] = {cr3 | 1, paging_new_space() | 2};
	bool ok = true;
	unsigned int i;

	if (!cpu_has(CPU_PCID)) {
		report_note("no PCID");
		return true;
	}
	paging_map(space[0] & ~0xfffull, PAGE_AT, pages[0], PTE_WRITE);
	paging_map(space[1] & ~0xfffull, PAGE_AT, pages[1], PTE_WRITE);
	pages[0][0] = 10;
	pages[1][0] = 20;
	write_cr4(cr4 | CR4_PCIDE);
	for (i = 0; i < 8; i++) {
		write_cr3(space[i & 1] | (i < 4 ? 0 : CR3_NO_FLUSH));
		ok &= read_cr3() == space[i & 1];
		ok &= *at == (i & 1 ? 20 : 10) + i / 2;
		*at += 1;
	}
	/* A change in a space is visible once the space is loaded with a flush. */
	write_cr3(space[0] | CR3_NO_FLUSH);
	paging_map(space[1] & ~0xfffull, PAGE_AT, pages[0], PTE_WRITE);
	write_cr3(space[1]);
	ok &= *at == 14;
	/* PCIDE can be cleared at any time, and set only under PCID 0. */
	write_cr3(space[0]);
	write_cr4(cr4);
	taken = NOTHING;
	write_cr3(cr3 | 8);
	__asm__ volatile("1: mov %0, %%cr4\n"
			 "2:\n" FIXUP(1b, 2b)
			 :
			 : "r"(cr4 | CR4_PCIDE)
			 : "memory");
	write_cr3(cr3);
	return ok && taken == VEC_GP && read_cr4() == cr4;
}

/* Ring 0: forbidden writes. */
#define TRY(name, insn, value)                            \
	static uint64_t name(void)                        \
	{                                                 \
		taken = NOTHING;                          \
		__asm__ volatile("1: " insn "\n"          \
				 "2:\n" FIXUP(1b, 2b)     \
				 :                        \
				 : "r"((uint64_t)(value)) \
				 : "memory");             \
		return taken;                             \
	}

TRY(try_pg_off, "mov %0, %%cr0", read_cr0() & ~(1ull << 31))
TRY(try_pe_off, "mov %0, %%cr0", read_cr0() & ~1ull)
TRY(try_nw, "mov %0, %%cr0", (read_cr0() | 1ull << 29) & ~(1ull << 30))
TRY(try_cr0_high, "mov %0, %%cr0", read_cr0() | 1ull << 40)
TRY(try_pae_off, "mov %0, %%cr4", read_cr4() & ~(1ull << 5))
TRY(try_cr4_bit, "mov %0, %%cr4", read_cr4() | 1ull << 31)
TRY(try_cr3_bit, "mov %0, %%cr3", cr3 | 1ull << 63)
TRY(try_cr8_bit, "mov %0, %%cr8", 16)
TRY(try_ltr, "ltr %w0", 0x10)
TRY(try_lldt, "lldt %w0", 0x10)
TRY(try_null_ss, "mov %w0, %%ss", 3)
TRY(try_popf_high, "push %0; popfq", 2ull | 1ull << 40)
TRY(try_lmsw, "lmsw %w0", read_cr0())

static bool forbidden_ok(void)
{
	bool ok = try_pg_off() == VEC_GP && try_pe_off() == VEC_GP && try_nw() == VEC_GP;

	ok &= try_cr0_high() == VEC_GP && try_pae_off() == VEC_GP && try_cr4_bit() == VEC_GP;
	ok &= try_cr3_bit() == VEC_GP && try_cr8_bit() == VEC_GP;
	ok &= try_ltr() == VEC_GP && taken_error == 0x10 && try_lldt() == VEC_GP;
	ok &= try_null_ss() == VEC_GP && taken_error == 0;
	ok &= try_popf_high() == NOTHING && try_lmsw() == NOTHING;
	ok &= !wrmsr_safe(MSR_LSTAR, 1ull << 63) && !wrmsr_safe(MSR_EFER, 1ull << 63);
	ok &= !wrmsr_safe(MSR_EFER, rdmsr(MSR_EFER) & ~(1ull << 8)); /* LME, while paging */
	return ok;
}

/* Check the results of LAR, LSL, VERR and VERW for selectors. */
static bool selectors_ok(void)
{
	uint32_t rights = 0, limit = 0, tr = 0;
	bool yes, readable, writable;
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) gdt;

	__asm__ volatile("lar %2, %0" : "=r"(rights), "=@ccz"(yes) : "r"(USER_CS));
	__asm__ volatile("lsl %1, %0" : "=r"(limit) : "r"(USER_DS) : "cc");
	__asm__ volatile("verr %w1" : "=@ccz"(readable) : "r"(USER_DS));
	__asm__ volatile("verw %w1" : "=@ccz"(writable) : "r"(USER_CS));
	__asm__ volatile("str %0" : "=r"(tr));
	__asm__ volatile("sgdt %0" : "=m"(gdt));
	if (!yes || (rights & 0xf0ff00) != 0xa0fb00 || limit != ~0u || !readable || writable)
		return false;
	/* A busy 64-bit TSS; null selectors and selectors beyond the end give no result. */
	__asm__ volatile("lar %2, %0" : "+r"(rights), "=@ccz"(yes) : "r"(tr));
	if (!yes || (rights & 0xff00) != 0x8b00 || gdt.limit < tr + 15)
		return false;
	__asm__ volatile("lar %2, %0" : "+r"(rights), "=@ccz"(yes) : "r"(0));
	if (yes)
		return false;
	__asm__ volatile("lsl %2, %0" : "+r"(rights), "=@ccz"(yes) : "r"(0xfff8));
	return !yes;
}

/* CR0.TS: #NM for x87 and SSE, and WAIT only with MP. */
static bool task_switched_ok(void)
{
	uint64_t cr0 = read_cr0();
	bool ok;

	write_cr0(cr0 | CR0_TS | CR0_MP);
	taken = NOTHING;
	__asm__ volatile("1: fldz\n"
			 "2:\n" FIXUP(1b, 2b)
			 :
			 :
			 : "memory");
	ok = taken == VEC_NM;
	taken = NOTHING;
	__asm__ volatile("1: movd %%eax, %%xmm0\n"
			 "2:\n" FIXUP(1b, 2b)
			 :
			 :
			 : "memory");
	ok &= taken == VEC_NM;
	taken = NOTHING;
	__asm__ volatile("1: wait\n"
			 "2:\n" FIXUP(1b, 2b)
			 :
			 :
			 : "memory");
	ok &= taken == VEC_NM;
	__asm__ volatile("clts");
	ok &= !(read_cr0() & CR0_TS);
	taken = NOTHING;
	__asm__ volatile("fldz; fstp %%st(0); movd %%eax, %%xmm0; wait" : : : "memory");
	write_cr0((cr0 & ~CR0_TS) | CR0_EM);
	__asm__ volatile("1: movd %%eax, %%xmm0\n"
			 "2:\n" FIXUP(1b, 2b)
			 :
			 :
			 : "memory");
	ok &= taken == VEC_UD;
	write_cr0(cr0);
	return ok;
}

/* An access across the end of a page that faults must not change the page before. */
static bool straddle_ok(void)
{
	uint64_t value = 0x1111111111111111, *at = (uint64_t *)(PAGE_AT + PAGE_SIZE - 4);
	uint32_t *end = (uint32_t *)pages[0] + PAGE_SIZE / 4 - 1;

	paging_map(cr3, PAGE_AT, pages[0], PTE_WRITE);
	paging_unmap(cr3, PAGE_AT + PAGE_SIZE);
	invlpg(PAGE_AT);
	*end = 77;
	taken = NOTHING;
	__asm__ volatile("1: xchgq %0, (%1)\n"
			 "2:\n" FIXUP(1b, 2b)
			 : "+r"(value)
			 : "r"(at)
			 : "memory");
	return taken == VEC_PF && taken_error == 2 && value == 0x1111111111111111 &&
	       *(volatile uint32_t *)end == 77 && read_cr2() == PAGE_AT + PAGE_SIZE;
}

/* Instructions that ring 3 may not execute; RCX is the address behind each. */
#define FORBIDDEN(n, insn)           \
	"	lea 2f(%rip), %rcx\n"      \
	"	cmp $" #n ", %rdi\n" \
	"	jne 2f\n"                  \
	"	" insn "\n"          \
	"2:\n"

/* uint64_t user_try(uint64_t n) */
uint64_t user_try(uint64_t n);
__asm__(".pushsection .user.text, \"ax\"\n"
	"user_try:\n" FORBIDDEN(0, "cli") FORBIDDEN(1, "sti") FORBIDDEN(2, "hlt") FORBIDDEN(
		3, "inb $0x80, %al") FORBIDDEN(4, "out %eax, %dx") FORBIDDEN(5, "rdmsr")
		FORBIDDEN(6, "wrmsr") FORBIDDEN(7, "mov %cr0, %rax") FORBIDDEN(
			8, "mov %rax, %cr3") FORBIDDEN(9, "mov %dr7, %rax") FORBIDDEN(10,
										      "lgdt (%rsp)")
			FORBIDDEN(11, "lidt (%rsp)") FORBIDDEN(12, "ltr %ax") FORBIDDEN(
				13, "clts") FORBIDDEN(14, "invlpg (%rsp)") FORBIDDEN(15, "wbinvd")
				FORBIDDEN(16, "swapgs") FORBIDDEN(17, "lmsw %ax") FORBIDDEN(
					18,
					"sysretq") FORBIDDEN(19,
							     "rdpmc") FORBIDDEN(20,
										"mov %cr8, %rax")
					FORBIDDEN(21, "invd") FORBIDDEN(22, "lldt %ax") FORBIDDEN(
						23,
						"rdtsc") "	ret\n"
							 /* Read an unaligned quadword. */
							 ".globl user_unaligned\n"
							 "user_unaligned:\n"
							 "	lea 1f(%rip), %rcx\n"
							 "	pushfq\n"
							 "	orq $0x40000, (%rsp)\n"
							 "	popfq\n"
							 "	mov -13(%rsp), %rax\n"
							 "1:	pushfq\n"
							 "	andq $~0x40000, (%rsp)\n"
							 "	popfq\n"
							 "	ret\n"
							 /* POPF that tries to set IF and IOPL. */
							 ".globl user_popf\n"
							 "user_popf:\n"
							 "	pushq $0x3202\n"
							 "	popfq\n"
							 "	pushfq\n"
							 "	pop %rax\n"
							 "	ret\n"
							 ".popsection\n");
uint64_t user_unaligned(uint64_t), user_popf(uint64_t);

#define USER_TRIES 24u
#define CR4_TSD	   (1ull << 2)

static bool user_ok(void)
{
	bool ok = true;
	uint64_t i;

	/* The last one is allowed unless CR4 says otherwise. */
	for (i = 0; i <= USER_TRIES; i++) {
		taken = NOTHING;
		if (i == USER_TRIES)
			write_cr4(cr4 | CR4_TSD);
		ring3_call(user_try, i < USER_TRIES ? i : USER_TRIES - 1);
		if (taken != (i == USER_TRIES - 1 ? NOTHING : VEC_GP) ||
		    (taken == VEC_GP && taken_error)) {
			report(false, "ring 3, instruction %lu: vector %lu", i, taken);
			ok = false;
		}
	}
	write_cr4(cr4);
	return ok && (ring3_call(user_popf, 0) & 0x3200) == 0;
}

static bool alignment_ok(void)
{
	bool ok;

	taken = NOTHING;
	ring3_call(user_unaligned, 0);
	ok = taken == NOTHING;
	write_cr0(read_cr0() | CR0_AM);
	ring3_call(user_unaligned, 0);
	ok &= taken == VEC_AC && taken_error == 0;
	write_cr0(read_cr0() & ~CR0_AM);
	return ok;
}

static const struct {
	bool (*fn)(void);
	bool ring3;
	const char *what;
} checks[] = {
	{cpuid_ok, false, "CPUID is consistent, OSXSAVE follows CR4"},
	{tsc_ok, false, "RDTSC goes up, RDTSCP has TSC_AUX"},
	{swapgs_ok, false, "SWAPGS, and bases of FS and GS by MSR"},
	{fsgsbase_ok, false, "RDFSBASE and WRFSBASE"},
	{xcr_ok, false, "XGETBV and XSETBV"},
	{invlpg_ok, false, "a remapped page after INVLPG and after MOV CR3"},
	{pcid_ok, false, "PCID"},
	{forbidden_ok, false, "what control registers, MSRs and selectors refuse"},
	{selectors_ok, false, "LAR, LSL, VERR, VERW, STR"},
	{task_switched_ok, false, "CR0.TS and EM"},
	{straddle_ok, false, "a faulting access over two pages does nothing"},
	{user_ok, true, "what ring 3 may not do"},
	{alignment_ok, true, "#AC in ring 3"},
};

static bool passed[ARRAY_SIZE(checks)];

static void work(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(checks); i++)
		passed[i] = (checks[i].ring3 && !(boot->flags & VPT_BOOT_RING3)) || checks[i].fn();
}

void payload(void)
{
	static const uint8_t vectors[] = {VEC_UD, VEC_NM, VEC_GP, VEC_PF, VEC_AC};
	struct trace t;
	unsigned int i;

	ring3_init(NULL);
	cr3 = read_cr3();
	cr4 = read_cr4();
	pages[0] = page_alloc(PAGE_SIZE);
	pages[1] = page_alloc(PAGE_SIZE);
	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		idt_hook(vectors[i], on_fault);
	trace_long(&t, work);
	for (i = 0; i < ARRAY_SIZE(checks); i++)
		report(passed[i], "%s", checks[i].what);
}
