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
 * Send a record of `count` groups that belong to the instruction at `ip`. Call this between two
 * instructions. Each group becomes a BBP and its BIPs, and one BEP follows the last group. A FUP
 * follows if ContextEn is set. A group with no item present becomes a block without items. If
 * TriggerEn is clear, nothing is sent.
 *
 * Returns VPT_E_INVAL, and sends nothing, for a type or an item that is not in tables 33-45 and
 * 33-47.
 */
enum vpt_status vpt_pt_blocks(struct vpt_pt *pt, const struct vpt_block_group *group,
			      unsigned int count, uint64_t ip) VPT_MUST_CHECK;

/* Return the name of an item in table 33-47, or NULL if the table has no such item. */
const char *vpt_bip_name(uint8_t type, unsigned int id);

/* Send MNT (33.4.2.19). The meaning of the payload depends on the processor's model. */
void vpt_pt_mnt(struct vpt_pt *pt, uint64_t payload);

/*
 * The sections of an adaptive PEBS record. A section whose bit is clear in `sections` is not read.
 * vpt_pebs_groups() converts the record to groups, in the order of table 33-45. It returns the
 * number of groups, which is at most VPT_PEBS_GROUPS.
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
