/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RAM of a test's machine, from address 0 on, for the callbacks of struct vpt_mem_ops. */
#ifndef TESTS_LIB_RAM_H
#define TESTS_LIB_RAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Return false and copy nothing unless the whole range is in the RAM. */
static inline bool test_ram_read(const uint8_t *ram, size_t bytes, uint64_t gpa, void *dst,
				 size_t len)
{
	if (gpa > bytes || len > bytes - gpa)
		return false;
	memcpy(dst, ram + gpa, len);
	return true;
}

static inline bool test_ram_write(uint8_t *ram, size_t bytes, uint64_t gpa, const void *src,
				  size_t len)
{
	if (gpa > bytes || len > bytes - gpa)
		return false;
	memcpy(ram + gpa, src, len);
	return true;
}

#endif /* TESTS_LIB_RAM_H */
