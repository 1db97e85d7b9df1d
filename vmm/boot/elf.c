// SPDX-License-Identifier: GPL-2.0-or-later
/* The ELF loader. The file is untrusted, so every sum is checked for overflow first. */
#include "boot/elf.h"

#include <elf.h>
#include <string.h>

#include "vpt/abi/boot.h"

/* The RAM that the boot page tables map one to one. */
#define BOOT_MAPPED (4ull << 30)

/* The offset of the setup header's magic number in a bzImage. */
#define BZIMAGE_MAGIC_AT 0x202

/* The requirements on a guest, for users who try programs of their own. */
#define EXPECTED                                                                        \
	"vpt run takes a bare-metal program, without libc and crt: gcc -ffreestanding " \
	"-nostdlib -static -no-pie, see vpt-run(1), GUESTS"

static const char *const texts[BOOT_ELF_ERRORS] = {
	[BOOT_ELF_OK] = "no error",
	[BOOT_ELF_NOT_ELF] = "not an ELF file",
	[BOOT_ELF_NOT_X86_64] = "not for x86-64",
	[BOOT_ELF_NOT_LINKED] = "an object file, which is not linked: " EXPECTED,
	[BOOT_ELF_NOT_EXEC] = "a position-independent program (PIE) or a library: " EXPECTED,
	[BOOT_ELF_DYNAMIC] = "a dynamically linked program: " EXPECTED,
	[BOOT_ELF_PROGRAM] = "a program for Linux, linked with its libc: " EXPECTED,
	[BOOT_ELF_KERNEL] = "a Linux kernel: give its bzImage (vmlinuz) or vmlinux to vpt run",
	[BOOT_ELF_NO_KERNEL] = "no Linux kernel",
	[BOOT_ELF_TRUNCATED] = "cut off: a segment ends beyond the file",
	[BOOT_ELF_MALFORMED] = "malformed program headers",
	[BOOT_ELF_NO_SEGMENTS] = "nothing to load",
	[BOOT_ELF_TOO_MANY] = "too many segments",
	[BOOT_ELF_OVERLAP] = "two segments overlap",
	[BOOT_ELF_LOW] = "a segment lies below 64 KiB, which the VMM needs: link it higher",
	[BOOT_ELF_NO_ROOM] = "a segment lies beyond the guest's memory: give more with --mem",
	[BOOT_ELF_BAD_ENTRY] = "the entry point is in no executable segment below 4 GiB",
};

const char *boot_elf_error_text(enum boot_elf_error error)
{
	return error < BOOT_ELF_ERRORS ? texts[error] : "unknown error";
}

static enum boot_elf_error check_header(const void *file, size_t len, Elf64_Ehdr *eh)
{
	if (len > BZIMAGE_MAGIC_AT + 4 &&
	    !memcmp((const uint8_t *)file + BZIMAGE_MAGIC_AT, "HdrS", 4))
		return BOOT_ELF_KERNEL;
	if (len < sizeof(*eh))
		return BOOT_ELF_NOT_ELF;
	memcpy(eh, file, sizeof(*eh));
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return BOOT_ELF_NOT_ELF;
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_machine != EM_X86_64)
		return BOOT_ELF_NOT_X86_64;
	if (eh->e_type == ET_REL)
		return BOOT_ELF_NOT_LINKED;
	if (eh->e_type != ET_EXEC)
		return BOOT_ELF_NOT_EXEC;
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phnum == PN_XNUM)
		return BOOT_ELF_MALFORMED;
	if (eh->e_phoff > len || (len - eh->e_phoff) / sizeof(Elf64_Phdr) < eh->e_phnum)
		return BOOT_ELF_TRUNCATED;
	return BOOT_ELF_OK;
}

static enum boot_elf_error check_segment(const Elf64_Phdr *ph, size_t len, uint64_t ram)
{
	if (ph->p_filesz > ph->p_memsz)
		return BOOT_ELF_MALFORMED;
	if (ph->p_offset > len || len - ph->p_offset < ph->p_filesz)
		return BOOT_ELF_TRUNCATED;
	if (ph->p_paddr < VPT_BOOT_RESERVED)
		return BOOT_ELF_LOW;
	if (ph->p_paddr > ram || ram - ph->p_paddr < ph->p_memsz)
		return BOOT_ELF_NO_ROOM;
	/* The last address may be the highest one, but must not wrap around. */
	if (ph->p_vaddr + (ph->p_memsz - 1) < ph->p_vaddr)
		return BOOT_ELF_MALFORMED;
	return BOOT_ELF_OK;
}

static bool overlaps(const struct boot_elf *elf, const Elf64_Phdr *ph)
{
	size_t i;

	for (i = 0; i < elf->count; i++) {
		const struct boot_elf_segment *s = &elf->segment[i];

		if (ph->p_paddr < s->gpa + s->mem_bytes && s->gpa < ph->p_paddr + ph->p_memsz)
			return true;
	}
	return false;
}

static enum boot_elf_error add_segment(struct boot_elf *elf, const Elf64_Phdr *ph, size_t len,
				       uint64_t ram)
{
	enum boot_elf_error error = check_segment(ph, len, ram);

	if (error)
		return error;
	if (elf->count == BOOT_ELF_SEGMENTS)
		return BOOT_ELF_TOO_MANY;
	if (overlaps(elf, ph))
		return BOOT_ELF_OVERLAP;
	if (!elf->count || ph->p_paddr < elf->first)
		elf->first = ph->p_paddr;
	elf->segment[elf->count++] = (struct boot_elf_segment){
		.gpa = ph->p_paddr,
		.vaddr = ph->p_vaddr,
		.file_bytes = ph->p_filesz,
		.mem_bytes = ph->p_memsz,
		.offset = ph->p_offset,
		.executable = ph->p_flags & PF_X,
	};
	if (ph->p_paddr + ph->p_memsz > elf->end)
		elf->end = ph->p_paddr + ph->p_memsz;
	return BOOT_ELF_OK;
}

/*
 * Check a note for the marks of a Linux kernel or program. The name begins at @at, and the segment
 * ends at @end.
 */
static enum boot_elf_error check_note(const Elf64_Nhdr *note, const uint8_t *at, const uint8_t *end)
{
	uint32_t os;

	if (note->n_namesz == 6 && (size_t)(end - at) >= 6 && !memcmp(at, "Linux", 6))
		return BOOT_ELF_KERNEL;
	if (note->n_namesz != 4 || note->n_descsz < 4 || (size_t)(end - at) < 8 ||
	    memcmp(at, ELF_NOTE_GNU, 4) || note->n_type != NT_GNU_ABI_TAG)
		return BOOT_ELF_OK;
	memcpy(&os, at + 4, 4);
	return os == ELF_NOTE_OS_LINUX ? BOOT_ELF_PROGRAM : BOOT_ELF_OK;
}

/* If @kernel is not NULL, the mark of a kernel is no error, and sets *kernel to BOOT_ELF_OK. */
static enum boot_elf_error check_notes(const void *file, size_t len, const Elf64_Phdr *ph,
				       enum boot_elf_error *kernel)
{
	const uint8_t *at = file, *end;

	if (ph->p_offset > len || len - ph->p_offset < ph->p_filesz)
		return BOOT_ELF_TRUNCATED;
	at += ph->p_offset;
	end = at + ph->p_filesz;
	while ((size_t)(end - at) >= sizeof(Elf64_Nhdr)) {
		enum boot_elf_error error;
		Elf64_Nhdr note;
		uint64_t bytes;

		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		error = check_note(&note, at, end);
		if (error == BOOT_ELF_KERNEL && kernel)
			*kernel = error = BOOT_ELF_OK;
		if (error)
			return error;
		bytes = ((uint64_t)note.n_namesz + 3) / 4 * 4 +
			((uint64_t)note.n_descsz + 3) / 4 * 4;
		if (bytes > (uint64_t)(end - at))
			break;
		at += bytes;
	}
	return BOOT_ELF_OK;
}

/* Returns true if the entry point is loaded code. The guest starts with RAM mapped one to one. */
static bool entry_is_code(const struct boot_elf *elf)
{
	size_t i;

	for (i = 0; i < elf->count; i++) {
		const struct boot_elf_segment *s = &elf->segment[i];

		if (s->executable && elf->entry >= s->gpa && elf->entry - s->gpa < s->mem_bytes)
			return elf->entry < BOOT_MAPPED;
	}
	return false;
}

static enum boot_elf_error parse(const void *file, size_t len, uint64_t ram, struct boot_elf *elf,
				 enum boot_elf_error *kernel)
{
	enum boot_elf_error error;
	Elf64_Ehdr eh;
	size_t i;

	memset(elf, 0, sizeof(*elf));
	error = check_header(file, len, &eh);
	for (i = 0; !error && i < eh.e_phnum; i++) {
		Elf64_Phdr ph;

		elf->culprit = i;
		memcpy(&ph, (const uint8_t *)file + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_INTERP || ph.p_type == PT_DYNAMIC)
			error = BOOT_ELF_DYNAMIC;
		else if (ph.p_type == PT_NOTE)
			error = check_notes(file, len, &ph, kernel);
		else if (ph.p_type == PT_LOAD && ph.p_memsz)
			error = add_segment(elf, &ph, len, ram);
	}
	if (error)
		return error;
	if (!elf->count)
		return BOOT_ELF_NO_SEGMENTS;
	elf->entry = eh.e_entry;
	return entry_is_code(elf) ? BOOT_ELF_OK : BOOT_ELF_BAD_ENTRY;
}

enum boot_elf_error boot_elf_parse(const void *file, size_t len, uint64_t ram, struct boot_elf *elf)
{
	return parse(file, len, ram, elf, NULL);
}

/* Returns true if a note has the mark of a kernel. The segments are not checked. */
static bool is_kernel(const void *file, size_t len)
{
	enum boot_elf_error kernel = BOOT_ELF_NO_KERNEL;
	Elf64_Ehdr eh;
	size_t i;

	if (check_header(file, len, &eh))
		return false;
	for (i = 0; i < eh.e_phnum && kernel; i++) {
		Elf64_Phdr ph;

		memcpy(&ph, (const uint8_t *)file + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_NOTE)
			(void)check_notes(file, len, &ph, &kernel);
	}
	return !kernel;
}

enum boot_elf_error boot_elf_parse_vmlinux(const void *file, size_t len, uint64_t ram,
					   struct boot_elf *elf)
{
	enum boot_elf_error kernel;

	return is_kernel(file, len) ? parse(file, len, ram, elf, &kernel) : BOOT_ELF_NO_KERNEL;
}

void boot_elf_load(const void *file, const struct boot_elf *elf, const struct x86_mem *mem)
{
	size_t i;

	for (i = 0; i < elf->count; i++) {
		const struct boot_elf_segment *s = &elf->segment[i];
		uint8_t *to = x86_mem_at(mem, s->gpa, s->mem_bytes);

		if (!to)
			continue;
		memcpy(to, (const uint8_t *)file + s->offset, s->file_bytes);
		memset(to + s->file_bytes, 0, s->mem_bytes - s->file_bytes);
	}
}
