// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packets of the trace, and the state that compresses them. Time is gen_timing.c's. */
#include "gen_packet.h"

/* In each TIP's way: here it is inlined. */
static inline size_t make_ip(struct vpt_pt *pt, uint8_t *buf, enum vpt_ip_opcode op, uint64_t ip)
{
	enum vpt_ip_bytes ip_bytes;

	ip = vpti_gen_payload_ip(pt, ip);
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
	return vpt_encode_ip(buf, op, ip_bytes, ip);
}

void vpti_gen_ip(struct vpt_pt *pt, enum vpt_ip_opcode op, uint64_t ip)
{
	uint8_t buf[VPT_PKT_MAX];

	if (pt->gate.tnt != 1)
		vpti_gen_flush_tnt(pt);
	if (op != VPT_OP_FUP)
		vpti_gen_eligible(pt);
	vpti_gen_put(pt, buf, make_ip(pt, buf, op, ip));
}

void vpti_gen_defer_tip(struct vpt_pt *pt, uint64_t to)
{
	struct vpt_pt_defer *defer = &pt->defer;
	bool full = sizeof(defer->bytes) - defer->len < VPT_PKT_MAX;

	/* [DEFER-CYC] The time of a TIP is told by the CYC before it. */
	if (pt->gate.tnt == 1 || full || pt->time.cyc_en || pt->dis_tnt) {
		vpti_gen_ip(pt, VPT_OP_TIP, to);
		return;
	}
	defer->len += (uint16_t)make_ip(pt, defer->bytes + defer->len, VPT_OP_TIP, to);
	pt->tips_wait = true;
}

void vpti_gen_ip_suppressed(struct vpt_pt *pt, enum vpt_ip_opcode op)
{
	uint8_t buf[VPT_PKT_MAX];

	vpti_gen_flush_tnt(pt);
	if (op != VPT_OP_FUP)
		vpti_gen_eligible(pt);
	vpti_gen_put(pt, buf, vpt_encode_ip(buf, op, VPT_IP_SUPPRESSED, 0));
}

/* [GEN-PIP] The low address bits count under PAE paging only (33.4.2.7). */
void vpti_gen_pip_nr(struct vpt_pt *pt, const struct vpt_context *ctx, bool nr)
{
	uint64_t address = ctx->cr3 & VPT_MASK64(51, ctx->pae ? 5 : 12);

	if (!pt->context_en || !VPT_CTL_GET(pt->rtit.ctl, OS))
		return;
	if (vpt_unlikely(pt->options.buffer_bytes))
		vpti_gen_reserve(pt);
	vpti_gen_packet(pt, VPT_PKT_PIP, address, nr);
}

/* In non-root operation, and nothing hides it from the trace? */
static bool shows_non_root(const struct vpt_pt *pt)
{
	return pt->vmx.non_root && !pt->in_smm && !(pt->vmx.controls & VPT_VMX_EXEC_CONCEAL);
}

/* [VMX-EXEC-CONCEAL] */
void vpti_gen_pip(struct vpt_pt *pt, const struct vpt_context *ctx)
{
	vpti_gen_pip_nr(pt, ctx, shows_non_root(pt));
}

/* [VMX-NO-VMCS] The pointer is all ones where there is none, as far as it is sent. */
void vpti_gen_vmcs(struct vpt_pt *pt)
{
	if (pt->context_en)
		vpti_gen_packet(pt, VPT_PKT_VMCS, pt->vmx.vmcs & VPTI_VMCS_POINTER, false);
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

/* [GEN-MODE-EXEC] IF is a reason to send one with event trace only, the rest with branches. */
bool vpti_gen_mode_known(const struct vpt_pt *pt, const struct vpt_context *ctx)
{
	uint32_t counts = pt->branch_en ? 3 : 0;

	if (VPT_CTL_GET(pt->rtit.ctl, EVENT_EN))
		counts |= 4;
	return pt->mode_exec != VPT_MODE_UNKNOWN && !((pt->mode_exec ^ mode_of(pt, ctx)) & counts);
}

void vpti_gen_mode_exec(struct vpt_pt *pt, const struct vpt_context *ctx)
{
	if (vpti_gen_mode_known(pt, ctx))
		return;
	pt->mode_exec = mode_of(pt, ctx);
	vpti_gen_packet(pt, VPT_PKT_MODE_EXEC, pt->mode_exec, false);
}

void vpti_gen_mode_alone(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip)
{
	/* [EVT-IF-FAR EVT-IF-RESUME] What is told holds for the IP that follows. */
	if (pt->branch_en || !VPT_CTL_GET(pt->rtit.ctl, EVENT_EN) || !pt->context_en ||
	    !pt->filter_en || vpti_gen_mode_known(pt, ctx))
		return;
	vpti_gen_mode_exec(pt, ctx);
	vpti_gen_ip(pt, VPT_OP_FUP, ip);
}

/*
 * [GEN-PSB-PLUS] The status a decoder needs to join here. Nothing before a PSB
 * is needed after it, so all compression starts over.
 */
void vpti_gen_psb_plus(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip)
{
	uint64_t pending =
		VPT_CTL_GET(pt->rtit.ctl, INJECT_PSB_PMI) ? VPT_STATUS_MASK(PEND_PSB) : 0;

	vpti_gen_flush_tnt(pt);
	if (!pt->trigger_en) /* [EN-FROZEN] PacketByteCnt and PendPSB keep their values. */
		return;
	/* [PRES-PSB-KEPT PRES-OFF] It stays pending where the trace ends before its last byte. */
	pt->rtit.status |= pending;
	pt->psb_bytes = 0;
	vpti_gen_packet(pt, VPT_PKT_PSB, 0, false);
	pt->last_ip = 0;
	pt->last_ip_valid = true;
	vpt_retstack_clear(&pt->retstack); /* [GEN-RETC-RESET] */

	vpti_gen_timing(pt, ctx);
	vpti_gen_pip(pt, ctx);
	/* [VMX-PSB-VMCS SMM-NOT-VMX] */
	if (pt->vmx.on && !pt->in_smm && (!pt->vmx.non_root || shows_non_root(pt)))
		vpti_gen_vmcs(pt);
	if (pt->context_en && pt->branch_en)
		vpti_gen_packet(pt, VPT_PKT_MODE_TSX, ctx->in_tx, false);
	/* A decoder that starts here knows no mode. MODE.Exec is sent now, or with the next TIP.PGE. */
	pt->mode_exec = VPT_MODE_UNKNOWN;
	if (pt->packet_en) {
		vpti_gen_mode_exec(pt, ctx);
		vpti_gen_ip(pt, VPT_OP_FUP, ip);
	}
	vpti_gen_packet(pt, VPT_PKT_PSBEND, 0, false);
	if (pt->context_en && !pt->buffer.overflow)
		pt->buffer.state_lost = false;
	if (pt->trigger_en)
		pt->rtit.status &= ~pending; /* [PRES-PSB-KEPT] */
}

/* [GEN-PSB-PERIOD] Callers are between two instructions. */
void vpti_gen_psb_due(struct vpt_pt *pt, uint64_t ip)
{
	struct vpt_context ctx;

	/* [BUF-BYTE-CNT] */
	if (pt->buffer.overflow)
		return;
	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_psb_plus(pt, &ctx, ip);
	vpti_gen_update(pt);
}
