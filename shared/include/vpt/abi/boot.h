/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a guest finds when vpt starts it, and the ports it talks through.
 *
 * Entry: 64-bit mode, CPL 0, interrupts off, RDI = guest-physical (and, under
 * the initial identity map, virtual) address of struct vpt_boot_info, RSP a
 * valid stack, flat segments (CS 0x08, DS/ES/SS 0x10), EFER.LME|LMA|NXE|SCE,
 * CR0 PE|MP|NE|WP|PG, CR4 PAE|OSFXSR|OSXMMEXCPT|OSXSAVE where there is XSAVE; no IDT.
 * The first 4 GiB are mapped one to one with 2 MiB pages, writable and
 * executable; the tables are in RAM below 64 KiB and the guest may replace them.
 */
#ifndef VPT_ABI_BOOT_H
#define VPT_ABI_BOOT_H

#include "../base.h"

#define VPT_BOOT_MAGIC 0x31544f4f42545056ull /* "VPTBOOT1" */

/* Guest-physical address below which the VMM puts its tables and this struct. */
#define VPT_BOOT_RESERVED 0x10000u

struct vpt_boot_info {
	uint64_t magic;
	uint32_t size;	     /* of this struct */
	uint32_t flags;	     /* enum vpt_boot_flags */
	uint64_t ram_bytes;  /* RAM is [0, ram_bytes) */
	uint64_t free_start; /* first byte past everything that was loaded */
	uint64_t initrd;     /* guest-physical address of a blob, 0: none */
	uint64_t initrd_bytes;
	uint64_t seed;	 /* --seed, for payloads that use random numbers */
	uint64_t arg[4]; /* --arg, payload-specific numbers */
};

enum vpt_boot_flags {
	VPT_BOOT_PT_GUEST = 1 << 0, /* the guest owns PT (for tests; CPUID says it too) */
	VPT_BOOT_PT_HOST = 1 << 1,  /* the host traces, the guest sees no PT */
	VPT_BOOT_RING3 = 1 << 2,    /* the engine can trace CPL 3 code */
	/* Not vpt but a machine that Multiboot starts things on: the console is COM1, and
	 * the end of the guest is a command of the test bed's port. */
	VPT_BOOT_BARE = 1 << 3,
};

VPT_STATIC_ASSERT(sizeof(struct vpt_boot_info) == 88, "vpt_boot_info is ABI");

/*
 * Ports of this ABI. Beside them are those of the devices: 8259s, 8254, real-time clock,
 * COM1, reset. Where there is nothing, ports read as ones and ignore writes.
 */
enum vpt_port {
	VPT_PORT_CONSOLE = 0xe9, /* out byte: a character; in byte: 0xe9 */
	VPT_PORT_EXIT = 0xf4,	 /* out dword: end the guest, status is the value */
	/*
	 * An interrupt source for tests, which needs no APIC to be set up.
	 * out dword: vector << 24 | n: one external interrupt with that vector
	 * as soon as RFLAGS.IF allows after n more instructions (n 0: cancel).
	 * The count is exact with an engine that counts instructions, and while
	 * the guest is traced; else approximate.
	 */
	VPT_PORT_TIMER = 0xf8,
	/* out dword: vector at which a ToPA PMI arrives, 0 (as at the start): as the
	 * local APIC's LVTPC says. in dword: 1 if a ToPA PMI was raised since the
	 * last read. */
	VPT_PORT_PMI = 0xfc,
};

/*
 * The test bed's control port: an emulator that keeps an oracle log (oracle_log.h). out
 * dword: an enum vpt_bed in bits 7:0 and its argument above. in dword: VPT_BED_ID.
 */
enum vpt_bed_port {
	VPT_PORT_BED = 0x5670,
	VPT_PORT_BED_TEXT = 0x5674, /* out byte: a character of a name or mark to come */
	VPT_PORT_BED_DATA = 0x5675, /* out byte: of the open export */
};

#define VPT_BED_ID 0x54505600u

enum vpt_bed {
	VPT_BED_LOG_ON = 1,
	VPT_BED_LOG_OFF,
	VPT_BED_EXPORT, /* open the file whose name was sent */
	VPT_BED_EXPORT_END,
	VPT_BED_MARK,	  /* put the text that was sent into the log */
	VPT_BED_OFF,	  /* power off at once; argument: exit status, 8 bits */
	VPT_BED_COUNTERS, /* write out the counters, and from 0 on */
};

#endif /* VPT_ABI_BOOT_H */
