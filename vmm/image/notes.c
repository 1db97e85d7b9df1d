// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the paging mode of the machine from the notes of a core: VMCOREINFO, and QEMU's CPU states.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/inside.h"

/* Limit for notes: QEMU has some 800 bytes for each CPU. */
#define NOTES_MAX (1u << 20)

/* Offsets in QEMU's note of a CPU, version 1. */
#define QEMU_CR0   392
#define QEMU_CR4   424
#define QEMU_BYTES 440

#define CR0_PG	 (1ull << 31)
#define CR4_PAE	 (1ull << 5)
#define CR4_LA57 (1ull << 12)

/* Return the bytes, with a NUL behind them, or NULL. */
static char *read_bytes(const struct image_image *image, uint64_t offset, uint64_t bytes)
{
	char *text;

	if (!bytes || bytes > NOTES_MAX)
		return NULL;
	text = malloc((size_t)bytes + 1);
	if (!text)
		return NULL;
	text[bytes] = 0;
	if (image_file_read(image, offset, text, (size_t)bytes)) {
		free(text);
		return NULL;
	}
	return text;
}

/* The kernel's own paging mode takes precedence over the state of one CPU. */
static void take_vmcoreinfo(struct image_image *image, const char *text, bool wide)
{
	static const char five[] = "NUMBER(pgtable_l5_enabled)=1";
	static const char four[] = "NUMBER(pgtable_l5_enabled)=0";

	if (!wide)
		image->paging = strstr(text, "CONFIG_X86_PAE=y") ? IMAGE_PAE : IMAGE_LEGACY;
	else if (strstr(text, five))
		image->paging = IMAGE_LEVELS5;
	else if (strstr(text, four))
		image->paging = IMAGE_LEVELS4;
}

static void take_cpu(struct image_image *image, const char *state, bool wide)
{
	uint64_t cr0, cr4;

	memcpy(&cr0, state + QEMU_CR0, sizeof(cr0));
	memcpy(&cr4, state + QEMU_CR4, sizeof(cr4));
	if (image->paging != IMAGE_PAGINGS || !(cr0 & CR0_PG))
		return;
	/* QEMU writes a core of x86-64 if the first CPU is in long mode. */
	if (wide && cr4 & CR4_PAE)
		image->paging = cr4 & CR4_LA57 ? IMAGE_LEVELS5 : IMAGE_LEVELS4;
	else if (!wide)
		image->paging = cr4 & CR4_PAE ? IMAGE_PAE : IMAGE_LEGACY;
}

static void take_note(struct image_image *image, const char *name, size_t name_bytes, char *text,
		      size_t bytes, bool wide)
{
	char end = text[bytes];

	if (name_bytes >= 10 && !strncmp(name, "VMCOREINFO", 10)) {
		text[bytes] = 0;
		take_vmcoreinfo(image, text, wide);
		text[bytes] = end;
	}
	if (name_bytes >= 4 && !strncmp(name, "QEMU", 4) && bytes >= QEMU_BYTES)
		take_cpu(image, text, wide);
}

void image_notes_read(struct image_image *image, uint64_t offset, uint64_t bytes, bool wide)
{
	char *all = read_bytes(image, offset, bytes);
	size_t at = 0;
	Elf64_Nhdr h; /* the layout is the same in ELF32 */

	while (all && bytes - at >= sizeof(h)) {
		uint64_t name = at + sizeof(h), text;

		memcpy(&h, all + at, sizeof(h));
		text = name + ((h.n_namesz + 3ull) & ~3ull);
		if (text + h.n_descsz > bytes)
			break;
		take_note(image, all + name, h.n_namesz, all + text, h.n_descsz, wide);
		at = (size_t)(text + ((h.n_descsz + 3ull) & ~3ull));
		if (at > bytes)
			break;
	}
	free(all);
}

void image_vmcoreinfo_read(struct image_image *image, uint64_t offset, uint64_t bytes, bool wide)
{
	char *text = read_bytes(image, offset, bytes);

	if (text)
		take_vmcoreinfo(image, text, wide);
	free(text);
}
