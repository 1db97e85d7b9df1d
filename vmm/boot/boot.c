// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write the guest's page tables, GDT and boot information, and set its first registers
 * (abi/boot.h).
 */
#include "boot/boot.h"

#include <errno.h>
#include <string.h>

#include "boot/tables.h"
#include "vpt/abi/boot.h"

enum boot_layout {
	BOOT_INFO = 0x1000,
	BOOT_STACK = 0xfff8, /* grows down to 0x9000; aligned as after a CALL */
};

#define BOOT_CS	    0x08
#define BOOT_DS	    0x10
#define CPUID_XSAVE (1u << 26)

static void set_registers(struct core_vcpu *v, uint64_t entry)
{
	const struct engine_cpuid_entry *features =
		core_cpuid_find(v->vm->cpuid, v->vm->cpuid_count, 1, 0);
	struct x86_sregs *s = &v->s;

	boot_tables_use(s, BOOT_CS, BOOT_DS);
	s->cr0 = X86_CR0_PE | X86_CR0_MP | X86_CR0_ET | X86_CR0_NE | X86_CR0_WP | X86_CR0_PG;
	s->cr4 = X86_CR4_PAE | X86_CR4_OSFXSR | X86_CR4_OSXMMEXCPT;
	if (features && features->ecx & CPUID_XSAVE)
		s->cr4 |= X86_CR4_OSXSAVE;
	s->efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE | X86_EFER_SCE;
	*v->regs = (struct x86_regs){
		.rip = entry, .rsp = BOOT_STACK, .rdi = BOOT_INFO, .rflags = X86_FL_FIXED};
	core_vcpu_store(v);
}

static uint32_t boot_flags(const struct core_vm *vm)
{
	uint32_t flags = 0;

	if (vm->owner == TRACE_OWNER_GUEST)
		flags |= VPT_BOOT_PT_GUEST;
	if (vm->owner == TRACE_OWNER_HOST)
		flags |= VPT_BOOT_PT_HOST;
	if (vm->probe.step[1])
		flags |= VPT_BOOT_RING3;
	return flags;
}

static uint64_t page_up(uint64_t address)
{
	return (address + X86_PAGE_SIZE - 1) & ~(X86_PAGE_SIZE - 1);
}

int boot_guest(struct core_vm *vm, const struct boot_elf *elf, const struct boot_config *config)
{
	struct vpt_boot_info info = {
		.magic = VPT_BOOT_MAGIC,
		.size = sizeof(info),
		.flags = boot_flags(vm),
		.ram_bytes = x86_mem_low(&vm->mem),
		.free_start = elf->end,
		.seed = config->seed,
	};

	memcpy(info.arg, config->arg, sizeof(info.arg));
	if (config->initrd) {
		info.initrd = page_up(elf->end);
		info.initrd_bytes = config->initrd_bytes;
		if (!x86_mem_write(&vm->mem, info.initrd, config->initrd, config->initrd_bytes))
			return -ENOSPC;
		info.free_start = info.initrd + config->initrd_bytes;
	}
	info.free_start = page_up(info.free_start);
	boot_tables_write(&vm->mem, BOOT_CS, BOOT_DS);
	(void)x86_mem_write(&vm->mem, BOOT_INFO, &info, sizeof(info));
	set_registers(vm->vcpu, elf->entry);
	dev_platform_virtual_wire(&vm->platform);
	return 0;
}

size_t boot_find_cpuid(const struct x86_mem *mem, const struct boot_elf *elf, uint64_t *ips,
		       size_t room)
{
	static const uint8_t cpuid[2] = {0x0f, 0xa2};
	size_t found = 0, i;

	for (i = 0; i < elf->count; i++) {
		const struct boot_elf_segment *s = &elf->segment[i];
		const uint8_t *code = x86_mem_at(mem, s->gpa, s->mem_bytes);
		const uint8_t *at = code, *end = code + s->file_bytes;

		if (!s->executable || !code)
			continue;
		while ((at = memmem(at, (size_t)(end - at), cpuid, sizeof(cpuid)))) {
			if (found < room)
				ips[found] = s->vaddr + (uint64_t)(at - code);
			found++;
			at += sizeof(cpuid);
		}
	}
	return found;
}
