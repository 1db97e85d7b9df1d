// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The output region of Atom's RTIT (RTIT 2.3, 3.3.10 to 3.3.12). It is circular, of all sizes, and
 * begins at any offset. Masks have holes, and bases have bits under the mask.
 */
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/ring.h"

PAYLOAD("RTIT's output: circular regions, offsets and masks");

#define ROUNDS	400
#define CTL	(ATOM_CTL(OS) | ATOM_CTL(USER))
#define SMALL	64u
#define LARGEST (4ull << 20)

static struct trace t;
static uint8_t *area;

#define AREA (64ull << 10)

/* Trace the same flow with every output. */
static noinline void trace_noise(struct guest_atom_drv *drv)
{
	if (!guest_atom_drv_start(drv, CTL))
		report(false, "the start raised #GP");
	noise(ROUNDS);
	guest_atom_drv_stop(drv);
}

static bool reference(void)
{
	struct guest_atom_bytes bytes;

	trace_noise(&t.atom);
	t.bytes = guest_atom_drv_bytes(&t.atom);
	bytes = trace_rtit_bytes(&t);
	guest_atom_scan(&t.ascan, &bytes);
	trace_report(&t);
	return report(t.bytes >= ROUNDS * NOISE_BYTES, "the reference has all of it");
}

/* Check the region of @bytes bytes after the whole reference was written to it from @offset on. */
static void check(const struct guest_atom_drv *drv, const uint8_t *region, uint32_t bytes,
		  uint32_t offset)
{
	static uint8_t lap[AREA];
	uint32_t first = bytes - offset;

	memcpy(lap, region + offset, first);
	memcpy(lap + first, region, offset);
	ring_report(&t, lap, bytes, (drv->end_offset - offset) & (bytes - 1));
	report(ring_guard_intact(area, (uint64_t)(region - area)) &&
		       ring_guard_intact(region + bytes, (uint64_t)(area + AREA - region) - bytes),
	       "nothing outside of it");
}

static struct guest_atom_drv fresh(const uint8_t *region, uint32_t bytes)
{
	struct guest_atom_drv drv = t.atom;

	ring_guard(area, AREA);
	guest_atom_drv_output(&drv, region, bytes);
	return drv;
}

static void sizes(void)
{
	static const uint32_t bytes[] = {SMALL, 128, 512, 4096, 8192};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		uint8_t *region = area + 16384;
		struct guest_atom_drv drv = fresh(region, bytes[i]);

		trace_noise(&drv);
		check(&drv, region, bytes[i], 0);
	}
}

static void offsets(void)
{
	static const uint32_t offset[] = {1, 63, 64, 1000, 4095};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offset); i++) {
		struct guest_atom_drv drv = fresh(area + 4096, 4096);

		drv.offset = offset[i];
		trace_noise(&drv);
		check(&drv, area + 4096, 4096, offset[i]);
	}
}

/* Bits of the base inside the mask count as 0, and so do bits of OFFSET outside the mask. */
static void masks(void)
{
	struct guest_atom_drv drv = fresh(area + 4096, 4096);

	drv.base += 4096 - 64;
	trace_noise(&drv);
	check(&drv, area + 4096, 4096, 0);
	drv = fresh(area + 4096, 4096);
	drv.offset = 0x3f5005;
	trace_noise(&drv);
	check(&drv, area + 4096, 4096, 5);
	/* Bits 8 and 5:0: the carry out of the low bits is lost. */
	drv = fresh(area + 4096, 4096);
	drv.mask = 0x13f;
	drv.offset = 0x100;
	trace_noise(&drv);
	report_equal(drv.end_offset & ~(SMALL - 1), 0x100, "a mask with a hole: OFFSET");
	drv.end_offset &= SMALL - 1;
	check(&drv, area + 4096 + 0x100, SMALL, 0);
}

/* The largest region, a little before its end. */
static void largest(void)
{
	uint8_t *region = page_alloc(LARGEST);
	struct guest_atom_drv drv = t.atom;
	const uint64_t room = 1000;

	guest_atom_drv_output(&drv, region, LARGEST);
	drv.offset = (uint32_t)(LARGEST - room);
	trace_noise(&drv);
	report_equal(guest_atom_drv_bytes(&drv), t.bytes, "4 MiB: the position");
	report(!memcmp(region + drv.offset, t.buf, room) &&
		       !memcmp(region, t.buf + room, t.bytes - room),
	       "4 MiB: behind the last byte comes the first");
}

void payload(void)
{
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_rtit(&t)) {
		noise(ROUNDS);
		return;
	}
	if (!reference())
		return;
	area = page_alloc(AREA);
	sizes();
	offsets();
	masks();
	largest();
}
