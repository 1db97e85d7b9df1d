/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The state of a guest when vpt starts it, and the ports of vpt.
 *
 * At entry the guest is in 64-bit mode at CPL 0 with interrupts off. RDI has the guest-physical
 * address of struct vpt_boot_info, which is also its virtual address under the initial identity
 * map. RSP has a valid stack. Segments are flat (CS 0x08, DS/ES/SS 0x10). EFER has LME|LMA|NXE|SCE,
 * CR0 has PE|MP|NE|WP|PG, and CR4 has PAE|OSFXSR|OSXMMEXCPT, with OSXSAVE if there is XSAVE. There
 * is no IDT.
 *
 * The first 4 GiB are identity-mapped with 2 MiB pages, writable and executable. The page tables
 * are in RAM below 64 KiB. The guest may replace them.
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
	/*
	 * The guest runs on a machine that boots by Multiboot, and not in vpt. The console is COM1.
	 * The guest ends by a command to the port of the test bed.
	 */
	VPT_BOOT_BARE = 1 << 3,
};

VPT_STATIC_ASSERT(sizeof(struct vpt_boot_info) == 88, "vpt_boot_info is ABI");

/*
 * The ports of this ABI. The devices have ports of their own: 8259s, 8254, real-time clock, COM1,
 * reset. A port without a device reads as ones and ignores writes.
 */
enum vpt_port {
	VPT_PORT_CONSOLE = 0xe9, /* out byte: a character; in byte: 0xe9 */
	VPT_PORT_EXIT = 0xf4,	 /* out dword: end the guest, status is the value */
	/*
	 * An interrupt source for tests, which needs no APIC.
	 * out dword: vector << 24 | n. Delivers one external interrupt with that vector after n
	 * more instructions, as soon as RFLAGS.IF allows it. If n is 0, cancels it.
	 * The count is exact if the engine counts instructions, and while the guest is traced. Else
	 * it is approximate.
	 */
	VPT_PORT_TIMER = 0xf8,
	/*
	 * Written, the vector of the ToPA PMI. 0, the initial value, uses the LVTPC of the local
	 * APIC. Read, 1 if a ToPA PMI was raised since the last read. Both are dwords.
	 */
	VPT_PORT_PMI = 0xfc,
	/*
	 * VPT_PORT_MARKS ports, which are all the same. Each byte written adds to a text. A line
	 * feed or NUL ends the text, and puts a mark with it into the trace file. A text has at
	 * most 255 bytes. The rest of a longer one is dropped, and so are marks after the first
	 * 65536.
	 */
	VPT_PORT_MARK = 0x5700,
};

/* The number of ports from VPT_PORT_MARK on. /dev/port of Linux writes each byte to the next port. */
#define VPT_PORT_MARKS 256u

/*
 * The control port of the test bed, an emulator that writes an oracle log (oracle_log.h). A dword
 * written is an enum vpt_bed in bits 7:0 and its argument above. A dword read is VPT_BED_ID.
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
