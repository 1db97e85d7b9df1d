// SPDX-License-Identifier: GPL-2.0-or-later
/* Make the machine of machine.h, fill its plan, and run it. */
#include "machine.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MSR_STAR  0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_FMASK 0xc0000084

#define TOPA_END 1

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("FAIL ", stdout);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	exit(1);
}

static uint64_t *words(const struct machine *machine, uint64_t address)
{
	return (uint64_t *)(void *)(machine->vm.memory + address);
}

static uint64_t address_of(const struct machine *machine, const uint8_t *symbol)
{
	return machine->code + (uint64_t)(symbol - traces_code);
}

static void set_gate(const struct machine *machine, unsigned int vector, const uint8_t *handler)
{
	uint64_t to = address_of(machine, handler);

	words(machine, VM_IDT)[2 * vector] =
		(to & 0xffff) | 8 << 16 | 0x8e00ull << 32 | (to >> 16 & 0xffff) << 48;
}

/* Give ring 3 access to all memory in two address spaces, and a stack for its interrupts. */
static void make_spaces(const struct machine *machine)
{
	words(machine, VM_PAGES)[0] |= 4;
	words(machine, VM_PAGES)[512] |= 4;
	words(machine, TRACES_TOP)[0] = words(machine, VM_PAGES)[0];
	words(machine, VM_GDT)[3] = 0x00cff3000000ffff;
	words(machine, VM_GDT)[4] = 0x00affb000000ffff;
	/* RSP0 of the TSS, whose base is 0. */
	memcpy(machine->vm.memory + 4, &(uint64_t){VM_STACK - 0x1000}, 8);
}

static void set_registers(struct machine *machine)
{
	struct kvm_sregs sregs;

	if (ioctl(machine->vm.vcpu, KVM_GET_SREGS, &sregs))
		fail("KVM_GET_SREGS");
	sregs.efer |= 1;
	sregs.gdt.limit = 5 * 8 - 1;
	if (ioctl(machine->vm.vcpu, KVM_SET_SREGS, &sregs))
		fail("KVM_SET_SREGS");
	if (!vm_set_msr(&machine->vm, MSR_STAR, 0x0010000800000000) ||
	    !vm_set_msr(&machine->vm, MSR_LSTAR, address_of(machine, traces_syscall)) ||
	    !vm_set_msr(&machine->vm, MSR_FMASK, 0))
		fail("KVM_SET_MSRS");
}

/* Open a guest without PT. KVM need not support PT for guests. */
static void open_without_pt(struct machine *machine, unsigned int vm_flags)
{
	struct vm_cpuid cpuid = {.head.nent = 120};
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (kvm < 0 || ioctl(kvm, KVM_GET_SUPPORTED_CPUID, &cpuid))
		fail("KVM_GET_SUPPORTED_CPUID");
	close(kvm);
	vm_cpuid_entry(&cpuid, 7, 0)->ebx &= ~CPUID_PT;
	vm_open_cpuid(&machine->vm, vm_flags, &cpuid);
}

void machine_open(struct machine *machine, unsigned int vm_flags, uint64_t what, uint64_t rounds)
{
	memset(machine, 0, sizeof(*machine));
	if (vm_flags & VM_PT)
		vm_open(&machine->vm, vm_flags);
	else
		open_without_pt(machine, vm_flags);
	make_spaces(machine);
	machine_place(machine, TRACES_CODE);
	machine->plan = (struct plan *)(void *)(machine->vm.memory + TRACES_PLAN);
	machine->plan->what = what;
	machine->plan->rounds = rounds;
	machine->plan->times = TRACES_TIMES;
}

void machine_place(struct machine *machine, uint64_t code)
{
	if (machine->code)
		memset(machine->vm.memory + machine->code, 0, TRACES_CODE_SIZE);
	memcpy(machine->vm.memory + code, traces_code, (size_t)(traces_code_end - traces_code));
	machine->code = code;
	set_gate(machine, 2, traces_nmi);
	set_gate(machine, 3, traces_int3);
	set_gate(machine, 6, traces_ud);
	set_registers(machine);
}

void machine_close(struct machine *machine)
{
	vm_close(&machine->vm);
}

static void add(struct plan_msr *list, uint32_t msr, uint64_t value)
{
	unsigned int i = 0;

	while (list[i].index)
		i++;
	if (i + 1 >= PLAN_LIST)
		fail("too many MSRs");
	list[i].index = msr;
	list[i].value = value;
}

void machine_begin(struct machine *machine, uint32_t msr, uint64_t value)
{
	add(machine->plan->begin, msr, value);
}

void machine_end(struct machine *machine, uint32_t msr, uint64_t value)
{
	add(machine->plan->end, msr, value);
}

static void start_and_stop(struct machine *machine, uint64_t ctl)
{
	machine_begin(machine, VPT_MSR_STATUS, 0);
	machine_begin(machine, VPT_MSR_CTL, ctl | VPT_CTL_MASK(TRACE_EN));
	machine_end(machine, VPT_MSR_CTL, ctl);
}

void machine_trace(struct machine *machine, uint64_t ctl)
{
	machine_begin(machine, VPT_MSR_OUTPUT_BASE, VM_OUTPUT);
	machine_begin(machine, VPT_MSR_OUTPUT_MASK_PTRS, VM_OUTPUT_SIZE - 1);
	start_and_stop(machine, ctl);
}

void machine_trace_topa(struct machine *machine, uint64_t ctl, const struct machine_topa *topa)
{
	uint64_t *table = words(machine, VM_TOPA);
	unsigned int i;

	for (i = 0; i < topa->regions; i++)
		table[i] = (topa->address + i * 0x1000ull) | topa->entry;
	table[i] = VM_TOPA | TOPA_END;
	machine_begin(machine, VPT_MSR_OUTPUT_BASE, VM_TOPA);
	machine_begin(machine, VPT_MSR_OUTPUT_MASK_PTRS, VPT_MASK_PTRS_LOW);
	start_and_stop(machine, ctl | VPT_CTL_MASK(TOPA));
}

void machine_start(struct machine *machine)
{
	struct kvm_regs regs = {.rip = address_of(machine, traces_main),
				.rdi = TRACES_PLAN,
				.rsp = VM_STACK,
				.rflags = 2};

	if (ioctl(machine->vm.vcpu, KVM_SET_REGS, &regs))
		fail("KVM_SET_REGS");
}

bool machine_step(struct machine *machine)
{
	int why = vm_run(&machine->vm);

	if (why == VM_MARK) {
		machine->outs++;
		return true;
	}
	if (why != VM_END)
		fail("%s", vm_exit_text(&machine->vm, why));
	return false;
}

void machine_run(struct machine *machine)
{
	machine_start(machine);
	while (machine_step(machine))
		;
}

size_t machine_trace_size(const struct machine *machine)
{
	uint64_t mask = machine->plan->mask_ptrs;

	if (machine->plan->ctl & VPT_CTL_MASK(TOPA))
		return (mask >> VPT_MASK_PTRS_TABLE_SHIFT & 0x1ffffff) * 0x1000 +
		       (mask >> VPT_MASK_PTRS_OFFSET_SHIFT);
	return mask >> VPT_MASK_PTRS_OFFSET_SHIFT;
}
