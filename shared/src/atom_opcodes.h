/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Header bytes of Atom's RTIT that the reader and the writer share (figure 2). */
#ifndef VPTI_ATOM_OPCODES_H
#define VPTI_ATOM_OPCODES_H

#include "vpt/atom_packet.h"

enum vpti_atom_opcode {
	VPTI_ATOM_OP_LIP = 0x80, /* bits 7:6 of FUP and TIP */
	VPTI_ATOM_OP_PSB = 0xc0,
	VPTI_ATOM_OP_TRACE_STOP = 0xc1,
	VPTI_ATOM_OP_PIP = 0xc2, /* bits 7:1 */
	VPTI_ATOM_OP_MTC = 0xc4, /* bits 7:2 */
	VPTI_ATOM_OP_STS = 0xd0, /* bits 7:4 */
};

/* FUP and TIP (figure 8): the event in bits 5:3, Zext in bit 2, CNT in bits 1:0. */
#define VPTI_ATOM_EVENT_SHIFT 3
#define VPTI_ATOM_EVENT_MASK  0x38u
#define VPTI_ATOM_ZEXT	      0x04u
#define VPTI_ATOM_CNT_MASK    0x03u

/* Events: PGE to PCC are 0 to 3, 4 and 5 are reserved, TIP and FAR are 6 and 7. */
#define VPTI_ATOM_EVENT_TIP 6u

static inline unsigned int vpti_atom_event_of(enum vpt_atom_pkt_kind kind)
{
	const unsigned int n = (unsigned int)kind - VPT_ATOM_PKT_PGE;

	return kind < VPT_ATOM_PKT_TIP ? n : n + VPTI_ATOM_EVENT_TIP - 4;
}

/* Bytes of LIP that a CNT stands for. */
static inline unsigned int vpti_atom_lip_bytes(unsigned int cnt)
{
	return 2 * cnt + 2;
}

/* STS (figure 12): of the TSC, and of each ratio. */
#define VPTI_ATOM_TSC_BITS   40u
#define VPTI_ATOM_RATIO_BITS 6u

/* Cycle counts (figure 13): how many bytes in bits 1:0 of the first, the count above. */
#define VPTI_ATOM_CCNT_MASK  0x03u
#define VPTI_ATOM_CCNT_SHIFT 2

#endif /* VPTI_ATOM_OPCODES_H */
