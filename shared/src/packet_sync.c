// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Finding packet boundaries in bytes of unknown history (33.4.2.17). */
#include "vpt/packet.h"

#include "packet_opcodes.h"

#define PSB_BYTES 16

/* How often 02 82 stands from buf on. */
static size_t psb_pairs(const uint8_t *buf, size_t len)
{
	size_t n = 0;

	while (len >= 2 * n + 2 && buf[2 * n] == VPTI_OP_EXT && buf[2 * n + 1] == VPTI_EXT_PSB)
		n++;
	return n;
}

/* [PKT-PSB-SYNC] Looks at the last byte first, so most steps are 16 bytes wide. */
size_t vpt_packet_find_psb(const uint8_t *buf, size_t len)
{
	size_t i = 0;

	while (len - i >= PSB_BYTES) {
		uint8_t last = buf[i + PSB_BYTES - 1];
		size_t pairs;

		if (last != VPTI_EXT_PSB) {
			i += last == VPTI_OP_EXT ? 1 : PSB_BYTES;
			continue;
		}
		pairs = psb_pairs(buf + i, len - i);
		if (pairs >= PSB_BYTES / 2)
			return i + 2 * (pairs % (PSB_BYTES / 2));
		i += 2;
	}
	return len;
}
