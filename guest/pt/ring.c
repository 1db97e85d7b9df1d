// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare circular output with a reference. */
#include "ring.h"

#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/report.h"
#include "noise.h"

noinline uint64_t ring_trace(struct guest_drv *drv, uint64_t rounds)
{
	if (!guest_drv_start(drv, TRACE_ALL))
		report(false, "the start raised #GP");
	noise(rounds);
	return guest_drv_stop(drv);
}

bool ring_reference(struct trace *t, uint64_t rounds)
{
	ring_trace(&t->drv, rounds);
	t->bytes = guest_drv_bytes(&t->drv);
	guest_scan(&t->scan, t->buf, t->bytes);
	trace_report(t);
	return report(t->bytes >= rounds * NOISE_BYTES, "the reference has all of it");
}

void ring_report(const struct trace *reference, const uint8_t *lap, uint64_t lap_bytes,
		 uint64_t position)
{
	uint64_t laps = reference->bytes / lap_bytes;
	uint64_t rest = reference->bytes % lap_bytes;
	const uint8_t *last = reference->buf + laps * lap_bytes;

	report(laps >= 1, "the output is full at least once");
	report_equal(position, rest, "the position is where the reference ends");
	report(!memcmp(lap, last, rest), "bytes of the last lap");
	report(!memcmp(lap + rest, last - lap_bytes + rest, lap_bytes - rest),
	       "bytes of the lap before");
}

void ring_guard(uint8_t *page, uint64_t bytes)
{
	memset(page, RING_CANARY, bytes);
}

bool ring_guard_intact(const uint8_t *page, uint64_t bytes)
{
	uint64_t i;

	for (i = 0; i < bytes; i++)
		if (page[i] != RING_CANARY)
			return false;
	return true;
}
