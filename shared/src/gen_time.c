// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The counters that decide when MTC and CYC packets are due (33.3.6, 33.8.3). */
#include "gen_time.h"

#define CYC_BITS 14 /* the default width of the cycle counter */

/* [TIME-CYC-THRESH] CycThresh as clocks (table 33-6). */
static uint32_t threshold(uint64_t ctl)
{
	unsigned int enc = (unsigned int)VPT_CTL_GET(ctl, CYC_THRESH);

	return enc ? 1u << (enc - 1) : 0;
}

void vpti_gen_time_load(struct vpt_pt *pt)
{
	unsigned int bits = pt->options.cyc_bits ? pt->options.cyc_bits : CYC_BITS;
	struct vpt_pt_time *time = &pt->time;
	uint64_t ctl = pt->rtit.ctl;

	vpt_memset(time, 0, sizeof(*time));
	time->cyc_en = VPT_CTL_GET(ctl, CYC_EN);
	time->cyc_thresh = threshold(ctl);
	/* [TIME-CYC-ALONE] A quarter of the range, which is no less than the threshold. */
	time->cyc_alone = (1u << (bits - 2)) - 1;
	if (time->cyc_alone < time->cyc_thresh)
		time->cyc_alone = time->cyc_thresh;
	/* [TIME-NO-RATIO] */
	time->mtc_en = VPT_CTL_GET(ctl, MTC_EN) && vpt_clock_has_art(pt->caps);
	time->mtc_freq = (uint8_t)VPT_CTL_GET(ctl, MTC_FREQ);
	vpti_gen_set_tnt(pt, pt->gate.tnt);
	vpti_gen_disarm(pt);
}

/* [TIME-CYC-COUNT] */
void vpti_gen_time_start(struct vpt_pt *pt)
{
	struct vpt_pt_time *time = &pt->time;

	if (!time->cyc_en && !time->mtc_en && !pt->options.buffer_bytes)
		return;
	vpti_gen_read_clock(pt, &time->now);
	time->cyc_last = time->now.cycles;
	if (time->mtc_en)
		time->mtc_last = time->mtc_told = vpti_gen_mtc_count(pt, time->now.tsc);
}

void vpti_gen_time_loaded(struct vpt_pt *pt)
{
	pt->time.mtc_due = 0;
	if (pt->time.mtc_en)
		pt->time.mtc_last = vpti_gen_mtc_count(pt, pt->time.now.tsc);
}

void vpti_gen_time_skip(struct vpt_pt *pt, const struct vpt_clock *next)
{
	pt->time.mtc_due = 0;
	if (pt->time.mtc_en)
		pt->time.mtc_last = vpti_gen_mtc_count_at(pt, next);
	pt->time.now = *next;
}

/*
 * MTCs and CYCs only move a due time to a later time. So a due time that has not passed stays valid.
 *
 * The CYC of an MTC is computed from two readings of the clocks. The result is the same for any two
 * readings only if a core clock is a whole number of ticks.
 */
void vpti_gen_arm(struct vpt_pt *pt)
{
	struct vpt_pt_time *time = &pt->time;
	struct vpt_gate *gate = &pt->gate;

	if (!pt->ops->keeps_due || pt->options.buffer_bytes || time->asleep || !pt->trigger_en ||
	    !pt->ops->keeps_due(pt->opaque, time->mtc_en && time->cyc_en)) {
		vpti_gen_disarm(pt);
		return;
	}
	gate->due_cycles = gate->due_tsc = ~(uint64_t)0;
	if (time->cyc_en)
		gate->due_cycles = time->cyc_last + time->cyc_alone + time->cyc_thresh;
	if (time->mtc_en) {
		if (!time->mtc_due)
			time->mtc_due =
				vpt_clock_tsc(pt->caps, (time->mtc_last + 1) << time->mtc_freq);
		gate->due_tsc = time->mtc_due;
	}
	gate->state |= VPT_GATE_TIMED;
	vpti_gen_update(pt);
}

/* The last reading depends on how the engine used the gate. A new reading does not. */
void vpti_gen_time_reread(struct vpt_pt *pt)
{
	struct vpt_clock next;

	if (!pt->trigger_en || !pt->slow || !pt->ops->keeps_due)
		return;
	if (!(pt->gate.state & VPT_GATE_TIMED))
		vpti_gen_arm(pt);
	vpti_gen_read_clock(pt, &next);
	if (pt->gate.state & VPT_GATE_TIMED && next.cycles < pt->gate.due_cycles &&
	    next.tsc < pt->gate.due_tsc)
		pt->time.now = next;
}

void vpti_gen_disarm(struct vpt_pt *pt)
{
	vpt_gate_expire(&pt->gate);
}

void vpti_gen_time_sleep(struct vpt_pt *pt)
{
	pt->time.asleep = true;
	vpti_gen_disarm(pt);
}

void vpti_gen_time_wake(struct vpt_pt *pt)
{
	pt->time.asleep = false;
}

/* [PWR-STOP] No MTC is due for time without execution. */
void vpti_gen_time_stop(struct vpt_pt *pt)
{
	struct vpt_clock next;

	vpti_gen_read_clock(pt, &next);
	vpti_gen_time_skip(pt, &next);
	if (pt->options.buffer_bytes)
		vpti_gen_buffer_drain(pt);
}
