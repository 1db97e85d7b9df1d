/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Packet blocks (33.4.1.1): groups of state values, as PEBS puts them into the trace
 * (IA32_PEBS_ENABLE.OUTPUT), and packets of the model itself.
 */
#ifndef VPT_BLOCK_H
#define VPT_BLOCK_H

#include "pt.h"

VPT_BEGIN_DECLS

/* BBP.Type (table 33-45). */
enum vpt_bbp_type {
	VPT_BBP_GPR = 0x01,
	VPT_BBP_PEBS_BASIC = 0x04,
	VPT_BBP_PEBS_MEMORY = 0x05,
	VPT_BBP_LBR_0 = 0x08,
	VPT_BBP_LBR_1 = 0x09,
	VPT_BBP_LBR_2 = 0x0a,
	VPT_BBP_XMM = 0x10,
};

#define VPT_BLOCK_ITEMS 32

struct vpt_block_group {
	uint8_t type;	  /* enum vpt_bbp_type */
	bool short_items; /* 4 bytes each, the lower ones (BBP.SZ) */
	uint32_t present; /* bit n: item[n] is sent, as BIP with ID n (table 33-47) */
	uint64_t item[VPT_BLOCK_ITEMS];
};

/*
 * A record of `count` groups that belong to the instruction at `ip`, between two
 * instructions: BBP and its BIPs for each, one BEP after the last, and FUP if ContextEn. What
 * has no item present is sent as a block without items. Nothing without TriggerEn.
 * VPT_E_INVAL: a type or an item that tables 33-45 and 33-47 do not have; then nothing was
 * sent.
 */
enum vpt_status vpt_pt_blocks(struct vpt_pt *pt, const struct vpt_block_group *group,
			      unsigned int count, uint64_t ip) VPT_MUST_CHECK;

/* An item as table 33-47 calls it, NULL where it has none. */
const char *vpt_bip_name(uint8_t type, unsigned int id);

/* MNT (33.4.2.19): a payload that only the model knows to read. */
void vpt_pt_mnt(struct vpt_pt *pt, uint64_t payload);

/*
 * A PEBS record with adaptive sections, as a producer has it; what `sections` does not have
 * is not looked at. vpt_pebs_groups() makes groups of it, in the order of table 33-45, and
 * returns how many: at most VPT_PEBS_GROUPS.
 */
enum vpt_pebs_sections {
	VPT_PEBS_MEMORY = 1 << 0,
	VPT_PEBS_GPRS = 1 << 1,
	VPT_PEBS_XMMS = 1 << 2,
	VPT_PEBS_LBRS = 1 << 3,
};

#define VPT_PEBS_GROUPS	 7
#define VPT_PEBS_LBR_MAX 32

struct vpt_pebs_record {
	uint32_t sections;
	uint64_t ip, counters, tsc;
	uint64_t address, aux, latency, tsx_aux;
	uint64_t flags;	  /* GPRs: R/EFLAGS; RIP is `ip` */
	uint64_t gpr[16]; /* AX CX DX BX SP BP SI DI R8 to R15, as the manual numbers them */
	uint64_t xmm[16][2];
	unsigned int lbrs; /* youngest first */
	struct {
		uint64_t from, to, info;
	} lbr[VPT_PEBS_LBR_MAX];
};

unsigned int vpt_pebs_groups(const struct vpt_pebs_record *record,
			     struct vpt_block_group group[VPT_PEBS_GROUPS]);

VPT_END_DECLS

#endif /* VPT_BLOCK_H */
