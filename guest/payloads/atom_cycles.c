// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cycle accurate mode of Atom's RTIT (RTIT 3.3.4, 4.2.14, 4.2.15): packets with a cycle count,
 * resets of RTIT_CNTP, its conditions for counting, and FUP.PCC before it overflows.
 */
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/msr.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/trace.h"

PAYLOAD("RTIT's cycle counts and FUP.PCC");

#define PLAIN (ATOM_CTL(OS) | ATOM_CTL(USER))
#define CTL   (PLAIN | ATOM_CTL(CYCLE_ACC))

#define CNTP_BITS VPT_MASK64(21, 0)
#define PCC_DUE	  VPT_BIT64(21)
/* More clocks than the few instructions between two accesses need. */
#define SLACK 20000u

static struct trace t;
static unsigned int breakpoints;

static void on_bp(struct trap_frame *f)
{
	(void)f;
	breakpoints++;
}

/* Spend time without a branch. */
static inline void idle(void)
{
	__asm__ volatile(".rept 400\n nop\n .endr");
}

/* Send a TIP, among other packets. */
static inline void tip(void)
{
	__asm__ volatile("lea 1f(%%rip), %%rax\n jmp *%%rax\n 1:" : : : "rax", "memory");
}

/* The last SEEN packets with a cycle count. */
#define SEEN 64

static struct vpt_atom_packet seen[SEEN];
static size_t seen_count;

static void see(void *opaque, const struct vpt_atom_packet *packet)
{
	(void)opaque;
	if (packet->has_cycles)
		seen[seen_count++ % SEEN] = *packet;
}

static void run(uint64_t ctl, void (*fn)(void))
{
	struct guest_atom_bytes bytes;
	enum vpt_status end;

	trace_rtit(&t, ctl, fn);
	bytes = trace_rtit_bytes(&t);
	seen_count = 0;
	guest_atom_walk(&bytes, see, NULL, &end);
}

static const struct vpt_atom_packet *last(size_t back)
{
	return &seen[(seen_count - 1 - back) % SEEN];
}

static void mixed(void)
{
	noise(30);
	__asm__ volatile("int3");
	idle();
	noise(30);
}

static void all_kinds(void)
{
	run(CTL, mixed);
	trace_report(&t);
	report(t.ascan.cycles > 400, "the counts add up to time");
	run(PLAIN, mixed);
	trace_report(&t);
	report_equal(t.ascan.cycles, 0, "without Cycle_Acc there are none");
}

static void two_packets(void)
{
	idle();
	__asm__ volatile("int3");
}

/* FUP.FAR and TIP of one instruction: the count of the first has all of the time. */
static void second_is_zero(void)
{
	size_t i;
	bool ok = true, any = false;

	run(CTL, two_packets);
	for (i = 1; i < seen_count && i < SEEN; i++) {
		if (seen[i - 1].kind != VPT_ATOM_PKT_FAR)
			continue;
		any = true;
		ok &= seen[i].kind == VPT_ATOM_PKT_TIP && !seen[i].cycles;
	}
	report(any && ok, "the second packet of an instruction counts 0");
}

static uint64_t first_read, second_read, third_read;

static void reading(void)
{
	first_read = rdmsr(VPT_ATOM_MSR_CNTP);
	idle();
	second_read = rdmsr(VPT_ATOM_MSR_CNTP);
	wrmsr(VPT_ATOM_MSR_CNTP, 0x40000);
	tip();
	third_read = rdmsr(VPT_ATOM_MSR_CNTP);
}

static void counter(void)
{
	run(CTL, reading);
	report(second_read > first_read, "CNTP counts");
	report(third_read < SLACK, "and is 0 after a packet with a cycle count");
	run(PLAIN, reading);
	report(third_read >= 0x40000 && third_read < 0x40000 + SLACK,
	       "a packet without one leaves it");
}

static uint64_t preset;

static void with_preset(void)
{
	wrmsr(VPT_ATOM_MSR_CNTP, preset);
	tip();
	wrmsr(VPT_ATOM_MSR_CTL, rdmsr(VPT_ATOM_MSR_CTL) & ~ATOM_CTL(TRACE_ACTIVE));
}

/* Counts of 1, 2 and 3 bytes: the last packet is the TIP. */
static void lengths(void)
{
	static const struct {
		uint32_t at_least, below;
		uint8_t bytes;
	} rows[] = {
		{0x100, 0x4000, 2},
		{0x2000, 0x4000, 2},
		{0x4000, 1 << 21, 3},
		{0x1f0000, 1 << 21, 3},
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct vpt_atom_packet *p;

		preset = rows[i].at_least;
		run(CTL, with_preset);
		p = last(0);
		report(p->kind == VPT_ATOM_PKT_TIP && p->cycles >= rows[i].at_least &&
			       p->cycles < rows[i].below &&
			       p->size == 3 + 2 * p->cnt + rows[i].bytes,
		       "a count of %u bytes", rows[i].bytes);
	}
}

static void pcc_due(void)
{
	wrmsr(VPT_ATOM_MSR_CNTP, PCC_DUE - 8);
	idle();
	tip();
	third_read = rdmsr(VPT_ATOM_MSR_CNTP);
}

static void pcc_set(void)
{
	wrmsr(VPT_ATOM_MSR_CNTP, PCC_DUE + 5);
	tip();
	third_read = rdmsr(VPT_ATOM_MSR_CNTP);
}

/* With ranges the unit checks every instruction. Range 1 is never reached. */
static uint32_t pccs(uint64_t ctl, enum vpt_atom_event_id filter, void (*fn)(void))
{
	guest_atom_drv_events(&t.atom, filter, VPT_ATOM_ID_RANGE1);
	run(ctl, fn);
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_NEVER);
	return t.ascan.count[VPT_ATOM_PKT_PCC];
}

static void pcc(void)
{
	const uint64_t less = ATOM_CTL(LESS_PKTS);

	report_equal(pccs(CTL, VPT_ATOM_ID_ALWAYS, pcc_due), 1, "FUP.PCC when bit 21 is reached");
	report(third_read < SLACK, "and CNTP is 0 after it");
	report_equal(pccs(CTL, VPT_ATOM_ID_ALWAYS, pcc_set), 1, "FUP.PCC when software sets it");
	report_equal(pccs(PLAIN, VPT_ATOM_ID_ALWAYS, pcc_set), 0, "not without Cycle_Acc");
	report_equal(pccs(CTL, VPT_ATOM_ID_NEVER, pcc_set), 1, "out of the filter too");
	report_equal(third_read, 0, "where CNTP stands still");
	report_equal(pccs(CTL | less, VPT_ATOM_ID_ALWAYS, pcc_set), 1, "LESS_PKTS: in the filter");
	report_equal(pccs(CTL | less, VPT_ATOM_ID_NEVER, pcc_set), 0, "LESS_PKTS: not out of it");
	report_equal(pccs(ATOM_CTL(USER) | ATOM_CTL(CYCLE_ACC), VPT_ATOM_ID_ALWAYS, pcc_set), 0,
		     "not out of context");
}

static void wait(void)
{
	wrmsr(VPT_ATOM_MSR_CNTP, 100);
	idle();
	third_read = rdmsr(VPT_ATOM_MSR_CNTP);
}

static bool counts(uint64_t ctl, enum vpt_atom_event_id filter)
{
	pccs(ctl, filter, wait);
	return third_read != 100;
}

static void overflow(void)
{
	wrmsr(VPT_ATOM_MSR_CNTP, CNTP_BITS - 8);
	idle();
	third_read = rdmsr(VPT_ATOM_MSR_CNTP);
}

/* Table 17, last two rows. */
static void when_it_counts(void)
{
	const uint64_t less = ATOM_CTL(LESS_PKTS);

	report(counts(PLAIN, VPT_ATOM_ID_ALWAYS), "CNTP counts in the filter");
	report(!counts(PLAIN, VPT_ATOM_ID_NEVER), "but not out of it");
	report(counts(PLAIN | less, VPT_ATOM_ID_NEVER), "with LESS_PKTS it does there");
	report(!counts(ATOM_CTL(USER) | less, VPT_ATOM_ID_ALWAYS), "never out of context");
	run(PLAIN, overflow);
	report(third_read < SLACK, "CNTP wraps to 0 at 22 bits");
	wait();
	report_equal(third_read, 100, "and stands still without a trace");
}

void payload(void)
{
	idt_hook(VEC_BP, on_bp);
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_rtit(&t))
		return;
	all_kinds();
	second_is_zero();
	counter();
	lengths();
	pcc();
	when_it_counts();
	report(breakpoints > 0, "breakpoints were taken");
}
