/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One packet of a PT stream, as written and as read (33.4.2). */
#ifndef VPT_PACKET_H
#define VPT_PACKET_H

#include "base.h"

VPT_BEGIN_DECLS

enum vpt_pkt_kind {
#define VPT_PKT(kind, text, size, tag, section, meaning) VPT_PKT_##kind,
#include "../../spec/packets.def"
	VPT_PKT_COUNT
};

/* Bytes that the longest packet takes (PSB). CYC is held to 10 here. */
#define VPT_PKT_MAX 16

/* IPBytes of TIP, TIP.PGE, TIP.PGD and FUP (table 33-18). */
enum vpt_ip_bytes {
	VPT_IP_SUPPRESSED = 0,
	VPT_IP_UPDATE_16 = 1,
	VPT_IP_UPDATE_32 = 2,
	VPT_IP_SEXT_48 = 3,
	VPT_IP_UPDATE_48 = 4,
	VPT_IP_FULL = 6,
};

/* In `aux` of TRIG, above the triggers. */
#define VPT_TRIG_MULT 0x100u

#define VPT_TNT8_MAX  6
#define VPT_TNT64_MAX 47

/*
 * The fields of a packet. Which of them count depends on `kind`. The others are 0. A kind that is
 * not listed has those of its row in spec/packets.def.
 *
 *   TNT_8, TNT_64   value: outcomes, youngest in bit 0; bits: how many.
 *   TIP*, FUP       ip_bytes, value: the payload bytes as sent (not expanded).
 *   PIP             value: CR3 with bits 4:0 clear; flag: NR.
 *   MODE_EXEC       value: bit 0 CS.L & LMA, bit 1 CS.D, bit 2 IF.
 *   MODE_TSX        value: bit 0 InTX, bit 1 TXAbort.
 *   CBR             value: ratio.
 *   TSC             value: TSC[55:0].
 *   MTC             value: CTC.
 *   TMA             value: CTC; aux: fast counter (9 bits).
 *   CYC             value: cycles.
 *   VMCS            value: VMCS pointer with bits 11:0 clear.
 *   MNT             value: payload.
 *   PTW             value: operand; bits: 32 or 64; flag: a FUP follows.
 *   EXSTOP, BEP     flag: a FUP follows.
 *   MWAIT           value: hints; aux: EXT.
 *   PWRE            value: C-state << 4 | sub C-state; flag: HW.
 *   PWRX            value: last << 4 | deepest; aux: wake reason.
 *   BBP             value: type; flag: 4-byte items.
 *   BIP             value: payload; aux: id; bits: 32 or 64.
 *   CFE             value: type; aux: vector; flag: a FUP follows.
 *   EVD             value: payload; aux: type.
 *   TRIG            aux: triggers, and VPT_TRIG_MULT if others fired that are not reported.
 *                   With bits 16 value is a number of instructions after the last IP packet
 *                   or TNT outcome. Else bits is 0. flag: a FUP follows, from which they count.
 */
struct vpt_packet {
	enum vpt_pkt_kind kind;
	uint8_t size;	  /* bytes of the encoding */
	uint8_t ip_bytes; /* enum vpt_ip_bytes */
	uint8_t bits;
	bool flag;
	uint16_t aux;
	uint64_t value;
};

/*
 * [TIME-CYC-ELIGIBLE] Returns true if a CYC precedes the packet in cycle-accurate mode (33.3.6,
 * 33.4.2.23).
 */
static inline bool vpt_pkt_cyc_eligible(enum vpt_pkt_kind kind)
{
	switch (kind) {
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_MODE_EXEC:
	case VPT_PKT_MODE_TSX:
	case VPT_PKT_PIP:
	case VPT_PKT_VMCS:
	case VPT_PKT_OVF:
	case VPT_PKT_MTC:
	case VPT_PKT_TSC:
	case VPT_PKT_PTW:
	case VPT_PKT_EXSTOP:
	case VPT_PKT_MWAIT:
		return true;
	default:
		return false;
	}
}

/* Returns the name as the manual spells it, or "?" for a kind that does not exist. */
const char *vpt_pkt_name(enum vpt_pkt_kind kind);

/*
 * Rebuild an IP from a payload and the last IP (table 33-18). Returns VPT_OK and *ip, which is also
 * the new last IP. Returns VPT_E_EOS with *ip untouched if the IP is suppressed, and
 * VPT_E_BAD_PACKET for a reserved IPBytes.
 */
enum vpt_status vpt_ip_expand(uint64_t last_ip, unsigned int ip_bytes, uint64_t payload,
			      uint64_t *ip) VPT_MUST_CHECK;

/*
 * Write a packet to `buf`, which has VPT_PKT_MAX bytes whatever the length of the packet. Bytes of
 * `buf` after the packet may change. Returns the length, or 0 if a field is out of range for its
 * kind. Ignores `size` and fields that do not count, and writes reserved bits as 0. encode.h has
 * the encoders of the generator's hot path.
 */
size_t vpt_packet_write(uint8_t *buf, const struct vpt_packet *packet);

/*
 * The state of a parser that reads a byte stream packet by packet. Zero-initialise it, also to
 * restart elsewhere in the stream. BIP and TNT share their header, so the state says whether a
 * block (BBP) is open, and the size of its items (33.4.1.1). BEP and OVF end a block, and so does
 * any packet that table 33-15 forbids in one.
 */
struct vpt_parser {
	bool in_block;
	bool block_4_bytes;
};

/*
 * Parse the packet at `buf`. Returns VPT_OK and *packet with its size. Returns VPT_E_EOS if the
 * `len` bytes end inside the packet, or if len is 0. Returns VPT_E_BAD_PACKET if no packet begins
 * with these bytes; the caller resumes at the next PSB (vpt_packet_find_psb()). On an error the
 * parser and *packet are unchanged.
 *
 * Reads no byte beyond buf + len. Ignores reserved bits of payloads, since the manual does not
 * promise that they are 0.
 */
enum vpt_status vpt_packet_read(struct vpt_parser *parser, const uint8_t *buf, size_t len,
				struct vpt_packet *packet) VPT_MUST_CHECK;

/*
 * Returns the offset of the first whole PSB in buf, or len if there is none. The bytes before a PSB
 * can end like it begins. The last 16 of such a run are the PSB.
 */
size_t vpt_packet_find_psb(const uint8_t *buf, size_t len);

/*
 * Format a packet as one line for a dump (no newline), cut to fit. Returns the length of the whole
 * line, like snprintf. The name is padded to a column of ten.
 *
 *   TNT       !..!		Outcomes, oldest first: ! taken, . not taken.
 *   TIP.PGE   3: 0x401000	IPBytes and the payload as sent.
 *   PTW       8: 0x2a IP	Payload bytes; IP: a FUP follows.
 *   BIP       1f: 0x2a		ID.
 *   CFE       INTR vector 0xe IP
 *   PWRX      last 0x2 deepest 0x6 wake interrupt
 *   TRIG      0x1a mult icnt 3 IP
 */
size_t vpt_packet_format(char *text, size_t size, const struct vpt_packet *packet);

VPT_END_DECLS

#endif /* VPT_PACKET_H */
