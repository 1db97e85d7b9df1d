// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* LIPs of Atom's RTIT and their payloads, both ways (RTIT 4.2.3.1). */
#include "vpt/atom_packet.h"

/* [ATOM-LIP-LAST] Table 18: zeros are preferred where either would do. */
void vpt_atom_lip_compress(uint64_t lip, uint32_t last, bool valid, uint8_t *cnt, bool *zext)
{
	const uint32_t upper = (uint32_t)(lip >> 16), differs = upper ^ last;

	if (!upper) {
		*cnt = VPT_ATOM_CNT_2;
		*zext = true;
	} else if (valid && !differs) {
		*cnt = VPT_ATOM_CNT_2;
		*zext = false;
	} else if (!(upper >> 16)) {
		*cnt = VPT_ATOM_CNT_4;
		*zext = true;
	} else {
		*cnt = valid && !(differs >> 16) ? VPT_ATOM_CNT_4 : VPT_ATOM_CNT_6;
		*zext = false;
	}
}

enum vpt_status vpt_atom_lip_expand(const struct vpt_atom_packet *packet, uint32_t last, bool valid,
				    uint64_t *lip)
{
	const unsigned int sent = 16 * packet->cnt + 16;
	uint64_t upper = 0;

	if (packet->cnt > VPT_ATOM_CNT_6)
		return VPT_E_BAD_PACKET;
	if (!packet->zext && packet->cnt != VPT_ATOM_CNT_6) {
		if (!valid)
			return VPT_E_EOS;
		upper = (uint64_t)last << 16;
	}
	*lip = (upper & ~VPT_MASK64(sent - 1, 0)) | (packet->value & VPT_MASK64(sent - 1, 0));
	return VPT_OK;
}
