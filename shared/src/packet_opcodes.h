/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Header bytes that the reader and the writer share (33.4.2). The IP packets'
 * are in vpt/encode.h.
 */
#ifndef VPT_PACKET_OPCODES_H
#define VPT_PACKET_OPCODES_H

enum vpt_opcode {
	VPT_OP_PAD = 0x00,
	VPT_OP_EXT = 0x02, /* a second opcode byte follows */
	VPT_OP_TSC = 0x19,
	VPT_OP_MTC = 0x59,
	VPT_OP_MODE = 0x99,
	VPT_OP_TRIG = 0xd9,
};

/* The byte after VPT_OP_EXT. */
enum vpt_ext_opcode {
	VPT_EXT_CBR = 0x03,
	VPT_EXT_PTW = 0x12, /* bits 4:0 */
	VPT_EXT_CFE = 0x13,
	VPT_EXT_PWRE = 0x22,
	VPT_EXT_PSBEND = 0x23,
	VPT_EXT_BEP = 0x33, /* bits 6:0 */
	VPT_EXT_PIP = 0x43,
	VPT_EXT_EVD = 0x53,
	VPT_EXT_EXSTOP = 0x62, /* bits 6:0 */
	VPT_EXT_BBP = 0x63,
	VPT_EXT_TMA = 0x73,
	VPT_EXT_PSB = 0x82,
	VPT_EXT_TRACE_STOP = 0x83,
	VPT_EXT_PWRX = 0xa2,
	VPT_EXT_TNT_64 = 0xa3,
	VPT_EXT_MWAIT = 0xc2,
	VPT_EXT_MNT = 0xc3,
	VPT_EXT_VMCS = 0xc8,
	VPT_EXT_OVF = 0xf3,
};

/* "IP" of PTW, EXSTOP, BEP (second byte) and CFE (third): a FUP follows. */
#define VPT_EXT_IP 0x80u
/* PayloadBytes of PTW (table 33-40): 0 and 1 are defined. */
#define VPT_PTW_SIZE_SHIFT 5
#define VPT_PTW_SIZE_MASK  0x60u
/* MNT has a third opcode byte (table 33-38). */
#define VPT_MNT_THIRD 0x88u
/* Bits 2:0 of a BIP's header; the ID is above them (table 33-46). */
#define VPT_BIP_LOW	 0x04u
#define VPT_BIP_ID_SHIFT 3
/* MODE's leaf is in bits 7:5 (table 33-25). */
#define VPT_MODE_LEAF_SHIFT 5
#define VPT_MODE_LEAF_EXEC  0u
#define VPT_MODE_LEAF_TSX   1u
/* TRIG, second byte; the triggers follow, and a count of two bytes if ICNTV is set. */
#define VPT_TRIG_IP    0x80u
#define VPT_TRIG_ICNTV 0x40u
#define VPT_TRIG_MORE  0x20u
/* CYC: Exp of the first and of each later byte (table 33-33). */
#define VPT_CYC_LOW	  0x03u
#define VPT_CYC_EXP_FIRST 0x04u
#define VPT_CYC_EXP	  0x01u

#define VPT_PIP_CR3_MASK  VPT_MASK64(51, 5)
#define VPT_VMCS_PTR_MASK VPT_MASK64(51, 12)

#endif /* VPT_PACKET_OPCODES_H */
