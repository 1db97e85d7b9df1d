// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM: the device, a VM, its memory, MSR filter and CPUID. */
#include "engine/kvm.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CPUID 256
/* Where VMX without unrestricted guest mode keeps its TSS and page table. */
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
	vm->probe = *probe;
	vm->dev = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->dev < 0)
		goto fail;
	/* The one call here that a signal can end. */
	do
		vm->fd = ioctl(vm->dev, KVM_CREATE_VM, 0);
	while (vm->fd < 0 && errno == EINTR);
	if (vm->fd < 0)
		goto fail;
	size = ioctl(vm->dev, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (size < (int)sizeof(struct kvm_run))
		goto fail;
	vm->run_bytes = (size_t)size;
	/* Refused by hosts that do not need it. */
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

/* All MSRs of a range are denied: a clear bitmap. */
static const uint8_t deny[ENGINE_KVM_MSRS_PER_RANGE / 8];

int engine_kvm_trap_msrs(struct engine_vm *base, const struct engine_msr_range *ranges,
			 size_t count)
{
	struct engine_kvm_vm *vm = engine_kvm_vm(base);
	struct kvm_enable_cap cap = {
		.cap = KVM_CAP_X86_USER_SPACE_MSR,
		.args = {KVM_MSR_EXIT_REASON_FILTER},
	};
	struct kvm_msr_filter filter = {.flags = KVM_MSR_FILTER_DEFAULT_ALLOW};
	size_t n = 0;

	if (count + 1 > KVM_MSR_FILTER_MAX_RANGES)
		return -E2BIG;
	for (; n < count; n++) {
		if (ranges[n].count > ENGINE_KVM_MSRS_PER_RANGE)
			return -E2BIG;
		filter.ranges[n].flags = (ranges[n].read ? KVM_MSR_FILTER_READ : 0) |
					 (ranges[n].write ? KVM_MSR_FILTER_WRITE : 0);
		filter.ranges[n].base = ranges[n].first;
		filter.ranges[n].nmsrs = ranges[n].count;
		filter.ranges[n].bitmap = (uint8_t *)(uintptr_t)deny;
	}
	if (engine_kvm_assists(vm)) {
		filter.ranges[n].flags = KVM_MSR_FILTER_READ | KVM_MSR_FILTER_WRITE;
		filter.ranges[n].base = X86_MSR_LSTAR;
		filter.ranges[n].nmsrs = 1;
		filter.ranges[n].bitmap = (uint8_t *)(uintptr_t)deny;
	}
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
