/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Bytes of payloads, and what fits into them: of PT's packets and of Atom's. */
#ifndef VPTI_PACKET_BYTES_H
#define VPTI_PACKET_BYTES_H

#include "vpt/base.h"

static inline uint64_t vpti_get_le(const uint8_t *buf, unsigned int bytes)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < bytes; i++)
		value |= (uint64_t)buf[i] << (8 * i);
	return value;
}

static inline bool vpti_fits(uint64_t value, unsigned int bits)
{
	return bits >= 64 || !(value >> bits);
}

#endif /* VPTI_PACKET_BYTES_H */
