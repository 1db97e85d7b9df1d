// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The quick path of branches that send packets. A branch takes this path if it sends only TNT, CYC
 * and TIP packets. They must have room, and no PSB may be due.
 */
#include "gen_quick.h"
#include "packet_opcodes.h"

/* Put the gathered outcomes. With DisTNT there are none. */
VPT_NOINLINE void vpti_gen_put_quick_tnt(struct vpt_pt *pt)
{
	vpti_gen_advance(pt, vpti_gen_encode_tnt(pt->out.cur, pt->gate.tnt));
	vpti_gen_set_tnt(pt, 1);
}

/* [GEN-TNT-ORDER GEN-LAST-IP] The packets of vpt_encode_tnt8() and vpt_encode_ip(). */
void vpti_gen_put_far_tip(struct vpt_pt *pt, uint64_t to)
{
	enum vpt_ip_bytes ip_bytes = vpt_ip_compress(to, pt->last_ip);
	size_t len = 1 + vpt_ip_payload(ip_bytes);
	uint64_t low = to << 8 | (unsigned int)ip_bytes << 5 | VPT_OP_TIP;
	uint64_t high = to >> 56;

	/* Up to six outcomes are one short packet. */
	if (pt->gate.tnt != 1) {
		high = high << 8 | low >> 56;
		low = low << 8 | vpt_tnt8(pt->gate.tnt);
		len++;
		pt->gate.tnt = 1;
	}
	pt->last_ip = to;
	vpt_put_short(pt->out.cur, low, high, len);
	vpti_gen_advance(pt, len);
}

static void put_tip(struct vpt_pt *pt, uint64_t to)
{
	if (vpt_unlikely(pt->gate.tnt > VPTI_TNT8_LAST))
		vpti_gen_put_quick_tnt(pt);
	to &= pt->ip_mask; /* The CS base is 0, see vpti_gen_update(). */
	if (!vpti_gen_put_near_tip(pt, to))
		vpti_gen_put_far_tip(pt, to);
}

/* A RET that can be a TNT bit, but for which there is no room, sends no TIP. */
static inline bool is_compressed(const struct vpt_pt *pt, uint64_t to)
{
	return pt->ret_compress && pt->retstack.depth &&
	       pt->retstack.ip[(pt->retstack.top - 1) % VPT_RETSTACK_SIZE] == to;
}

bool vpt_pt_quick_jmp_indirect(struct vpt_pt *pt, uint64_t to)
{
	return vpti_gen_quick_tip(pt, to) || vpti_gen_other_tip(pt, to);
}

bool vpt_pt_quick_call_indirect(struct vpt_pt *pt, uint64_t to, uint64_t next)
{
	if (!vpti_gen_quick_tip(pt, to) && !vpt_pt_quick_jmp_indirect(pt, to))
		return false;
	if (pt->ret_compress) /* [GEN-CALL] */
		vpt_retstack_push(&pt->retstack, next);
	return true;
}

/* [DEFER-RET] The TIP of a RET never waits. */
bool vpt_pt_quick_ret_tip(struct vpt_pt *pt, uint64_t to)
{
	if (is_compressed(pt, to) || pt->options.defer_tips)
		return false;
	if (!vpti_gen_quick_tip(pt, to) && !vpt_pt_quick_jmp_indirect(pt, to))
		return false;
	if (pt->ret_compress)
		pt->retstack.depth = 0;
	return true;
}

/* [TIME-CYC-ONE TIME-CYC-THRESH] */
static void put_cyc(struct vpt_pt *pt, const struct vpt_clock *now)
{
	uint64_t clocks = now->cycles - pt->time.cyc_last;

	if (!clocks || clocks < pt->time.cyc_thresh)
		return;
	vpti_gen_advance(pt, vpt_encode_cyc(pt->out.cur, clocks));
	pt->time.cyc_last = now->cycles;
}

/*
 * [GEN-CYC-TNT] The first outcome of a TNT with a CYC. The gate takes the others, and the whole TNT
 * is sent before the next packet or by vpti_gen_put_whole_tnt(). There is room for it.
 */
static void put_first(struct vpt_pt *pt, bool taken, const struct vpt_clock *now)
{
	if (pt->gate.tnt != 1)
		vpti_gen_put_quick_tnt(pt);
	put_cyc(pt, now);
	pt->gate.tnt = 2 | (uint64_t)taken;
	pt->gate.tnt_full = VPT_BIT64(VPT_TNT8_MAX + 1);
}

static void put_outcome(struct vpt_pt *pt, bool taken, const struct vpt_clock *now)
{
	if (pt->dis_tnt) {
		pt->gate.tnt = 1;
		return;
	}
	if (pt->time.cyc_en && (pt->gate.tnt == 1 || vpti_gen_is_tnt_whole(pt))) {
		put_first(pt, taken, now);
		return;
	}
	pt->gate.tnt = pt->gate.tnt << 1 | (uint64_t)taken;
	if (vpti_gen_is_tnt_whole(pt) && !pt->time.cyc_en)
		vpti_gen_put_quick_tnt(pt);
}

static void put_timed_tip(struct vpt_pt *pt, uint64_t to, const struct vpt_clock *now)
{
	if (pt->dis_tnt)
		vpti_gen_set_tnt(pt, 1);
	if (pt->time.cyc_en) {
		if (pt->gate.tnt != 1)
			vpti_gen_put_quick_tnt(pt);
		put_cyc(pt, now);
	}
	put_tip(pt, to);
}

/* Read the clock. Returns false if a timing packet is due. */
static inline bool pass_to(struct vpt_pt *pt, const struct vpt_clock *now)
{
	if (!pt->slow)
		return true;
	if (now->cycles < pt->time.now.cycles || now->cycles >= pt->gate.due_cycles ||
	    now->tsc >= pt->gate.due_tsc)
		return false;
	pt->time.now = *now;
	return true;
}

/*
 * Returns true if a branch to `to` leaves FilterEn as it is. [EN-FILTER-TAKEN] A branch not taken is
 * no reason to compare.
 */
static bool keeps_filter(const struct vpt_pt *pt, uint8_t kind, bool taken, uint64_t to)
{
	if (!pt->context_en || (kind == VPT_EV_COND && !taken))
		return true;
	to &= pt->ip_mask;
	return !vpt_range_hit(&pt->rtit, VPT_ADDR_STOP, to) &&
	       vpt_filter_en(&pt->rtit, to) == pt->filter_en;
}

static void call(struct vpt_pt *pt, uint64_t to, uint64_t next)
{
	if (pt->ret_compress && to != next)
		vpt_retstack_push(&pt->retstack, next & pt->ip_mask);
}

static void ret(struct vpt_pt *pt, uint64_t to, const struct vpt_clock *now)
{
	if (is_compressed(pt, to)) {
		pt->retstack.top--;
		pt->retstack.depth--;
		put_outcome(pt, true, now);
		return;
	}
	put_timed_tip(pt, to, now);
	if (pt->ret_compress)
		pt->retstack.depth = 0;
}

/* Returns true if nothing but an MTC can be due. With the internal buffer's model no gate expires. */
static bool only_mtc(const struct vpt_pt *pt, const struct vpt_clock *now)
{
	const struct vpt_pt_time *time = &pt->time;

	return pt->trigger_en && time->mtc_en && !time->cyc_en && !time->asleep &&
	       !pt->options.defer_tips && vpti_gen_has_room(pt) &&
	       now->cycles >= time->now.cycles && now->tsc >= time->now.tsc && time->mtc_due &&
	       now->tsc >= time->mtc_due;
}

/* [TIME-MTC TIME-ORDER] */
bool vpt_pt_quick_due(struct vpt_pt *pt, const struct vpt_clock *now)
{
	struct vpt_pt_time *time = &pt->time;
	uint64_t next;

	if (!only_mtc(pt, now))
		return false;
	next = vpt_clock_tsc(pt->caps, (time->mtc_last + 2) << time->mtc_freq);
	if (now->tsc >= next || !pt->ops->keeps_due || !pt->ops->keeps_due(pt->opaque, false))
		return false;
	if (pt->dis_tnt)
		vpti_gen_set_tnt(pt, 1);
	else if (pt->gate.tnt != 1)
		vpti_gen_put_quick_tnt(pt);
	time->mtc_told = ++time->mtc_last;
	vpt_put_le(pt->out.cur, (time->mtc_last & 0xff) << 8 | VPTI_OP_MTC, 2);
	vpti_gen_advance(pt, 2);
	time->mtc_due = pt->gate.due_tsc = next;
	pt->gate.due_cycles = ~(uint64_t)0;
	pt->gate.state |= VPT_GATE_TIMED;
	vpti_gen_update(pt);
	return true;
}

bool vpt_pt_quick_branch(struct vpt_pt *pt, uint8_t kind, bool taken, uint64_t to, uint64_t next,
			 const struct vpt_clock *now)
{
	if (!(pt->gate.state & VPT_GATE_BRANCH) || !vpti_gen_has_room(pt) || !pass_to(pt, now) ||
	    (pt->has_ranges && !keeps_filter(pt, kind, taken, to)))
		return false;
	if (!pt->packet_en)
		return true;
	switch (kind) {
	case VPT_EV_COND:
		put_outcome(pt, taken, now);
		return true;
	case VPT_EV_RET:
		ret(pt, to, now);
		return true;
	case VPT_EV_JMP_INDIRECT:
		put_timed_tip(pt, to, now);
		return true;
	case VPT_EV_CALL_INDIRECT:
		put_timed_tip(pt, to, now);
		call(pt, next + 1, next);
		return true;
	case VPT_EV_CALL:
		call(pt, to, next);
		return true;
	default: /* VPT_EV_JMP */
		return true;
	}
}
