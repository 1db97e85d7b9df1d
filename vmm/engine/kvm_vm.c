// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM: the device, a VM, its memory, MSR filter and CPUID. */
#include "engine/kvm.h"
#include "engine/kvm_guard.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#define MAX_CPUID 256
/* The address of the TSS and page table that VMX needs without unrestricted guest mode. */
#define TSS_GPA 0xfffbd000u

int engine_kvm_open(struct engine_probe *probe)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	probe->device = fd >= 0;
	probe->error = fd >= 0 ? 0 : errno;
	return fd;
}

int engine_kvm_vm_create(const struct engine_probe *probe, struct engine_vm **out)
{
	struct engine_kvm_vm *vm = calloc(1, sizeof(*vm));
	int size, error;

	if (!vm)
		return -ENOMEM;
	vm->fd = -1;
	vm->uffd = -1;
	vm->probe = *probe;
	vm->dev = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->dev < 0)
		goto fail;
	/* Only this call can be interrupted by a signal. */
	do
		vm->fd = ioctl(vm->dev, KVM_CREATE_VM, 0);
	while (vm->fd < 0 && errno == EINTR);
	if (vm->fd < 0)
		goto fail;
	size = ioctl(vm->dev, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (size < (int)sizeof(struct kvm_run))
		goto fail;
	vm->run_bytes = (size_t)size;
	/* Hosts that do not need this refuse the call. */
	(void)ioctl(vm->fd, KVM_SET_TSS_ADDR, TSS_GPA);
	vm->base.engine = engine_find("kvm");
	*out = &vm->base;
	return 0;
fail:
	error = errno ? -errno : -EIO;
	engine_kvm_vm_destroy(&vm->base);
	return error;
}

void engine_kvm_vm_destroy(struct engine_vm *base)
{
	struct engine_kvm_vm *vm = engine_kvm_vm(base);

	if (!vm)
		return;
	engine_kvm_replay_free(vm);
	engine_kvm_writes_free(vm);
	engine_kvm_guard_free(vm);
	if (vm->uffd >= 0)
		close(vm->uffd);
	if (vm->fd >= 0)
		close(vm->fd);
	if (vm->dev >= 0)
		close(vm->dev);
	free(vm);
}

int engine_kvm_vm_map(struct engine_vm *base, uint32_t slot, uint64_t gpa, void *host,
		      uint64_t bytes)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.flags = bytes ? engine_kvm_vm(base)->slot_flags : 0,
		.guest_phys_addr = gpa,
		.memory_size = bytes,
		.userspace_addr = (uintptr_t)host,
	};

	if (ioctl(engine_kvm_vm(base)->fd, KVM_SET_USER_MEMORY_REGION, &region))
		return -errno;
	if (slot < ENGINE_KVM_SLOTS)
		engine_kvm_vm(base)->slot[slot] = (struct engine_kvm_slot){gpa, bytes, host};
	return 0;
}

void engine_kvm_vm_moment(struct engine_vm *base)
{
	engine_kvm_vm(base)->moment = __rdtsc();
}

/*
 * Map each part of RAM again. A KVM without nested paging has shadow page tables, which a change of
 * the guest's page tables by others does not update.
 */
int engine_kvm_vm_forget(struct engine_vm *base)
{
	const struct engine_kvm_vm *vm = engine_kvm_vm(base);
	uint32_t i;

	for (i = 0; i < ENGINE_KVM_SLOTS; i++) {
		const struct engine_kvm_slot slot = vm->slot[i];
		int error;

		if (!slot.bytes)
			continue;
		error = engine_kvm_vm_map(base, i, slot.gpa, slot.host, 0);
		if (!error)
			error = engine_kvm_vm_map(base, i, slot.gpa, slot.host, slot.bytes);
		if (error)
			return error;
	}
	return 0;
}

/* The MSRs of one direction that KVM passes through, with one bit for each MSR of two ranges. */
#define PART_MSRS 0x2000u

struct passing {
	uint8_t low[PART_MSRS / 8];  /* from MSR 0 on */
	uint8_t high[PART_MSRS / 8]; /* from MSR HIGH_PART on */
};

#define HIGH_PART 0xc0000000u

static bool put(struct passing *p, uint32_t first, uint32_t count, bool pass)
{
	uint8_t *bits = first < HIGH_PART ? p->low : p->high;
	uint32_t at = first < HIGH_PART ? first : first - HIGH_PART, i;

	if (at >= PART_MSRS || count > PART_MSRS - at)
		return false;
	for (i = at; i < at + count; i++)
		bits[i / 8] =
			(uint8_t)((bits[i / 8] & ~(1u << i % 8)) | (unsigned int)pass << i % 8);
	return true;
}

static void add_ranges(struct kvm_msr_filter *filter, unsigned int n, uint32_t flags,
		       struct passing *p)
{
	filter->ranges[n] =
		(struct kvm_msr_filter_range){.flags = flags, .nmsrs = PART_MSRS, .bitmap = p->low};
	filter->ranges[n + 1] = (struct kvm_msr_filter_range){
		.flags = flags, .nmsrs = PART_MSRS, .base = HIGH_PART, .bitmap = p->high};
}

int engine_kvm_trap_msrs(struct engine_vm *base, const struct engine_msr_range *ranges,
			 size_t count)
{
	struct engine_kvm_vm *vm = engine_kvm_vm(base);
	struct kvm_enable_cap cap = {
		.cap = KVM_CAP_X86_USER_SPACE_MSR,
		.args = {KVM_MSR_EXIT_REASON_FILTER},
	};
	struct kvm_msr_filter filter = {.flags = KVM_MSR_FILTER_DEFAULT_DENY};
	struct passing reads = {0}, writes = {0};
	size_t n;

	for (n = 0; n < count; n++)
		if (!put(&reads, ranges[n].first, ranges[n].count, !ranges[n].read) ||
		    !put(&writes, ranges[n].first, ranges[n].count, !ranges[n].write))
			return -E2BIG;
	if (vm->pins) {
		put(&reads, X86_MSR_APIC_BASE, 1, true);
		put(&writes, X86_MSR_APIC_BASE, 1, true);
		put(&reads, X86_MSR_TSC_DEADLINE, 1, true);
		put(&writes, X86_MSR_TSC_DEADLINE, 1, true);
	}
	if (engine_kvm_assists(vm)) {
		put(&reads, X86_MSR_LSTAR, 1, false);
		put(&writes, X86_MSR_LSTAR, 1, false);
	}
	add_ranges(&filter, 0, KVM_MSR_FILTER_READ, &reads);
	add_ranges(&filter, 2, KVM_MSR_FILTER_WRITE, &writes);
	if (ioctl(vm->fd, KVM_ENABLE_CAP, &cap) || ioctl(vm->fd, KVM_X86_SET_MSR_FILTER, &filter))
		return -errno;
	return 0;
}

static struct engine_cpuid_entry from_kvm(const struct kvm_cpuid_entry2 *in)
{
	return (struct engine_cpuid_entry){
		.leaf = in->function,
		.subleaf = in->index,
		.by_subleaf = in->flags & KVM_CPUID_FLAG_SIGNIFCANT_INDEX,
		.eax = in->eax,
		.ebx = in->ebx,
		.ecx = in->ecx,
		.edx = in->edx,
	};
}

int engine_kvm_supported_cpuid(struct engine_vm *base, struct engine_cpuid_entry *entries,
			       size_t *count)
{
	struct kvm_cpuid2 *list =
		calloc(1, sizeof(*list) + MAX_CPUID * sizeof(struct kvm_cpuid_entry2));
	int error = 0;
	size_t i;

	if (!list)
		return -ENOMEM;
	list->nent = MAX_CPUID;
	if (ioctl(engine_kvm_vm(base)->dev, KVM_GET_SUPPORTED_CPUID, list))
		error = -errno;
	else if (list->nent > *count)
		error = -E2BIG;
	for (i = 0; !error && i < list->nent; i++)
		entries[i] = from_kvm(&list->entries[i]);
	if (!error)
		*count = list->nent;
	free(list);
	return error;
}
