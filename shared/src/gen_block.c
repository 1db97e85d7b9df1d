// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packet blocks (33.4.1.1) and packets of the model. */
#include "gen_packet.h"
#include "vpt/block.h"

/* A type's items: bit n, BIP.ID n. */
static uint32_t items_of(uint8_t type)
{
	uint32_t items = 0;

#define VPT_BIP(name, bbp, id, tag, section, meaning) \
	if (type == VPT_BBP_##bbp)                    \
		items |= (uint32_t)1 << (id);
#include "../spec/bip.def"
#undef VPT_BIP
	return items;
}

/* [BLK-TYPES] */
static bool are_known(const struct vpt_block_group *group, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		uint32_t items = items_of(group[i].type);

		if (!items || group[i].present & ~items)
			return false;
	}
	return true;
}

/* [BLK-SIZE] */
static void send_group(struct vpt_pt *pt, const struct vpt_block_group *group)
{
	struct vpt_packet packet;
	unsigned int id;

	vpti_gen_packet(pt, VPT_PKT_BBP, group->type, group->short_items);
	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_PKT_BIP;
	packet.bits = group->short_items ? 32 : 64;
	for (id = 0; id < VPT_BLOCK_ITEMS; id++) {
		if (!(group->present >> id & 1))
			continue;
		packet.aux = (uint16_t)id;
		packet.value = group->item[id];
		if (group->short_items)
			packet.value = (uint32_t)packet.value;
		vpti_gen_write(pt, &packet);
	}
}

/*
 * [BLK-FORBIDDEN] Outcomes and MTCs that are due are sent before the block. A PSB that the block
 * makes due waits for the next event, and so does the end of an overflow that the block causes.
 */
enum vpt_status vpt_pt_blocks(struct vpt_pt *pt, const struct vpt_block_group *group,
			      unsigned int count, uint64_t ip)
{
	unsigned int i;

	if (!are_known(group, count))
		return VPT_E_INVAL;
	if (!pt->trigger_en || !count)
		return VPT_OK;
	vpti_gen_now(pt);
	/* [BLK-ORDER] */
	for (i = 0; i < count; i++)
		send_group(pt, &group[i]);
	/* [BLK-FUP] */
	vpti_gen_packet(pt, VPT_PKT_BEP, 0, pt->context_en);
	if (pt->context_en)
		vpti_gen_ip(pt, VPT_OP_FUP, ip);
	vpti_gen_update(pt);
	return VPT_OK;
}

/* [MNT-PLAIN] */
void vpt_pt_mnt(struct vpt_pt *pt, uint64_t payload)
{
	vpti_gen_now(pt);
	vpti_gen_packet(pt, VPT_PKT_MNT, payload, false);
	vpti_gen_update(pt);
}
