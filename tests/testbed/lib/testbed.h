/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BED_TESTBED_H
#define BED_TESTBED_H

/*
 * The test bed's control port, for programs that run inside the test bed. A program runs in
 * ring 3 of Linux as root, or on the bare machine, where this header alone is enough. The test
 * bed is Bochs with our patch: see patches/bochs/.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vpt_bed_port {
	BED_CONTROL = 0x5670, /* OUT dword: a command; IN dword: the magic */
	BED_NAME = 0x5674,    /* OUT byte: text that the next command uses */
	BED_DATA = 0x5675,    /* OUT byte: data of the open export */
};

/* Bits 7:0 of a value written to the control port. Bits 31:8 are the argument. */
enum bed_command {
	BED_ORACLE_ON = 1,
	BED_ORACLE_OFF = 2,
	BED_EXPORT_OPEN = 3,
	BED_EXPORT_CLOSE = 4,
	VPT_BED_MARK = 5,
	BED_POWER_OFF = 6,    /* argument: exit status, 0 to 255 */
	VPT_BED_COUNTERS = 7, /* write the counters to the named file, and clear them */
	BED_MEMORY = 8,	      /* write the machine's RAM to the named file */
};

#define BED_MAGIC 0x54505600u

static inline void bed_command(enum bed_command command, uint32_t argument)
{
	__asm__ volatile("outl %0, %w1"
			 :
			 : "a"((uint32_t)command | argument << 8), "Nd"(BED_CONTROL)
			 : "memory");
}

/* Returns true in the test bed. On any other machine the port floats. */
static inline bool bed_present(void)
{
	uint32_t magic;

	__asm__ volatile("inl %w1, %0" : "=a"(magic) : "Nd"(BED_CONTROL));
	return magic == BED_MAGIC;
}

static inline void bed_bytes(enum vpt_bed_port port, const void *bytes, size_t size)
{
	__asm__ volatile("rep outsb" : "+S"(bytes), "+c"(size) : "d"(port) : "memory");
}

static inline void bed_text(const char *text)
{
	size_t size = 0;

	while (text[size])
		size++;
	bed_bytes(BED_NAME, text, size);
}

/* Add a line to the oracle's log. */
static inline void bed_mark(const char *text)
{
	bed_text(text);
	bed_command(VPT_BED_MARK, 0);
}

/* Write a whole file of the results. A second file of the same name replaces the first. */
static inline void bed_export(const char *name, const void *bytes, size_t size)
{
	bed_text(name);
	bed_command(BED_EXPORT_OPEN, 0);
	bed_bytes(BED_DATA, bytes, size);
	bed_command(BED_EXPORT_CLOSE, 0);
}

/* Write the machine's RAM, from physical address 0 on, to a file of the results. */
static inline void bed_memory(const char *name)
{
	bed_text(name);
	bed_command(BED_MEMORY, 0);
}

#if __STDC_HOSTED__
/*
 * Let this process use the ports under Linux. Returns 0 or a negative errno: -ENODEV if the
 * machine is not the test bed, -EPERM if the user is not root.
 */
int bed_open(void);

/* Copy a file, also of /proc or /sys, to the results. Returns 0 or a negative errno. */
int bed_export_file(const char *name, const char *path);
#endif

#endif
