// SPDX-License-Identifier: GPL-2.0-or-later
/* Linux: the header of a bzImage, valid and not, and the ACPI tables that it is given. */
#include "lib/suite.h"

#include <string.h>

#include "boot/acpi.h"
#include "boot/bzimage.h"
#include "dev/pci.h"

enum { SETUP = 3 * 512, KERNEL = 0x1000 };

static struct {
	uint8_t file[SETUP + KERNEL];
	size_t size;
	struct boot_bzimage image;
} t;

static void put(size_t at, uint64_t value, size_t bytes)
{
	memcpy(t.file + at, &value, bytes);
}

/* A valid file: two sectors of setup code, relocatable, with a 64-bit entry. */
static void setup(void)
{
	memset(&t, 0, sizeof(t));
	t.size = sizeof(t.file);
	put(0x1f1, 2, 1);
	put(0x1f4, KERNEL / 16, 4);
	put(0x1fe, 0xaa55, 2);
	put(0x201, 0x6a, 1);
	put(0x202, 0x53726448, 4);
	put(0x206, 0x20f, 2);
	put(0x211, 1, 1);
	put(0x22c, 0x7fffffff, 4);
	put(0x230, 0x200000, 4);
	put(0x234, 1, 1);
	put(0x236, 0x3f, 2);
	put(0x238, 2047, 4);
	put(0x258, 0x1000000, 8);
	put(0x260, 0x2000000, 4);
}

START_TEST(good)
{
	ck_assert(boot_bzimage_is(t.file, t.size));
	ck_assert_int_eq(boot_bzimage_parse(t.file, t.size, &t.image), BOOT_BZIMAGE_OK);
	ck_assert_uint_eq(t.image.offset, SETUP);
	ck_assert_uint_eq(t.image.bytes, KERNEL);
	ck_assert_uint_eq(t.image.header_bytes, 0x202 + 0x6a - 0x1f1);
	ck_assert_uint_eq(t.image.preferred, 0x1000000);
	ck_assert_uint_eq(t.image.alignment, 0x200000);
	ck_assert_uint_eq(t.image.init_bytes, 0x2000000);
	ck_assert_uint_eq(t.image.initrd_max, 0x7fffffff);
	ck_assert_uint_eq(t.image.cmdline_max, 2047);
}
END_TEST

/* The size counts paragraphs, and the file may end within the last one. */
START_TEST(partial_paragraph)
{
	t.size -= 15;
	ck_assert_int_eq(boot_bzimage_parse(t.file, t.size, &t.image), BOOT_BZIMAGE_OK);
	ck_assert_uint_eq(t.image.bytes, KERNEL - 15);
}
END_TEST

START_TEST(not_relocatable)
{
	put(0x234, 0, 1);
	ck_assert_int_eq(boot_bzimage_parse(t.file, t.size, &t.image), BOOT_BZIMAGE_OK);
	ck_assert_uint_eq(t.image.alignment, 0);
}
END_TEST

/* Each row changes one value of a valid file, or cuts the file. */
static const struct {
	const char *name;
	size_t at, bytes;
	uint64_t value;
	size_t size; /* 0: all of it */
	enum boot_bzimage_error error;
} bad[] = {
	{"cut in the header", 0, 0, 0, 0x263, BOOT_BZIMAGE_TRUNCATED},
	{"cut in the kernel", 0, 0, 0, SETUP + KERNEL - 16, BOOT_BZIMAGE_TRUNCATED},
	{"cut before the kernel", 0, 0, 0, SETUP, BOOT_BZIMAGE_TRUNCATED},
	{"setup beyond the file", 0x1f1, 1, 255, 0, BOOT_BZIMAGE_TRUNCATED},
	{"four sectors if 0", 0x1f1, 1, 0, 0, BOOT_BZIMAGE_TRUNCATED},
	{"kernel beyond the file", 0x1f4, 4, 0xffffffff, 0, BOOT_BZIMAGE_TRUNCATED},
	{"no kernel", 0x1f4, 4, 0, 0, BOOT_BZIMAGE_MALFORMED},
	{"kernel without its entry", 0x1f4, 4, 0x20, 0, BOOT_BZIMAGE_MALFORMED},
	{"protocol 2.11", 0x206, 2, 0x20b, 0, BOOT_BZIMAGE_OLD},
	{"32 bits", 0x236, 2, 0x3e, 0, BOOT_BZIMAGE_NOT_64},
	{"loaded low", 0x211, 1, 0, 0, BOOT_BZIMAGE_NOT_64},
	{"short header", 0x201, 1, 0x61, 0, BOOT_BZIMAGE_MALFORMED},
	{"long header", 0x201, 1, 0x8f, 0, BOOT_BZIMAGE_MALFORMED},
	{"needs less than it has", 0x260, 4, KERNEL - 1, 0, BOOT_BZIMAGE_MALFORMED},
	{"preferred address in a page", 0x258, 8, 0x1000010, 0, BOOT_BZIMAGE_MALFORMED},
	{"preferred address above 4 GiB", 0x258, 8, 0x100000000, 0, BOOT_BZIMAGE_MALFORMED},
	{"alignment below a page", 0x230, 4, 0x800, 0, BOOT_BZIMAGE_MALFORMED},
	{"alignment no power of two", 0x230, 4, 0x201000, 0, BOOT_BZIMAGE_MALFORMED},
};

START_TEST(refused)
{
	put(bad[_i].at, bad[_i].value, bad[_i].bytes);
	if (bad[_i].size)
		t.size = bad[_i].size;
	ck_assert_msg(boot_bzimage_parse(t.file, t.size, &t.image) == bad[_i].error, "%s",
		      bad[_i].name);
	ck_assert_uint_gt(strlen(boot_bzimage_error_text(bad[_i].error)), 0);
}
END_TEST

START_TEST(not_a_kernel)
{
	put(0x202, 0, 1);
	ck_assert(!boot_bzimage_is(t.file, t.size));
	setup();
	put(0x1fe, 0, 1);
	ck_assert(!boot_bzimage_is(t.file, t.size));
	setup();
	ck_assert(!boot_bzimage_is(t.file, 0x205));
}
END_TEST

static unsigned int sum(const uint8_t *bytes, size_t n)
{
	unsigned int s = 0;

	while (n--)
		s += *bytes++;
	return s & 0xff;
}

static uint64_t get(const struct x86_mem *mem, uint64_t gpa, size_t bytes)
{
	uint64_t value = 0;

	ck_assert(x86_mem_read(mem, gpa, &value, bytes));
	return value;
}

/* Check a table's signature and checksum. */
static void check_table(const struct x86_mem *mem, uint64_t gpa, const char *signature)
{
	uint32_t bytes = (uint32_t)get(mem, gpa + 4, 4);

	ck_assert_mem_eq(mem->host + gpa, signature, 4);
	ck_assert_uint_ge(bytes, 36);
	ck_assert_uint_le(gpa + bytes, BOOT_ACPI_END);
	ck_assert_uint_eq(sum(mem->host + gpa, bytes), 0);
}

START_TEST(acpi)
{
	const uint64_t rsdp = BOOT_ACPI_FIRST;
	uint64_t xsdt, fadt, madt;
	struct x86_mem mem;

	ck_assert_int_eq(x86_mem_create(&mem, 1 << 20), 0);
	ck_assert(boot_acpi_write(&mem, &(struct boot_acpi_config){.cpus = 3}));
	ck_assert_mem_eq(mem.host + rsdp, "RSD PTR ", 8);
	ck_assert_uint_eq(sum(mem.host + rsdp, 20), 0);
	ck_assert_uint_eq(sum(mem.host + rsdp, 36), 0);
	xsdt = get(&mem, rsdp + 24, 8);
	check_table(&mem, xsdt, "XSDT");
	ck_assert_uint_eq(get(&mem, xsdt + 4, 4), 36 + 2 * 8);
	fadt = get(&mem, xsdt + 36, 8);
	madt = get(&mem, xsdt + 44, 8);
	check_table(&mem, fadt, "FACP");
	check_table(&mem, madt, "APIC");
	check_table(&mem, get(&mem, fadt + 140, 8), "DSDT");
	ck_assert_uint_eq(get(&mem, fadt + 40, 4), get(&mem, fadt + 140, 8));
	ck_assert_mem_eq(mem.host + get(&mem, fadt + 36, 4), "FACS", 4);
	/* Three local APICs of eight bytes, an I/O APIC, two overrides and an NMI. */
	ck_assert_uint_eq(get(&mem, madt + 4, 4), 44 + 3 * 8 + 12 + 2 * 10 + 6);
	x86_mem_destroy(&mem);
}
END_TEST

/* A PCI bus is in the DSDT with its window, and MCFG has the place of its configuration space. */
START_TEST(acpi_pci)
{
	const uint8_t window[] = {0x87, 23,   0,    0,	  0x0c, 1, 0, 0, 0, 0, 0, 0, 0,
				  0xe0, 0xff, 0xff, 0xff, 0xef, 0, 0, 0, 0, 0, 0, 0, 0x10};
	const uint8_t ecam[] = {0x86, 9, 0, 1, 0, 0, 0, 0xf0, 0, 0, 0x10, 0, 0x79, 0};
	struct x86_mem mem;
	uint64_t xsdt, dsdt, mcfg, bytes;

	ck_assert_int_eq(x86_mem_create(&mem, 1 << 20), 0);
	ck_assert(boot_acpi_write(&mem, &(struct boot_acpi_config){.cpus = 1, .pci = true}));
	xsdt = get(&mem, BOOT_ACPI_FIRST + 24, 8);
	ck_assert_uint_eq(get(&mem, xsdt + 4, 4), 36 + 3 * 8);
	dsdt = get(&mem, get(&mem, xsdt + 36, 8) + 140, 8);
	check_table(&mem, dsdt, "DSDT");
	bytes = get(&mem, dsdt + 4, 4);
	ck_assert_ptr_nonnull(memmem(mem.host + dsdt, bytes, "PCI0", 4));
	ck_assert_ptr_nonnull(memmem(mem.host + dsdt, bytes, window, sizeof(window)));
	ck_assert_ptr_nonnull(memmem(mem.host + dsdt, bytes, ecam, sizeof(ecam)));
	mcfg = get(&mem, xsdt + 52, 8);
	check_table(&mem, mcfg, "MCFG");
	ck_assert_uint_eq(get(&mem, mcfg + 44, 8), DEV_PCI_ECAM);
	ck_assert_uint_eq(get(&mem, mcfg + 52, 4), 0);
	x86_mem_destroy(&mem);
}
END_TEST

/* Nothing is written to a RAM that is too small. */
START_TEST(acpi_without_room)
{
	struct x86_mem mem;

	ck_assert_int_eq(x86_mem_create(&mem, BOOT_ACPI_FIRST), 0);
	ck_assert(!boot_acpi_write(&mem, &(struct boot_acpi_config){.cpus = 1}));
	x86_mem_destroy(&mem);
}
END_TEST

TEST_SUITE("boot_linux", setup, NULL)
{
	TEST_ADD(tcase, good, partial_paragraph, not_relocatable);
	TEST_ROWS(tcase, refused, bad);
	TEST_ADD(tcase, not_a_kernel, acpi, acpi_pci, acpi_without_room);
}
