// SPDX-License-Identifier: GPL-2.0-or-later
/* The RAM and the registers of a Linux kernel at its 64-bit entry. */
#include "boot/linux.h"

#include <string.h>

#include "boot/acpi.h"
#include "boot/tables.h"
#include "dev/platform.h"

enum linux_layout {
	LINUX_ZERO_PAGE = 0x1000,
	LINUX_STACK = 0xfff8,
	LINUX_CMDLINE = 0x20000,
	LINUX_CMDLINE_END = 0x30000,
	LINUX_LOW_END = 0x9fc00, /* of conventional memory */
	LINUX_HIGH = 0x100000,
};

#define BOOT_CS	 0x10
#define BOOT_DS	 0x18
#define ENTRY_64 0x200

/* Offsets in the zero page. */
#define ZP_ACPI_RSDP	 0x070
#define ZP_E820_ENTRIES	 0x1e8
#define ZP_BOOT_FLAG	 0x1fe
#define ZP_MAGIC	 0x202
#define ZP_VERSION	 0x206
#define ZP_LOADER_TYPE	 0x210
#define ZP_RAMDISK_IMAGE 0x218
#define ZP_RAMDISK_SIZE	 0x21c
#define ZP_LOADFLAGS	 0x211
#define ZP_CMDLINE	 0x228
#define ZP_E820		 0x2d0
#define LOADER_UNKNOWN	 0xff
#define LOADED_HIGH	 0x01
#define BOOT_FLAG	 0xaa55
#define VERSION_2_12	 0x20c

#define VMLINUX_INITRD_MAX  0x7fffffff
#define VMLINUX_CMDLINE_MAX 2047

enum e820_type {
	E820_RAM = 1,
	E820_RESERVED = 2,
};

struct e820 {
	uint64_t first, bytes;
	uint32_t type;
} __attribute__((packed));

static void put16(uint8_t *page, size_t at, uint16_t value)
{
	memcpy(page + at, &value, sizeof(value));
}

static void put32(uint8_t *page, size_t at, uint32_t value)
{
	memcpy(page + at, &value, sizeof(value));
}

static void set_registers(struct core_vcpu *v, uint64_t entry)
{
	struct x86_sregs *s = &v->s;

	boot_tables_use(s, BOOT_CS, BOOT_DS);
	s->cr0 = X86_CR0_PE | X86_CR0_ET | X86_CR0_NE | X86_CR0_WP | X86_CR0_PG;
	s->cr4 = X86_CR4_PAE;
	s->efer = X86_EFER_LME | X86_EFER_LMA;
	*v->regs = (struct x86_regs){
		.rip = entry, .rsp = LINUX_STACK, .rsi = LINUX_ZERO_PAGE, .rflags = X86_FL_FIXED};
	core_vcpu_store(v);
}

/*
 * Describe a vmlinux like a bzImage. A vmlinux has no setup header, so the limits are those that
 * every 64-bit kernel since 3.8 has.
 */
static struct boot_bzimage describe(const struct boot_elf *elf)
{
	return (struct boot_bzimage){
		.preferred = elf->first,
		.init_bytes = elf->end - elf->first,
		.initrd_max = VMLINUX_INITRD_MAX,
		.cmdline_max = VMLINUX_CMDLINE_MAX,
	};
}

/* Choose the kernel's address: the preferred one, or the lowest one that suits. Returns 0 for none. */
static uint64_t place_kernel(const struct boot_bzimage *b, uint64_t ram)
{
	uint64_t at = b->preferred;

	if (at >= LINUX_HIGH && at <= ram && b->init_bytes <= ram - at)
		return at;
	if (!b->alignment)
		return 0;
	at = (LINUX_HIGH + b->alignment - 1) & ~(b->alignment - 1);
	return at <= ram && b->init_bytes <= ram - at ? at : 0;
}

/* Choose the initrd's address: as high as possible, above the kernel. Returns 0 for none. */
static uint64_t place_initrd(const struct boot_bzimage *b, uint64_t kernel, uint64_t ram,
			     uint64_t bytes)
{
	uint64_t end = b->initrd_max + 1 < ram ? b->initrd_max + 1 : ram, at;

	if (bytes > end)
		return 0;
	at = (end - bytes) & ~(X86_PAGE_SIZE - 1);
	return at >= kernel + b->init_bytes ? at : 0;
}

static void write_e820(uint8_t *page, const struct x86_mem *mem)
{
	const uint64_t low = x86_mem_low(mem), high = mem->bytes - low;
	const struct e820 map[] = {
		{0, LINUX_LOW_END, E820_RAM},
		{LINUX_LOW_END, 0xa0000 - LINUX_LOW_END, E820_RESERVED},
		{BOOT_ACPI_FIRST, LINUX_HIGH - BOOT_ACPI_FIRST, E820_RESERVED},
		{LINUX_HIGH, low - LINUX_HIGH, E820_RAM},
		{X86_MEM_HIGH, high, E820_RAM},
	};
	const size_t count = sizeof(map) / sizeof(map[0]) - !high;

	page[ZP_E820_ENTRIES] = (uint8_t)count;
	memcpy(page + ZP_E820, map, count * sizeof(map[0]));
}

/* A kernel ignores a zero page whose header has no version. */
static void write_header(const struct boot_linux_config *c, uint8_t *page)
{
	if (c->elf) {
		put16(page, ZP_BOOT_FLAG, BOOT_FLAG);
		memcpy(page + ZP_MAGIC, "HdrS", 4);
		put16(page, ZP_VERSION, VERSION_2_12);
		page[ZP_LOADFLAGS] = LOADED_HIGH;
	} else {
		memcpy(page + BOOT_BZIMAGE_HEADER, (const uint8_t *)c->file + BOOT_BZIMAGE_HEADER,
		       c->image.header_bytes);
	}
}

static void write_zero_page(const struct boot_linux_config *c, const struct x86_mem *mem,
			    uint64_t initrd)
{
	uint8_t page[X86_PAGE_SIZE] = {0};
	const uint64_t rsdp = BOOT_ACPI_FIRST;

	write_header(c, page);
	page[ZP_LOADER_TYPE] = LOADER_UNKNOWN;
	put32(page, ZP_RAMDISK_IMAGE, (uint32_t)initrd);
	put32(page, ZP_RAMDISK_SIZE, initrd ? (uint32_t)c->initrd_bytes : 0);
	put32(page, ZP_CMDLINE, LINUX_CMDLINE);
	memcpy(page + ZP_ACPI_RSDP, &rsdp, sizeof(rsdp));
	write_e820(page, mem);
	(void)x86_mem_write(mem, LINUX_ZERO_PAGE, page, sizeof(page));
}

/* Copy the kernel into RAM, and return its entry. */
static uint64_t load_kernel(const struct boot_linux_config *c, const struct x86_mem *mem,
			    uint64_t kernel)
{
	if (c->elf) {
		boot_elf_load(c->file, c->elf, mem);
		return c->elf->entry;
	}
	(void)x86_mem_write(mem, kernel, (const uint8_t *)c->file + c->image.offset,
			    c->image.bytes);
	return kernel + ENTRY_64;
}

enum boot_bzimage_error boot_linux(struct core_vm *vm, const struct boot_linux_config *config)
{
	const struct boot_bzimage image = config->elf ? describe(config->elf) : config->image;
	const struct boot_bzimage *b = &image;
	const struct x86_mem *mem = &vm->mem;
	const uint64_t low = x86_mem_low(mem);
	uint64_t kernel = place_kernel(b, low), initrd = 0, entry;
	size_t n = strlen(config->cmdline);

	if (!kernel)
		return BOOT_BZIMAGE_NO_ROOM;
	if (n > b->cmdline_max || n >= LINUX_CMDLINE_END - LINUX_CMDLINE)
		return BOOT_BZIMAGE_LONG;
	if (config->initrd) {
		initrd = place_initrd(b, kernel, low, config->initrd_bytes);
		if (!initrd)
			return BOOT_BZIMAGE_NO_ROOM;
		(void)x86_mem_write(mem, initrd, config->initrd, config->initrd_bytes);
	}
	entry = load_kernel(config, mem, kernel);
	(void)x86_mem_write(mem, LINUX_CMDLINE, config->cmdline, n + 1);
	if (!boot_acpi_write(mem, &(struct boot_acpi_config){
					  .cpus = vm->cpus,
					  .pci = vm->virtio.pci.count,
				  }))
		return BOOT_BZIMAGE_NO_ROOM;
	boot_tables_write(mem, BOOT_CS, BOOT_DS);
	write_zero_page(config, mem, initrd);
	set_registers(vm->vcpu, entry);
	dev_platform_virtual_wire(&vm->platform);
	return BOOT_BZIMAGE_OK;
}
