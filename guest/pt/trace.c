// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include "lib/guest.h"
#include "lib/page_alloc.h"
#include "lib/report.h"

void trace_init(struct trace *t, uint64_t buffer_bytes)
{
	uint64_t *table;

	t->on = vpt_drv_probe(&t->drv);
	t->bytes = 0;
	if (t->on != !!(boot->flags & VPT_BOOT_PT_GUEST))
		report(false, "CPUID %s PT, the boot flags say otherwise",
		       t->on ? "shows" : "hides");
	if (!t->on)
		return;
	table = page_alloc(PAGE_SIZE);
	t->size = buffer_bytes;
	t->buf = page_alloc(t->size);
	table[0] = vpt_topa_region(t->buf, t->size, 0);
	table[1] = vpt_topa_end(table);
	vpt_drv_output_topa(&t->drv, table);
}

noinline void trace_only(struct trace *t, uint64_t ctl, void (*fn)(void))
{
	if (!t->on) {
		fn();
		return;
	}
	if (!vpt_drv_start(&t->drv, ctl))
		report(false, "trace: a start with CTL %#lx raised #GP", ctl);
	fn();
	vpt_drv_stop(&t->drv);
	t->bytes = vpt_drv_bytes(&t->drv);
}

void trace_run(struct trace *t, uint64_t ctl, void (*fn)(void))
{
	trace_only(t, ctl, fn);
	if (t->on)
		vpt_scan(&t->scan, t->buf, t->bytes);
}

void trace_report_end(const struct trace *t)
{
	const uint64_t bad =
		VPT_STATUS_MASK(ERROR) | VPT_STATUS_MASK(STOPPED) | VPT_STATUS_MASK(TRIGGER_EN);

	if (!t->on)
		return;
	report(t->bytes > 0, "trace: the position moved");
	report_equal(t->drv.status & bad, 0, "trace: STATUS after the stop");
}

void trace_report(const struct trace *t)
{
	const struct vpt_scan *scan = &t->scan;

	if (!t->on)
		return;
	trace_report_end(t);
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
