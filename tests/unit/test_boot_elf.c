// SPDX-License-Identifier: GPL-2.0-or-later
/* The ELF loader: what it takes, and what it refuses for which reason. */
#include "lib/suite.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "boot/elf.h"

enum { RAM = 4 << 20, FILE_SIZE = 0x2000, LOAD = 0x100000, DATA = 0x102000, TEXT_BYTES = 0x800 };

static struct {
	struct x86_mem mem;
	Elf64_Ehdr header;
	Elf64_Phdr ph[2];
	uint8_t file[FILE_SIZE];
	size_t len;
	const void *note; /* NULL: none */
	struct boot_elf elf;
} t;

/* A good file: text at 1 MiB, then data whose end is zeroed. */
static void setup(void)
{
	memset(&t, 0, sizeof(t));
	ck_assert_int_eq(x86_mem_create(&t.mem, RAM), 0);
	memcpy(t.header.e_ident, ELFMAG, SELFMAG);
	t.header.e_ident[EI_CLASS] = ELFCLASS64;
	t.header.e_ident[EI_DATA] = ELFDATA2LSB;
	t.header.e_type = ET_EXEC;
	t.header.e_machine = EM_X86_64;
	t.header.e_entry = LOAD + 0x10;
	t.header.e_phoff = sizeof(t.header);
	t.header.e_phentsize = sizeof(t.ph[0]);
	t.header.e_phnum = 2;
	t.ph[0] = (Elf64_Phdr){.p_type = PT_LOAD,
			       .p_flags = PF_X,
			       .p_offset = 0x1000,
			       .p_vaddr = LOAD,
			       .p_paddr = LOAD,
			       .p_filesz = TEXT_BYTES,
			       .p_memsz = TEXT_BYTES};
	t.ph[1] = (Elf64_Phdr){.p_type = PT_LOAD,
			       .p_flags = PF_W,
			       .p_offset = 0x1800,
			       .p_vaddr = DATA,
			       .p_paddr = DATA,
			       .p_filesz = 0x100,
			       .p_memsz = 0x300};
	t.len = FILE_SIZE;
}

static void teardown(void)
{
	x86_mem_destroy(&t.mem);
}

static enum boot_elf_error load(void)
{
	enum boot_elf_error error;

	memset(t.file + 0x1000, 0xab, FILE_SIZE - 0x1000);
	if (t.note)
		memcpy(t.file + t.ph[1].p_offset, t.note, t.ph[1].p_filesz);
	memcpy(t.file, &t.header, sizeof(t.header));
	memcpy(t.file + sizeof(t.header), t.ph, sizeof(t.ph));
	error = boot_elf_parse(t.file, t.len, RAM, &t.elf);
	if (error == BOOT_ELF_OK)
		boot_elf_load(t.file, &t.elf, &t.mem);
	return error;
}

START_TEST(good)
{
	memset(t.mem.host + DATA, 0x55, 0x400);
	ck_assert_int_eq(load(), BOOT_ELF_OK);
	ck_assert_uint_eq(t.elf.entry, LOAD + 0x10);
	ck_assert_uint_eq(t.elf.end, DATA + 0x300);
	ck_assert_uint_eq(t.mem.host[LOAD], 0xab);
	ck_assert_uint_eq(t.mem.host[DATA + 0xff], 0xab);
	ck_assert_uint_eq(t.mem.host[DATA + 0x100], 0);
	ck_assert_uint_eq(t.mem.host[DATA + 0x2ff], 0);
	ck_assert_uint_eq(t.mem.host[DATA + 0x300], 0x55);
	ck_assert_uint_eq(t.mem.host[LOAD + TEXT_BYTES], 0);
}
END_TEST

/* Notes of others, cut ones, and ABI tags of other systems are nothing to refuse. */
START_TEST(good_notes)
{
	static const uint8_t bsd[] = {4, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0,
				      3, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0,	0,   0,	  0};
	static const uint8_t cut[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0};

	t.ph[1].p_type = PT_NOTE;
	t.note = bsd;
	t.ph[1].p_filesz = sizeof(bsd);
	ck_assert_int_eq(load(), BOOT_ELF_OK);
	t.note = cut;
	t.ph[1].p_filesz = sizeof(cut);
	ck_assert_int_eq(load(), BOOT_ELF_OK);
	t.ph[1].p_filesz = 0;
	ck_assert_int_eq(load(), BOOT_ELF_OK);
}
END_TEST

START_TEST(good_to_the_last_byte)
{
	t.ph[1].p_paddr = RAM - t.ph[1].p_memsz;
	ck_assert_int_eq(load(), BOOT_ELF_OK);
	ck_assert_uint_eq(t.elf.end, RAM);
}
END_TEST

static void no_magic(void)
{
	t.header.e_ident[0] = 'x';
}
static void cut_header(void)
{
	t.len = sizeof(t.header) - 1;
}
static void empty(void)
{
	t.len = 0;
}
static void elf32(void)
{
	t.header.e_ident[EI_CLASS] = ELFCLASS32;
}
static void big_endian(void)
{
	t.header.e_ident[EI_DATA] = ELFDATA2MSB;
}
static void other_machine(void)
{
	t.header.e_machine = EM_AARCH64;
}
static void shared_object(void)
{
	t.header.e_type = ET_DYN;
}
static void headers_outside(void)
{
	t.header.e_phoff = FILE_SIZE - 8;
}
static void headers_far_outside(void)
{
	t.header.e_phoff = ~0ull - 7;
}
static void header_size(void)
{
	t.header.e_phentsize = 8;
}
static void interp(void)
{
	t.ph[1].p_type = PT_INTERP;
}
static void dynamic(void)
{
	t.ph[1].p_type = PT_DYNAMIC;
}
static void bytes_outside(void)
{
	t.ph[1].p_filesz = t.ph[1].p_memsz = FILE_SIZE;
}
static void offset_wraps(void)
{
	t.ph[1].p_offset = ~0ull;
}
static void more_file_than_memory(void)
{
	t.ph[1].p_memsz = t.ph[1].p_filesz - 1;
}
static void reserved(void)
{
	t.ph[1].p_paddr = 0xf000;
}
static void too_high(void)
{
	t.ph[1].p_paddr = RAM - t.ph[1].p_memsz + 1;
}
static void address_wraps(void)
{
	t.ph[1].p_paddr = ~0ull - 0x100;
}
static void too_large(void)
{
	t.ph[1].p_memsz = ~0ull;
}
static void overlapping(void)
{
	t.ph[1].p_paddr = LOAD + TEXT_BYTES - 1;
}
static void same_place(void)
{
	t.ph[1].p_paddr = LOAD;
}
static void entry_in_data(void)
{
	t.header.e_entry = DATA;
}
static void entry_nowhere(void)
{
	t.header.e_entry = 0;
}
static void no_segments(void)
{
	t.header.e_phnum = 0;
}

/* Notes take the place of the data segment's bytes. */
static void put_note(const void *bytes, size_t len)
{
	t.ph[1].p_type = PT_NOTE;
	t.ph[1].p_filesz = len;
	t.note = bytes;
}
static const uint8_t abi_tag[] = {4, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0,
				  0, 0, 0, 0, 3,  0, 0, 0, 2, 0, 0, 0, 0,   0,	 0,   0};
static void linux_program(void)
{
	put_note(abi_tag, sizeof(abi_tag));
}
/* Behind a build-id, as gcc -static has it. */
static void linux_program_later(void)
{
	static uint8_t both[24 + sizeof(abi_tag)] = {4, 0, 0, 0, 5,   0,   0,  0,
						     3, 0, 0, 0, 'G', 'N', 'U'};

	memcpy(both + 24, abi_tag, sizeof(abi_tag));
	put_note(both, sizeof(both));
}
static void vmlinux(void)
{
	put_note("\6\0\0\0\4\0\0\0\0\1\0\0Linux\0\0\0\0\0\0\0", 24);
}
static void notes_outside(void)
{
	t.ph[1].p_type = PT_NOTE;
	t.ph[1].p_offset = FILE_SIZE - 8;
	t.ph[1].p_filesz = 16;
}
static void bzimage(void)
{
	memcpy(t.file + 0x202, "HdrS", 4);
}
static void object(void)
{
	t.header.e_type = ET_REL;
}

static const struct {
	void (*spoil)(void);
	enum boot_elf_error error;
} bad[] = {
	{no_magic, BOOT_ELF_NOT_ELF},
	{empty, BOOT_ELF_NOT_ELF},
	{cut_header, BOOT_ELF_NOT_ELF},
	{elf32, BOOT_ELF_NOT_X86_64},
	{big_endian, BOOT_ELF_NOT_X86_64},
	{other_machine, BOOT_ELF_NOT_X86_64},
	{shared_object, BOOT_ELF_NOT_EXEC},
	{headers_outside, BOOT_ELF_TRUNCATED},
	{headers_far_outside, BOOT_ELF_TRUNCATED},
	{header_size, BOOT_ELF_MALFORMED},
	{interp, BOOT_ELF_DYNAMIC},
	{dynamic, BOOT_ELF_DYNAMIC},
	{bytes_outside, BOOT_ELF_TRUNCATED},
	{offset_wraps, BOOT_ELF_TRUNCATED},
	{more_file_than_memory, BOOT_ELF_MALFORMED},
	{reserved, BOOT_ELF_LOW},
	{too_high, BOOT_ELF_NO_ROOM},
	{address_wraps, BOOT_ELF_NO_ROOM},
	{too_large, BOOT_ELF_NO_ROOM},
	{overlapping, BOOT_ELF_OVERLAP},
	{same_place, BOOT_ELF_OVERLAP},
	{entry_in_data, BOOT_ELF_BAD_ENTRY},
	{entry_nowhere, BOOT_ELF_BAD_ENTRY},
	{no_segments, BOOT_ELF_NO_SEGMENTS},
	{linux_program, BOOT_ELF_PROGRAM},
	{linux_program_later, BOOT_ELF_PROGRAM},
	{vmlinux, BOOT_ELF_KERNEL},
	{bzimage, BOOT_ELF_KERNEL},
	{notes_outside, BOOT_ELF_TRUNCATED},
	{object, BOOT_ELF_NOT_LINKED},
};

START_TEST(refused)
{
	bad[_i].spoil();
	ck_assert_int_eq(load(), bad[_i].error);
	ck_assert_uint_gt(strlen(boot_elf_error_text(bad[_i].error)), 0);
}
END_TEST

/* A vmlinux is a static ELF file with the mark of a kernel, and must be as sound as another. */
START_TEST(kernel)
{
	struct boot_elf elf;

	ck_assert_int_eq(load(), BOOT_ELF_OK);
	ck_assert_int_eq(boot_elf_parse_vmlinux(t.file, t.len, RAM, &elf), BOOT_ELF_NO_KERNEL);
	vmlinux();
	ck_assert_int_eq(load(), BOOT_ELF_KERNEL);
	ck_assert_int_eq(boot_elf_parse_vmlinux(t.file, t.len, RAM, &elf), BOOT_ELF_OK);
	ck_assert_uint_eq(elf.first, LOAD);
	entry_nowhere();
	ck_assert_int_eq(load(), BOOT_ELF_KERNEL);
	ck_assert_int_eq(boot_elf_parse_vmlinux(t.file, t.len, RAM, &elf), BOOT_ELF_BAD_ENTRY);
}
END_TEST

TEST_SUITE("boot_elf", setup, teardown)
{
	TEST_ADD(tcase, good, good_notes, good_to_the_last_byte, kernel);
	TEST_ROWS(tcase, refused, bad);
}
