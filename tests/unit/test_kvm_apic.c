// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local APIC in KVM: level-triggered pins, the 8259s, messages, HLT. The guest stays in ring 0, where
 * every KVM with a split irqchip can deliver interrupts. Without such a KVM the suite is empty.
 */
#include "lib/suite.h"

#include <stdio.h>
#include <string.h>

#include "core/descriptor.h"
#include "core/devices.h"
#include "core/irq.h"
#include "core/vcpu.h"
#include "engine/kvm.h"

enum layout {
	RAM = 4 << 20,
	GDT = 0x10000,
	IDT = 0x12000,
	PML4 = 0x13000,
	PDPT = 0x14000,
	PD = 0x15000,
	CODE = 0x100000,
	STACK = 0x190000,
};

#define PIN	   5u
#define VEC_PIN	   0x50u
#define VEC_8259   0x35u /* line 5 */
#define VEC_OTHER  0x51u
#define INTERRUPTS 3

/* The guest counts interrupts of the pin in R14. An interrupt of the 8259s, and the third one, end it. */
extern const char apic_guest[], apic_pin[], apic_8259[], apic_other[], apic_spin[], apic_masked[],
	apic_end[];

__asm__(".pushsection .rodata\n"
	"apic_guest:\n"
	"	mov	$0x1b, %ecx\n" /* x2APIC mode, whose EOI is an MSR */
	"	rdmsr\n"
	"	or	$0x400, %eax\n"
	"	wrmsr\n"
	"1:	sti\n"
	"	hlt\n"
	"	jmp	1b\n"
	"apic_pin:\n"
	"	inc	%r14d\n"
	"	cmp	$3, %r14d\n"
	"	je	2f\n"
	"	mov	$0x80b, %ecx\n"
	"	xor	%eax, %eax\n"
	"	xor	%edx, %edx\n"
	"	wrmsr\n"
	"	iretq\n"
	"apic_8259:\n"
	"	mov	$0x35, %r14d\n"
	"	jmp	2f\n"
	"apic_other:\n"
	"	mov	$0x51, %r14d\n"
	"2:	mov	%r14d, %eax\n"
	"	out	%eax, $0xf4\n"
	"	hlt\n"
	/* A KVM that emulates ring 0 reports an EOI late if the vCPU halts next. */
	"apic_spin:\n"
	"	mov	$0x1b, %ecx\n"
	"	rdmsr\n"
	"	or	$0x400, %eax\n"
	"	wrmsr\n"
	"	sti\n"
	"3:	pause\n"
	"	jmp	3b\n"
	"apic_masked:\n"
	"	cli\n"
	"	hlt\n"
	"apic_end:\n"
	".popsection\n");

static struct engine_probe probe;
static struct core_vm vm;

static void put64(uint64_t gpa, uint64_t value)
{
	ck_assert(x86_mem_write(&vm.mem, gpa, &value, 8));
}

static uint64_t address(const char *label)
{
	return CODE + (uint64_t)(label - apic_guest);
}

static void gate(unsigned int vector, const char *handler)
{
	const uint64_t to = address(handler);

	put64(IDT + 16 * vector, (to & 0xffff) | 8u << 16 | 0x8eull << 40 | (to >> 16) << 48);
}

static void load(void)
{
	struct core_vcpu *v = vm.vcpu;

	ck_assert(x86_mem_write(&vm.mem, CODE, apic_guest, (size_t)(apic_end - apic_guest)));
	put64(GDT + 0x08, 0x00af9b000000ffffull);
	put64(GDT + 0x10, 0x00cf93000000ffffull);
	put64(PML4, PDPT | 7);
	put64(PDPT, PD | 7);
	put64(PD, 0x87);
	gate(VEC_PIN, apic_pin);
	gate(VEC_8259, apic_8259);
	gate(VEC_OTHER, apic_other);
	v->s.cs = core_flat_segment(8, true, true, 0);
	v->s.ds = v->s.es = v->s.fs = v->s.gs = v->s.ss = core_flat_segment(16, false, false, 0);
	v->s.gdt = (struct x86_table){GDT, 0x3f};
	v->s.idt = (struct x86_table){IDT, 0xfff};
	v->s.cr0 = X86_CR0_PE | X86_CR0_PG | X86_CR0_WP | X86_CR0_NE | X86_CR0_ET;
	v->s.cr3 = PML4;
	v->s.cr4 = X86_CR4_PAE;
	v->s.efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE | X86_EFER_SCE;
	*v->regs = (struct x86_regs){.rip = CODE, .rsp = STACK, .rflags = 2};
	core_vcpu_store(v);
}

static void out(uint16_t port, uint32_t value)
{
	ck_assert(dev_platform_io(&vm.platform, port, 1, false, &value));
}

/* Turn the local APIC on, with LINT0 in ExtINT mode. */
static void turn_on(void)
{
	static const struct {
		unsigned int reg;
		uint32_t value;
	} set[] = {{0x0f0, 0x1ff}, {0x350, 0x700}};
	const int fd = engine_kvm_vcpu(vm.vcpu->ev)->fd;
	struct kvm_lapic_state state;
	size_t i;

	ck_assert_int_eq(ioctl(fd, KVM_GET_LAPIC, &state), 0);
	for (i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		memcpy(state.regs + set[i].reg, &set[i].value, sizeof(set[i].value));
	ck_assert_int_eq(ioctl(fd, KVM_SET_LAPIC, &state), 0);
}

static void create(void)
{
	const struct core_vm_config config = {
		.engine = engine_find("kvm"),
		.probe = &probe,
		.caps = vpt_caps_model("skl"),
		.owner = TRACE_OWNER_NONE,
		.mem_bytes = RAM,
		.host_apic = true,
	};

	ck_assert_int_eq(core_vm_create(&vm, &config), 0);
	load();
	turn_on();
	core_devices_advance(vm.vcpu);
	out(0x21, 0xff); /* the lines are those of the 8259s, too */
	vm.vcpu->deadline = core_now() + 20 * 1000000000ull;
}

static void begin_at(const char *label)
{
	vm.vcpu->regs->rip = address(label);
	vm.vcpu->ev->state |= ENGINE_REGS_DIRTY;
}

static void run(enum trace_stop_kind kind)
{
	core_vcpu_loop(vm.vcpu);
	ck_assert_msg(vm.stop.kind == kind, "stop %d: %s", vm.stop.kind, vm.stop.text);
	core_vm_destroy(&vm);
}

static void ioapic(uint8_t reg, uint32_t value)
{
	uint32_t select = reg;

	ck_assert(dev_platform_mmio(&vm.platform, 0, DEV_IOAPIC_ADDRESS, 4, true, &select));
	ck_assert(dev_platform_mmio(&vm.platform, 0, DEV_IOAPIC_ADDRESS + 0x10, 4, true, &value));
}

/* A level-triggered pin interrupts again after each EOI, while it is asserted. */
START_TEST(a_level_returns_after_its_eoi)
{
	create();
	begin_at(apic_spin);
	ioapic(0x11 + 2 * PIN, 0);
	ioapic(0x10 + 2 * PIN, 1u << 15 | VEC_PIN);
	dev_platform_line(&vm.platform, PIN, true);
	ck_assert(vm.platform.ioapic.entry[PIN] & 1u << 14);
	run(TRACE_STOP_EXIT);
	ck_assert_uint_eq(vm.stop.exit_status, INTERRUPTS);
}
END_TEST

/* An edge comes once. The vCPU then waits in KVM until the time limit. */
START_TEST(an_edge_comes_once)
{
	create();
	ioapic(0x10 + 2 * PIN, VEC_PIN);
	dev_platform_line(&vm.platform, PIN, true);
	vm.vcpu->deadline = core_now() + 500000000;
	core_vcpu_loop(vm.vcpu);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_TIMEOUT);
	ck_assert_uint_eq(vm.vcpu->regs->r14, 1);
	/* No access to the APIC and no HLT was an exit. */
	ck_assert_uint_lt(vm.vcpu->exits, 50);
	core_vm_destroy(&vm);
}
END_TEST

START_TEST(the_8259s_end_a_hlt)
{
	create();
	out(0x20, 0x11);
	out(0x21, 0x30);
	out(0x21, 0x04);
	out(0x21, 0x01);
	out(0x21, 0xff & ~(1u << PIN));
	dev_platform_line(&vm.platform, PIN, true);
	run(TRACE_STOP_EXIT);
	ck_assert_uint_eq(vm.stop.exit_status, VEC_8259);
}
END_TEST

START_TEST(messages)
{
	struct dev_apic_message message = {.vector = VEC_OTHER, .dest = 5};

	create();
	ck_assert(!dev_platform_message(&vm.platform, &message));
	message.dest = 0;
	ck_assert(dev_platform_message(&vm.platform, &message));
	run(TRACE_STOP_EXIT);
	ck_assert_uint_eq(vm.stop.exit_status, VEC_OTHER);
}
END_TEST

START_TEST(halted_for_ever)
{
	create();
	begin_at(apic_masked);
	run(TRACE_STOP_HALTED);
}
END_TEST

TEST_SUITE("kvm_apic", NULL, NULL)
{
	engine_find("kvm")->probe(&probe, false);
	/* The guest has no ring 3, in which vpt would execute SYSCALL and INT n. */
	probe.syscall = probe.soft_int = true;
	if (probe.problem) {
		fprintf(stderr, "nothing to test: %s\n", probe.problem);
		return;
	}
	tcase_set_timeout(tcase, 120);
	TEST_ADD(tcase, a_level_returns_after_its_eoi, an_edge_comes_once, the_8259s_end_a_hlt,
		 messages, halted_for_ever);
}
