// SPDX-License-Identifier: GPL-2.0-or-later
#include "vm.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vpt/packet.h"
#include "segments.h"

unsigned int checks, failures;

bool check(bool ok, const char *file, int line, const char *format, ...)
{
	va_list args;

	checks++;
	if (ok)
		return true;
	failures++;
	printf("FAIL %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return false;
}

void die(const char *what)
{
	printf("FAIL %s: %s\n", what, strerror(errno));
	exit(2);
}

static int xioctl(int fd, unsigned long request, void *argument, const char *what)
{
	int r = ioctl(fd, request, argument);

	if (r < 0)
		die(what);
	return r;
}

/* Identity-map the first 2 GiB, in two equal address spaces. */
static void make_tables(struct vm *vm)
{
	uint64_t *top = (uint64_t *)(void *)(vm->memory + VM_TABLES);

	for (int i = 0; i < 2; i++)
		top[i * 512] = VM_TABLES + 0x2000 + 3;
	top[2 * 512] = 0x83; /* 1 GiB page at 0 */
	top[2 * 512 + 1] = (1ull << 30) | 0x83;
}

static void set_long_mode(struct vm *vm)
{
	struct kvm_sregs sregs;

	xioctl(vm->vcpu, KVM_GET_SREGS, &sregs, "KVM_GET_SREGS");
	sregs.cr0 = 0x80000011;
	sregs.cr3 = VM_TABLES;
	sregs.cr4 = 0x20;
	sregs.efer = 0x500;
	set_flat_segments(&sregs);
	xioctl(vm->vcpu, KVM_SET_SREGS, &sregs, "KVM_SET_SREGS");
}

static void add_pt_leaf(struct kvm_cpuid2 *cpuid, unsigned int subleaf)
{
	struct kvm_cpuid_entry2 *entry = NULL;
	unsigned int i;

	for (i = 0; i < cpuid->nent; i++)
		if (cpuid->entries[i].function == 0x14 && cpuid->entries[i].index == subleaf)
			entry = &cpuid->entries[i];
	if (!entry)
		entry = &cpuid->entries[cpuid->nent++];
	memset(entry, 0, sizeof(*entry));
	entry->function = 0x14;
	entry->index = subleaf;
	entry->flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX;
	__cpuid_count(0x14, subleaf, entry->eax, entry->ebx, entry->ecx, entry->edx);
}

static void set_cpuid(struct vm *vm, bool with_pt)
{
	struct {
		struct kvm_cpuid2 head;
		struct kvm_cpuid_entry2 entries[128];
	} cpuid = {.head.nent = 120};

	xioctl(vm->kvm, KVM_GET_SUPPORTED_CPUID, &cpuid, "KVM_GET_SUPPORTED_CPUID");
	if (with_pt) {
		for (unsigned int i = 0; i < cpuid.head.nent; i++)
			if (cpuid.entries[i].function == 7 && cpuid.entries[i].index == 0)
				cpuid.entries[i].ebx |= 1u << 25;
		add_pt_leaf(&cpuid.head, 0);
		add_pt_leaf(&cpuid.head, 1);
	}
	xioctl(vm->vcpu, KVM_SET_CPUID2, &cpuid, "KVM_SET_CPUID2");
}

void vm_open(struct vm *vm, bool with_pt)
{
	struct kvm_userspace_memory_region region = {.memory_size = VM_MEMORY};

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
	vm->vcpu = xioctl(vm->fd, KVM_CREATE_VCPU, NULL, "KVM_CREATE_VCPU");
	vm->run_size = (size_t)xioctl(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "mmap size");
	vm->run = mmap(NULL, vm->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vm->vcpu, 0);
	if (vm->run == MAP_FAILED)
		die("mmap of the vCPU");
	set_cpuid(vm, with_pt);
	make_tables(vm);
	memcpy(vm->memory + VM_CODE, guest_code, (size_t)(guest_code_end - guest_code));
	set_long_mode(vm);
}

void vm_close(struct vm *vm)
{
	munmap(vm->run, vm->run_size);
	close(vm->vcpu);
	close(vm->fd);
	close(vm->kvm);
	munmap(vm->memory, VM_MEMORY);
}

void vm_start(struct vm *vm, const uint8_t *entry, uint64_t rdi)
{
	struct kvm_regs regs = {.rip = VM_CODE + (uint64_t)(entry - guest_code),
				.rdi = rdi,
				.rsp = VM_STACK,
				.rflags = 0x202};

	xioctl(vm->vcpu, KVM_SET_REGS, &regs, "KVM_SET_REGS");
}

void vm_regs(const struct vm *vm, struct kvm_regs *regs)
{
	xioctl(vm->vcpu, KVM_GET_REGS, regs, "KVM_GET_REGS");
}

struct vm_exits vm_run(struct vm *vm)
{
	struct vm_exits exits = {0};

	for (;;) {
		if (ioctl(vm->vcpu, KVM_RUN, NULL) < 0) {
			if (errno == EINTR)
				continue;
			die("KVM_RUN");
		}
		switch (vm->run->exit_reason) {
		case KVM_EXIT_HLT:
			return exits;
		case KVM_EXIT_IO:
			exits.io++;
			break;
		case KVM_EXIT_MMIO:
			exits.mmio++;
			memset(vm->run->mmio.data, 0x5a, sizeof(vm->run->mmio.data));
			break;
		case KVM_EXIT_X86_PT:
			exits.pt++;
			break;
		default:
			printf("# exit reason %u, %llx\n", vm->run->exit_reason,
			       (unsigned long long)vm->run->hw.hardware_exit_reason);
			exits.other++;
			return exits;
		}
	}
}

int vm_usage(struct vm *vm, uint32_t usage, uint32_t flags)
{
	struct kvm_x86_pt_usage want = {.usage = usage, .flags = flags};

	return ioctl(vm->fd, KVM_X86_PT_SET_USAGE, &want) < 0 ? -errno : 0;
}

int vm_buffer(struct vm *vm, uint32_t op, uint64_t size, uint32_t flags, uint64_t ctl)
{
	struct kvm_x86_pt_buffer want = {.op = op, .size = size, .flags = flags, .ctl = ctl};

	return ioctl(vm->vcpu, KVM_X86_PT_SET_BUFFER, &want) < 0 ? -errno : 0;
}

struct kvm_x86_pt_usage vm_get_usage(struct vm *vm)
{
	struct kvm_x86_pt_usage usage;

	xioctl(vm->fd, KVM_X86_PT_GET_USAGE, &usage, "KVM_X86_PT_GET_USAGE");
	return usage;
}

struct kvm_x86_pt_sideband vm_sideband(struct vm *vm)
{
	struct kvm_x86_pt_sideband sideband;

	xioctl(vm->vcpu, KVM_X86_PT_GET_SIDEBAND, &sideband, "KVM_X86_PT_GET_SIDEBAND");
	return sideband;
}

const struct kvm_x86_pt_status *vm_map_status(struct vm *vm)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, vm->vcpu,
			  (off_t)KVM_X86_PT_STATUS_PAGE * 4096);

	return page == MAP_FAILED ? NULL : page;
}

const uint8_t *vm_map_data(struct vm *vm, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, vm->vcpu,
			   (off_t)KVM_X86_PT_DATA_PAGE * 4096);

	return bytes == MAP_FAILED ? NULL : bytes;
}

static void count_packet(const struct vpt_packet *packet, struct trace_counts *counts)
{
	switch (packet->kind) {
	case VPT_PKT_PSB:
		counts->psb++;
		break;
	case VPT_PKT_TIP_PGE:
		counts->pge++;
		break;
	case VPT_PKT_TIP_PGD:
		counts->pgd++;
		break;
	case VPT_PKT_TIP:
		counts->tip++;
		break;
	case VPT_PKT_FUP:
		counts->fup++;
		break;
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		counts->tnt_bits += packet->bits;
		break;
	case VPT_PKT_PIP:
		if (counts->pip < sizeof(counts->pips) / sizeof(*counts->pips))
			counts->pips[counts->pip] = packet->value;
		counts->pip++;
		counts->pip_nr += packet->flag;
		break;
	case VPT_PKT_VMCS:
		counts->vmcs++;
		counts->last_vmcs = packet->value;
		break;
	case VPT_PKT_TSC:
		counts->tsc++;
		break;
	case VPT_PKT_OVF:
		counts->ovf++;
		break;
	default:
		break;
	}
}

void count_packets(const uint8_t *bytes, size_t size, struct trace_counts *counts)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = vpt_packet_find_psb(bytes, size);

	memset(counts, 0, sizeof(*counts));
	counts->bytes = size;
	while (at < size) {
		switch (vpt_packet_read(&parser, bytes + at, size - at, &packet)) {
		case VPT_OK:
			count_packet(&packet, counts);
			at += packet.size;
			break;
		case VPT_E_EOS:
			return;
		default:
			counts->bad++;
			at++;
			at += vpt_packet_find_psb(bytes + at, size - at);
			memset(&parser, 0, sizeof(parser));
		}
	}
}
