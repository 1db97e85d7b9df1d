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

/* The byte after VPTI_OP_EXT. */
enum vpti_ext_opcode {
	VPTI_EXT_CBR = 0x03,
	VPTI_EXT_PTW = 0x12, /* bits 4:0 */
	VPTI_EXT_CFE = 0x13,
	VPTI_EXT_PWRE = 0x22,
	VPTI_EXT_PSBEND = 0x23,
	VPTI_EXT_BEP = 0x33, /* bits 6:0 */
	VPTI_EXT_PIP = 0x43,
	VPTI_EXT_EVD = 0x53,
	VPTI_EXT_EXSTOP = 0x62, /* bits 6:0 */
	VPTI_EXT_BBP = 0x63,
	VPTI_EXT_TMA = 0x73,
	VPTI_EXT_PSB = 0x82,
	VPTI_EXT_TRACE_STOP = 0x83,
	VPTI_EXT_PWRX = 0xa2,
	VPTI_EXT_TNT_64 = 0xa3,
	VPTI_EXT_MWAIT = 0xc2,
	VPTI_EXT_MNT = 0xc3,
	VPTI_EXT_VMCS = 0xc8,
	VPTI_EXT_OVF = 0xf3,
};

/* "IP" of PTW, EXSTOP, BEP (second byte) and CFE (third): a FUP follows. */
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

#define VPTI_PIP_CR3_MASK  VPT_MASK64(51, 5)
#define VPTI_VMCS_PTR_MASK VPT_MASK64(51, 12)

#endif /* VPTI_PACKET_OPCODES_H */
