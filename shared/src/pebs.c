// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* PEBS records as packet blocks (tables 33-45, 33-47). */
#include "vpt/block.h"

const char *vpt_bip_name(uint8_t type, unsigned int id)
{
#define VPT_BIP(name, bbp, number, tag, section, meaning) \
	if (type == VPT_BBP_##bbp && id == (number))      \
		return meaning;
#include "../spec/bip.def"
#undef VPT_BIP
	return NULL;
}

static struct vpt_block_group *begin(struct vpt_block_group *group, uint8_t type)
{
	vpt_memset(group, 0, sizeof(*group));
	group->type = type;
	return group;
}

static void add(struct vpt_block_group *group, unsigned int id, uint64_t value)
{
	group->item[id] = value;
	group->present |= (uint32_t)1 << id;
}

static void make_gprs(struct vpt_block_group *group, const struct vpt_pebs_record *record)
{
	unsigned int i;

	begin(group, VPT_BBP_GPR);
	add(group, 0, record->flags);
	add(group, 1, record->ip);
	for (i = 0; i < 16; i++)
		add(group, 2 + i, record->gpr[i]);
}

static void make_basic(struct vpt_block_group *group, const struct vpt_pebs_record *record)
{
	begin(group, VPT_BBP_PEBS_BASIC);
	add(group, 0, record->ip);
	add(group, 1, record->counters);
	add(group, 2, record->tsc);
}

static void make_memory(struct vpt_block_group *group, const struct vpt_pebs_record *record)
{
	begin(group, VPT_BBP_PEBS_MEMORY);
	add(group, 0, record->address);
	add(group, 1, record->aux);
	add(group, 2, record->latency);
	add(group, 3, record->tsx_aux);
}

/* An entry has three items, which go on from one block to the next. */
static unsigned int make_lbrs(struct vpt_block_group *group, const struct vpt_pebs_record *record)
{
	unsigned int lbrs = record->lbrs < VPT_PEBS_LBR_MAX ? record->lbrs : VPT_PEBS_LBR_MAX;
	unsigned int i, made = 0;

	for (i = 0; i < 3 * lbrs; i++) {
		uint64_t value = record->lbr[i / 3].info;

		if (i % 3 < 2)
			value = i % 3 ? record->lbr[i / 3].to : record->lbr[i / 3].from;
		if (!(i % VPT_BLOCK_ITEMS))
			begin(&group[made++], (uint8_t)(VPT_BBP_LBR_0 + i / VPT_BLOCK_ITEMS));
		add(&group[made - 1], i % VPT_BLOCK_ITEMS, value);
	}
	return made;
}

static void make_xmms(struct vpt_block_group *group, const struct vpt_pebs_record *record)
{
	unsigned int i;

	begin(group, VPT_BBP_XMM);
	for (i = 0; i < 32; i++)
		add(group, i, record->xmm[i / 2][i % 2]);
}

unsigned int vpt_pebs_groups(const struct vpt_pebs_record *record,
			     struct vpt_block_group group[VPT_PEBS_GROUPS])
{
	unsigned int made = 0;

	if (record->sections & VPT_PEBS_GPRS)
		make_gprs(&group[made++], record);
	make_basic(&group[made++], record);
	if (record->sections & VPT_PEBS_MEMORY)
		make_memory(&group[made++], record);
	if (record->sections & VPT_PEBS_LBRS)
		made += make_lbrs(&group[made], record);
	if (record->sections & VPT_PEBS_XMMS)
		make_xmms(&group[made++], record);
	return made;
}
