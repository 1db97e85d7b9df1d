// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* IPs from payloads: the decoder's half of IP compression (33.4.2.2). */
#include "vpt/packet.h"

enum vpt_status vpt_ip_expand(uint64_t last_ip, unsigned int ip_bytes, uint64_t payload,
			      uint64_t *ip)
{
	switch (ip_bytes) {
	case VPT_IP_SUPPRESSED:
		/* [PKT-IP-SUPPRESSED] */
		return VPT_E_EOS;
	case VPT_IP_UPDATE_16:
		/* [PKT-IP-UPDATE16] */
		*ip = (last_ip & VPT_MASK64(63, 16)) | (payload & VPT_MASK64(15, 0));
		return VPT_OK;
	case VPT_IP_UPDATE_32:
		/* [PKT-IP-UPDATE32] */
		*ip = (last_ip & VPT_MASK64(63, 32)) | (payload & VPT_MASK64(31, 0));
		return VPT_OK;
	case VPT_IP_SEXT_48:
		/* [PKT-IP-SEXT48] */
		*ip = (uint64_t)((int64_t)(payload << 16) >> 16);
		return VPT_OK;
	case VPT_IP_UPDATE_48:
		/* [PKT-IP-UPDATE48] */
		*ip = (last_ip & VPT_MASK64(63, 48)) | (payload & VPT_MASK64(47, 0));
		return VPT_OK;
	case VPT_IP_FULL:
		/* [PKT-IP-FULL] */
		*ip = payload;
		return VPT_OK;
	default:
		/* [PKT-IP-RESERVED] */
		return VPT_E_BAD_PACKET;
	}
}
