// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packets of time of the Atom trace unit: MTC, STS, FUP.PCC; sleep (4.2.6, 4.2.12 to 4.2.15). */
#include "atom_gen.h"
#include "gen_clock.h"

#define CNTP_MSB ((uint32_t)1 << (VPT_ATOM_CNTP_BITS - 1))

/* The bits of the TSC and of a ratio that STS has (figure 12). */
#define STS_TSC	  VPT_MASK64(39, 0)
#define STS_RATIO 0x3fu

/* [ATOM-MTC-WHEN ATOM-STS-WHEN] */
static bool timing_on(const struct vpt_atom *a)
{
	return a->trigger_en && (a->packet_en || !VPT_ATOM_GET(CTL, LESS_PKTS, a->regs.ctl));
}

/* MTC's count before it is cut to 8 bits. */
static uint64_t mtc_count(const struct vpt_atom *a, uint64_t tsc)
{
	return tsc >> (7 + 2 * VPT_ATOM_GET(CTL, MTC_RANGE, a->regs.ctl));
}

static uint64_t mtc_tsc(const struct vpt_atom *a, uint64_t count)
{
	return count << (7 + 2 * VPT_ATOM_GET(CTL, MTC_RANGE, a->regs.ctl));
}

static void put_mtc(struct vpt_atom *a)
{
	struct vpt_atom_packet packet;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_ATOM_PKT_MTC;
	packet.value = a->time.mtc_last & 0xff;
	packet.aux = (uint16_t)VPT_ATOM_GET(CTL, MTC_RANGE, a->regs.ctl);
	a->time.first_mtc = false;
	vpti_atom_put(a, &packet);
}

/* [ATOM-MTC] Send each MTC with the time at which it was due. Returns false if too many are due. */
static bool send_mtcs(struct vpt_atom *a, const struct vpt_clock *next, uint64_t count)
{
	const struct vpt_clock from = a->time.now;

	if (count - a->time.mtc_last > VPTI_BURST_MAX)
		return false;
	while (a->time.mtc_last != count) {
		uint64_t tsc = mtc_tsc(a, ++a->time.mtc_last);

		vpti_atom_clock_advance(a, vpti_clock_at(&from, next, tsc));
		a->time.now.tsc = tsc;
		if (a->options.buffer_bytes)
			vpti_atom_buffer_pass(a);
		put_mtc(a);
	}
	return true;
}

/* Send the MTCs that are due at `next`. Returns true if too many were due and are lost. */
static bool catch_up(struct vpt_atom *a, const struct vpt_clock *next)
{
	const uint64_t count = mtc_count(a, next->tsc);

	/* [ATOM-E7] The first MTC is sent too early. */
	if (a->time.first_mtc && vpti_atom_erratum(a, VPT_ATOM_E7)) {
		a->time.mtc_last++;
		put_mtc(a);
	}
	if ((int64_t)(count - a->time.mtc_last) <= 0) {
		/* E7 is one ahead. If the host's TSC went back, count from there. */
		if (a->time.mtc_last - count > 1)
			a->time.mtc_last = count;
		return false;
	}
	if (send_mtcs(a, next, count))
		return false;
	a->time.mtc_last = count;
	return true;
}

static void pass(struct vpt_atom *a)
{
	const bool mtc = VPT_ATOM_GET(CTL, MTC_EN, a->regs.ctl);
	struct vpt_clock next;
	bool lost = false;

	vpti_atom_clock_read(a, &next);
	/* [ATOM-SLEEP] */
	if (mtc && timing_on(a) && !a->time.asleep)
		lost = catch_up(a, &next);
	else if (mtc)
		a->time.mtc_last = mtc_count(a, next.tsc);
	vpti_atom_clock_advance(a, next.cycles);
	a->time.now = next;
	/* [ATOM-MTC-LOST] STS may be sent at any time (4.2.13). Here it replaces the lost MTCs. */
	if (lost)
		vpti_atom_sts(a);
}

void vpti_atom_now(struct vpt_atom *a)
{
	pass(a);
	if (a->options.buffer_bytes)
		vpti_atom_buffer_pass(a);
}

void vpti_atom_time_start(struct vpt_atom *a)
{
	vpt_memset(&a->time, 0, sizeof(a->time));
	a->time.first_mtc = true;
	vpti_atom_clock_read(a, &a->time.now);
	vpti_atom_time_load(a);
}

void vpti_atom_time_load(struct vpt_atom *a)
{
	a->time.mtc_last = 0;
	if (VPT_ATOM_GET(CTL, MTC_EN, a->regs.ctl))
		a->time.mtc_last = mtc_count(a, a->time.now.tsc);
}

void vpti_atom_time_stop(struct vpt_atom *a)
{
	const bool asleep = a->time.asleep;

	a->time.asleep = true;
	vpti_atom_now(a);
	a->time.asleep = asleep;
}

/* [ATOM-STS ATOM-TSC] */
void vpti_atom_sts(struct vpt_atom *a)
{
	struct vpt_atom_packet packet;
	unsigned int actual, effective;
	struct vpt_context ctx;

	if (!timing_on(a) || !VPT_ATOM_GET(CTL, STS_EN, a->regs.ctl))
		return;
	if (!a->slow)
		pass(a);
	a->ops->context(a->opaque, &ctx);
	actual = ctx.cbr & STS_RATIO;
	effective = (ctx.effective_cbr ? ctx.effective_cbr : ctx.cbr) & STS_RATIO;
	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_ATOM_PKT_STS;
	packet.value = a->time.now.tsc & STS_TSC;
	packet.aux = (uint16_t)(actual | effective << 8);
	vpti_atom_put(a, &packet);
}

/* [ATOM-PCC ATOM-PCC-WHEN ATOM-OVF-PCC] LESS_PKTS makes FUP.PCC need FilterEn. For CNTP's
 * counting it is the other way round (table 17). */
void vpti_atom_pcc(struct vpt_atom *a, uint64_t ip)
{
	const bool needs_filter = VPT_ATOM_GET(CTL, LESS_PKTS, a->regs.ctl);

	if (!(a->regs.cntp & CNTP_MSB) || !VPT_ATOM_GET(CTL, CYCLE_ACC, a->regs.ctl))
		return;
	if (a->trigger_en && a->context_en && (a->filter_en || !needs_filter) &&
	    !vpti_atom_overflow(a))
		vpti_atom_put_lip(a, VPT_ATOM_PKT_PCC, vpti_atom_lip(a, ip));
}

/* Returns true for a hint of MWAIT deeper than C2 (event.h). C0.x has the highest values. */
static bool is_deep(uint8_t cstate)
{
	return cstate >= 0x20 && cstate < 0xf0;
}

/* [ATOM-SLEEP ATOM-SLEEP-DRAIN] */
void vpti_atom_sleep(struct vpt_atom *a, uint8_t cstate)
{
	if (!a->trigger_en)
		return;
	vpti_atom_now(a);
	a->time.asleep = true;
	if (is_deep(cstate)) {
		vpti_atom_buffer_empty(a);
		vpt_atom_flush(a);
	}
	vpti_atom_update(a);
}

void vpti_atom_wake(struct vpt_atom *a)
{
	if (!a->trigger_en)
		return;
	vpti_atom_now(a);
	a->time.asleep = false;
	vpti_atom_update(a);
	vpti_atom_sts(a);
}
