// SPDX-License-Identifier: GPL-2.0-or-later
/* The ELF loader. The file is untrusted: every sum is checked before it is made. */
#include "boot/elf.h"

#include <elf.h>
#include <string.h>

#include "vpt/abi/boot.h"

/* RAM that the boot page tables map one to one. */
#define BOOT_MAPPED (4ull << 30)

/* Where a bzImage has the magic number of its setup header. */
#define BZIMAGE_MAGIC_AT 0x202

/* The requirements on a guest, for users who try a program of their own. */
#define EXPECTED                                                                        \
	"vpt run takes a bare-metal program, without libc and crt: gcc -ffreestanding " \
	"-nostdlib -static -no-pie, see vpt-run(1), GUESTS"

static const char *const texts[VPT_ELF_ERRORS] = {
	[VPT_ELF_OK] = "no error",
	[VPT_ELF_NOT_ELF] = "not an ELF file",
	[VPT_ELF_NOT_X86_64] = "not for x86-64",
	[VPT_ELF_NOT_LINKED] = "an object file, which is not linked: " EXPECTED,
	[VPT_ELF_NOT_EXEC] = "a position-independent program (PIE) or a library: " EXPECTED,
	[VPT_ELF_DYNAMIC] = "a dynamically linked program: " EXPECTED,
	[VPT_ELF_PROGRAM] = "a program for Linux, linked with its libc: " EXPECTED,
	[VPT_ELF_KERNEL] = "a Linux kernel, which needs devices: trace it in QEMU, docs/qemu.md",
	[VPT_ELF_TRUNCATED] = "cut off: a segment ends beyond the file",
	[VPT_ELF_MALFORMED] = "malformed program headers",
	[VPT_ELF_NO_SEGMENTS] = "nothing to load",
	[VPT_ELF_TOO_MANY] = "too many segments",
	[VPT_ELF_OVERLAP] = "two segments overlap",
	[VPT_ELF_LOW] = "a segment lies below 64 KiB, which the VMM needs: link it higher",
	[VPT_ELF_NO_ROOM] = "a segment lies beyond the guest's memory: give more with --mem",
	[VPT_ELF_BAD_ENTRY] = "the entry point is in no executable segment below 4 GiB",
};

const char *vpt_elf_error_text(enum vpt_elf_error error)
{
	return error < VPT_ELF_ERRORS ? texts[error] : "unknown error";
}

static enum vpt_elf_error check_header(const void *file, size_t len, Elf64_Ehdr *eh)
{
	if (len > BZIMAGE_MAGIC_AT + 4 &&
	    !memcmp((const uint8_t *)file + BZIMAGE_MAGIC_AT, "HdrS", 4))
		return VPT_ELF_KERNEL;
	if (len < sizeof(*eh))
		return VPT_ELF_NOT_ELF;
	memcpy(eh, file, sizeof(*eh));
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return VPT_ELF_NOT_ELF;
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_machine != EM_X86_64)
		return VPT_ELF_NOT_X86_64;
	if (eh->e_type == ET_REL)
		return VPT_ELF_NOT_LINKED;
	if (eh->e_type != ET_EXEC)
		return VPT_ELF_NOT_EXEC;
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phnum == PN_XNUM)
		return VPT_ELF_MALFORMED;
	if (eh->e_phoff > len || (len - eh->e_phoff) / sizeof(Elf64_Phdr) < eh->e_phnum)
		return VPT_ELF_TRUNCATED;
	return VPT_ELF_OK;
}

static enum vpt_elf_error check_segment(const Elf64_Phdr *ph, size_t len, uint64_t ram)
{
	if (ph->p_filesz > ph->p_memsz)
		return VPT_ELF_MALFORMED;
	if (ph->p_offset > len || len - ph->p_offset < ph->p_filesz)
		return VPT_ELF_TRUNCATED;
	if (ph->p_paddr < VPT_BOOT_RESERVED)
		return VPT_ELF_LOW;
	if (ph->p_paddr > ram || ram - ph->p_paddr < ph->p_memsz)
		return VPT_ELF_NO_ROOM;
	/* The last address may be the highest there is, but not wrap. */
	if (ph->p_vaddr + (ph->p_memsz - 1) < ph->p_vaddr)
		return VPT_ELF_MALFORMED;
	return VPT_ELF_OK;
}

static bool overlaps(const struct vpt_elf *elf, const Elf64_Phdr *ph)
{
	size_t i;

	for (i = 0; i < elf->count; i++) {
		const struct vpt_elf_segment *s = &elf->segment[i];

		if (ph->p_paddr < s->gpa + s->mem_bytes && s->gpa < ph->p_paddr + ph->p_memsz)
			return true;
	}
	return false;
}

static enum vpt_elf_error add_segment(struct vpt_elf *elf, const Elf64_Phdr *ph, size_t len,
				      uint64_t ram)
{
	enum vpt_elf_error error = check_segment(ph, len, ram);

	if (error)
		return error;
	if (elf->count == VPT_ELF_SEGMENTS)
		return VPT_ELF_TOO_MANY;
	if (overlaps(elf, ph))
		return VPT_ELF_OVERLAP;
	elf->segment[elf->count++] = (struct vpt_elf_segment){
		.gpa = ph->p_paddr,
		.vaddr = ph->p_vaddr,
		.file_bytes = ph->p_filesz,
		.mem_bytes = ph->p_memsz,
		.offset = ph->p_offset,
		.executable = ph->p_flags & PF_X,
	};
	if (ph->p_paddr + ph->p_memsz > elf->end)
		elf->end = ph->p_paddr + ph->p_memsz;
	return VPT_ELF_OK;
}

/* Does the note at @at, in a segment that ends at @end, say whose program this is? */
static enum vpt_elf_error check_note(const Elf64_Nhdr *note, const uint8_t *at, const uint8_t *end)
{
	uint32_t os;

	if (note->n_namesz == 6 && (size_t)(end - at) >= 6 && !memcmp(at, "Linux", 6))
		return VPT_ELF_KERNEL;
	if (note->n_namesz != 4 || note->n_descsz < 4 || (size_t)(end - at) < 8 ||
	    memcmp(at, ELF_NOTE_GNU, 4) || note->n_type != NT_GNU_ABI_TAG)
		return VPT_ELF_OK;
	memcpy(&os, at + 4, 4);
	return os == ELF_NOTE_OS_LINUX ? VPT_ELF_PROGRAM : VPT_ELF_OK;
}

static enum vpt_elf_error check_notes(const void *file, size_t len, const Elf64_Phdr *ph)
{
	const uint8_t *at = file, *end;

	if (ph->p_offset > len || len - ph->p_offset < ph->p_filesz)
		return VPT_ELF_TRUNCATED;
	at += ph->p_offset;
	end = at + ph->p_filesz;
	while ((size_t)(end - at) >= sizeof(Elf64_Nhdr)) {
		enum vpt_elf_error error;
		Elf64_Nhdr note;
		uint64_t bytes;

		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		error = check_note(&note, at, end);
		if (error)
			return error;
		bytes = ((uint64_t)note.n_namesz + 3) / 4 * 4 +
			((uint64_t)note.n_descsz + 3) / 4 * 4;
		if (bytes > (uint64_t)(end - at))
			break;
		at += bytes;
	}
	return VPT_ELF_OK;
}

/* The guest starts with RAM mapped one to one. */
static bool entry_is_code(const struct vpt_elf *elf)
{
	size_t i;

	for (i = 0; i < elf->count; i++) {
		const struct vpt_elf_segment *s = &elf->segment[i];

		if (s->executable && elf->entry >= s->gpa && elf->entry - s->gpa < s->mem_bytes)
			return elf->entry < BOOT_MAPPED;
	}
	return false;
}

enum vpt_elf_error vpt_elf_parse(const void *file, size_t len, uint64_t ram, struct vpt_elf *elf)
{
	enum vpt_elf_error error;
	Elf64_Ehdr eh;
	size_t i;

	memset(elf, 0, sizeof(*elf));
	error = check_header(file, len, &eh);
	for (i = 0; !error && i < eh.e_phnum; i++) {
		Elf64_Phdr ph;

		elf->culprit = i;
		memcpy(&ph, (const uint8_t *)file + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_INTERP || ph.p_type == PT_DYNAMIC)
			error = VPT_ELF_DYNAMIC;
		else if (ph.p_type == PT_NOTE)
			error = check_notes(file, len, &ph);
		else if (ph.p_type == PT_LOAD && ph.p_memsz)
			error = add_segment(elf, &ph, len, ram);
	}
	if (error)
		return error;
	if (!elf->count)
		return VPT_ELF_NO_SEGMENTS;
	elf->entry = eh.e_entry;
	return entry_is_code(elf) ? VPT_ELF_OK : VPT_ELF_BAD_ENTRY;
}

void vpt_elf_load(const void *file, const struct vpt_elf *elf, const struct vpt_mem *mem)
{
	size_t i;

	for (i = 0; i < elf->count; i++) {
		const struct vpt_elf_segment *s = &elf->segment[i];
		uint8_t *to = vpt_mem_at(mem, s->gpa, s->mem_bytes);

		if (!to)
			continue;
		memcpy(to, (const uint8_t *)file + s->offset, s->file_bytes);
		memset(to + s->file_bytes, 0, s->mem_bytes - s->file_bytes);
	}
}
