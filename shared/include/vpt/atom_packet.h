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
 * A packet taken apart. Which fields count depends on `kind`; the rest is 0.
 *
 *   TNT          value: outcomes, youngest in bit 0, oldest at bits - 1; bits: how many
 *   PGE PGD BUF_OVF PCC FAR TIP
 *                cnt, zext; value: the payload bytes as sent (not expanded)
 *   PIP          value: CR3[39:0]; flag: CR0.PG
 *   MTC          value: 8 bits of the TSC; aux: RNG
 *   STS          value: TSC[39:0]; aux: ACBR | ECBR << 8
 *   PSB, TRACE_STOP  nothing
 *
 * has_cycles, cycles: the cycle count that follows it, which is part of the packet here and
 * of `size` (4.2.14).
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

/* Name as the document spells it: "FUP.PGE" and so on; "?" for a kind that does not exist. */
const char *vpt_atom_pkt_name(enum vpt_atom_pkt_kind kind);

/* Does it carry a LIP? */
static inline bool vpt_atom_pkt_has_lip(enum vpt_atom_pkt_kind kind)
{
	return kind == VPT_ATOM_PKT_PGE || kind == VPT_ATOM_PKT_PGD ||
	       kind == VPT_ATOM_PKT_BUF_OVF || kind == VPT_ATOM_PKT_PCC ||
	       kind == VPT_ATOM_PKT_FAR || kind == VPT_ATOM_PKT_TIP;
}

/*
 * Is it followed by a cycle count in cycle accurate mode (4.2.15)? `bits` counts for TNT,
 * of which only full ones are.
 */
bool vpt_atom_pkt_has_cycles(enum vpt_atom_pkt_kind kind, unsigned int bits);

/*
 * RTIT_LAST_LIP's bits 31:0 as the document has them (table 9): LIP[47:16]. How a LIP is sent
 * after it (table 18): cnt and zext; `valid`: the register's bit 32.
 */
void vpt_atom_lip_compress(uint64_t lip, uint32_t last, bool valid, uint8_t *cnt, bool *zext);

/*
 * The other way round: bits 47:0 of the LIP. VPT_E_BAD_PACKET: CNT is reserved;
 * VPT_E_EOS: it leans on a last LIP and there is none.
 */
enum vpt_status vpt_atom_lip_expand(const struct vpt_atom_packet *packet, uint32_t last, bool valid,
				    uint64_t *lip) VPT_MUST_CHECK;

/* Bit 47 upwards: what a 48-bit LIP is as an address. */
static inline uint64_t vpt_atom_canonical(uint64_t lip)
{
	return (uint64_t)((int64_t)(lip << 16) >> 16);
}

/*
 * Write a packet, and its cycle count if has_cycles, to `buf`, VPT_ATOM_PKT_MAX bytes long;
 * what lies behind it there may change. Returns the length, or 0 if a field is out of range
 * for its kind. `size` and fields that do not count are ignored.
 */
size_t vpt_atom_packet_write(uint8_t *buf, const struct vpt_atom_packet *packet);

/*
 * Parse the packet at `buf`. `cycle_acc`: the stream has cycle counts (RTIT_CTL.Cycle_Acc),
 * which no byte of it tells. VPT_OK and *packet with its size; VPT_E_EOS if the `len` bytes
 * end inside of a packet (or len is 0); VPT_E_BAD_PACKET if no packet begins like this. On an
 * error *packet is unchanged; to go on look for the next PSB. Reads no byte beyond buf + len.
 */
enum vpt_status vpt_atom_packet_read(const uint8_t *buf, size_t len, bool cycle_acc,
				     struct vpt_atom_packet *packet) VPT_MUST_CHECK;

/* Offset of the first whole PSB in buf, or len if there is none. */
size_t vpt_atom_packet_find_psb(const uint8_t *buf, size_t len);

/*
 * One line about a packet for a dump (no newline), cut to fit; like vpt_packet_format():
 *
 *   TNT         !..!		outcomes, oldest first
 *   FUP.PGE     0z: 0x1000	CNT, z where Zext is set, payload as sent
 *   MTC         range 0: 0x12	RNG
 *   STS         0x123 acbr 20 ecbr 20
 *   TIP         2: 0x401000 cyc 17	the cycle count that follows it
 */
size_t vpt_atom_packet_format(char *text, size_t size, const struct vpt_atom_packet *packet);

VPT_END_DECLS

#endif /* VPT_ATOM_PACKET_H */
