// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any sequence of accesses to the IA32_RTIT_* MSRs, by guest and host, on any
 * sound capability set. After each of them the registers must hold nothing that
 * is reserved, and only what the access was allowed to change may have changed.
 *
 * Input: 13 bytes choose the set, then each access is an operation, a register,
 * how its value is made, and eight bytes for that (missing bytes are 0).
 */
#include <string.h>

#include "fuzz/bytes.h"
#include "vpt/rtit.h"

#define BIT(n)	  (1ull << (n))
#define TRACE_EN  BIT(0)
#define READ_ONLY 0x7ull
#define CTL_ALWAYS_RESERVED \
	(BIT(18) | BIT(23) | VPT_MASK64(30, 28) | VPT_MASK64(54, 48) | VPT_MASK64(63, 57))
#define STATUS_ALWAYS_RESERVED (BIT(3) | VPT_MASK64(31, 8) | VPT_MASK64(63, 49))

/* Take any consistent set of capabilities: capabilities implied by others are added or removed. */
static struct vpt_caps take_caps(struct input *in)
{
	static const uint8_t widths[] = {32, 36, 39, 46, 48, 50, 51, 52};
	uint16_t bits = (uint16_t)take(in, 2);
	uint16_t mtc = (uint16_t)take(in, 2), cyc = (uint16_t)take(in, 2);
	uint16_t psb = (uint16_t)take(in, 2);
	uint8_t more = (uint8_t)take(in, 1), width = (uint8_t)take(in, 1);
	struct vpt_caps caps = {.l14_0_eax = 1};
	const char *why = "";

	take(in, 3); /* spare */
	caps.l14_0_ebx = bits & 0x1ff;
	caps.l14_0_ecx = (bits >> 9 & 0xf) | (uint32_t)(more & 1) << 31;
	if (!(caps.l14_0_ecx & 0xd))
		caps.l14_0_ecx |= 1;
	if (!(caps.l14_0_ecx & 1))
		caps.l14_0_ecx &= ~2u;
	if (caps.l14_0_ebx & BIT(2))
		caps.l14_1_eax |= 1 + (more >> 1 & 3);
	if (caps.l14_0_ebx & BIT(3)) {
		caps.l14_1_eax |= (uint32_t)(mtc | 1) << 16;
		caps.l15_eax = 2;
		caps.l15_ebx = 284;
	}
	if (caps.l14_0_ebx & BIT(1))
		caps.l14_1_ebx = (uint32_t)(psb | 1) << 16 | (cyc | 1);
	caps.max_phy_addr = widths[width & 7];
	caps.lin_addr = width & 8 ? 57 : 48;
	if (vpt_caps_check(&caps, &why) != VPT_OK)
		require_failed(why, __FILE__, __LINE__);
	return caps;
}

/* Is this encoding of a 4-bit field in its map, or 0? */
static bool mapped(uint32_t map, uint64_t field)
{
	return !(field & 15) || (map >> (field & 15) & 1);
}

static void check_ctl(const struct vpt_caps *caps, uint64_t ctl)
{
	unsigned int n, cfg;

	REQUIRE(!(ctl & CTL_ALWAYS_RESERVED));
	REQUIRE(!(ctl & ~vpt_rtit_ctl_mask(caps)));
	REQUIRE(mapped(caps->l14_1_eax >> 16, ctl >> 14));
	REQUIRE(mapped(caps->l14_1_ebx & 0xffff, ctl >> 19));
	REQUIRE(mapped(caps->l14_1_ebx >> 16, ctl >> 24));
	for (n = 0; n < 4; n++) {
		cfg = ctl >> (32 + 4 * n) & 15;
		REQUIRE(cfg <= (n < (caps->l14_1_eax & 7) ? 2 : 0));
	}
	if (ctl & TRACE_EN)
		REQUIRE((ctl & BIT(8)) || (ctl & BIT(6)) || (caps->l14_0_ecx & BIT(2)));
}

/* Check the invariants of every state that accesses can reach. */
static void check_state(const struct vpt_caps *caps, const struct vpt_rtit *rtit)
{
	bool output = caps->l14_0_ecx & 5;
	unsigned int n;

	check_ctl(caps, rtit->ctl);
	REQUIRE(!(rtit->status & STATUS_ALWAYS_RESERVED));
	REQUIRE(!(rtit->status & ~vpt_rtit_status_mask(caps)));
	REQUIRE(!(rtit->output_base & 0x7f));
	REQUIRE(!(rtit->output_base >> caps->max_phy_addr));
	REQUIRE((rtit->output_mask_ptrs & 0x7f) == 0x7f);
	REQUIRE(output || (!rtit->output_base && rtit->output_mask_ptrs == 0x7f));
	REQUIRE(!(rtit->cr3_match & 0x1f));
	REQUIRE((caps->l14_0_ebx & 1) || !rtit->cr3_match);
	for (n = 0; n < 8; n++) {
		int64_t top = (int64_t)rtit->addr[n] >> (caps->lin_addr - 1);

		REQUIRE(top == 0 || top == -1);
		REQUIRE(n / 2 < (caps->l14_1_eax & 7) || !rtit->addr[n]);
	}
}

static uint32_t take_msr(struct input *in)
{
	static const uint32_t msrs[] = {0x560, 0x561, 0x570, 0x571, 0x572, 0x580, 0x581,
					0x582, 0x583, 0x584, 0x585, 0x586, 0x587, 0x570};
	uint8_t which = (uint8_t)take(in, 1);

	if ((which & 15) < sizeof(msrs) / sizeof(msrs[0]))
		return msrs[which & 15];
	/* Any register of the block, and some numbers around the block. */
	return 0x558 + (which >> 4) * 5 + (which & 1);
}

/* Mostly modify the old value, since random values are nearly always refused. */
static uint64_t take_value(struct input *in, uint64_t old)
{
	uint8_t how = (uint8_t)take(in, 1);

	switch (how & 7) {
	case 0:
		return take(in, 8);
	case 1:
		return old;
	case 2:
		return old ^ BIT(how >> 3) ^ BIT(take(in, 1) & 63);
	case 3:
		return old ^ BIT(take(in, 1) & 63);
	case 4:
		return old ^ TRACE_EN;
	case 5:
		return (uint64_t)(int64_t)(int32_t)take(in, 4) << (how >> 3);
	case 6:
		return take(in, 2) << (how >> 3) << (how >> 3);
	default:
		return old & ~VPT_MASK64(63, how >> 2 & 63);
	}
}

/* Check that no other register has changed. */
static void check_others(const struct vpt_rtit *before, const struct vpt_rtit *after, uint32_t msr)
{
	REQUIRE(msr == 0x560 || before->output_base == after->output_base);
	REQUIRE(msr == 0x561 || before->output_mask_ptrs == after->output_mask_ptrs);
	REQUIRE(msr == 0x570 || before->ctl == after->ctl);
	REQUIRE(msr == 0x571 || before->status == after->status);
	REQUIRE(msr == 0x572 || before->cr3_match == after->cr3_match);
	for (uint32_t n = 0; n < 8; n++)
		REQUIRE(msr == 0x580 + n || before->addr[n] == after->addr[n]);
}

/* Return the value that the register must have after an accepted write. */
static uint64_t stored(uint32_t msr, uint64_t old, uint64_t value, enum vpt_access who)
{
	if (msr == 0x561)
		return value | 0x7f;
	if (msr == 0x571 && who == VPT_ACCESS_GUEST)
		return (value & ~READ_ONLY) | (old & READ_ONLY);
	return value;
}

static uint64_t do_read(const struct vpt_rtit *rtit, const struct vpt_caps *caps, uint32_t msr)
{
	const struct vpt_rtit before = *rtit;
	uint64_t value = 0x5a5a5a5a5a5a5a5a;
	enum vpt_fault fault = vpt_rtit_read(rtit, caps, msr, &value);

	REQUIRE((fault == VPT_FAULT_NONE) == vpt_rtit_exists(caps, msr));
	REQUIRE(fault == VPT_FAULT_NONE || value == 0x5a5a5a5a5a5a5a5a);
	REQUIRE(!memcmp(rtit, &before, sizeof(before)));
	return fault == VPT_FAULT_NONE ? value : 0;
}

static void do_write(struct vpt_rtit *rtit, const struct vpt_caps *caps, uint32_t msr,
		     uint64_t value, enum vpt_access who)
{
	const struct vpt_rtit before = *rtit;
	const uint64_t old = do_read(rtit, caps, msr);
	bool tracing = rtit->ctl & TRACE_EN;
	enum vpt_fault fault = vpt_rtit_write(rtit, caps, msr, value, who);

	if (fault != VPT_FAULT_NONE) {
		REQUIRE(!memcmp(rtit, &before, sizeof(before)));
		/* Writing back the old value may only be refused because the register is locked. */
		REQUIRE(value != old || !vpt_rtit_exists(caps, msr) ||
			(tracing && who == VPT_ACCESS_GUEST && msr != 0x570));
		return;
	}
	REQUIRE(vpt_rtit_exists(caps, msr));
	check_others(&before, rtit, msr);
	REQUIRE(do_read(rtit, caps, msr) == stored(msr, old, value, who));
	if (tracing && who == VPT_ACCESS_GUEST) {
		REQUIRE(msr == 0x570);
		REQUIRE(rtit->ctl == before.ctl || !(rtit->ctl & TRACE_EN));
	}
}

static void do_warm_reset(struct vpt_rtit *rtit, const struct vpt_caps *caps)
{
	const struct vpt_rtit before = *rtit;
	struct vpt_rtit clear;

	vpt_rtit_reset(&clear);
	vpt_rtit_warm_reset(rtit, caps);
	REQUIRE(!(rtit->ctl & TRACE_EN) && !(rtit->status & BIT(2)));
	if (!(caps->l14_0_ebx & BIT(2))) {
		REQUIRE(!memcmp(rtit, &clear, sizeof(clear)));
		return;
	}
	REQUIRE((rtit->ctl | TRACE_EN) == (before.ctl | TRACE_EN));
	REQUIRE((rtit->status | READ_ONLY) == (before.status | READ_ONLY));
	REQUIRE(!memcmp(&rtit->output_base, &before.output_base,
			sizeof(before) - offsetof(struct vpt_rtit, output_base)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	const struct vpt_caps caps = take_caps(&in);
	struct vpt_rtit rtit;

	vpt_rtit_reset(&rtit);
	check_state(&caps, &rtit);
	while (in.left) {
		uint8_t op = (uint8_t)take(&in, 1);
		uint32_t msr = take_msr(&in);
		uint64_t old = do_read(&rtit, &caps, msr);

		switch (op & 7) {
		case 0:
			do_warm_reset(&rtit, &caps);
			break;
		case 1:
			vpt_rtit_reset(&rtit);
			break;
		case 2:
		case 3:
			do_write(&rtit, &caps, msr, take_value(&in, old), VPT_ACCESS_HOST);
			break;
		default:
			do_write(&rtit, &caps, msr, take_value(&in, old), VPT_ACCESS_GUEST);
			break;
		}
		check_state(&caps, &rtit);
	}
	return 0;
}
