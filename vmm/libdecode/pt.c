// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Read packets, expand their addresses, and pass each packet on. */
#include "libdecode/pt.h"

#include <string.h>

#include "libdecode/pt_inside.h"
#include "libdecode/pt_time.h"

#define PSB_BYTES   16u
#define BLOCK_SHORT 0x80u /* in block_type: BBP.SZ, items have four bytes */

void dec_pt_configure(struct dec_pt *pt, const struct dec_pt_config *config)
{
	pt->config = *config;
	pt->flow->has_retc = !config->no_retc;
	pt->flow->pops = !config->keeps_ret;
}

void dec_pt_init(struct dec_pt *pt, struct dec_flow *flow, const struct dec_pt_config *config,
		 const struct dec_pt_ops *ops, void *context)
{
	memset(pt, 0, sizeof(*pt));
	pt->flow = flow;
	dec_pt_configure(pt, config);
	pt->ops = ops;
	pt->context = context;
	pt->vmcs = UINT64_MAX;
	pt->mode_told = DEC_PT_UNKNOWN;
}

static VPT_ALWAYS_INLINE enum vptd_status outcomes(struct dec_pt *pt, uint64_t bits, unsigned int n)
{
	if (pt->waits & (W_PSB | W_FUP) || !pt->enabled) {
		if (pt->blind)
			return VPTD_OK;
		/* These outcomes cannot be followed, and are skipped up to the next TIP. */
		if (pt->waits & W_OVF && dec_pt_has(pt, DEC_SKD010)) {
			pt->waits |= W_LATE;
			return VPTD_OK;
		}
		return pt->config.no_flow ? VPTD_OK : VPTD_E_PACKET;
	}
	return dec_flow_outcomes(pt->flow, bits, n);
}

static VPT_ALWAYS_INLINE enum vptd_status ip_packet(struct dec_pt *pt, const struct vpt_packet *p)
{
	bool suppressed = p->ip_bytes == VPT_IP_SUPPRESSED;
	enum vpt_status expanded = vpt_ip_expand(pt->last_ip, p->ip_bytes, p->value, &pt->last_ip);

	if (expanded && !suppressed)
		return VPTD_E_PACKET;
	switch (p->kind) {
	case VPT_PKT_TIP:
		return dec_pt_tip(pt, pt->last_ip, suppressed);
	case VPT_PKT_TIP_PGE:
		return dec_pt_pge(pt, pt->last_ip, suppressed);
	case VPT_PKT_TIP_PGD:
		return dec_pt_pgd(pt, pt->last_ip, suppressed);
	default:
		return dec_pt_fup(pt, pt->last_ip, suppressed);
	}
}

static VPT_ALWAYS_INLINE enum vptd_status mode_tsx(struct dec_pt *pt, unsigned int value)
{
	if (pt->waits & W_PSB) {
		pt->tsx = (uint8_t)value;
		pt->waits |= W_TSX;
		return VPTD_OK;
	}
	/* An abort is a branch: a TIP follows its FUP. */
	if (value & 2 && pt->enabled) {
		pt->waits |= W_ABORT;
		return VPTD_OK;
	}
	dec_pt_alone(pt, (struct vptd_event){.kind = VPTD_EVENT_TSX, .value = value});
	return VPTD_OK;
}

static struct vptd_event block_event(const struct dec_pt *pt)
{
	return (struct vptd_event){.kind = VPTD_EVENT_BLOCK,
				   .value = pt->block_type & ~BLOCK_SHORT,
				   .aux = pt->block_type & BLOCK_SHORT ? 1 : 0};
}

/* A BBP also ends the previous block, which then has no FUP (33.4.2.26). */
static void begin_block(struct dec_pt *pt, const struct vpt_packet *p)
{
	if (pt->block_type)
		dec_pt_emit(pt, block_event(pt));
	pt->block_type = (uint8_t)(p->value | (p->flag ? BLOCK_SHORT : 0));
}

/* Returns the event of a packet whose value and auxiliary value are those of the event. */
static uint8_t event_of(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_PWRX  ? VPTD_EVENT_PWRX
	       : kind == VPT_PKT_MNT ? VPTD_EVENT_MNT
	       : kind == VPT_PKT_BIP ? VPTD_EVENT_ITEM
				     : VPTD_EVENT_STOP;
}

/* Handle packets that change neither the flow nor its address space or mode. */
static VPT_ALWAYS_INLINE enum vptd_status event_packet(struct dec_pt *pt,
						       const struct vpt_packet *p)
{
	struct vptd_event event = {.value = p->value, .aux = p->aux};

	switch (p->kind) {
	case VPT_PKT_EXSTOP:
		event.kind = VPTD_EVENT_EXSTOP;
		dec_pt_exstop(pt, event, p->flag);
		return VPTD_OK;
	case VPT_PKT_MWAIT:
		event.kind = VPTD_EVENT_MWAIT;
		dec_pt_mwait(pt, event);
		return VPTD_OK;
	case VPT_PKT_PWRE:
		event.kind = VPTD_EVENT_PWRE;
		event.aux = p->flag;
		break;
	case VPT_PKT_PWRX:
	case VPT_PKT_MNT:
	case VPT_PKT_BIP:
	case VPT_PKT_TRACE_STOP:
		event.kind = event_of(p->kind);
		break;
	case VPT_PKT_CBR:
		event.kind = VPTD_EVENT_CBR;
		event.flags = pt->waits & W_PSB ? VPTD_EV_STATUS : 0;
		break;
	case VPT_PKT_CFE:
	case VPT_PKT_EVD:
		event.kind = p->kind == VPT_PKT_CFE ? VPTD_EVENT_CFE : VPTD_EVENT_EVD;
		dec_pt_cfe(pt, event, p->kind == VPT_PKT_CFE && p->flag);
		return VPTD_OK;
	case VPT_PKT_BBP:
		begin_block(pt, p);
		return VPTD_OK;
	case VPT_PKT_BEP:
		event = block_event(pt);
		pt->block_type = 0;
		break;
	case VPT_PKT_TRIG:
		event.kind = VPTD_EVENT_TRIG;
		dec_pt_catch_up(pt);
		dec_pt_trig(pt, event, p->flag);
		return VPTD_OK;
	default:
		return VPTD_OK;
	}
	if (p->flag && p->kind == VPT_PKT_BEP)
		dec_pt_alone(pt, event);
	else
		dec_pt_emit(pt, event);
	return VPTD_OK;
}

static bool is_timing(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_PAD || kind == VPT_PKT_TSC || kind == VPT_PKT_MTC ||
	       kind == VPT_PKT_TMA || kind == VPT_PKT_CYC || kind == VPT_PKT_CBR;
}

static bool is_tnt(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TNT_8 || kind == VPT_PKT_TNT_64;
}

/* End the waits that this packet decides. */
static VPT_ALWAYS_INLINE enum vptd_status close_waits(struct dec_pt *pt, enum vpt_pkt_kind kind)
{
	if (is_timing(kind))
		return VPTD_OK;
	if (pt->waits & W_PGD) {
		enum vptd_status status = dec_pt_pgd_now(pt, kind);

		if (status)
			return status;
	}
	if (kind != VPT_PKT_TIP_PGD)
		pt->waits &= ~(uint32_t)W_CR3;
	if (pt->waits & W_ERRATA) {
		enum vptd_status status = dec_pt_close_errata(pt, kind);

		if (status)
			return status;
	}
	if (kind != VPT_PKT_PWRE && kind != VPT_PKT_EXSTOP)
		dec_pt_drop_mwait(pt);
	if (kind != VPT_PKT_FUP)
		dec_pt_end_trig(pt, NULL);
	/* No branch followed the waiting packets. VMPTRLD sends a VMCS packet without a branch. */
	if (is_tnt(kind) && !(pt->waits & (W_PSB | W_FUP))) {
		dec_pt_use_bound(pt);
		dec_pt_use_vmcs(pt);
	}
	if (pt->waits & W_ALONE && (is_tnt(kind) || kind == VPT_PKT_TIP ||
				    kind == VPT_PKT_TIP_PGE || kind == VPT_PKT_TIP_PGD))
		dec_pt_drop_alone(pt);
	return VPTD_OK;
}

static VPT_ALWAYS_INLINE enum vptd_status packet(struct dec_pt *pt, const struct vpt_packet *p)
{
	enum vptd_status status = pt->waits ? close_waits(pt, p->kind) : VPTD_OK;

	if (status)
		return status;
	switch (p->kind) {
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		return outcomes(pt, p->value, p->bits);
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		return ip_packet(pt, p);
	case VPT_PKT_PSB:
		dec_pt_psb(pt);
		return VPTD_OK;
	case VPT_PKT_PSBEND:
		return dec_pt_psbend(pt);
	case VPT_PKT_OVF:
		return dec_pt_overflow(pt);
	case VPT_PKT_PIP:
		return dec_pt_pip(pt, p->value, p->flag);
	case VPT_PKT_MODE_EXEC:
		pt->mode_exec = (uint8_t)p->value;
		pt->waits |= W_MODE;
		return VPTD_OK;
	case VPT_PKT_MODE_TSX:
		return mode_tsx(pt, (unsigned int)p->value);
	case VPT_PKT_VMCS:
		return dec_pt_vmcs(pt, p->value);
	case VPT_PKT_PTW:
		return dec_pt_ptwrite(pt, p);
	default:
		return event_packet(pt, p);
	}
}

/* Returns the end of the pairs of bytes 02H 82H from @at on. A PSB has eight pairs. */
static size_t end_of_pairs(const uint8_t *bytes, size_t len, size_t at)
{
	while (len - at >= 2 && bytes[at] == 0x02 && bytes[at + 1] == 0x82)
		at += 2;
	return at;
}

/*
 * Skip to the next PSB. Returns the bytes used. Bytes that may begin a PSB are left. A PSB is the
 * last eight of a row of pairs, so the bytes after the row must be present.
 */
static size_t find_psb(struct dec_pt *pt, const uint8_t *bytes, size_t len)
{
	size_t at = vpt_packet_find_psb(bytes, len), end;

	if (at < len) {
		end = end_of_pairs(bytes, len, at);
		if (end == len || (end + 1 == len && bytes[end] == 0x02))
			return end - PSB_BYTES;
		pt->synced = false;
		pt->waits = W_PSB;
		return at;
	}
	return len > VPT_PKT_MAX - 1 ? len - (VPT_PKT_MAX - 1) : 0;
}

/*
 * Skip a wrong TMA, which has an additional byte. Only a TMA with reserved bits set can be
 * recognised as wrong.
 */
static enum vpt_status skip_wrong_tma(const uint8_t *bytes, size_t len, struct vpt_packet *p)
{
	if (!bytes[4] && !(bytes[6] & 0xfe))
		return VPT_OK;
	if (len <= p->size)
		return VPT_E_EOS;
	*p = (struct vpt_packet){.kind = VPT_PKT_PAD, .size = p->size + 1};
	return VPT_OK;
}

/*
 * Read a packet. A CYC that an OVF has cut looks like a CYC whose second byte is the OVF's first.
 * Two consecutive CYCs do not exist, so the OVF's second byte, which would be another CYC, reveals
 * the cut.
 */
static VPT_ALWAYS_INLINE enum vpt_status read_packet(struct dec_pt *pt, const uint8_t *bytes,
						     size_t len, struct vpt_packet *p)
{
	enum vpt_status status = vpt_packet_read(&pt->parser, bytes, len, p);

	if (!status && p->kind == VPT_PKT_TMA && dec_pt_has(pt, DEC_SKZ84))
		return skip_wrong_tma(bytes, len, p);
	if (status || p->kind != VPT_PKT_CYC || p->size != 2 || bytes[1] != 0x02 ||
	    !dec_pt_has(pt, DEC_SKD007))
		return status;
	if (len == 2)
		return VPT_E_EOS;
	if (bytes[2] == 0xf3)
		*p = (struct vpt_packet){.kind = VPT_PKT_OVF, .size = 3};
	return VPT_OK;
}

/*
 * Handle a wrong packet. The earlier outcomes are used first. An error in their code is reported
 * instead.
 */
static VPT_COLD enum vptd_status bad_packet(struct dec_pt *pt)
{
	enum vptd_status status = VPTD_OK;

	if (pt->enabled && pt->flow->nbits)
		status = dec_flow_drain(pt->flow);
	return status > VPTD_STUCK ? status : VPTD_E_PACKET;
}

/*
 * Decode one step of the bytes. This function and its callees are inlined twice, so that a decoder
 * without time does not pay for time.
 */
static VPT_ALWAYS_INLINE size_t any_step(struct dec_pt *pt, const uint8_t *bytes, size_t len,
					 bool timed)
{
	enum vptd_status status = VPTD_OK;
	struct vpt_packet p;
	size_t used;

	if (!pt->synced && !(pt->waits & W_PSB)) {
		used = find_psb(pt, bytes, len);
		pt->offset += used;
		if (!(pt->waits & W_PSB))
			return used;
		bytes += used;
		len -= used;
	} else {
		used = 0;
	}
	if (pt->enabled && !pt->waits && !pt->parser.in_block && !pt->blind) {
		size_t plain = dec_pt_plain(pt, bytes, len, &status);

		if (plain) {
			if (status)
				dec_pt_desync(pt, status);
			return used + plain;
		}
	}
	switch (read_packet(pt, bytes, len, &p)) {
	case VPT_OK:
		pt->offset += p.size;
		used += p.size;
		if (timed)
			status = dec_pt_time_before(pt, &p);
		if (!status)
			status = packet(pt, &p);
		if (timed)
			dec_pt_time_after(pt, &p);
		break;
	case VPT_E_EOS:
		return used;
	default:
		status = VPTD_E_PACKET;
		pt->offset++;
		used++;
	}
	if (!status && pt->no_memory)
		status = VPTD_E_MEMORY;
	if (status == VPTD_E_PACKET)
		status = bad_packet(pt);
	if (status)
		dec_pt_desync(pt, status);
	return used;
}

static VPT_NOINLINE size_t step(struct dec_pt *pt, const uint8_t *bytes, size_t len)
{
	return any_step(pt, bytes, len, false);
}

static VPT_NOINLINE size_t timed_step(struct dec_pt *pt, const uint8_t *bytes, size_t len)
{
	return any_step(pt, bytes, len, true);
}

void dec_pt_push(struct dec_pt *pt, const uint8_t *bytes, size_t len)
{
	struct dec_piece piece = {.left = bytes, .nleft = len};

	while (dec_carry_next(&pt->carry, &piece)) {
		size_t used = pt->timing ? timed_step(pt, piece.at, piece.n)
					 : step(pt, piece.at, piece.n);

		dec_carry_used(&pt->carry, &piece, used);
	}
}

void dec_pt_catch_up(struct dec_pt *pt)
{
	enum vptd_status status = VPTD_OK;

	if (pt->enabled && pt->flow->nbits)
		status = dec_flow_drain(pt->flow);
	if (status > VPTD_STUCK)
		dec_pt_desync(pt, status);
}

void dec_pt_refetch(struct dec_pt *pt)
{
	enum vptd_status status = VPTD_OK;

	if (pt->flow->cur)
		status = dec_flow_jump(pt->flow, pt->flow->ip);
	if (status)
		dec_pt_desync(pt, status);
}

void dec_pt_pause(struct dec_pt *pt)
{
	enum vptd_status status = pt->waits & W_PGD ? dec_pt_pgd_now(pt, VPT_PKT_PAD) : VPTD_OK;

	if (!status && pt->synced)
		status = dec_pt_use_outcomes(pt);
	if (status)
		dec_pt_desync(pt, status);
}

/* Run the branches of TIP packets that were deferred beyond the end (33.4.2.3). */
static enum vptd_status drain_at_end(struct dec_pt *pt)
{
	enum vptd_status status;

	if (!pt->synced || !pt->enabled || !pt->flow->nbits)
		return VPTD_OK;
	status = dec_flow_drain(pt->flow);
	return status == VPTD_STUCK ? dec_flow_finish(pt->flow) : status;
}

void dec_pt_finish(struct dec_pt *pt)
{
	enum vptd_status status = pt->waits & W_PGD ? dec_pt_pgd_now(pt, VPT_PKT_PAD) : VPTD_OK;

	if (!status)
		status = drain_at_end(pt);
	if (!status && pt->no_memory)
		status = VPTD_E_MEMORY;
	dec_pt_drop_waiting(pt);
	dec_pt_end_overflow(pt);
	if (status)
		dec_pt_desync(pt, status);
	pt->synced = false;
	pt->enabled = false;
	pt->blind = false;
	pt->block_type = 0;
	pt->waits = 0;
	pt->mode_told = DEC_PT_UNKNOWN;
	pt->carry.n = 0;
	memset(&pt->parser, 0, sizeof(pt->parser));
	dec_flow_stop(pt->flow);
	if (pt->timing)
		dec_timing_finish(pt->timing, pt->offset);
}
