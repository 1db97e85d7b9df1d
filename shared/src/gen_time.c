// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Timing packets: TSC, TMA, CBR, MTC and CYC (33.3.6, 33.8.3). */
#include "gen.h"
#include "gen_clock.h"

#define CYC_BITS 14 /* of the cycle counter, unless the options say */

/* More of either at once is as if their clock had stood still [TIME-MTC-LOST]. */
#define BURST_MAX VPTI_BURST_MAX

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
	/* [GEN-CYC-TNT] A long TNT would have the time of one outcome of 47. */
	pt->gate.tnt_full = VPT_BIT64(time->cyc_en ? VPT_TNT8_MAX : VPT_TNT_GATHER);
}

/* The cycle counter's range: what an eligible packet's CYC has not sent never reaches it. */
static uint64_t counter_range(const struct vpt_pt *pt)
{
	return ((uint64_t)pt->time.cyc_alone + 1) * 4;
}

static void read_clock(struct vpt_pt *pt, struct vpt_clock *now)
{
	vpti_clock_read(pt->ops, pt->opaque, pt->time.now.cycles, now);
}

/* The value that MTC watches, without being cut to 8 bits. */
static uint64_t mtc_count(const struct vpt_pt *pt, uint64_t tsc)
{
	return vpt_clock_art(pt->caps, tsc) >> pt->time.mtc_freq;
}

/* The same as of `now`. It costs divisions, so it is kept how long it holds. */
static uint64_t mtc_count_at(struct vpt_pt *pt, const struct vpt_clock *now)
{
	struct vpt_pt_time *time = &pt->time;
	uint64_t count;

	if (vpt_likely(now->tsc >= time->now.tsc && now->tsc < time->mtc_due))
		return time->mtc_last;
	count = mtc_count(pt, now->tsc);
	time->mtc_due = vpt_clock_tsc(pt->caps, (count + 1) << time->mtc_freq);
	return count;
}

/* [TIME-CYC-COUNT] */
void vpti_gen_time_start(struct vpt_pt *pt)
{
	struct vpt_pt_time *time = &pt->time;

	if (!time->cyc_en && !time->mtc_en && !pt->options.buffer_bytes)
		return;
	read_clock(pt, &time->now);
	time->cyc_last = time->now.cycles;
	if (time->mtc_en)
		time->mtc_last = time->mtc_told = mtc_count(pt, time->now.tsc);
}

void vpti_gen_time_loaded(struct vpt_pt *pt)
{
	pt->time.mtc_due = 0;
	if (pt->time.mtc_en)
		pt->time.mtc_last = mtc_count(pt, pt->time.now.tsc);
}

static void put(struct vpt_pt *pt, enum vpt_pkt_kind kind, uint64_t value, unsigned int aux)
{
	uint8_t buf[VPT_PKT_MAX];
	struct vpt_packet packet;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = kind;
	packet.value = value;
	packet.aux = (uint16_t)aux;
	vpti_gen_put(pt, buf, vpt_packet_write(buf, &packet));
}

/* [TIME-OVF] A CYC that is lost does not reset the counter. */
static void put_cyc(struct vpt_pt *pt, uint64_t clocks)
{
	uint8_t buf[VPT_PKT_MAX];

	vpti_gen_put(pt, buf, vpt_encode_cyc(buf, clocks));
	if (!pt->buffer.overflow)
		pt->time.cyc_last += clocks;
}

/* [TIME-CYC-ONE TIME-CYC-THRESH] */
static void cyc(struct vpt_pt *pt)
{
	uint64_t clocks = pt->time.now.cycles - pt->time.cyc_last;

	if (clocks && clocks >= pt->time.cyc_thresh && !pt->buffer.overflow)
		put_cyc(pt, clocks);
}

/*
 * [TIME-CYC-ALONE] What came before is sent first. The threshold is left to pass, so that
 * the next eligible packet, whenever it comes, has a CYC of its own.
 */
static void cyc_alone(struct vpt_pt *pt)
{
	const uint64_t due = (uint64_t)pt->time.cyc_alone + pt->time.cyc_thresh;
	const uint64_t most = counter_range(pt) - 1;
	uint64_t clocks = pt->time.now.cycles - pt->time.cyc_last;

	while (clocks >= due && pt->trigger_en && !pt->buffer.overflow) {
		uint64_t part = clocks - pt->time.cyc_thresh;

		vpti_gen_flush_tnt(pt);
		put_cyc(pt, part < most ? part : most);
		clocks = pt->time.now.cycles - pt->time.cyc_last;
	}
}

/* [TIME-MTC TIME-MTC-CYC TIME-ORDER] Each at the time at which it was due. */
static void send_mtcs(struct vpt_pt *pt, const struct vpt_clock *next, uint64_t count)
{
	const struct vpt_clock from = pt->time.now;
	struct vpt_pt_time *time = &pt->time;

	while (time->mtc_last != count) {
		uint64_t tsc = vpt_clock_tsc(pt->caps, ++time->mtc_last << time->mtc_freq);

		time->now.cycles = vpti_clock_at(&from, next, tsc);
		time->now.tsc = tsc;
		vpti_gen_flush_tnt(pt);
		if (time->cyc_en) {
			cyc_alone(pt);
			cyc(pt);
		}
		put(pt, VPT_PKT_MTC, time->mtc_last & 0xff, 0);
		if (!pt->buffer.overflow)
			time->mtc_told = time->mtc_last;
	}
}

static bool too_many_cyc(const struct vpt_pt *pt, const struct vpt_clock *next)
{
	return pt->time.cyc_en &&
	       next->cycles - pt->time.cyc_last > BURST_MAX * (counter_range(pt) - 1);
}

/* Send what is due at `next`. False: it is too much to be sent. */
static VPT_ALWAYS_INLINE bool catch_up(struct vpt_pt *pt, const struct vpt_clock *next)
{
	struct vpt_pt_time *time = &pt->time;
	uint64_t count = time->mtc_en ? mtc_count_at(pt, next) : 0;

	if (count - time->mtc_last > BURST_MAX)
		return false;
	if (too_many_cyc(pt, next) && !pt->buffer.overflow)
		return false;
	if (count != time->mtc_last)
		send_mtcs(pt, next, count);
	time->now = *next;
	if (time->cyc_en)
		cyc_alone(pt);
	return true;
}

/* The counters go on from here, whatever they missed. */
static void skip(struct vpt_pt *pt, const struct vpt_clock *next)
{
	pt->time.mtc_due = 0;
	if (pt->time.mtc_en)
		pt->time.mtc_last = mtc_count_at(pt, next);
	pt->time.now = *next;
}

/* [TIME-OVF] Nothing reads the counter, which wraps. */
static void wrap(struct vpt_pt *pt)
{
	uint64_t clocks = pt->time.now.cycles - pt->time.cyc_last;

	pt->time.cyc_last += clocks - clocks % counter_range(pt);
}

/* [TIME-MTC-LOST] What neither tells TSC does, or at least CBR. */
static void restart(struct vpt_pt *pt)
{
	struct vpt_pt_time *time = &pt->time;
	struct vpt_context ctx;

	if (too_many_cyc(pt, &time->now))
		time->cyc_last = time->now.cycles;
	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_timing(pt, &ctx);
}

static VPT_ALWAYS_INLINE void pass_to(struct vpt_pt *pt, const struct vpt_clock *next)
{
	struct vpt_pt_time *time = &pt->time;

	if (time->asleep) {
		/* [TIME-ASLEEP] */
		time->cyc_last += next->cycles - time->now.cycles;
		skip(pt, next);
	} else if (!catch_up(pt, next)) {
		skip(pt, next);
		if (!pt->buffer.overflow)
			restart(pt);
	}
	if (pt->buffer.overflow)
		wrap(pt);
}

void vpti_gen_time_pass(struct vpt_pt *pt)
{
	struct vpt_clock next;

	read_clock(pt, &next);
	pass_to(pt, &next);
}

/* [TIME-CYC-ELIGIBLE] The engine may know that an event takes time. */
static VPT_COLD void elapse(struct vpt_pt *pt)
{
	struct vpt_clock next;

	pt->ops->elapse(pt->opaque, &next);
	if (next.cycles < pt->time.now.cycles)
		next.cycles = pt->time.now.cycles;
	pass_to(pt, &next);
}

void vpti_gen_cyc(struct vpt_pt *pt, bool elapses)
{
	if (!pt->trigger_en)
		return;
	if (vpt_unlikely(pt->ops->elapse) && elapses)
		elapse(pt);
	cyc(pt);
}

void vpti_gen_time_sleep(struct vpt_pt *pt)
{
	pt->time.asleep = true;
}

void vpti_gen_time_wake(struct vpt_pt *pt)
{
	pt->time.asleep = false;
}

/* [PWR-STOP] No MTC is due for time in which nothing was executed. */
void vpti_gen_time_stop(struct vpt_pt *pt)
{
	struct vpt_clock next;

	read_clock(pt, &next);
	skip(pt, &next);
	if (pt->options.buffer_bytes)
		vpti_gen_buffer_drain(pt);
}

/* [TIME-TMA] Of the moment at which the TSC was sent: it has no CYC between. */
static void tma(struct vpt_pt *pt)
{
	uint64_t art = vpt_clock_art(pt->caps, pt->time.now.tsc);

	put(pt, VPT_PKT_TMA, art & 0xffff, vpt_clock_fast(pt->caps, pt->time.now.tsc));
}

/* [TIME-ONE-MOMENT] Returns what RDTSC would return at the moment of the event. */
static uint64_t event_tsc(const struct vpt_pt *pt, const struct vpt_context *ctx)
{
	/* Without a clock the context has been asked for the TSC before. */
	return pt->slow && !pt->ops->clock ? pt->time.now.tsc : ctx->tsc;
}

/* [GEN-TIMING] */
void vpti_gen_timing(struct vpt_pt *pt, const struct vpt_context *ctx)
{
	if (VPT_CTL_GET(pt->rtit.ctl, TSC_EN)) {
		vpti_gen_packet(pt, VPT_PKT_TSC, event_tsc(pt, ctx) & VPT_MASK64(55, 0), false);
		if (pt->time.mtc_en)
			tma(pt);
	}
	vpti_gen_packet(pt, VPT_PKT_CBR, ctx->cbr, false);
	if (!pt->buffer.overflow)
		pt->time.mtc_told = pt->time.mtc_last;
}

/* [TIME-ASKED] Without TSCEn there is nothing to say. */
void vpt_pt_timing(struct vpt_pt *pt)
{
	struct vpt_context ctx;

	if (!pt->trigger_en || !VPT_CTL_GET(pt->rtit.ctl, TSC_EN))
		return;
	vpti_gen_now(pt);
	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_timing(pt, &ctx);
}
