/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One packet of an Atom RTIT stream, as written and as read (RTIT v1.05, section 4). */
#ifndef VPT_ATOM_PACKET_H
#define VPT_ATOM_PACKET_H

#include "base.h"

VPT_BEGIN_DECLS

enum vpt_atom_pkt_kind {
#define VPT_ATOM_PKT(kind, text, size, cycles, tag, section, meaning) VPT_ATOM_PKT_##kind,
#include "../../spec/rtit.def"
	VPT_ATOM_PKT_COUNT
};

/* The longest packet (PSB), and the longest with its cycle count: FUP and 3, within 12. */
#define VPT_ATOM_PKT_MAX   12
#define VPT_ATOM_PSB_BYTES 9
#define VPT_ATOM_TNT_MAX   6
#define VPT_ATOM_CNTP_BITS 22

/* CNT of packets with a LIP (table 18): 2, 4 or 6 bytes of it. */
enum vpt_atom_cnt { VPT_ATOM_CNT_2 = 0, VPT_ATOM_CNT_4 = 1, VPT_ATOM_CNT_6 = 2 };

/*
 * The fields of a packet. Which of them count depends on `kind`. The others are 0.
 *
 *   TNT          value: outcomes, youngest in bit 0, oldest at bits - 1; bits: how many.
 *   PGE PGD BUF_OVF PCC FAR TIP
 *                cnt, zext; value: the payload bytes as sent (not expanded).
 *   PIP          value: CR3[39:0]; flag: CR0.PG.
 *   MTC          value: 8 bits of the TSC; aux: RNG.
 *   STS          value: TSC[39:0]; aux: ACBR | ECBR << 8.
 *   PSB, TRACE_STOP  nothing.
 *
 * The cycle count that follows a packet is a part of the packet here, and of `size` (4.2.14). It is
 * in has_cycles and cycles.
 */
struct vpt_atom_packet {
	enum vpt_atom_pkt_kind kind;
	uint8_t size; /* bytes of the encoding, cycle count included */
	uint8_t bits;
	uint8_t cnt;
	bool zext;
	bool flag;
	bool has_cycles;
	uint16_t aux;
	uint32_t cycles;
	uint64_t value;
};

/*
 * Returns the name as the document spells it, for example "FUP.PGE". Returns "?" for a kind that
 * does not exist.
 */
const char *vpt_atom_pkt_name(enum vpt_atom_pkt_kind kind);

/* Returns true if packets of the kind have a LIP. */
static inline bool vpt_atom_pkt_has_lip(enum vpt_atom_pkt_kind kind)
{
	return kind == VPT_ATOM_PKT_PGE || kind == VPT_ATOM_PKT_PGD ||
	       kind == VPT_ATOM_PKT_BUF_OVF || kind == VPT_ATOM_PKT_PCC ||
	       kind == VPT_ATOM_PKT_FAR || kind == VPT_ATOM_PKT_TIP;
}

/*
 * Returns true if a cycle count follows the packet in cycle-accurate mode (4.2.15). `bits` is the
 * number of outcomes of a TNT, and only a full one has a cycle count.
 */
bool vpt_atom_pkt_has_cycles(enum vpt_atom_pkt_kind kind, unsigned int bits);

/*
 * Compute how a LIP is sent (table 18). `last` is RTIT_LAST_LIP[31:0], which is LIP[47:16] (table
 * 9), and `valid` is its bit 32. Returns CNT and ZEXT in *cnt and *zext.
 */
void vpt_atom_lip_compress(uint64_t lip, uint32_t last, bool valid, uint8_t *cnt, bool *zext);

/*
 * Expand a payload to bits 47:0 of the LIP. Returns VPT_E_BAD_PACKET if CNT is reserved, and
 * VPT_E_EOS if the payload needs a last LIP and there is none.
 */
enum vpt_status vpt_atom_lip_expand(const struct vpt_atom_packet *packet, uint32_t last, bool valid,
				    uint64_t *lip) VPT_MUST_CHECK;

/* Returns the address of a 48-bit LIP: bit 47 is copied to the bits above it. */
static inline uint64_t vpt_atom_canonical(uint64_t lip)
{
	return (uint64_t)((int64_t)(lip << 16) >> 16);
}

/*
 * Write a packet, and its cycle count if has_cycles is set, to `buf`, which has VPT_ATOM_PKT_MAX
 * bytes. Bytes of `buf` after the packet may change. Returns the length, or 0 if a field is out of
 * range for its kind. Ignores `size` and fields that do not count.
 */
size_t vpt_atom_packet_write(uint8_t *buf, const struct vpt_atom_packet *packet);

/*
 * Parse the packet at `buf`. `cycle_acc` is RTIT_CTL.Cycle_Acc: the stream has cycle counts, which
 * no byte of the stream says.
 *
 * Returns VPT_OK and *packet with its size. Returns VPT_E_EOS if the `len` bytes end inside the
 * packet, or if len is 0. Returns VPT_E_BAD_PACKET if no packet begins with these bytes; the caller
 * resumes at the next PSB. On an error *packet is unchanged. Reads no byte beyond buf + len.
 */
enum vpt_status vpt_atom_packet_read(const uint8_t *buf, size_t len, bool cycle_acc,
				     struct vpt_atom_packet *packet) VPT_MUST_CHECK;

/* Offset of the first whole PSB in buf, or len if there is none. */
size_t vpt_atom_packet_find_psb(const uint8_t *buf, size_t len);

/*
 * Format a packet as one line for a dump (no newline), cut to fit, like vpt_packet_format().
 *
 *   TNT         !..!		outcomes, oldest first.
 *   FUP.PGE     0z: 0x1000	CNT, z where Zext is set, payload as sent.
 *   MTC         range 0: 0x12	RNG.
 *   STS         0x123 acbr 20 ecbr 20
 *   TIP         2: 0x401000 cyc 17	the cycle count that follows it.
 */
size_t vpt_atom_packet_format(char *text, size_t size, const struct vpt_atom_packet *packet);

VPT_END_DECLS

#endif /* VPT_ATOM_PACKET_H */
