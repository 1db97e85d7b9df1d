/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Write AML, the byte code of ACPI tables (ACPI 6.5, chapter 20). The caller opens and closes
 * objects, and each close fills in the length of its object.
 */
#ifndef VMM_BOOT_AML_H
#define VMM_BOOT_AML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOOT_AML_DEPTH 8

struct boot_aml {
	uint8_t *bytes;
	size_t size, room; /* if size exceeds room, bytes were dropped */
	size_t open[BOOT_AML_DEPTH];
	unsigned int depth;
};

void boot_aml_scope(struct boot_aml *a, const char *path);
/* @name has four characters. */
void boot_aml_device(struct boot_aml *a, const char *name);
void boot_aml_end(struct boot_aml *a);

/* A name that is an integer, or an EISA identifier such as "PNP0501". */
void boot_aml_name_integer(struct boot_aml *a, const char *name, uint64_t value);
void boot_aml_name_eisa(struct boot_aml *a, const char *name, const char *id);
/* A name that is a package of bytes. */
void boot_aml_name_package(struct boot_aml *a, const char *name, const uint8_t *bytes, uint8_t n);
/* A name that is a buffer, such as resources of _CRS. */
void boot_aml_name_buffer(struct boot_aml *a, const char *name, const uint8_t *bytes, size_t n);

/* Resources for boot_aml_name_buffer(). Each writes at `to` and returns its end. */
uint8_t *boot_aml_io(uint8_t *to, uint16_t port, uint8_t ports);
uint8_t *boot_aml_irq(uint8_t *to, unsigned int line);
/* 32-bit memory that can be written. */
uint8_t *boot_aml_memory(uint8_t *to, uint32_t address, uint32_t bytes);
/* The bus numbers and the memory window of a host bridge. */
uint8_t *boot_aml_bus(uint8_t *to, uint16_t first, uint16_t last);
uint8_t *boot_aml_window(uint8_t *to, uint32_t address, uint32_t bytes);
uint8_t *boot_aml_end_tag(uint8_t *to);

#endif /* VMM_BOOT_AML_H */
