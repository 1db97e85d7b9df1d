// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What the generator sends, packet by packet, and the state that compresses it. */
#include "gen.h"

void vpt_gen_output_events(struct vpt_pt *pt, unsigned int events)
{
	/* [GEN-STOP-BEFORE-INT] A handler that looks finds Stopped set. */
	if (events & VPT_OUT_ERROR)
		vpt_gen_halt(pt, VPT_STATUS_MASK(ERROR));
	else if (events & VPT_OUT_STOP)
		vpt_gen_halt(pt, VPT_STATUS_MASK(STOPPED));
	if (events & VPT_OUT_INT) {
		/* [GEN-PEND-PMI] */
		if (VPT_CTL_GET(pt->rtit.ctl, INJECT_PSB_PMI))
			pt->rtit.status |= VPT_STATUS_MASK(PEND_TOPA_PMI);
		if (pt->ops->pmi)
			pt->ops->pmi(pt->opaque);
	}
}

/*
 * [GEN-TNT-SIZE] Short packets carry six outcomes a byte, a long one 47 in eight:
 * up to 42 outcomes short packets are no longer than a long one.
 */
void vpt_gen_flush_tnt(struct vpt_pt *pt)
{
	uint64_t tnt = pt->tnt;
	uint8_t buf[VPT_PKT_MAX];
	size_t len = 0;
	unsigned int left;

	if (tnt == 1)
		return;
	pt->tnt = 1;
	left = vpt_msb(tnt);
	if (left > 7 * VPT_TNT8_MAX) {
		vpt_gen_put(pt, buf, vpt_encode_tnt64(buf, tnt));
		return;
	}
	while (left) {
		unsigned int bits = left < VPT_TNT8_MAX ? left : VPT_TNT8_MAX;

		left -= bits;
		len += vpt_encode_tnt8(buf + len,
				       VPT_BIT64(bits) | (tnt >> left & (VPT_BIT64(bits) - 1)));
	}
	vpt_gen_put(pt, buf, len);
}

void vpt_gen_packet(struct vpt_pt *pt, enum vpt_pkt_kind kind, uint64_t value, bool flag)
{
	uint8_t buf[VPT_PKT_MAX];
	struct vpt_packet packet;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = kind;
	packet.value = value;
	packet.flag = flag;
	vpt_gen_flush_tnt(pt); /* [GEN-TNT-ORDER] */
	vpt_gen_put(pt, buf, vpt_packet_write(buf, &packet));
}

void vpt_gen_ip(struct vpt_pt *pt, enum vpt_ip_opcode op, uint64_t ip)
{
	uint8_t buf[VPT_PKT_MAX];
	enum vpt_ip_bytes ip_bytes;

	if (pt->tnt != 1)
		vpt_gen_flush_tnt(pt);
	ip = (ip + pt->ip_base) & pt->ip_mask;
	/*
	 * [GEN-LAST-IP] A decoder that joins at a PSB takes the last IP to be 0.
	 * Where it cannot know one at all, after an overflow or in a new session,
	 * the IP goes out whole.
	 */
	if (vpt_likely(pt->last_ip_valid))
		ip_bytes = vpt_ip_compress(ip, pt->last_ip);
	else if ((uint64_t)((int64_t)(ip << 16) >> 16) == ip)
		ip_bytes = VPT_IP_SEXT_48;
	else
		ip_bytes = VPT_IP_FULL;
	pt->last_ip = ip;
	pt->last_ip_valid = true;
	vpt_gen_put(pt, buf, vpt_encode_ip(buf, op, ip_bytes, ip));
}

void vpt_gen_ip_suppressed(struct vpt_pt *pt, enum vpt_ip_opcode op)
{
	uint8_t buf[VPT_PKT_MAX];

	vpt_gen_flush_tnt(pt);
	vpt_gen_put(pt, buf, vpt_encode_ip(buf, op, VPT_IP_SUPPRESSED, 0));
}

/* [GEN-PIP] The low address bits count under PAE paging only (33.4.2.7). */
void vpt_gen_pip_nr(struct vpt_pt *pt, const struct vpt_context *ctx, bool nr)
{
	uint64_t address = ctx->cr3 & VPT_MASK64(51, ctx->pae ? 5 : 12);

	if (pt->context_en && VPT_CTL_GET(pt->rtit.ctl, OS))
		vpt_gen_packet(pt, VPT_PKT_PIP, address, nr);
}

/* In non-root operation, and nothing hides it from the trace? */
static bool shows_non_root(const struct vpt_pt *pt)
{
	return pt->vmx.non_root && !(pt->vmx.controls & VPT_VMX_EXEC_CONCEAL);
}

/* [VMX-EXEC-CONCEAL] */
void vpt_gen_pip(struct vpt_pt *pt, const struct vpt_context *ctx)
{
	vpt_gen_pip_nr(pt, ctx, shows_non_root(pt));
}

/* [VMX-NO-VMCS] The pointer is all ones where there is none, as far as it is sent. */
void vpt_gen_vmcs(struct vpt_pt *pt)
{
	if (pt->context_en)
		vpt_gen_packet(pt, VPT_PKT_VMCS, pt->vmx.vmcs & VPT_VMCS_POINTER, false);
}

static uint32_t mode_of(const struct vpt_pt *pt, const struct vpt_context *ctx)
{
	bool l = ctx->cs_l && ctx->lma;
	uint32_t mode = (uint32_t)l | (uint32_t)(ctx->cs_d && !l) << 1;

	/* [GEN-MODE-IF] IF is part of the packet where event trace exists. */
	if (vpt_caps_has(pt->caps, VPT_CAP_EVENT))
		mode |= (uint32_t)ctx->intr_flag << 2;
	return mode;
}

/* [GEN-MODE-EXEC] IF alone is no reason to send one without event trace. */
bool vpt_gen_mode_known(const struct vpt_pt *pt, const struct vpt_context *ctx)
{
	return pt->mode_exec != VPT_MODE_UNKNOWN && !((pt->mode_exec ^ mode_of(pt, ctx)) & 3);
}

void vpt_gen_mode_exec(struct vpt_pt *pt, const struct vpt_context *ctx)
{
	if (vpt_gen_mode_known(pt, ctx))
		return;
	pt->mode_exec = mode_of(pt, ctx);
	vpt_gen_packet(pt, VPT_PKT_MODE_EXEC, pt->mode_exec, false);
}

void vpt_gen_timing(struct vpt_pt *pt, const struct vpt_context *ctx)
{
	if (VPT_CTL_GET(pt->rtit.ctl, TSC_EN))
		vpt_gen_packet(pt, VPT_PKT_TSC, ctx->tsc & VPT_MASK64(55, 0), false);
	vpt_gen_packet(pt, VPT_PKT_CBR, ctx->cbr, false);
}

/* [GEN-TIMING] Without TSCEn there is nothing to say. */
void vpt_pt_timing(struct vpt_pt *pt)
{
	struct vpt_context ctx;

	if (!pt->trigger_en || !VPT_CTL_GET(pt->rtit.ctl, TSC_EN))
		return;
	pt->ops->context(pt->opaque, &ctx);
	vpt_gen_timing(pt, &ctx);
}

/*
 * [GEN-PSB-PLUS] The status a decoder needs to join here. Nothing before a PSB
 * is needed after it, so all compression starts over.
 */
void vpt_gen_psb_plus(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip)
{
	vpt_gen_flush_tnt(pt);
	pt->psb_bytes = 0;
	pt->rtit.status &= ~VPT_STATUS_MASK(PEND_PSB);
	vpt_gen_packet(pt, VPT_PKT_PSB, 0, false);
	pt->last_ip = 0;
	pt->last_ip_valid = true;
	vpt_retstack_clear(&pt->retstack); /* [GEN-RETC-RESET] */

	vpt_gen_timing(pt, ctx);
	vpt_gen_pip(pt, ctx);
	if (pt->vmx.on && (!pt->vmx.non_root || shows_non_root(pt))) /* [VMX-PSB-VMCS] */
		vpt_gen_vmcs(pt);
	if (pt->context_en && pt->branch_en)
		vpt_gen_packet(pt, VPT_PKT_MODE_TSX, ctx->in_tx, false);
	if (pt->packet_en) {
		pt->mode_exec = VPT_MODE_UNKNOWN;
		vpt_gen_mode_exec(pt, ctx);
		vpt_gen_ip(pt, VPT_OP_FUP, ip);
	}
	vpt_gen_packet(pt, VPT_PKT_PSBEND, 0, false);
}

/* [GEN-PSB-PERIOD] Callers are between two instructions. */
void vpt_gen_psb_if_due(struct vpt_pt *pt, uint64_t ip)
{
	struct vpt_context ctx;

	if (vpt_likely(pt->psb_bytes < pt->psb_period) || !pt->trigger_en)
		return;
	pt->ops->context(pt->opaque, &ctx);
	vpt_gen_psb_plus(pt, &ctx, ip);
}
