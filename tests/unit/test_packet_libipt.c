// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets against libipt's packet layer, an independent reading of the manual:
 * it reads what we write, we read what it writes, and on arbitrary bytes both
 * see the same packets.
 */
#include "lib/packets.h"
#include "lib/suite.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

/* libipt's side: an encoder and a decoder over the same 64 bytes. */
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

/* libipt 2.0.5 has none of the later packets. */
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
 * A packet without what libipt 2.0.5 has no room for, MODE.Exec.IF and PWRX's timer
 * wake, and without PWRE.HW, which it takes for bit 3 (table 33-43: bit 7).
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

static void to_peer(const struct vpt_packet *p, struct pt_packet *q)
{
	memset(q, 0, sizeof(*q));
	q->type = peer_type(p->kind);
	switch (q->type) {
	case ppt_tnt_8:
	case ppt_tnt_64:
		q->payload.tnt.bit_size = p->bits;
		q->payload.tnt.payload = p->value;
		break;
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
	case ppt_fup:
		q->payload.ip.ipc = (enum pt_ip_compression)p->ip_bytes;
		q->payload.ip.ip = p->value;
		break;
	case ppt_mode:
		if (p->kind == VPT_PKT_MODE_EXEC) {
			q->payload.mode.leaf = pt_mol_exec;
			q->payload.mode.bits.exec.csl = p->value & 1;
			q->payload.mode.bits.exec.csd = p->value >> 1 & 1;
		} else {
			q->payload.mode.leaf = pt_mol_tsx;
			q->payload.mode.bits.tsx.intx = p->value & 1;
			q->payload.mode.bits.tsx.abrt = p->value >> 1 & 1;
		}
		break;
	case ppt_pip:
		q->payload.pip.cr3 = p->value;
		q->payload.pip.nr = p->flag;
		break;
	case ppt_vmcs:
		q->payload.vmcs.base = p->value;
		break;
	case ppt_cbr:
		q->payload.cbr.ratio = (uint8_t)p->value;
		break;
	case ppt_tsc:
		q->payload.tsc.tsc = p->value;
		break;
	case ppt_tma:
		q->payload.tma.ctc = (uint16_t)p->value;
		q->payload.tma.fc = p->aux;
		break;
	case ppt_mtc:
		q->payload.mtc.ctc = (uint8_t)p->value;
		break;
	case ppt_cyc:
		q->payload.cyc.value = p->value;
		break;
	case ppt_mnt:
		q->payload.mnt.payload = p->value;
		break;
	case ppt_exstop:
		q->payload.exstop.ip = p->flag;
		break;
	case ppt_mwait:
		q->payload.mwait.hints = (uint32_t)p->value;
		q->payload.mwait.ext = p->aux;
		break;
	case ppt_pwre:
		q->payload.pwre.state = (uint8_t)(p->value >> 4);
		q->payload.pwre.sub_state = p->value & 0xf;
		break;
	case ppt_pwrx:
		q->payload.pwrx.last = (uint8_t)(p->value >> 4);
		q->payload.pwrx.deepest = p->value & 0xf;
		q->payload.pwrx.interrupt = p->aux & 1;
		q->payload.pwrx.store = p->aux >> 2 & 1;
		q->payload.pwrx.autonomous = p->aux >> 3 & 1;
		break;
	case ppt_ptw:
		q->payload.ptw.payload = p->value;
		q->payload.ptw.plc = p->bits == 64;
		q->payload.ptw.ip = p->flag;
		break;
	default:
		break;
	}
}

/* Member by member: padding and the union's rest are not the packet's. */
static bool same_to_peer(const struct pt_packet *a, const struct pt_packet *b)
{
	if (a->type != b->type)
		return false;
#define SAME(member) (a->payload.member == b->payload.member)
	switch (a->type) {
	case ppt_tnt_8:
	case ppt_tnt_64:
		return SAME(tnt.bit_size) && SAME(tnt.payload);
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
	case ppt_fup:
		return SAME(ip.ipc) && SAME(ip.ip);
	case ppt_mode:
		if (!SAME(mode.leaf))
			return false;
		if (a->payload.mode.leaf == pt_mol_exec)
			return SAME(mode.bits.exec.csl) && SAME(mode.bits.exec.csd);
		return SAME(mode.bits.tsx.intx) && SAME(mode.bits.tsx.abrt);
	case ppt_pip:
		return SAME(pip.cr3) && SAME(pip.nr);
	case ppt_vmcs:
		return SAME(vmcs.base);
	case ppt_cbr:
		return SAME(cbr.ratio);
	case ppt_tsc:
		return SAME(tsc.tsc);
	case ppt_tma:
		return SAME(tma.ctc) && SAME(tma.fc);
	case ppt_mtc:
		return SAME(mtc.ctc);
	case ppt_cyc:
		return SAME(cyc.value);
	case ppt_mnt:
		return SAME(mnt.payload);
	case ppt_exstop:
		return SAME(exstop.ip);
	case ppt_mwait:
		/* libipt keeps the reserved bits. */
		return !((a->payload.mwait.hints ^ b->payload.mwait.hints) & 0xff) &&
		       !((a->payload.mwait.ext ^ b->payload.mwait.ext) & 3);
	case ppt_pwre:
		return SAME(pwre.state) && SAME(pwre.sub_state);
	case ppt_pwrx:
		return SAME(pwrx.last) && SAME(pwrx.deepest) && SAME(pwrx.interrupt) &&
		       SAME(pwrx.store) && SAME(pwrx.autonomous);
	case ppt_ptw:
		return SAME(ptw.payload) && SAME(ptw.plc) && SAME(ptw.ip);
	default:
		return true;
	}
#undef SAME
}

/* libipt takes CYCs of up to nine bytes, 61 bits. */
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
	/* libipt reads what we write, */
	to_peer(packet, &want);
	memset(peer->buf, 0, sizeof(peer->buf));
	len = vpt_packet_write(peer->buf, packet);
	ck_assert_int_eq(peer_read(peer, &read), (int)len);
	ck_assert(same_to_peer(&read, &want));
	/* and writes what we read, which are the same bytes. */
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

/* All beginnings of two bytes with random tails. */
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

Suite *test_suite(void)
{
	Suite *suite = suite_create("packet-libipt");
	TCase *tc = tcase_create("libipt");

	tcase_set_timeout(tc, 60);
	for (int kind = 0; kind < VPT_PKT_COUNT; kind++) {
		if (peer_type((enum vpt_pkt_kind)kind))
			tcase_add_loop_test(tc, libipt_agrees, kind, kind + 1);
	}
	tcase_add_loop_test(tc, libipt_sees_the_same_packets, 0, 8);
	suite_add_tcase(suite, tc);
	return suite;
}
