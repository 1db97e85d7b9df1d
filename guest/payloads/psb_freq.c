// SPDX-License-Identifier: GPL-2.0-or-later
/* The PSB period (33.2.8.2, PSBFreq): every encoding that fits the buffer. */
#include "lib/guest.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/trace.h"

PAYLOAD("PSB period: every encoding on offer");

#define ROUNDS 800
/* 2 KiB to 16 KiB: the trace here is too short for longer periods. */
#define FREQ_MAX 3
/* PSB follows the packet that passes the threshold, and has further packets behind it. */
#define SLACK 128

static void work(void)
{
	noise(ROUNDS);
}

/* Search for PSBs: no other packets resemble a PSB (33.3.7). */
static void check(const struct trace *t, unsigned int freq)
{
	uint64_t period = 2048ull << freq, shortest = ~0ull, longest = 0, at = 0, psbs = 0;

	for (;;) {
		uint64_t next = at + vpt_packet_find_psb(t->buf + at, t->bytes - at), gap;

		if (next >= t->bytes)
			break;
		gap = next - at + (psbs ? VPT_PKT_MAX : 0);
		if (psbs++) {
			shortest = gap < shortest ? gap : shortest;
			longest = gap > longest ? gap : longest;
		}
		at = next + VPT_PKT_MAX;
	}
	report(shortest >= period && longest <= period + SLACK, "PSBFreq %u: a PSB every %lu bytes",
	       freq, period);
	/* The first opens the trace; each other ended a period. */
	report(psbs - 1 >= t->bytes / (period + SLACK) && psbs - 1 <= t->bytes / period,
	       "PSBFreq %u: as many as there should be", freq);
}

void payload(void)
{
	struct trace t;
	unsigned int freq;

	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_pt(&t)) {
		work();
		return;
	}
	/* Without the capability the period is 2 KiB. */
	trace_run(&t, TRACE_ALL, work);
	trace_report(&t);
	check(&t, 0);
	if (!vpt_caps_has(&t.drv.caps, VPT_CAP_PSB_CYC)) {
		report_skip("this processor has one PSB period");
		return;
	}
	for (freq = 1; freq <= FREQ_MAX; freq++) {
		if (!vpt_caps_psb_freq_ok(&t.drv.caps, freq))
			continue;
		trace_only(&t, TRACE_ALL | (uint64_t)freq << VPT_CTL_PSB_FREQ_SHIFT, work);
		trace_report_end(&t);
		check(&t, freq);
	}
}
