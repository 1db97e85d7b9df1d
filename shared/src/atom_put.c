// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The packet writer of the Atom trace unit, and the registers that a packet changes. */
#include "atom_gen.h"

#define PKT_CNT_BYTES VPT_ATOM_MASK(PKT_CNT, BYTES)

void vpti_atom_forget_lips(struct vpt_atom *a)
{
	a->regs.last_lip = 0;
	a->regs.last_call_nlip = 0;
	a->lag = 0;
}

/* [ATOM-PSB-DUE] For the longest period, Pkt_Mask selects a bit that the register lacks. */
static bool is_due(const struct vpt_atom *a, uint32_t count)
{
	return count >> (11 + VPT_ATOM_GET(PKT_CNT, MASK, a->regs.pkt_cnt)) & 1;
}

static void set_count(struct vpt_atom *a, uint32_t count)
{
	a->regs.pkt_cnt = (a->regs.pkt_cnt & ~(uint32_t)PKT_CNT_BYTES) | (count & PKT_CNT_BYTES);
}

/* [ATOM-PKT-COUNT] Add a packet to Pkt_Cnt. Returns the sum, which may exceed the field. */
static uint32_t count_bytes(struct vpt_atom *a, size_t len)
{
	uint32_t count = (uint32_t)(VPT_ATOM_GET(PKT_CNT, BYTES, a->regs.pkt_cnt) + len);

	set_count(a, count);
	return count;
}

/* Write a packet. Returns the same sum as count_bytes(). */
static uint32_t store(struct vpt_atom *a, const struct vpt_atom_packet *packet, const uint8_t *buf,
		      size_t len)
{
	uint32_t count = count_bytes(a, len);

	/* [ATOM-CYC-RESET] */
	if (packet->has_cycles)
		a->regs.cntp = 0;
	if (vpt_unlikely(a->lose_next)) {
		/* [ATOM-E8] The packet after a PSB of Pkt_Cnt is overwritten by the next one. */
		a->lose_next = false;
		return count;
	}
	if (packet->kind == VPT_ATOM_PKT_TRACE_STOP)
		vpti_atom_out_stop(a, buf[0]);
	else
		vpti_atom_out(a, buf, len);
	return count;
}

/* [ATOM-CYC ATOM-E6] */
static void add_cycles(struct vpt_atom *a, struct vpt_atom_packet *packet)
{
	packet->has_cycles = vpt_atom_pkt_has_cycles(packet->kind, packet->bits);
	if (!packet->has_cycles)
		return;
	packet->cycles = a->regs.cntp;
	if (packet->cycles && vpti_atom_erratum(a, VPT_ATOM_E6))
		packet->cycles--;
}

/* Returns true if there is room. A buffer that never overflows costs one test. */
static inline bool room(struct vpt_atom *a, size_t len)
{
	if (vpt_likely(!a->options.buffer_bytes))
		return !vpti_atom_overflow(a);
	return vpti_atom_room(a, len);
}

/* Send a packet. Returns false if it is lost. `count` returns Pkt_Cnt after the packet. `forced`
 * sends it into a full buffer too. */
static bool send(struct vpt_atom *a, struct vpt_atom_packet *packet, bool forced, uint32_t *count)
{
	uint8_t buf[VPT_ATOM_PKT_MAX];
	size_t len;

	if (VPT_ATOM_GET(CTL, CYCLE_ACC, a->regs.ctl))
		add_cycles(a, packet);
	len = vpt_atom_packet_write(buf, packet);
	if (vpt_unlikely(forced))
		vpti_atom_force(a, len);
	else if (!room(a, len))
		return false;
	*count = store(a, packet, buf, len);
	return true;
}

/*
 * [ATOM-LIP-CLEAR ATOM-LIP-LAG] Send a PSB of Pkt_Cnt. If it does not fit, it is owed and Pkt_Cnt
 * keeps its value.
 */
static void put_due_psb(struct vpt_atom *a)
{
	const uint32_t before = a->regs.pkt_cnt;
	struct vpt_atom_packet packet;
	uint32_t count;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_ATOM_PKT_PSB;
	a->lose_next = false;
	set_count(a, 0);
	a->psb_owed = !send(a, &packet, false, &count);
	if (a->psb_owed) {
		a->regs.pkt_cnt = before;
		return;
	}
	if (a->lag || !a->options.clear_lag)
		vpti_atom_forget_lips(a);
	a->lag = a->options.clear_lag;
	a->lose_next = vpti_atom_erratum(a, VPT_ATOM_E8);
}

/* Send the PSB that a packet made due. `count` is Pkt_Cnt after that packet. */
static void packet_is_out(struct vpt_atom *a, uint32_t count)
{
	if (vpt_unlikely(a->lag) && !--a->lag)
		vpti_atom_forget_lips(a);
	if (vpt_unlikely(a->psb_owed))
		put_due_psb(a);
	else if (vpt_unlikely(is_due(a, count)) && vpti_atom_erratum(a, VPT_ATOM_E3))
		a->psb_owed = true; /* [ATOM-E3] */
	else if (vpt_unlikely(is_due(a, count)))
		put_due_psb(a);
}

void vpti_atom_put(struct vpt_atom *a, struct vpt_atom_packet *packet)
{
	uint32_t count;

	if (send(a, packet, false, &count))
		packet_is_out(a, count);
}

/*
 * [ATOM-LIP-LAST] A lost packet does not change LAST_LIP. [ATOM-LIP-CLEAR] LAST_LIP changes before
 * the PSB that this packet makes due clears it.
 */
static bool send_lip(struct vpt_atom *a, enum vpt_atom_pkt_kind kind, uint64_t lip)
{
	const uint32_t last = (uint32_t)VPT_ATOM_GET(LAST_LIP, LIP, a->regs.last_lip);
	const bool valid = VPT_ATOM_GET(LAST_LIP, VALID, a->regs.last_lip);
	struct vpt_atom_packet packet;
	uint32_t count;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = kind;
	vpt_atom_lip_compress(lip, last, valid, &packet.cnt, &packet.zext);
	packet.value = lip & VPT_MASK64(16 * packet.cnt + 15, 0);
	if (!send(a, &packet, false, &count))
		return false;
	a->regs.last_lip = VPT_ATOM_MASK(LAST_LIP, VALID) | lip >> 16;
	packet_is_out(a, count);
	return true;
}

void vpti_atom_put_lip(struct vpt_atom *a, enum vpt_atom_pkt_kind kind, uint64_t lip)
{
	/* [ATOM-TNT-PARTIAL ATOM-STALE-TNT] */
	vpti_atom_put_tnt(a);
	if (!send_lip(a, kind, lip) && kind == VPT_ATOM_PKT_TIP) {
		a->buffer.branched = true;
		a->buffer.branched_to = lip;
	}
}

/* Returns true if a packet needs neither time nor buffer and is not lost. */
static inline bool is_plain(const struct vpt_atom *a)
{
	return !a->slow && !a->lose_next && !vpti_atom_overflow(a);
}

/* [ATOM-OVF-TNT] Outcomes that do not fit stay in TNT_BUFF. */
void vpti_atom_put_tnt(struct vpt_atom *a)
{
	const uint32_t tnt = a->regs.tnt_buff;
	const uint8_t byte = (uint8_t)tnt;
	struct vpt_atom_packet packet;
	uint32_t count;

	if (tnt <= 1)
		return;
	/* Each sixth Jcc. The packet has the form of TNT_BUFF (3.3.13). */
	if (vpt_likely(is_plain(a))) {
		a->regs.tnt_buff = 1;
		count = count_bytes(a, 1);
		vpti_atom_out(a, &byte, 1);
		packet_is_out(a, count);
		return;
	}
	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_ATOM_PKT_TNT;
	packet.bits = (uint8_t)(31 - __builtin_clz(tnt));
	packet.value = tnt & ~((uint32_t)1 << packet.bits);
	if (!send(a, &packet, false, &count))
		return;
	a->regs.tnt_buff = 1;
	packet_is_out(a, count);
}

/* [ATOM-COND ATOM-TNT-FULL] */
void vpti_atom_outcome(struct vpt_atom *a, bool taken)
{
	/* Software may have written a full TNT_BUFF. */
	if (vpt_unlikely(a->regs.tnt_buff >= VPTI_ATOM_TNT_FULL))
		vpti_atom_put_tnt(a);
	/* [ATOM-OVF] */
	if (vpt_unlikely(vpti_atom_overflow(a)))
		return;
	a->regs.tnt_buff = a->regs.tnt_buff << 1 | (uint32_t)taken;
	if (a->regs.tnt_buff >= VPTI_ATOM_TNT_FULL)
		vpti_atom_put_tnt(a);
}

/* [ATOM-PSB-ENABLE ATOM-OVF-PSB ATOM-WHEN-PSB] */
void vpti_atom_put_psb(struct vpt_atom *a)
{
	struct vpt_atom_packet packet;
	uint32_t count;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_ATOM_PKT_PSB;
	a->psb_owed = false;
	a->lose_next = false;
	set_count(a, 0);
	(void)send(a, &packet, true, &count);
	vpti_atom_forget_lips(a);
}

void vpti_atom_psb_if_due(struct vpt_atom *a)
{
	const uint32_t count = (uint32_t)VPT_ATOM_GET(PKT_CNT, BYTES, a->regs.pkt_cnt);

	if (a->trigger_en && !vpti_atom_overflow(a) && is_due(a, count))
		put_due_psb(a);
}

/* [ATOM-STOP] The last packet. No PSB follows, even if one is due. */
bool vpti_atom_put_stop(struct vpt_atom *a, bool forced)
{
	struct vpt_atom_packet packet;
	uint32_t count;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_ATOM_PKT_TRACE_STOP;
	return send(a, &packet, forced, &count);
}
