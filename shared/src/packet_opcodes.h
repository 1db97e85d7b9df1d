/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Header bytes that the reader and the writer share (33.4.2). The IP packets'
 * are in vpt/encode.h.
 */
#ifndef VPTI_PACKET_OPCODES_H
#define VPTI_PACKET_OPCODES_H

enum vpti_opcode {
	VPTI_OP_PAD = 0x00,
	VPTI_OP_EXT = 0x02, /* a second opcode byte follows */
	VPTI_OP_TSC = 0x19,
	VPTI_OP_MTC = 0x59,
	VPTI_OP_MODE = 0x99,
	VPTI_OP_TRIG = 0xd9,
};

/* The byte after VPTI_OP_EXT: from the rows of packets.def, and of the other packets. */
enum vpti_ext_opcode {
#define VPT_PKT(kind, text, size, tag, section, meaning)
#define VPT_PKT_EXT(kind, text, size, opcode, value, aux, flag, tag, section, meaning) \
	VPTI_EXT_##kind = (opcode),
#include "../spec/packets.def"
#undef VPT_PKT
#undef VPT_PKT_EXT
	VPTI_EXT_PTW = 0x12, /* bits 4:0 */
	VPTI_EXT_PSB = 0x82,
	VPTI_EXT_TNT_64 = 0xa3,
	VPTI_EXT_MNT = 0xc3,
};

/* "IP" of PTW, in the second byte: a FUP follows. */
#define VPTI_EXT_IP 0x80u
/* PayloadBytes of PTW (table 33-40): 0 and 1 are defined. */
#define VPTI_PTW_SIZE_SHIFT 5
#define VPTI_PTW_SIZE_MASK  0x60u
/* MNT has a third opcode byte (table 33-38). */
#define VPTI_MNT_THIRD 0x88u
/* Bits 2:0 of a BIP's header; the ID is above them (table 33-46). */
#define VPTI_BIP_LOW	  0x04u
#define VPTI_BIP_ID_SHIFT 3
/* MODE's leaf is in bits 7:5 (table 33-25). */
#define VPTI_MODE_LEAF_SHIFT 5
#define VPTI_MODE_LEAF_EXEC  0u
#define VPTI_MODE_LEAF_TSX   1u
/* TRIG, second byte; the triggers follow, and a count of two bytes if ICNTV is set. */
#define VPTI_TRIG_IP	0x80u
#define VPTI_TRIG_ICNTV 0x40u
#define VPTI_TRIG_MORE	0x20u
/* CYC: Exp of the first and of each later byte (table 33-33). */
#define VPTI_CYC_LOW	   0x03u
#define VPTI_CYC_EXP_FIRST 0x04u
#define VPTI_CYC_EXP	   0x01u

#endif /* VPTI_PACKET_OPCODES_H */
