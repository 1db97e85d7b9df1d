// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a small ELF file that is wrong in one way: mkelf KIND FILE. The kind "good"
 * is a guest that exits with status 0, so that what the others show is their fault
 * and not that of everything else here. Those that begin with "spin" are guests that hang.
 */
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define BASE 0x200000u

struct image {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr[2];
	unsigned char code[64];
	size_t bytes; /* of this struct that go to the file */
};

/* jmp to itself; pause, nop, jmp to pause; xor %eax, %eax, jz to itself */
static const unsigned char spin[] = {0xeb, 0xfe}, pause[] = {0xf3, 0x90, 0x90, 0xeb, 0xfb},
			   spin_jz[] = {0x31, 0xc0, 0x74, 0xfe};

/* mov $0xf4, %edx; xor %eax, %eax; out %eax, %dx; hlt; jmp to the hlt */
static const unsigned char exit_0[] = {0xba, 0xf4, 0, 0, 0, 0x31, 0xc0, 0xef, 0xf4, 0xeb, 0xfd};

static void segment(Elf64_Phdr *phdr, uint64_t paddr, uint64_t memsz)
{
	memset(phdr, 0, sizeof(*phdr));
	phdr->p_type = PT_LOAD;
	phdr->p_flags = PF_R | PF_W | PF_X;
	phdr->p_offset = offsetof(struct image, code);
	phdr->p_vaddr = paddr;
	phdr->p_paddr = paddr;
	phdr->p_filesz = sizeof(((struct image *)NULL)->code);
	phdr->p_memsz = memsz;
	phdr->p_align = 1;
}

static void good(struct image *elf)
{
	memset(elf, 0, sizeof(*elf));
	memcpy(elf->ehdr.e_ident, ELFMAG, SELFMAG);
	elf->ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	elf->ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	elf->ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	elf->ehdr.e_type = ET_EXEC;
	elf->ehdr.e_machine = EM_X86_64;
	elf->ehdr.e_version = EV_CURRENT;
	elf->ehdr.e_entry = BASE;
	elf->ehdr.e_phoff = offsetof(struct image, phdr);
	elf->ehdr.e_ehsize = sizeof(Elf64_Ehdr);
	elf->ehdr.e_phentsize = sizeof(Elf64_Phdr);
	elf->ehdr.e_phnum = 1;
	segment(&elf->phdr[0], BASE, sizeof(elf->code));
	memcpy(elf->code, exit_0, sizeof(exit_0));
	elf->bytes = sizeof(*elf);
}

static bool spoil(struct image *elf, const char *kind)
{
	if (!strcmp(kind, "good")) {
		return true;
	} else if (!strcmp(kind, "spin")) {
		memcpy(elf->code, spin, sizeof(spin));
	} else if (!strcmp(kind, "spin-pause")) {
		memcpy(elf->code, pause, sizeof(pause));
	} else if (!strcmp(kind, "spin-jz")) {
		memcpy(elf->code, spin_jz, sizeof(spin_jz));
	} else if (!strcmp(kind, "elf32")) {
		elf->ehdr.e_ident[EI_CLASS] = ELFCLASS32;
		elf->ehdr.e_machine = EM_386;
	} else if (!strcmp(kind, "big-endian")) {
		elf->ehdr.e_ident[EI_DATA] = ELFDATA2MSB;
	} else if (!strcmp(kind, "machine")) {
		elf->ehdr.e_machine = EM_AARCH64;
	} else if (!strcmp(kind, "object")) {
		elf->ehdr.e_type = ET_REL;
	} else if (!strcmp(kind, "dynamic")) {
		elf->ehdr.e_type = ET_DYN;
		elf->ehdr.e_phnum = 2;
		elf->phdr[1] = elf->phdr[0];
		elf->phdr[1].p_type = PT_INTERP;
	} else if (!strcmp(kind, "no-segments")) {
		elf->ehdr.e_phnum = 0;
	} else if (!strcmp(kind, "overlap")) {
		elf->ehdr.e_phnum = 2;
		segment(&elf->phdr[1], BASE + 32, sizeof(elf->code));
	} else if (!strcmp(kind, "huge")) {
		elf->phdr[0].p_memsz = 1ull << 40;
	} else if (!strcmp(kind, "wraps")) {
		elf->phdr[0].p_paddr = ~0ull - 16;
		elf->phdr[0].p_vaddr = ~0ull - 16;
	} else if (!strcmp(kind, "reserved")) {
		segment(&elf->phdr[0], 0x1000, sizeof(elf->code));
		elf->ehdr.e_entry = 0x1000;
	} else if (!strcmp(kind, "past-end")) {
		elf->phdr[0].p_offset = 1 << 20;
	} else if (!strcmp(kind, "more-file-than-memory")) {
		elf->phdr[0].p_memsz = 1;
	} else if (!strcmp(kind, "entry")) {
		elf->ehdr.e_entry = BASE + 0x100000;
	} else if (!strcmp(kind, "cut-headers")) {
		elf->bytes = offsetof(struct image, phdr) + 8;
	} else if (!strcmp(kind, "cut-segment")) {
		elf->bytes = offsetof(struct image, code) + 8;
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct image elf;
	FILE *file;

	if (argc != 3) {
		fprintf(stderr, "usage: mkelf KIND FILE\n");
		return 2;
	}
	good(&elf);
	if (!spoil(&elf, argv[1])) {
		fprintf(stderr, "mkelf: %s: no such kind\n", argv[1]);
		return 2;
	}
	file = fopen(argv[2], "wb");
	if (!file || fwrite(&elf, elf.bytes, 1, file) != 1 || fclose(file)) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
