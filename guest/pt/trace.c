// SPDX-License-Identifier: GPL-2.0-or-later
/* Traces a function with PT or RTIT. */
#include "trace.h"

#include "lib/guest.h"
#include "lib/page_alloc.h"
#include "lib/report.h"

static void own_buffer(struct trace *t, uint64_t bytes)
{
	uint64_t *table;

	t->size = bytes;
	t->buf = page_alloc(bytes);
	if (t->rtit) {
		guest_atom_drv_output(&t->atom, t->buf, bytes);
		return;
	}
	table = page_alloc(PAGE_SIZE);
	table[0] = guest_topa_region(t->buf, bytes, 0);
	table[1] = guest_topa_end(table);
	guest_drv_output_topa(&t->drv, table);
}

void trace_init(struct trace *t, uint64_t buffer_bytes)
{
	bool own = !!(boot->flags & VPT_BOOT_PT_GUEST);

	t->on = guest_drv_probe(&t->drv);
	t->rtit = guest_atom_drv_probe(&t->atom);
	t->bytes = 0;
	if ((t->on || t->rtit) != own || (t->on && t->rtit))
		report(false, "%s PT, %s RTIT, the boot flags say otherwise",
		       t->on ? "there is" : "no", t->rtit ? "there is" : "no");
	if (t->on || t->rtit)
		own_buffer(t, buffer_bytes);
}

/* Convert IA32_RTIT_CTL to RTIT_CTL. Its flow packets have no separate enable. */
static uint64_t rtit_ctl(uint64_t ctl)
{
	static const struct {
		uint64_t pt, rtit;
	} same[] = {
		{VPT_CTL_MASK(OS), ATOM_CTL(OS)},
		{VPT_CTL_MASK(USER), ATOM_CTL(USER)},
		{VPT_CTL_MASK(TSC_EN), ATOM_CTL(STS_EN)},
		{VPT_CTL_MASK(MTC_EN), ATOM_CTL(MTC_EN)},
		{VPT_CTL_MASK(CYC_EN), ATOM_CTL(CYCLE_ACC)},
	};
	uint64_t out = ctl & VPT_CTL_MASK(DIS_RETC) ? 0 : ATOM_CTL(CMPRS_RET);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(same); i++)
		if (ctl & same[i].pt)
			out |= same[i].rtit;
	return out;
}

static noinline void rtit_only(struct trace *t, uint64_t ctl, void (*fn)(void))
{
	if (!guest_atom_drv_start(&t->atom, ctl))
		report(false, "trace: a start with RTIT_CTL %#lx raised #GP", ctl);
	fn();
	guest_atom_drv_stop(&t->atom);
	t->bytes = guest_atom_drv_bytes(&t->atom);
}

noinline void trace_only(struct trace *t, uint64_t ctl, void (*fn)(void))
{
	if (t->rtit) {
		rtit_only(t, rtit_ctl(ctl), fn);
		return;
	}
	if (!t->on) {
		fn();
		return;
	}
	if (!guest_drv_start(&t->drv, ctl))
		report(false, "trace: a start with CTL %#lx raised #GP", ctl);
	fn();
	guest_drv_stop(&t->drv);
	t->bytes = guest_drv_bytes(&t->drv);
}

struct guest_atom_bytes trace_rtit_bytes(const struct trace *t)
{
	struct guest_atom_bytes bytes = {
		.buf = t->buf,
		.len = t->bytes,
		.cycle_acc = !!(t->atom.started & ATOM_CTL(CYCLE_ACC)),
	};

	return bytes;
}

static void rtit_scan(struct trace *t)
{
	const struct guest_atom_bytes bytes = trace_rtit_bytes(t);

	guest_atom_scan(&t->ascan, &bytes);
}

void trace_run(struct trace *t, uint64_t ctl, void (*fn)(void))
{
	trace_only(t, ctl, fn);
	if (t->on)
		guest_scan(&t->scan, t->buf, t->bytes);
	else if (t->rtit)
		rtit_scan(t);
}

void trace_rtit(struct trace *t, uint64_t ctl, void (*fn)(void))
{
	rtit_only(t, ctl, fn);
	rtit_scan(t);
}

void trace_report_end(const struct trace *t)
{
	const uint64_t bad =
		VPT_STATUS_MASK(ERROR) | VPT_STATUS_MASK(STOPPED) | VPT_STATUS_MASK(TRIGGER_EN);

	if (!t->on && !t->rtit)
		return;
	report(t->bytes > 0, "trace: the position moved");
	if (t->rtit)
		report_equal(t->atom.status &
				     (ATOM_STATUS(TRIGGER_EN) | ATOM_STATUS(BUFFER_OVERFLOW)),
			     ATOM_STATUS(TRIGGER_EN), "trace: STATUS before the stop");
	else
		report_equal(t->drv.status & bad, 0, "trace: STATUS after the stop");
}

/* Ranges that were on when TriggerEn fell need no FUP.PGD (4.2.8). */
static void rtit_report(const struct trace *t)
{
	const struct guest_atom_scan *scan = &t->ascan;
	uint32_t pge = scan->count[VPT_ATOM_PKT_PGE], pgd = scan->count[VPT_ATOM_PKT_PGD];

	report(scan->end == VPT_OK && scan->parsed == t->bytes, "trace: whole packets only");
	report(scan->first == VPT_ATOM_PKT_PSB, "trace: PSB first");
	report(pge && (pge == pgd || pge == pgd + 1), "trace: FUP.PGE and FUP.PGD in pairs");
	report(!scan->bad_cycles, "trace: cycle counts where they belong");
	report(!scan->count[VPT_ATOM_PKT_BUF_OVF], "trace: nothing lost");
}

void trace_report(const struct trace *t)
{
	const struct guest_scan *scan = &t->scan;

	trace_report_end(t);
	if (t->rtit)
		rtit_report(t);
	if (!t->on)
		return;
	report(scan->end == VPT_OK && scan->parsed == t->bytes, "trace: whole packets only");
	report(scan->first == VPT_PKT_PSB, "trace: PSB first");
	report(scan->count[VPT_PKT_PSB] == scan->count[VPT_PKT_PSBEND],
	       "trace: each PSB+ is closed");
	report(scan->last == VPT_PKT_TIP_PGD, "trace: TIP.PGD last");
	report(scan->count[VPT_PKT_TIP_PGE] &&
		       scan->count[VPT_PKT_TIP_PGE] == scan->count[VPT_PKT_TIP_PGD],
	       "trace: TIP.PGE and TIP.PGD in pairs");
	report(!scan->count[VPT_PKT_OVF], "trace: nothing lost");
}

void trace_simple(struct trace *t, void (*fn)(void))
{
	trace_init(t, TRACE_BUFFER);
	trace_run(t, TRACE_ALL, fn);
	trace_report(t);
}

void trace_long(struct trace *t, void (*fn)(void))
{
	trace_init(t, TRACE_BUFFER);
	trace_only(t, TRACE_ALL, fn);
	trace_report_end(t);
}

bool trace_need_pt(const struct trace *t)
{
	if (!t->on)
		report_skip("no PT in this guest's CPUID");
	return t->on;
}

bool trace_need_rtit(const struct trace *t)
{
	if (!t->rtit)
		report_skip("this guest has no RTIT of its own");
	return t->rtit;
}
