// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare packets with libipt's packet layer, an independent implementation of the manual. Each
 * library reads the packets that the other one writes. Both read the same packets from any bytes.
 */
#include "lib/packets.h"
#include "lib/suite.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

/* libipt's encoder and decoder share these 64 bytes. */
struct peer {
	uint8_t buf[64];
	struct pt_encoder *encoder;
	struct pt_packet_decoder *decoder;
};

static void peer_init(struct peer *peer)
{
	struct pt_config config;

	memset(peer, 0, sizeof(*peer));
	pt_config_init(&config);
	config.begin = peer->buf;
	config.end = peer->buf + sizeof(peer->buf);
	peer->encoder = pt_alloc_encoder(&config);
	peer->decoder = pt_pkt_alloc_decoder(&config);
	ck_assert_ptr_nonnull(peer->encoder);
	ck_assert_ptr_nonnull(peer->decoder);
}

static void peer_fini(struct peer *peer)
{
	pt_free_encoder(peer->encoder);
	pt_pkt_free_decoder(peer->decoder);
}

static int peer_read(struct peer *peer, struct pt_packet *packet)
{
	ck_assert_int_eq(pt_pkt_sync_set(peer->decoder, 0), 0);
	memset(packet, 0, sizeof(*packet));
	return pt_pkt_next(peer->decoder, packet, sizeof(*packet));
}

/* Return the type of a kind in libipt 2.0.5, or 0 if libipt does not know the kind. */
static enum pt_packet_type peer_type(enum vpt_pkt_kind kind)
{
	static const enum pt_packet_type types[VPT_PKT_COUNT] = {
		[VPT_PKT_PAD] = ppt_pad,	 [VPT_PKT_PSB] = ppt_psb,
		[VPT_PKT_PSBEND] = ppt_psbend,	 [VPT_PKT_TNT_8] = ppt_tnt_8,
		[VPT_PKT_TNT_64] = ppt_tnt_64,	 [VPT_PKT_TIP] = ppt_tip,
		[VPT_PKT_TIP_PGE] = ppt_tip_pge, [VPT_PKT_TIP_PGD] = ppt_tip_pgd,
		[VPT_PKT_FUP] = ppt_fup,	 [VPT_PKT_PIP] = ppt_pip,
		[VPT_PKT_MODE_EXEC] = ppt_mode,	 [VPT_PKT_MODE_TSX] = ppt_mode,
		[VPT_PKT_TRACE_STOP] = ppt_stop, [VPT_PKT_CBR] = ppt_cbr,
		[VPT_PKT_TSC] = ppt_tsc,	 [VPT_PKT_MTC] = ppt_mtc,
		[VPT_PKT_TMA] = ppt_tma,	 [VPT_PKT_CYC] = ppt_cyc,
		[VPT_PKT_VMCS] = ppt_vmcs,	 [VPT_PKT_OVF] = ppt_ovf,
		[VPT_PKT_MNT] = ppt_mnt,	 [VPT_PKT_PTW] = ppt_ptw,
		[VPT_PKT_EXSTOP] = ppt_exstop,	 [VPT_PKT_MWAIT] = ppt_mwait,
		[VPT_PKT_PWRE] = ppt_pwre,	 [VPT_PKT_PWRX] = ppt_pwrx,
	};

	return types[kind];
}

/*
 * Return the packet without the fields that libipt 2.0.5 lacks: MODE.Exec.IF and the timer wake of
 * PWRX. PWRE.HW is cleared too: libipt reads bit 3 instead of bit 7 (table 33-43).
 */
static struct vpt_packet known_to_peer(const struct vpt_packet *packet)
{
	struct vpt_packet known = *packet;

	if (known.kind == VPT_PKT_MODE_EXEC)
		known.value &= 3;
	if (known.kind == VPT_PKT_PWRX)
		known.aux &= 0xd;
	if (known.kind == VPT_PKT_PWRE)
		known.flag = false;
	return known;
}

/*
 * The members of libipt's packets by type, the bits to compare, and the value for packet @p. libipt
 * keeps reserved bits of MWAIT. Both leaves of MODE have their bits in the same place.
 */
/* clang-format off */
#define ALL ~0ull
#define MEMBERS(M)                                                             \
	M(ppt_tnt_8, tnt.bit_size, ALL, p->bits)                               \
	M(ppt_tnt_8, tnt.payload, ALL, p->value)                               \
	M(ppt_tnt_64, tnt.bit_size, ALL, p->bits)                              \
	M(ppt_tnt_64, tnt.payload, ALL, p->value)                              \
	M(ppt_tip, ip.ipc, ALL, p->ip_bytes)                                   \
	M(ppt_tip, ip.ip, ALL, p->value)                                       \
	M(ppt_tip_pge, ip.ipc, ALL, p->ip_bytes)                               \
	M(ppt_tip_pge, ip.ip, ALL, p->value)                                   \
	M(ppt_tip_pgd, ip.ipc, ALL, p->ip_bytes)                               \
	M(ppt_tip_pgd, ip.ip, ALL, p->value)                                   \
	M(ppt_fup, ip.ipc, ALL, p->ip_bytes)                                   \
	M(ppt_fup, ip.ip, ALL, p->value)                                       \
	M(ppt_mode, mode.leaf, ALL, leaf_of(p))                                \
	M(ppt_mode, mode.bits.exec.csl, ALL, p->value & 1)                     \
	M(ppt_mode, mode.bits.exec.csd, ALL, p->value >> 1 & 1)                \
	M(ppt_mode, mode.bits.tsx.intx, ALL, p->value & 1)                     \
	M(ppt_mode, mode.bits.tsx.abrt, ALL, p->value >> 1 & 1)                \
	M(ppt_pip, pip.cr3, ALL, p->value)                                     \
	M(ppt_pip, pip.nr, ALL, p->flag)                                       \
	M(ppt_vmcs, vmcs.base, ALL, p->value)                                  \
	M(ppt_cbr, cbr.ratio, ALL, p->value & 0xff)                            \
	M(ppt_tsc, tsc.tsc, ALL, p->value)                                     \
	M(ppt_tma, tma.ctc, ALL, p->value & 0xffff)                            \
	M(ppt_tma, tma.fc, ALL, p->aux)                                        \
	M(ppt_mtc, mtc.ctc, ALL, p->value & 0xff)                              \
	M(ppt_cyc, cyc.value, ALL, p->value)                                   \
	M(ppt_mnt, mnt.payload, ALL, p->value)                                 \
	M(ppt_exstop, exstop.ip, ALL, p->flag)                                 \
	M(ppt_mwait, mwait.hints, 0xff, p->value & 0xffffffff)                 \
	M(ppt_mwait, mwait.ext, 3, p->aux)                                     \
	M(ppt_pwre, pwre.state, ALL, p->value >> 4 & 0xff)                     \
	M(ppt_pwre, pwre.sub_state, ALL, p->value & 0xf)                       \
	M(ppt_pwrx, pwrx.last, ALL, p->value >> 4 & 0xff)                      \
	M(ppt_pwrx, pwrx.deepest, ALL, p->value & 0xf)                         \
	M(ppt_pwrx, pwrx.interrupt, ALL, p->aux & 1)                           \
	M(ppt_pwrx, pwrx.store, ALL, p->aux >> 2 & 1)                          \
	M(ppt_pwrx, pwrx.autonomous, ALL, p->aux >> 3 & 1)                     \
	M(ppt_ptw, ptw.payload, ALL, p->value)                                 \
	M(ppt_ptw, ptw.plc, ALL, p->bits == 64)                                \
	M(ppt_ptw, ptw.ip, ALL, p->flag)
/* clang-format on */

static enum pt_mode_leaf leaf_of(const struct vpt_packet *p)
{
	return p->kind == VPT_PKT_MODE_EXEC ? pt_mol_exec : pt_mol_tsx;
}

static void to_peer(const struct vpt_packet *p, struct pt_packet *q)
{
	memset(q, 0, sizeof(*q));
	q->type = peer_type(p->kind);
#define SET(type_, member, mask, value) \
	if (q->type == (type_))         \
		q->payload.member = (__typeof__(q->payload.member + 0))(value);
	MEMBERS(SET)
#undef SET
}

/* Compare the members of the packet, but not the padding and the rest of the union. */
static bool same_to_peer(const struct pt_packet *a, const struct pt_packet *b)
{
	bool same = a->type == b->type;

#define SAME(type_, member, mask, value) \
	same &= a->type != (type_) || !((a->payload.member ^ b->payload.member) & (mask));
	MEMBERS(SAME)
#undef SAME
	return same;
}

/* libipt reads CYCs of up to nine bytes, which have 61 bits. */
static bool too_long_for_peer(const struct vpt_packet *p)
{
	return p->kind == VPT_PKT_CYC && (p->size > 9 || p->value >> 61);
}

static void compare(const struct vpt_packet *packet, void *opaque)
{
	struct vpt_packet known = known_to_peer(packet), got;
	struct vpt_parser parser = {0};
	uint8_t ours[VPT_PKT_MAX];
	struct peer *peer = opaque;
	struct pt_packet want, read;
	size_t len;

	if (too_long_for_peer(packet))
		return;
	/* libipt reads the packet that libvpt wrote. */
	to_peer(packet, &want);
	memset(peer->buf, 0, sizeof(peer->buf));
	len = vpt_packet_write(peer->buf, packet);
	ck_assert_int_eq(peer_read(peer, &read), (int)len);
	ck_assert(same_to_peer(&read, &want));
	/* libipt writes the same bytes, and libvpt reads them. */
	vpt_packet_write(ours, &known);
	memset(peer->buf, 0, sizeof(peer->buf));
	ck_assert_int_eq(pt_enc_sync_set(peer->encoder, 0), 0);
	ck_assert_int_eq(pt_enc_next(peer->encoder, &want), (int)len);
	ck_assert(!memcmp(peer->buf, ours, len));
	ck_assert_int_eq(vpt_packet_read(&parser, peer->buf, len, &got), VPT_OK);
	ck_assert(test_packet_same(&got, &known));
}

START_TEST(libipt_agrees)
{
	enum vpt_pkt_kind kind = (enum vpt_pkt_kind)_i;
	struct peer peer;

	peer_init(&peer);
	ck_assert_uint_gt(test_each_packet(kind, compare, &peer), 0);
	peer_fini(&peer);
	TEST_PROVES("PKT-PAD PKT-PSB PKT-PSBEND PKT-TNT8 PKT-TNT64 PKT-TIP PKT-TIP-PGE "
		    "PKT-TIP-PGD PKT-FUP PKT-PIP PKT-MODE-EXEC PKT-MODE-TSX PKT-TRACESTOP "
		    "PKT-CBR PKT-TSC PKT-MTC PKT-TMA PKT-CYC PKT-VMCS PKT-OVF PKT-MNT PKT-PTW "
		    "PKT-EXSTOP PKT-MWAIT PKT-PWRE PKT-PWRX");
}
END_TEST

/* Returns true for a packet that libipt 2.0.5 does not know. */
static bool newer_than_peer(const struct vpt_packet *p)
{
	return test_packet_known(p->kind) != TEST_KNOWN_ALL;
}

/* libipt refuses a TMA whose reserved bits are set. */
static bool reserved_to_peer(const struct vpt_packet *p)
{
	return p->kind == VPT_PKT_TMA;
}

/* Row: a seed. All pairs of first bytes, followed by random bytes. */
START_TEST(libipt_sees_the_same_packets)
{
	unsigned int same = 0, bad = 0;
	uint64_t random = (uint64_t)_i;
	struct peer peer;

	peer_init(&peer);
	for (unsigned int prefix = 0; prefix < 0x10000; prefix++) {
		struct vpt_parser parser = {0};
		struct pt_packet theirs, ours;
		struct vpt_packet got;
		enum vpt_status status;
		int size;

		for (unsigned int i = 0; i < sizeof(peer.buf); i += 8)
			vpt_memcpy(peer.buf + i, &(uint64_t){test_random(&random)}, 8);
		peer.buf[0] = (uint8_t)prefix;
		peer.buf[1] = (uint8_t)(prefix >> 8);
		size = peer_read(&peer, &theirs);
		status = vpt_packet_read(&parser, peer.buf, sizeof(peer.buf), &got);
		if (status) {
			ck_assert_msg(status == VPT_E_BAD_PACKET && size < 0,
				      "%02x %02x: ours %d, theirs %d", peer.buf[0], peer.buf[1],
				      status, size);
			bad++;
		} else if (size < 0) {
			ck_assert_msg(newer_than_peer(&got) || reserved_to_peer(&got) ||
					      too_long_for_peer(&got),
				      "%02x %02x: only we read it as %s", peer.buf[0], peer.buf[1],
				      vpt_pkt_name(got.kind));
		} else {
			to_peer(&got, &ours);
			ck_assert_msg(same_to_peer(&ours, &theirs), "%02x %02x: fields of %s",
				      peer.buf[0], peer.buf[1], vpt_pkt_name(got.kind));
			ck_assert_int_eq(got.size, size);
			same++;
		}
	}
	ck_assert_uint_gt(same, 30000);
	ck_assert_uint_gt(bad, 5000);
	peer_fini(&peer);
	TEST_PROVES("PKT-IP-RESERVED PKT-MODE-LEAF PKT-PTW-BYTES PKT-CYC-EXP PKT-RSVD");
}
END_TEST

TEST_SUITE("packet-libipt", NULL, NULL)
{
	tcase_set_timeout(tcase, 60);
	for (int kind = 0; kind < VPT_PKT_COUNT; kind++) {
		if (peer_type((enum vpt_pkt_kind)kind))
			tcase_add_loop_test(tcase, libipt_agrees, kind, kind + 1);
	}
	tcase_add_loop_test(tcase, libipt_sees_the_same_packets, 0, 8);
}
