// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The packet writer: packets, and the timing packets that come before them (33.3.6, 33.8.3).
 *
 * A packet needs a CYC, time that passes for the CYC can make MTCs or TSC due, and those are
 * packets again. Therefore this recursion is in one file.
 */
#include "gen_time.h"

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
 * [TIME-CYC-ALONE] Send earlier packets first. The threshold is left to pass, so that the next
 * eligible packet has a CYC of its own.
 */
static void cyc_alone(struct vpt_pt *pt)
{
	const uint64_t due = (uint64_t)pt->time.cyc_alone + pt->time.cyc_thresh;
	const uint64_t most = vpti_gen_counter_range(pt) - 1;
	uint64_t clocks = pt->time.now.cycles - pt->time.cyc_last;

	while (clocks >= due && !pt->buffer.overflow) {
		uint64_t part = clocks - pt->time.cyc_thresh;

		vpti_gen_flush_tnt(pt);
		put_cyc(pt, part < most ? part : most);
		clocks = pt->time.now.cycles - pt->time.cyc_last;
	}
}

/* [TIME-MTC TIME-MTC-CYC TIME-ORDER] Send each MTC with the time at which it was due. */
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
	       next->cycles - pt->time.cyc_last > VPTI_BURST_MAX * (vpti_gen_counter_range(pt) - 1);
}

/* Send the packets that are due at `next`. Returns false if there are too many. */
static VPT_ALWAYS_INLINE bool catch_up(struct vpt_pt *pt, const struct vpt_clock *next)
{
	struct vpt_pt_time *time = &pt->time;
	uint64_t count = time->mtc_en ? vpti_gen_mtc_count_at(pt, next) : 0;

	if (count - time->mtc_last > VPTI_BURST_MAX)
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

/* [TIME-OVF] The counter wraps during an overflow. */
static void wrap(struct vpt_pt *pt)
{
	uint64_t clocks = pt->time.now.cycles - pt->time.cyc_last;

	pt->time.cyc_last += clocks - clocks % vpti_gen_counter_range(pt);
}

/* [TIME-MTC-LOST] TSC reports the lost time, or at least CBR does. */
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
		vpti_gen_time_skip(pt, next);
	} else if (!catch_up(pt, next)) {
		vpti_gen_time_skip(pt, next);
		if (!pt->buffer.overflow)
			restart(pt);
	}
	if (pt->buffer.overflow)
		wrap(pt);
}

void vpti_gen_time_pass(struct vpt_pt *pt)
{
	struct vpt_clock next;

	vpti_gen_read_clock(pt, &next);
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

void vpti_gen_write(struct vpt_pt *pt, const struct vpt_packet *packet)
{
	uint8_t buf[VPT_PKT_MAX];

	vpti_gen_flush_tnt(pt); /* [GEN-TNT-ORDER] */
	/* [TIME-ONE-MOMENT] TSC and the TMA behind it report the same moment. */
	if (vpt_unlikely(pt->time.cyc_en) && vpt_pkt_cyc_eligible(packet->kind))
		vpti_gen_cyc(pt, packet->kind != VPT_PKT_TSC);
	vpti_gen_put(pt, buf, vpt_packet_write(buf, packet));
	if (vpt_unlikely(pt->buffer.overflow))
		vpti_gen_note_lost(pt, (enum vpt_pkt_kind)packet->kind);
}

void vpti_gen_packet(struct vpt_pt *pt, enum vpt_pkt_kind kind, uint64_t value, bool flag)
{
	struct vpt_packet packet;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = kind;
	packet.value = value;
	packet.flag = flag;
	vpti_gen_write(pt, &packet);
}

/* [TIME-TMA] TMA has the moment of the TSC before it, without a CYC between. */
static void tma(struct vpt_pt *pt)
{
	uint64_t art = vpt_clock_art(pt->caps, pt->time.now.tsc);

	put(pt, VPT_PKT_TMA, art & 0xffff, vpt_clock_fast(pt->caps, pt->time.now.tsc));
}

/* [TIME-ONE-MOMENT] Returns the value of RDTSC at the moment of the event. */
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

/* [TIME-ASKED] Without TSCEn there is no time to report. */
void vpt_pt_timing(struct vpt_pt *pt)
{
	struct vpt_context ctx;

	if (!pt->trigger_en || !VPT_CTL_GET(pt->rtit.ctl, TSC_EN))
		return;
	vpti_gen_now(pt);
	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_timing(pt, &ctx);
	vpti_gen_update(pt);
}
