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
	/* [GEN-CYC-TNT] A long TNT would report the time of one outcome of 47. */
	pt->gate.tnt_full = VPT_BIT64(time->cyc_en ? VPT_TNT8_MAX : VPT_TNT_GATHER);
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

void vpti_gen_time_sleep(struct vpt_pt *pt)
{
	pt->time.asleep = true;
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
