// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Processors that have either PT or last-branch records at a time (33.3.1.2). */
#include "vpt/lbr.h"

/* [LBR-MODELS] */
bool vpt_lbr_excluded(const struct vpt_caps *caps)
{
	static const uint8_t models[] = {0x3d, 0x47, 0x4e, 0x4f, 0x56, 0x5e};
	uint32_t family = caps->signature >> 8 & 15;
	uint32_t model = (caps->signature >> 12 & 0xf0) | (caps->signature >> 4 & 15);
	unsigned int i;

	if (family != 6)
		return false;
	for (i = 0; i < sizeof(models); i++) {
		if (models[i] == model)
			return true;
	}
	return false;
}
