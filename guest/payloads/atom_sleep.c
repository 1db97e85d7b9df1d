// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sleep in Atom's RTIT (RTIT appendix B 4.1): STS at wake-up, and no MTC and a stopped cycle
 * counter during sleep.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/msr.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("RTIT and HLT: STS on waking up, no MTC in between");

#define VEC_TIMER 0x61u
#define TIMER(n)  (VEC_TIMER << 24 | (uint32_t)(n))
#define HALTS	  10
/* Length of a HLT in instructions, much longer than everything around it. */
#define LONG 20000u

#define CTL	  (ATOM_CTL(OS) | ATOM_CTL(USER))
#define TIMED	  (CTL | ATOM_CTL(STS_EN) | ATOM_CTL(MTC_EN))
#define MTC_SHIFT 7

static struct trace t;
static unsigned int ticks, wrong;
static uint64_t slept, begun, ended, cntp_before, cntp_after;

static void on_timer(struct trap_frame *f)
{
	(void)f;
	ticks++;
}

static noinline void halt(uint32_t distance)
{
	unsigned int before = ticks;
	uint64_t from;

	outl(VPT_PORT_TIMER, TIMER(distance));
	from = rdtsc();
	cntp_before = rdmsr(VPT_ATOM_MSR_CNTP);
	sti_hlt();
	cli();
	cntp_after = rdmsr(VPT_ATOM_MSR_CNTP);
	slept += rdtsc() - from;
	wrong += ticks != before + 1 || cntp_after - cntp_before > LONG / 4;
}

static void halts(void)
{
	unsigned int i;

	slept = 0;
	begun = rdtsc();
	for (i = 0; i < HALTS; i++)
		halt(LONG + 100 * i);
	ended = rdtsc();
}

static uint32_t stamps(uint64_t ctl)
{
	trace_rtit(&t, ctl, halts);
	trace_report(&t);
	return t.ascan.count[VPT_ATOM_PKT_STS];
}

/* Check the time in MTCs: the time awake, and a jump for each sleep. */
static void no_mtc(void)
{
	uint64_t awake = (ended - begun - slept) >> MTC_SHIFT;
	uint64_t all = (ended - begun) >> MTC_SHIFT, sent = t.ascan.count[VPT_ATOM_PKT_MTC];

	report(sent <= awake + 3 * HALTS && sent < all, "no MTC while asleep");
}

/* STS packets have the time, which increases. */
static uint64_t last_stamp;
static bool ordered;

static void note(void *opaque, const struct vpt_atom_packet *packet)
{
	(void)opaque;
	if (packet->kind != VPT_ATOM_PKT_STS)
		return;
	ordered &= packet->value > last_stamp && (packet->aux & 0xff) && packet->aux >> 8;
	last_stamp = packet->value;
}

static void check_stamps(void)
{
	struct guest_atom_bytes bytes = trace_rtit_bytes(&t);
	enum vpt_status end;

	last_stamp = 0;
	ordered = true;
	guest_atom_walk(&bytes, note, NULL, &end);
	report(ordered, "STS: the time moves on, there are clock ratios");
}

static void loose_halts(void)
{
	unsigned int i;

	for (i = 0; i < HALTS; i++) {
		outl(VPT_PORT_TIMER, TIMER(LONG));
		sti_hlt();
		cli();
	}
}

void payload(void)
{
	idt_hook(VEC_TIMER, on_timer);
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_rtit(&t)) {
		loose_halts();
		return;
	}
	report(stamps(TIMED) >= HALTS, "STS on each wake");
	no_mtc();
	check_stamps();
	report_equal(stamps(CTL | ATOM_CTL(MTC_EN)), 0, "no STS without STS_En");
	no_mtc();
	report(stamps(TIMED | ATOM_CTL(LESS_PKTS)) >= HALTS, "LESS_PKTS: in the filter");
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_NEVER, VPT_ATOM_ID_NEVER);
	trace_rtit(&t, TIMED | ATOM_CTL(LESS_PKTS), halts);
	report_equal(t.ascan.count[VPT_ATOM_PKT_STS] + t.ascan.count[VPT_ATOM_PKT_MTC], 0,
		     "LESS_PKTS: not out of it");
	trace_rtit(&t, TIMED, halts);
	report(t.ascan.count[VPT_ATOM_PKT_STS] >= HALTS, "without it: out of it too");
	report_equal(wrong, 0, "each HLT ends by its timer, and CNTP stands still in it");
}
