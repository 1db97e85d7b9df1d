/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VPT_TESTBED_H
#define VPT_TESTBED_H

/*
 * The test bed's control port, for programs that run inside it: in ring 3 of its Linux
 * as root, or on the bare machine, where this header alone is enough. The test bed is
 * Bochs with our patch; see patches/bochs/.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vpt_bed_port {
	VPT_BED_CONTROL = 0x5670, /* OUT dword: a command; IN dword: the magic */
	VPT_BED_NAME = 0x5674,	  /* OUT byte: text that the next command uses */
	VPT_BED_DATA = 0x5675,	  /* OUT byte: data of the open export */
};

/* Bits 7:0 of what is written to the control port; bits 31:8 are the argument. */
enum vpt_bed_command {
	VPT_BED_ORACLE_ON = 1,
	VPT_BED_ORACLE_OFF = 2,
	VPT_BED_EXPORT_OPEN = 3,
	VPT_BED_EXPORT_CLOSE = 4,
	VPT_BED_MARK = 5,
	VPT_BED_POWER_OFF = 6, /* argument: exit status, 0 to 255 */
	VPT_BED_COUNTERS = 7,  /* write them to the file of that name; they start at 0 again */
	VPT_BED_MEMORY = 8,    /* write the machine's RAM to the file of that name */
};

#define VPT_BED_MAGIC 0x54505600u

static inline void vpt_bed_command(enum vpt_bed_command command, uint32_t argument)
{
	__asm__ volatile("outl %0, %w1"
			 :
			 : "a"((uint32_t)command | argument << 8), "Nd"(VPT_BED_CONTROL)
			 : "memory");
}

/* True in the test bed, false on any other machine: there the port floats. */
static inline bool vpt_bed_present(void)
{
	uint32_t magic;

	__asm__ volatile("inl %w1, %0" : "=a"(magic) : "Nd"(VPT_BED_CONTROL));
	return magic == VPT_BED_MAGIC;
}

static inline void vpt_bed_bytes(enum vpt_bed_port port, const void *bytes, size_t size)
{
	__asm__ volatile("rep outsb" : "+S"(bytes), "+c"(size) : "d"(port) : "memory");
}

static inline void vpt_bed_text(const char *text)
{
	size_t size = 0;

	while (text[size])
		size++;
	vpt_bed_bytes(VPT_BED_NAME, text, size);
}

/* Put a line into the oracle's log. */
static inline void vpt_bed_mark(const char *text)
{
	vpt_bed_text(text);
	vpt_bed_command(VPT_BED_MARK, 0);
}

/* Write a whole file of the results; a second one of the same name replaces it. */
static inline void vpt_bed_export(const char *name, const void *bytes, size_t size)
{
	vpt_bed_text(name);
	vpt_bed_command(VPT_BED_EXPORT_OPEN, 0);
	vpt_bed_bytes(VPT_BED_DATA, bytes, size);
	vpt_bed_command(VPT_BED_EXPORT_CLOSE, 0);
}

/* Write the machine's RAM, from physical address 0 on, to a file of the results. */
static inline void vpt_bed_memory(const char *name)
{
	vpt_bed_text(name);
	vpt_bed_command(VPT_BED_MEMORY, 0);
}

#if __STDC_HOSTED__
/* Linux: let this process use the ports. 0, or a negative errno: -ENODEV if the machine
 * is not the test bed, -EPERM if the user is not root. */
int vpt_bed_open(void);

/* Write what a file holds, up to its end; files of /proc and /sys too. 0 or a negative
 * errno. */
int vpt_bed_export_file(const char *name, const char *path);
#endif

#endif
