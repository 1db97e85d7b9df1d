// SPDX-License-Identifier: GPL-2.0-or-later
/* Make the virtual machine of vm.h with KVM, fill its list of operations, and run it. */
#include "vm.h"
#include "segments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SET_CPUID_ENTRIES 120

#define MSR_APIC_BASE	 0x1b
#define X2APIC_ON	 0xfee00d00
#define MSR_X2APIC_SVR	 0x80f
#define MSR_X2APIC_LVTPC 0x834
#define LVT_NMI		 0x400

static void die(const char *what)
{
	printf("# %s: %s\n", what, strerror(errno));
	exit(2);
}

static int xioctl(int fd, unsigned long request, void *argument, const char *what)
{
	int r = ioctl(fd, request, argument);

	if (r < 0)
		die(what);
	return r;
}

struct kvm_cpuid_entry2 *vm_cpuid_entry(struct vm_cpuid *cpuid, uint32_t leaf, uint32_t subleaf)
{
	struct kvm_cpuid_entry2 *entry = cpuid->entries;
	uint32_t i;

	for (i = 0; i < cpuid->head.nent; i++)
		if (entry[i].function == leaf && entry[i].index == subleaf)
			return &entry[i];
	if (i == sizeof(cpuid->entries) / sizeof(cpuid->entries[0]))
		abort();
	cpuid->head.nent++;
	memset(&entry[i], 0, sizeof(entry[i]));
	entry[i].function = leaf;
	entry[i].index = subleaf;
	entry[i].flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX;
	return &entry[i];
}

void vm_supported_cpuid(struct vm_cpuid *cpuid)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (kvm < 0)
		die("/dev/kvm");
	memset(cpuid, 0, sizeof(*cpuid));
	cpuid->head.nent = SET_CPUID_ENTRIES;
	xioctl(kvm, KVM_GET_SUPPORTED_CPUID, cpuid, "KVM_GET_SUPPORTED_CPUID");
	close(kvm);
	errno = ENODEV;
	if (!(vm_cpuid_entry(cpuid, 7, 0)->ebx & CPUID_PT))
		die("PT of KVM, or its pt_mode=1");
}

int vm_set_cpuid(struct vm *vm, const struct vm_cpuid *cpuid)
{
	struct vm_cpuid copy = *cpuid;

	return ioctl(vm->vcpu, KVM_SET_CPUID2, &copy) < 0 ? -errno : 0;
}

/* Map the first 2 GiB with pages of 1 GiB. */
static void make_pages(struct vm *vm)
{
	uint64_t *top = (uint64_t *)(void *)(vm->memory + VM_PAGES);

	top[0] = VM_PAGES + 0x1000 + 3;
	top[512] = 0x83;
	top[513] = (1ull << 30) | 0x83;
}

static void set_gate(struct vm *vm, unsigned int vector, const uint8_t *handler)
{
	uint64_t *gate = (uint64_t *)(void *)(vm->memory + VM_IDT) + 2 * vector;
	uint64_t to = VM_CODE + (uint64_t)(handler - guest_code);

	gate[0] = (to & 0xffff) | 8 << 16 | 0x8e00ull << 32 | (to >> 16 & 0xffff) << 48;
	gate[1] = 0;
}

static void make_tables(struct vm *vm)
{
	uint64_t *gdt = (uint64_t *)(void *)(vm->memory + VM_GDT);

	gdt[1] = 0x00af9b000000ffff;
	gdt[2] = 0x00cf93000000ffff;
	set_gate(vm, 2, guest_nmi);
	set_gate(vm, 6, guest_ud);
	set_gate(vm, 13, guest_gp);
}

static void set_long_mode(struct vm *vm)
{
	struct kvm_sregs sregs;

	xioctl(vm->vcpu, KVM_GET_SREGS, &sregs, "KVM_GET_SREGS");
	sregs.cr0 = 0x80000031;
	sregs.cr3 = VM_PAGES;
	sregs.cr4 = 0x20;
	sregs.efer = 0x500;
	set_flat_segments(&sregs);
	sregs.gdt.base = VM_GDT;
	sregs.gdt.limit = 3 * 8 - 1;
	sregs.idt.base = VM_IDT;
	sregs.idt.limit = 256 * 16 - 1;
	xioctl(vm->vcpu, KVM_SET_SREGS, &sregs, "KVM_SET_SREGS");
}

void vm_open_cpuid(struct vm *vm, unsigned int flags, const struct vm_cpuid *cpuid)
{
	struct kvm_userspace_memory_region region = {.memory_size = VM_MEMORY};
	int size;

	memset(vm, 0, sizeof(*vm));
	vm->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm < 0)
		die("/dev/kvm");
	vm->fd = xioctl(vm->kvm, KVM_CREATE_VM, NULL, "KVM_CREATE_VM");
	vm->memory =
		mmap(NULL, VM_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (vm->memory == MAP_FAILED)
		die("mmap");
	region.userspace_addr = (uintptr_t)vm->memory;
	xioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region, "KVM_SET_USER_MEMORY_REGION");
	if (flags & VM_IRQCHIP)
		xioctl(vm->fd, KVM_CREATE_IRQCHIP, NULL, "KVM_CREATE_IRQCHIP");
	vm->vcpu = xioctl(vm->fd, KVM_CREATE_VCPU, NULL, "KVM_CREATE_VCPU");
	size = xioctl(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "KVM_GET_VCPU_MMAP_SIZE");
	vm->run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, vm->vcpu, 0);
	if (vm->run == MAP_FAILED)
		die("mmap of the vCPU");
	if (cpuid && vm_set_cpuid(vm, cpuid))
		die("KVM_SET_CPUID2");
	make_pages(vm);
	make_tables(vm);
	memcpy(vm->memory + VM_CODE, guest_code, (size_t)(guest_code_end - guest_code));
	vm->ops = (struct op *)(void *)(vm->memory + VM_OPS);
	set_long_mode(vm);
}

void vm_open(struct vm *vm, unsigned int flags)
{
	struct vm_cpuid cpuid;

	vm_supported_cpuid(&cpuid);
	if (!(flags & VM_PT))
		vm_cpuid_entry(&cpuid, 7, 0)->ebx &= ~CPUID_PT;
	if (flags & VM_NO_PMU)
		vm_cpuid_entry(&cpuid, 0xa, 0)->eax = 0;
	vm_open_cpuid(vm, flags, &cpuid);
}

void vm_close(struct vm *vm)
{
	close(vm->vcpu);
	close(vm->fd);
	close(vm->kvm);
	munmap(vm->memory, VM_MEMORY);
}

struct op *vm_op(struct vm *vm, enum op_kind kind, uint64_t value)
{
	struct op *op = &vm->ops[vm->op_count++];

	*op = (struct op){.kind = kind, .value = value};
	op[1] = (struct op){.kind = OP_END};
	return op;
}

struct op *vm_wrmsr(struct vm *vm, uint32_t msr, uint64_t value)
{
	struct op *op = vm_op(vm, OP_WRMSR, value);

	op->msr = msr;
	return op;
}

struct op *vm_rdmsr(struct vm *vm, uint32_t msr)
{
	struct op *op = vm_op(vm, OP_RDMSR, 0);

	op->msr = msr;
	return op;
}

void vm_trace(struct vm *vm, uint64_t ctl)
{
	vm_wrmsr(vm, VPT_MSR_OUTPUT_BASE, VM_OUTPUT);
	vm_wrmsr(vm, VPT_MSR_OUTPUT_MASK_PTRS, VM_OUTPUT_SIZE - 1);
	vm_wrmsr(vm, VPT_MSR_STATUS, 0);
	vm_wrmsr(vm, VPT_MSR_CTL, ctl);
}

void vm_stop(struct vm *vm)
{
	vm_wrmsr(vm, VPT_MSR_CTL, CTL_TRACE & ~VPT_CTL_MASK(TRACE_EN));
}

void vm_x2apic(struct vm *vm)
{
	vm_wrmsr(vm, MSR_APIC_BASE, X2APIC_ON);
}

void vm_take_pmis(struct vm *vm)
{
	vm_x2apic(vm);
	vm_wrmsr(vm, MSR_X2APIC_SVR, 0x1ff);
	vm_wrmsr(vm, MSR_X2APIC_LVTPC, LVT_NMI);
}

void vm_start(struct vm *vm)
{
	struct kvm_regs regs = {.rip = VM_CODE + (uint64_t)(guest_main - guest_code),
				.rdi = VM_OPS,
				.rsp = VM_STACK,
				.rflags = 2};

	xioctl(vm->vcpu, KVM_SET_REGS, &regs, "KVM_SET_REGS");
}

int vm_run(struct vm *vm)
{
	while (ioctl(vm->vcpu, KVM_RUN, NULL) < 0)
		if (errno != EINTR && errno != EAGAIN)
			die("KVM_RUN");
	if (vm->run->exit_reason == KVM_EXIT_IO)
		return 0x10000 + vm->run->io.port;
	return (int)vm->run->exit_reason;
}

int vm_run_all(struct vm *vm)
{
	int why;

	vm_start(vm);
	do
		why = vm_run(vm);
	while (why == VM_MARK);
	return why;
}

const char *vm_exit_text(const struct vm *vm, int why)
{
	static char text[80];

	switch (why) {
	case KVM_EXIT_FAIL_ENTRY:
		snprintf(text, sizeof(text), "KVM_EXIT_FAIL_ENTRY, reason %#llx",
			 (unsigned long long)vm->run->fail_entry.hardware_entry_failure_reason);
		break;
	case KVM_EXIT_INTERNAL_ERROR:
		snprintf(text, sizeof(text), "KVM_EXIT_INTERNAL_ERROR, suberror %u",
			 vm->run->internal.suberror);
		break;
	case KVM_EXIT_SHUTDOWN:
		return "KVM_EXIT_SHUTDOWN";
	default:
		snprintf(text, sizeof(text), "exit %#x", why);
	}
	return text;
}

bool vm_set_msr(struct vm *vm, uint32_t msr, uint64_t value)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msrs = {.head.nmsrs = 1, .entry = {.index = msr, .data = value}};

	return ioctl(vm->vcpu, KVM_SET_MSRS, &msrs) == 1;
}

bool vm_get_msr(struct vm *vm, uint32_t msr, uint64_t *value)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msrs = {.head.nmsrs = 1, .entry.index = msr};
	bool ok = ioctl(vm->vcpu, KVM_GET_MSRS, &msrs) == 1;

	*value = ok ? msrs.entry.data : 0;
	return ok;
}

uint64_t vm_guest_word(const struct vm *vm, const uint8_t *symbol)
{
	uint64_t word;

	memcpy(&word, vm->memory + VM_CODE + (symbol - guest_code), sizeof(word));
	return word;
}
