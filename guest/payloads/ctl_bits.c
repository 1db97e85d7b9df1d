// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bits of CTL that select packets (table 33-6). The same work is traced with each of them, and
 * the packets are counted. DisTNT is not tested, because its trace cannot be compared with the
 * execution.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("DisRETC, BranchEn, OS, TSCEn");

#define ROUNDS 100
#define LEAVES 4

static uint64_t cr3, sum;

static noinline void leaf(uint64_t n)
{
	sum += n & 1 ? n : n / 2;
}

static noinline void branch(uint64_t n)
{
	unsigned int i;

	for (i = 0; i < LEAVES; i++)
		leaf(n + i);
	barrier();
}

static void work(void)
{
	uint64_t i;

	sum = 0;
	for (i = 0; i < ROUNDS; i++) {
		branch(i);
		write_cr3(cr3);
	}
}

/* The returns that match their calls, including the return of work(). */
#define RETURNS (ROUNDS * (LEAVES + 1) + 1)

static uint32_t count(const struct trace *t, enum vpt_pkt_kind kind)
{
	return t->scan.count[kind];
}

static void dis_retc(struct trace *t)
{
	uint64_t bits;

	trace_run(t, TRACE_ALL, work);
	trace_report(t);
	bits = t->scan.tnt_bits;
	report(count(t, VPT_PKT_TIP) < ROUNDS, "returns are compressed");
	trace_run(t, TRACE_ALL | VPT_CTL_MASK(DIS_RETC), work);
	trace_report(t);
	report(count(t, VPT_PKT_TIP) >= RETURNS, "DisRETC: a TIP for each return");
	report_equal(bits - t->scan.tnt_bits, RETURNS, "DisRETC: and no TNT bit for it");
}

static void branch_en(struct trace *t)
{
	trace_run(t, TRACE_ALL & ~VPT_CTL_MASK(BRANCH_EN), work);
	report_equal(count(t, VPT_PKT_TIP) + count(t, VPT_PKT_TIP_PGE) + count(t, VPT_PKT_TIP_PGD) +
			     count(t, VPT_PKT_FUP) + count(t, VPT_PKT_MODE_EXEC) + t->scan.tnt_bits,
		     0, "BranchEn 0: no flow");
	report(count(t, VPT_PKT_PSB) >= 1, "BranchEn 0: but PSB");
	report(count(t, VPT_PKT_PIP) >= ROUNDS, "BranchEn 0: and PIP");
}

static void os(struct trace *t)
{
	trace_run(t, TRACE_ALL & ~VPT_CTL_MASK(OS), work);
	report_equal(count(t, VPT_PKT_TIP) + count(t, VPT_PKT_TIP_PGE) + count(t, VPT_PKT_PIP) +
			     t->scan.tnt_bits,
		     0, "OS 0: nothing of ring 0");
	report(count(t, VPT_PKT_PSB) >= 1, "OS 0: but PSB");
}

/* TSC packets have the low seven bytes of RDTSC's result at that time. */
static void tsc_en(struct trace *t)
{
	uint64_t from = rdtsc() & VPT_MASK64(55, 0), last = from, to;
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	bool ordered = true;
	size_t at = 0;

	report(!count(t, VPT_PKT_TSC), "TSCEn 0: no TSC");
	trace_run(t, TRACE_ALL | VPT_CTL_MASK(TSC_EN), work);
	to = rdtsc() & VPT_MASK64(55, 0);
	trace_report(t);
	report(count(t, VPT_PKT_TSC) >= count(t, VPT_PKT_PSB), "TSCEn: TSC in each PSB+");
	for (; vpt_packet_read(&parser, t->buf + at, t->bytes - at, &packet) == VPT_OK;
	     at += packet.size) {
		if (packet.kind != VPT_PKT_TSC)
			continue;
		ordered &= packet.value >= last;
		last = packet.value;
	}
	report(ordered && last <= to, "TSC packets are in order and in time");
}

void payload(void)
{
	struct trace t;

	cr3 = paging_new_space();
	write_cr3(cr3);
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_pt(&t)) {
		work();
		return;
	}
	dis_retc(&t);
	branch_en(&t);
	os(&t);
	tsc_en(&t);
}
