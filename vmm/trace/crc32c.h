/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CRC-32C (Castagnoli), as iSCSI and ext4 use it. */
#ifndef VMM_TRACE_CRC32C_H
#define VMM_TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continue `crc` (0 to begin with) over `len` bytes. */
uint32_t trace_crc32c(uint32_t crc, const void *bytes, size_t len);

/* The same without the processor's CRC32 instruction, for comparison. */
uint32_t trace_crc32c_table(uint32_t crc, const void *bytes, size_t len);

#endif /* VMM_TRACE_CRC32C_H */
