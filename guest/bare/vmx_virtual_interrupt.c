// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that a pending virtual interrupt waits for RFLAGS.IF, also if an external interrupt arrives. KVM
 * with local APICs delivers interrupts to its guests in this way.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "vmx/vmx.h"

PAYLOAD("a virtual interrupt while RFLAGS.IF is clear, and an external interrupt");

#define PIN_EXTERNAL_EXIT 1u
#define CPU_TPR_SHADOW	  (1u << 21)
#define CPU2_VIRTUAL_INTR (1u << 9)
#define MSR_VMX_CPU2	  0x48bu
#define MSR_X2APIC_EOI	  0x80bu
#define MSR_X2APIC_SVR	  0x80fu
#define MSR_X2APIC_TIMER  0x832u
#define MSR_X2APIC_COUNT  0x838u
#define MSR_X2APIC_DIVIDE 0x83eu
#define DIVIDE_BY_1	  0xbu
#define COUNT		  20000u
#define BASE_X2APIC	  (1u << 10)
#define SVR_ENABLED	  0x1ffu
/* Registers in the virtual-APIC page. */
#define VTPR	     0x080u
#define VIRR	     0x200u
#define PIC_MASTER   0x21u
#define PIC_SLAVE    0xa1u
#define VEC_VIRTUAL  0x50u
#define VEC_EXTERNAL 0x60u

extern const uint8_t guest_code[], guest_spin[], guest_open[];

/* The guest lowers its task priority with RFLAGS.IF clear, and spins. */
__asm__(".pushsection .text\n"
	"guest_code:\n"
	"	sti\n"
	"	nop\n"
	"	cli\n"
	"	xor	%eax, %eax\n"
	"	mov	%rax, %cr8\n"
	"guest_spin:\n"
	"	jmp	guest_spin\n"
	"guest_open:\n"
	"	sti\n"
	"	nop\n"
	"	vmcall\n"
	".popsection\n");

static struct vmx vm;
static volatile unsigned int delivered, arrived;

static void on_virtual(struct trap_frame *f)
{
	(void)f;
	delivered++;
}

static void on_external(struct trap_frame *f)
{
	(void)f;
	arrived++;
	wrmsr(MSR_X2APIC_EOI, 0);
}

static void set_controls(void)
{
	uint8_t *page = page_alloc(PAGE_SIZE);
	unsigned int i;

	page[VTPR] = 0xf0;
	*(uint32_t *)(page + VIRR + VEC_VIRTUAL / 32 * 16) = 1u << VEC_VIRTUAL % 32;
	vmwrite(VMCS_EXEC_PIN, vmread(VMCS_EXEC_PIN) | PIN_EXTERNAL_EXIT);
	vmwrite(VMCS_EXEC_CPU, vmread(VMCS_EXEC_CPU) | CPU_TPR_SHADOW);
	vmwrite(VMCS_EXEC_CPU2, vmread(VMCS_EXEC_CPU2) | CPU2_VIRTUAL_INTR);
	vmwrite(VMCS_VIRTUAL_APIC, (uintptr_t)page);
	for (i = 0; i < 4; i++)
		vmwrite(VMCS_EOI_EXIT_BITMAP + 2 * i, 0);
	vmwrite(VMCS_GUEST_INTERRUPT_STATUS, VEC_VIRTUAL);
}

static void enter(uint64_t reason, const char *what)
{
	const enum vmx_result result = vmx_enter(&vm);

	if (result != VMX_EXIT)
		report(false, "%s: no entry, error %lu", what, vmread(VMCS_INSTRUCTION_ERROR));
	else
		report_equal(vmread(VMCS_EXIT_REASON), reason, what);
}

void payload(void)
{
	if (!vmx_init() || !(rdmsr(MSR_VMX_CPU2) >> 32 & CPU2_VIRTUAL_INTR)) {
		report_skip("no virtual-interrupt delivery");
		return;
	}
	idt_hook(VEC_VIRTUAL, on_virtual);
	idt_hook(VEC_EXTERNAL, on_external);
	outb(PIC_MASTER, 0xff);
	outb(PIC_SLAVE, 0xff);
	wrmsr(MSR_APIC_BASE, rdmsr(MSR_APIC_BASE) | BASE_X2APIC);
	wrmsr(MSR_X2APIC_SVR, SVR_ENABLED);
	vmx_create(&vm, (void (*)(void))(uintptr_t)guest_code);
	set_controls();

	wrmsr(MSR_X2APIC_DIVIDE, DIVIDE_BY_1);
	wrmsr(MSR_X2APIC_TIMER, VEC_EXTERNAL);
	wrmsr(MSR_X2APIC_COUNT, COUNT);
	enter(EXIT_EXTERNAL_INTERRUPT, "the external interrupt exits");
	report_equal(vmread(VMCS_GUEST_RIP), (uintptr_t)guest_spin, "the guest spins");
	report_equal(delivered, 0, "the virtual interrupt waits");
	report_equal(vmread(VMCS_GUEST_INTERRUPT_STATUS), VEC_VIRTUAL, "it is still requested");
	__asm__ volatile("sti; nop; cli" : : : "memory");
	report_equal(arrived, 1, "the host takes the external interrupt");

	vmwrite(VMCS_GUEST_RIP, (uintptr_t)guest_open);
	enter(EXIT_VMCALL, "the guest sets RFLAGS.IF");
	report_equal(delivered, 1, "the virtual interrupt is delivered");
	report_equal(vmread(VMCS_GUEST_INTERRUPT_STATUS), VEC_VIRTUAL << 8, "it is in service");
}
