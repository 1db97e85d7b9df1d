// SPDX-License-Identifier: GPL-2.0-or-later
/* Write AML objects into a buffer. */
#include "boot/aml.h"

#include <string.h>

#define OP_NAME	   0x08
#define OP_BYTE	   0x0a
#define OP_WORD	   0x0b
#define OP_DWORD   0x0c
#define OP_QWORD   0x0e
#define OP_SCOPE   0x10
#define OP_BUFFER  0x11
#define OP_PACKAGE 0x12
#define OP_EXT	   0x5b
#define EXT_DEVICE 0x82

/* Every length is written in three bytes, so that it can be filled in later (20.2.4). */
#define LENGTH_BYTES 3

static void put(struct boot_aml *a, const void *bytes, size_t n)
{
	if (a->size <= a->room && n <= a->room - a->size)
		memcpy(a->bytes + a->size, bytes, n);
	a->size += n;
}

static void put8(struct boot_aml *a, uint8_t byte)
{
	put(a, &byte, 1);
}

static void open_length(struct boot_aml *a)
{
	static const uint8_t unknown[LENGTH_BYTES];

	a->open[a->depth++] = a->size;
	put(a, unknown, sizeof(unknown));
}

void boot_aml_end(struct boot_aml *a)
{
	size_t at = a->open[--a->depth], n = a->size - at;

	if (a->size > a->room)
		return;
	a->bytes[at] = (uint8_t)((LENGTH_BYTES - 1) << 6 | (n & 0xf));
	a->bytes[at + 1] = (uint8_t)(n >> 4);
	a->bytes[at + 2] = (uint8_t)(n >> 12);
}

void boot_aml_scope(struct boot_aml *a, const char *path)
{
	put8(a, OP_SCOPE);
	open_length(a);
	put(a, path, strlen(path));
}

void boot_aml_device(struct boot_aml *a, const char *name)
{
	put8(a, OP_EXT);
	put8(a, EXT_DEVICE);
	open_length(a);
	put(a, name, 4);
}

static void put_integer(struct boot_aml *a, uint64_t value)
{
	static const struct {
		uint8_t op, bytes;
	} forms[] = {{OP_BYTE, 1}, {OP_WORD, 2}, {OP_DWORD, 4}, {OP_QWORD, 8}};
	size_t i = 0;

	while (i < 3 && value >> 8 * forms[i].bytes)
		i++;
	put8(a, forms[i].op);
	put(a, &value, forms[i].bytes);
}

static void put_name(struct boot_aml *a, const char *name)
{
	put8(a, OP_NAME);
	put(a, name, 4);
}

void boot_aml_name_integer(struct boot_aml *a, const char *name, uint64_t value)
{
	put_name(a, name);
	put_integer(a, value);
}

static uint32_t hex(char c)
{
	return (uint32_t)(c <= '9' ? c - '0' : c - 'A' + 10);
}

/* An EISA identifier has three letters of five bits and four hex digits, big-endian. */
static uint32_t eisa(const char *id)
{
	uint32_t value = 0;
	unsigned int i;

	for (i = 0; i < 3; i++)
		value = value << 5 | (uint32_t)(id[i] - '@');
	for (; i < 7; i++)
		value = value << 4 | hex(id[i]);
	return __builtin_bswap32(value);
}

void boot_aml_name_eisa(struct boot_aml *a, const char *name, const char *id)
{
	uint32_t value = eisa(id);

	put_name(a, name);
	put8(a, OP_DWORD);
	put(a, &value, sizeof(value));
}

void boot_aml_name_package(struct boot_aml *a, const char *name, const uint8_t *bytes, uint8_t n)
{
	unsigned int i;

	put_name(a, name);
	put8(a, OP_PACKAGE);
	open_length(a);
	put8(a, n);
	for (i = 0; i < n; i++)
		put_integer(a, bytes[i]);
	boot_aml_end(a);
}

void boot_aml_name_buffer(struct boot_aml *a, const char *name, const uint8_t *bytes, size_t n)
{
	put_name(a, name);
	put8(a, OP_BUFFER);
	open_length(a);
	put_integer(a, n);
	put(a, bytes, n);
	boot_aml_end(a);
}

/* I/O port descriptor (6.4.2.5), with 16-bit decoding. */
uint8_t *boot_aml_io(uint8_t *to, uint16_t port, uint8_t ports)
{
	const uint8_t item[] = {0x47,
				1,
				(uint8_t)port,
				(uint8_t)(port >> 8),
				(uint8_t)port,
				(uint8_t)(port >> 8),
				1,
				ports};

	memcpy(to, item, sizeof(item));
	return to + sizeof(item);
}

/* IRQ descriptor (6.4.2.1) of an edge-triggered, exclusive interrupt. */
uint8_t *boot_aml_irq(uint8_t *to, unsigned int line)
{
	const uint16_t mask = (uint16_t)(1u << line);
	const uint8_t item[] = {0x22, (uint8_t)mask, (uint8_t)(mask >> 8)};

	memcpy(to, item, sizeof(item));
	return to + sizeof(item);
}

/* 32-bit fixed memory range descriptor (6.4.3.4). */
uint8_t *boot_aml_memory(uint8_t *to, uint32_t address, uint32_t bytes)
{
	static const uint8_t head[] = {0x86, 9, 0, 1};

	memcpy(to, head, sizeof(head));
	memcpy(to + 4, &address, sizeof(address));
	memcpy(to + 8, &bytes, sizeof(bytes));
	return to + 12;
}

#define FIXED_PRODUCER 0x0c /* both ends are fixed, and the resource is passed to the bus */

/* Word address space descriptor (6.4.3.5.3). */
uint8_t *boot_aml_bus(uint8_t *to, uint16_t first, uint16_t last)
{
	static const uint8_t head[] = {0x88, 13, 0, 2, FIXED_PRODUCER, 0};
	const uint16_t fields[] = {0, first, last, 0, (uint16_t)(last - first + 1)};

	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), fields, sizeof(fields));
	return to + sizeof(head) + sizeof(fields);
}

/* Double word address space descriptor (6.4.3.5.2) of memory that can be written. */
uint8_t *boot_aml_window(uint8_t *to, uint32_t address, uint32_t bytes)
{
	static const uint8_t head[] = {0x87, 23, 0, 0, FIXED_PRODUCER, 1};
	const uint32_t fields[] = {0, address, address + bytes - 1, 0, bytes};

	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), fields, sizeof(fields));
	return to + sizeof(head) + sizeof(fields);
}

/* End tag (6.4.2.9); a checksum of 0 means that there is none. */
uint8_t *boot_aml_end_tag(uint8_t *to)
{
	to[0] = 0x79;
	to[1] = 0;
	return to + 2;
}
