// SPDX-License-Identifier: GPL-2.0-or-later
/* Enter and leave VMX operation, and run a guest. */
#include "vmx.h"

#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "vpt/msr.h"

#define CR4_VMXE	(1ull << 13)
#define CPUID_1_ECX_VMX (1u << 5)
#define RFLAGS_CF	1u
#define BASIC_TRUE	VPT_BIT64(55)
#define FEATURE_LOCK	(1u << 0)
#define FEATURE_VMX	(1u << 2)
#define GUEST_STACK	16384u
#define ACCESS_CODE64	0xa09bu
#define ACCESS_DATA	0xc093u
#define ACCESS_TSS	0x008bu
#define ACCESS_UNUSABLE 0x10000u
#define SELECTOR_CODE	0x08u
#define SELECTOR_DATA	0x10u
#define SELECTOR_TSS	0x18u
#define EPT_MEMORY_WB	(6u << 3)
#define EPT_LARGE	(1u << 7)
#define CPU_HLT_EXIT	(1u << 7)
#define CPU_MSR_BITMAPS (1u << 28)
#define CPU_SECONDARY	(1u << 31)
#define CPU2_EPT	(1u << 1)
#define EXIT_HOST_64	(1u << 9)
#define EXIT_LOAD_EFER	(1u << 21)
#define EXIT_SAVE_EFER	(1u << 20)
#define ENTRY_GUEST_64	(1u << 9)
#define ENTRY_LOAD_EFER (1u << 15)

enum vmx_msr {
	MSR_FEATURE_CONTROL = 0x3a,
	MSR_VMX_BASIC = 0x480,
	MSR_VMX_PIN = 0x481,
	MSR_VMX_CPU = 0x482,
	MSR_VMX_EXIT = 0x483,
	MSR_VMX_ENTRY = 0x484,
	MSR_VMX_MISC = 0x485,
	MSR_VMX_CR0_FIXED0 = 0x486,
	MSR_VMX_CR4_FIXED0 = 0x488,
	MSR_VMX_CPU2 = 0x48b,
	/* The distance from MSR_VMX_PIN to MSR_VMX_TRUE_PIN, and so on. */
	MSR_VMX_TRUE = 0x48d - 0x481,
};

struct table_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

uint64_t vmx_enter_asm(struct vmx_regs *regs, bool launched);

/*
 * A GDT with a TSS, because host state needs a task register: null, code, data, and a TSS of two
 * slots.
 */
static uint64_t gdt[5] __attribute__((aligned(16)));
static uint8_t tss[104] __attribute__((aligned(16)));
static uint8_t *msr_bitmap;

static void load_tables(void)
{
	uint64_t base = (uintptr_t)tss;
	struct table_pointer pointer = {sizeof(gdt) - 1, (uintptr_t)gdt};

	gdt[1] = 0x00af9b000000ffffull;
	gdt[2] = 0x00cf93000000ffffull;
	gdt[3] = (sizeof(tss) - 1) | (base & 0xffffff) << 16 | 0x89ull << 40 |
		 (base >> 24 & 0xff) << 56;
	gdt[4] = base >> 32;
	__asm__ volatile("lgdt %0\n ltr %w1" : : "m"(pointer), "r"(SELECTOR_TSS) : "memory");
}

static bool vmx_op(uint8_t failed)
{
	return !failed;
}

static bool vmxon(const void *region)
{
	uint64_t address = (uintptr_t)region;
	uint8_t failed;

	__asm__ volatile("vmxon %1; setbe %0" : "=q"(failed) : "m"(address) : "cc", "memory");
	return vmx_op(failed);
}

static bool vmclear(const void *region)
{
	uint64_t address = (uintptr_t)region;
	uint8_t failed;

	__asm__ volatile("vmclear %1; setbe %0" : "=q"(failed) : "m"(address) : "cc", "memory");
	return vmx_op(failed);
}

static bool vmptrld(const void *region)
{
	uint64_t address = (uintptr_t)region;
	uint8_t failed;

	__asm__ volatile("vmptrld %1; setbe %0" : "=q"(failed) : "m"(address) : "cc", "memory");
	return vmx_op(failed);
}

bool vmwrite_safe(uint64_t field, uint64_t value)
{
	uint8_t failed;

	__asm__ volatile("vmwrite %1, %2; setbe %0" : "=q"(failed) : "r"(value), "r"(field) : "cc");
	return vmx_op(failed);
}

bool vmread_safe(uint64_t field, uint64_t *value)
{
	uint8_t failed;

	__asm__ volatile("vmread %2, %1; setbe %0"
			 : "=q"(failed), "=r"(*value)
			 : "r"(field)
			 : "cc");
	return vmx_op(failed);
}

static void *new_region(void)
{
	uint32_t *region = page_alloc(PAGE_SIZE);

	region[0] = (uint32_t)rdmsr(MSR_VMX_BASIC) & 0x7fffffff;
	return region;
}

bool vmx_init(void)
{
	uint64_t control;

	if (!(cpuid(1, 0).ecx & CPUID_1_ECX_VMX))
		return false;
	control = rdmsr(MSR_FEATURE_CONTROL);
	if (!(control & FEATURE_LOCK))
		wrmsr(MSR_FEATURE_CONTROL, control | FEATURE_LOCK | FEATURE_VMX);
	else if (!(control & FEATURE_VMX))
		return false;
	write_cr0(read_cr0() | rdmsr(MSR_VMX_CR0_FIXED0));
	write_cr4(read_cr4() | rdmsr(MSR_VMX_CR4_FIXED0) | CR4_VMXE);
	load_tables();
	msr_bitmap = page_alloc(PAGE_SIZE);
	return vmxon(new_region());
}

uint64_t vmx_misc(void)
{
	return rdmsr(MSR_VMX_MISC);
}

/*
 * Returns the wanted control bits that may be 1, and the bits that must be 1. The "true" capability
 * MSRs have fewer mandatory bits. For example, exits by MOV to CR3 are optional there.
 */
static uint32_t adjust(uint32_t msr, uint32_t want)
{
	bool has_true = rdmsr(MSR_VMX_BASIC) & BASIC_TRUE && msr != MSR_VMX_CPU2;
	uint64_t allowed = rdmsr(has_true ? msr + MSR_VMX_TRUE : msr);

	return (want & (uint32_t)(allowed >> 32)) | (uint32_t)allowed;
}

static uint32_t allowed_1(uint32_t msr)
{
	return (uint32_t)(rdmsr(msr) >> 32);
}

static void set_controls(const struct vmx *v)
{
	vmwrite(VMCS_EXEC_PIN, adjust(MSR_VMX_PIN, 0));
	vmwrite(VMCS_EXEC_CPU, adjust(MSR_VMX_CPU, CPU_HLT_EXIT | CPU_MSR_BITMAPS | CPU_SECONDARY));
	vmwrite(VMCS_EXEC_CPU2, adjust(MSR_VMX_CPU2, 0));
	vmwrite(VMCS_EXIT_CONTROLS,
		adjust(MSR_VMX_EXIT, EXIT_HOST_64 | EXIT_SAVE_EFER | EXIT_LOAD_EFER));
	vmwrite(VMCS_ENTRY_CONTROLS, adjust(MSR_VMX_ENTRY, ENTRY_GUEST_64 | ENTRY_LOAD_EFER));
	vmwrite(VMCS_MSR_BITMAP, (uintptr_t)msr_bitmap);
	vmwrite(VMCS_VMCS_LINK, ~0ull);
	vmwrite(VMCS_ENTRY_LOAD_ADDR, (uintptr_t)v->entry_load);
	vmwrite(VMCS_EXIT_STORE_ADDR, (uintptr_t)v->exit_store);
	vmwrite(VMCS_EXIT_LOAD_ADDR, (uintptr_t)v->exit_load);
}

static void set_host(void)
{
	struct table_pointer idt;
	unsigned int i;

	__asm__ volatile("sidt %0" : "=m"(idt));
	for (i = VMCS_HOST_ES; i <= VMCS_HOST_GS; i += 2)
		vmwrite(i, i == VMCS_HOST_CS ? SELECTOR_CODE : SELECTOR_DATA);
	vmwrite(VMCS_HOST_TR, SELECTOR_TSS);
	vmwrite(VMCS_HOST_TR_BASE, (uintptr_t)tss);
	vmwrite(VMCS_HOST_GDTR_BASE, (uintptr_t)gdt);
	vmwrite(VMCS_HOST_IDTR_BASE, idt.base);
	vmwrite(VMCS_HOST_FS_BASE, 0);
	vmwrite(VMCS_HOST_GS_BASE, 0);
	vmwrite(VMCS_HOST_CR0, read_cr0());
	vmwrite(VMCS_HOST_CR3, read_cr3());
	vmwrite(VMCS_HOST_CR4, read_cr4());
	vmwrite(VMCS_HOST_EFER, rdmsr(MSR_EFER));
	vmwrite(VMCS_HOST_RIP, (uintptr_t)vmx_host_ip);
}

static void set_guest(const struct vmx *v, uint64_t rip, uint64_t rsp)
{
	struct table_pointer idt;
	unsigned int i;

	__asm__ volatile("sidt %0" : "=m"(idt));
	for (i = 0; i < 6; i++) {
		bool code = VMCS_GUEST_ES + 2 * i == VMCS_GUEST_CS;

		vmwrite(VMCS_GUEST_ES + 2 * i, code ? SELECTOR_CODE : SELECTOR_DATA);
		vmwrite(VMCS_GUEST_ES_LIMIT + 2 * i, 0xffffffff);
		vmwrite(VMCS_GUEST_ES_ACCESS + 2 * i, code ? ACCESS_CODE64 : ACCESS_DATA);
	}
	vmwrite(VMCS_GUEST_LDTR_ACCESS, ACCESS_UNUSABLE);
	vmwrite(VMCS_GUEST_TR, SELECTOR_TSS);
	vmwrite(VMCS_GUEST_TR_BASE, (uintptr_t)tss);
	vmwrite(VMCS_GUEST_TR_LIMIT, sizeof(tss) - 1);
	vmwrite(VMCS_GUEST_TR_ACCESS, ACCESS_TSS);
	vmwrite(VMCS_GUEST_GDTR_BASE, (uintptr_t)gdt);
	vmwrite(VMCS_GUEST_GDTR_LIMIT, sizeof(gdt) - 1);
	vmwrite(VMCS_GUEST_IDTR_BASE, idt.base);
	vmwrite(VMCS_GUEST_IDTR_LIMIT, idt.limit);
	vmwrite(VMCS_GUEST_CR0, read_cr0());
	vmwrite(VMCS_GUEST_CR3, v->cr3);
	vmwrite(VMCS_GUEST_CR4, read_cr4());
	vmwrite(VMCS_GUEST_EFER, rdmsr(MSR_EFER));
	vmwrite(VMCS_GUEST_DR7, 0x400);
	vmwrite(VMCS_GUEST_RFLAGS, 2);
	vmwrite(VMCS_GUEST_RSP, rsp);
	vmwrite(VMCS_GUEST_RIP, rip);
}

static void find_allowed(struct vmx *v)
{
	struct vpt_vmx_fields fields = {allowed_1(MSR_VMX_CPU2), allowed_1(MSR_VMX_EXIT),
					allowed_1(MSR_VMX_ENTRY)};

	v->allowed_pt = vpt_vmx_from_fields(&fields);
	v->has_ept = fields.exec2 & CPU2_EPT;
}

static uint64_t *ept_table(uint64_t *entry)
{
	if (!(*entry & EPT_RWX))
		*entry = (uintptr_t)page_alloc(PAGE_SIZE) | EPT_RWX;
	return (uint64_t *)(uintptr_t)(*entry & ~(uint64_t)0xfff);
}

/* Map the first GiB with large pages. */
static void make_ept(struct vmx *v)
{
	uint64_t *pd;
	unsigned int i;

	v->ept = page_alloc(PAGE_SIZE);
	pd = ept_table(&ept_table(&v->ept[0])[0]);
	for (i = 0; i < 512; i++)
		pd[i] = (uint64_t)i << 21 | EPT_LARGE | EPT_MEMORY_WB | EPT_RWX;
}

void vmx_ept_set(struct vmx *v, uint64_t gpa, uint64_t hpa, unsigned int flags)
{
	uint64_t *pd = ept_table(&ept_table(&v->ept[0])[0]);
	uint64_t *entry = &pd[gpa >> 21 & 511], *pt;
	unsigned int i;

	if (*entry & EPT_LARGE) {
		pt = page_alloc(PAGE_SIZE);
		for (i = 0; i < 512; i++)
			pt[i] = (gpa & ~(uint64_t)0x1fffff) + i * PAGE_SIZE +
				(EPT_MEMORY_WB | EPT_RWX);
		*entry = (uintptr_t)pt | EPT_RWX;
	}
	ept_table(entry)[gpa >> 12 & 511] = flags ? hpa | EPT_MEMORY_WB | flags : 0;
}

void vmx_create(struct vmx *v, void (*rip)(void))
{
	uint8_t *stack = page_alloc(GUEST_STACK);

	memset(v, 0, sizeof(*v));
	v->vmcs = new_region();
	v->cr3 = paging_new_space();
	v->entry_load = page_alloc(PAGE_SIZE);
	v->exit_store = page_alloc(PAGE_SIZE);
	v->exit_load = page_alloc(PAGE_SIZE);
	find_allowed(v);
	vmclear(v->vmcs);
	vmptrld(v->vmcs);
	set_controls(v);
	set_host();
	/* The stack pointer is aligned as after a CALL. */
	set_guest(v, (uintptr_t)rip, (uintptr_t)stack + GUEST_STACK - 8);
	if (v->has_ept)
		make_ept(v);
}

void vmx_select(struct vmx *v)
{
	vmptrld(v->vmcs);
}

void vmx_clear(struct vmx *v)
{
	vmclear(v->vmcs);
	vmptrld(v->vmcs);
	v->launched = false;
}

void vmx_set_pt(struct vmx *v, uint32_t controls, bool ept)
{
	struct vpt_vmx_fields fields = {(uint32_t)vmread(VMCS_EXEC_CPU2),
					(uint32_t)vmread(VMCS_EXIT_CONTROLS),
					(uint32_t)vmread(VMCS_ENTRY_CONTROLS)};

	vpt_vmx_to_fields(controls, &fields);
	fields.exec2 &= ~CPU2_EPT;
	if (ept && v->has_ept)
		fields.exec2 |= CPU2_EPT;
	vmwrite(VMCS_EXEC_CPU2, fields.exec2);
	vmwrite(VMCS_EXIT_CONTROLS, fields.exit);
	vmwrite(VMCS_ENTRY_CONTROLS, fields.entry);
	/* Tables of four levels in write-back memory. */
	vmwrite(VMCS_EPT_POINTER, (uintptr_t)v->ept | 3 << 3 | 6);
}

enum vmx_result vmx_enter(struct vmx *v)
{
	uint64_t flags = vmx_enter_asm(&v->regs, v->launched);

	if (flags)
		return flags & RFLAGS_CF ? VMX_INVALID : VMX_FAIL;
	if (!(vmread(VMCS_EXIT_REASON) & EXIT_ENTRY_FAILED))
		v->launched = true;
	return VMX_EXIT;
}

void vmx_skip(void)
{
	vmwrite(VMCS_GUEST_RIP, vmread(VMCS_GUEST_RIP) + vmread(VMCS_EXIT_INSN_LEN));
}
