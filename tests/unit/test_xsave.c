// SPDX-License-Identifier: GPL-2.0-or-later
/* PT's state in XSAVES and XRSTORS, and what is preserved of a trace that ends. */
#include "lib/suite.h"
#include "lib/ram.h"

#include <stdlib.h>
#include <string.h>

#include "vpt/packet.h"
#include "vpt/system.h"
#include "vpt/vmx_pt.h"
#include "vpt/xsave.h"

enum { RAM = 4 << 20, TABLE = 0x1000, OUT = 0x100000, REGION_BYTES = 4096 };
enum { INT = 1 << 2, STOP = 1 << 4, END = 1 << 0 };

#define CTL_ALL	  (VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN))
#define INJECT	  VPT_CTL_MASK(INJECT_PSB_PMI)
#define TRACE_EN  VPT_CTL_MASK(TRACE_EN)
#define PEND_PSB  VPT_STATUS_MASK(PEND_PSB)
#define PEND_PMI  VPT_STATUS_MASK(PEND_TOPA_PMI)
#define NEXT(ip)  ((ip) + 4)
#define HERE	  0x1000ull
#define SLOT_LAST (VPT_XSAVE_FIXED / 8 + 2 * VPT_MAX_RANGES)

static struct {
	struct vpt_pt pt;
	unsigned int pmis;
	uint8_t ram[RAM];
} m;

static uint64_t seed;

static uint64_t rnd(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	(void)opaque;
	return test_ram_read(m.ram, RAM, gpa, dst, len);
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	(void)opaque;
	return test_ram_write(m.ram, RAM, gpa, src, len);
}

static void context(void *opaque, struct vpt_context *ctx)
{
	(void)opaque;
	*ctx = (struct vpt_context){.cs_l = true, .lma = true, .cr3 = 0x1000, .cbr = 0x20};
}

static void pmi(void *opaque)
{
	(void)opaque;
	m.pmis++;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
	.pmi = pmi,
};

static void setup(const struct vpt_caps *caps)
{
	memset(&m, 0, sizeof(m));
	vpt_pt_init(&m.pt, caps, &ops, NULL);
}

static void write_msr(uint32_t msr, uint64_t value)
{
	ck_assert(vpt_pt_wrmsr(&m.pt, msr, value, VPT_ACCESS_GUEST, HERE, NEXT(HERE)) ==
		  VPT_FAULT_NONE);
}

static uint64_t read_msr(uint32_t msr)
{
	uint64_t value = ~0ull;

	ck_assert(vpt_pt_rdmsr(&m.pt, msr, &value) == VPT_FAULT_NONE);
	return value;
}

static uint64_t slot(const uint8_t *state, unsigned int n)
{
	uint64_t value;

	memcpy(&value, state + 8 * n, 8);
	return value;
}

static void set_slot(uint8_t *state, unsigned int n, uint64_t value)
{
	memcpy(state + 8 * n, &value, 8);
}

static void entry(unsigned int n, uint64_t value)
{
	memcpy(m.ram + TABLE + 8 * n, &value, 8);
}

static void start_topa(uint64_t offset, uint64_t ctl)
{
	write_msr(VPT_MSR_OUTPUT_BASE, TABLE);
	write_msr(VPT_MSR_OUTPUT_MASK_PTRS, offset << 32);
	write_msr(VPT_MSR_CTL, ctl | CTL_ALL | VPT_CTL_MASK(TOPA) | TRACE_EN);
}

static void stop(void)
{
	write_msr(VPT_MSR_CTL, read_msr(VPT_MSR_CTL) & ~TRACE_EN);
}

/* Indirect jumps far apart: packets of seven bytes. */
static void jumps(unsigned int count)
{
	struct vpt_event event = {.kind = VPT_EV_JMP_INDIRECT, .from = HERE};

	while (count--) {
		event.to = count & 1 ? 0x7f0000001000 : 0x550000002000;
		vpt_pt_event(&m.pt, &event);
	}
}

static uint32_t msr_of(unsigned int n)
{
	static const uint32_t fixed[] = {0x570, 0x560, 0x561, 0x571, 0x572};

	return n < 5 ? fixed[n] : 0x580 + n - 5;
}

START_TEST(layout)
{
	uint8_t state[VPT_XSAVE_BYTES];
	unsigned int i;

	setup(vpt_caps_model("spr"));
	memset(state, 0xff, sizeof(state));
	for (i = 1; i < 9; i++)
		if (i != 3)
			write_msr(msr_of(i), 0x1000ull * i);
	write_msr(VPT_MSR_STATUS, PEND_PSB);
	write_msr(VPT_MSR_CTL, CTL_ALL | VPT_CTL_MASK(TSC_EN));
	vpt_pt_xsaves(&m.pt, state, HERE, NEXT(HERE));
	ck_assert_uint_eq(slot(state, 0), CTL_ALL | VPT_CTL_MASK(TSC_EN));
	ck_assert_uint_eq(slot(state, 1), 0x1000);
	ck_assert_uint_eq(slot(state, 2), 0x2000 | 0x7f);
	ck_assert_uint_eq(slot(state, 3), PEND_PSB);
	for (i = 4; i < 9; i++)
		ck_assert_uint_eq(slot(state, i), 0x1000ull * i);
	for (; i < VPT_XSAVE_BYTES / 8; i++)
		ck_assert_uint_eq(slot(state, i), 0);
	/* ADDR2 and on are not there: what stands in their place is not looked at. */
	set_slot(state, 9, ~0ull >> 1);
	set_slot(state, 15, ~0ull);
	ck_assert(vpt_pt_xrstors(&m.pt, state, HERE, NEXT(HERE)) == VPT_FAULT_NONE);
	ck_assert_uint_eq(m.pt.rtit.addr[4], 0);
	TEST_PROVES("XSAVE-COMPONENT XSAVE-SAVE-ORDER");
}
END_TEST

/* All of four ranges have a place, and nothing is written behind the last. */
START_TEST(layout_of_four_ranges)
{
	struct vpt_caps caps = *vpt_caps_model("spr");
	uint8_t state[VPT_XSAVE_BYTES];
	unsigned int i;

	caps.l14_1_eax = (caps.l14_1_eax & ~7u) | 4;
	setup(&caps);
	memset(state, 0xff, sizeof(state));
	for (i = 5; i < 13; i++)
		write_msr(msr_of(i), 0x123456789abcull + i);
	vpt_pt_xsaves(&m.pt, state, HERE, NEXT(HERE));
	for (i = 5; i < 13; i++)
		ck_assert_uint_eq(slot(state, i), 0x123456789abcull + i);
	for (; i < VPT_XSAVE_BYTES / 8; i++)
		ck_assert_uint_eq(slot(state, i), 0);
	TEST_PROVES("XSAVE-COMPONENT");
}
END_TEST

START_TEST(which_have_it)
{
	struct vpt_caps none = *vpt_caps_model("skl");

	ck_assert_uint_eq(vpt_xsave_bytes(vpt_caps_model("bdw")), 0);
	ck_assert_uint_eq(vpt_xsave_bytes(vpt_caps_model("skl")), 128);
	ck_assert_uint_eq(vpt_xsave_bytes(vpt_caps_model("icx")), 128);
	ck_assert_uint_eq(vpt_xsave_bytes(vpt_caps_model("spr")), 128);
	none.l14_0_ebx = none.l14_0_ecx = 0;
	ck_assert_uint_eq(vpt_xsave_bytes(&none), 0);
	TEST_PROVES("XSAVE-COMPONENT");
}
END_TEST

START_TEST(initial)
{
	static const uint64_t values[] = {CTL_ALL, 0x1000, 0xfff, PEND_PSB, 0x20, 1, 1, 1, 1};
	unsigned int i;

	setup(vpt_caps_model("spr"));
	ck_assert(vpt_xsave_is_initial(&m.pt));
	/* Only registers count. */
	memset(&m.pt.out, 0xff, sizeof(m.pt.out));
	ck_assert(vpt_xsave_is_initial(&m.pt));
	setup(vpt_caps_model("spr"));
	for (i = 0; i < 9; i++) {
		write_msr(msr_of(i), values[i]);
		ck_assert(!vpt_xsave_is_initial(&m.pt));
		ck_assert(vpt_pt_xrstors(&m.pt, NULL, HERE, NEXT(HERE)) == VPT_FAULT_NONE);
		ck_assert(vpt_xsave_is_initial(&m.pt));
		ck_assert_uint_eq(read_msr(msr_of(i)), i == 2 ? 0x7f : 0);
	}
	/* What the processor left in STATUS goes too. */
	entry(0, OUT);
	entry(1, TABLE | END);
	start_topa(0, 0);
	stop();
	ck_assert_uint_eq(read_msr(VPT_MSR_STATUS) & 7, 3);
	ck_assert(vpt_pt_xrstors(&m.pt, NULL, HERE, NEXT(HERE)) == VPT_FAULT_NONE);
	ck_assert(vpt_xsave_is_initial(&m.pt));
	TEST_PROVES("XSAVE-INIT MSR-COLD-RESET");
}
END_TEST

START_TEST(locked)
{
	uint8_t state[VPT_XSAVE_BYTES] = {0};
	struct vpt_rtit before;

	setup(vpt_caps_model("spr"));
	entry(0, OUT);
	entry(1, TABLE | END);
	start_topa(0, 0);
	before = m.pt.rtit;
	ck_assert(vpt_pt_xrstors_check(&m.pt, state) == VPT_FAULT_GP);
	ck_assert(vpt_pt_xrstors(&m.pt, state, HERE, NEXT(HERE)) == VPT_FAULT_GP);
	ck_assert(vpt_pt_xrstors(&m.pt, NULL, HERE, NEXT(HERE)) == VPT_FAULT_GP);
	ck_assert_mem_eq(&before, &m.pt.rtit, sizeof(before));
	TEST_PROVES("XSAVE-RESTORE-LOCKED");
}
END_TEST

/* VMX operation without PT in it: CTL is locked for XRSTORS as it is for WRMSR, but not in SMM. */
START_TEST(locked_by_vmx)
{
	struct vpt_caps caps = *vpt_caps_model("spr");
	uint8_t state[VPT_XSAVE_BYTES] = {0};

	caps.vmx_pt = 0;
	setup(&caps);
	vpt_pt_vmxon(&m.pt, HERE);
	ck_assert(vpt_pt_xrstors(&m.pt, state, HERE, NEXT(HERE)) == VPT_FAULT_GP);
	ck_assert(vpt_pt_wrmsr(&m.pt, VPT_MSR_CTL, 0, VPT_ACCESS_GUEST, HERE, NEXT(HERE)) ==
		  VPT_FAULT_GP);
	vpt_pt_smi(&m.pt, HERE);
	ck_assert(vpt_pt_wrmsr(&m.pt, VPT_MSR_CTL, 0, VPT_ACCESS_GUEST, HERE, NEXT(HERE)) ==
		  VPT_FAULT_NONE);
	ck_assert(vpt_pt_xrstors_check(&m.pt, state) == VPT_FAULT_NONE);
	ck_assert(vpt_pt_xrstors(&m.pt, state, HERE, NEXT(HERE)) == VPT_FAULT_NONE);
	TEST_PROVES("VMX-NO-PT SMM-NOT-VMX");
}
END_TEST

/* Mostly values that can be, sometimes ones that cannot. */
static uint64_t some_value(unsigned int n)
{
	uint64_t any = (rnd(1ull << 32) << 32 | rnd(1ull << 32)) & ~TRACE_EN;

	if (!rnd(12))
		return any;
	switch (n) {
	case 0:
		return any & (CTL_ALL | VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(TOPA) | INJECT);
	case 1:
		return any & 0xffffff000ull;
	case 3:
		return any & (PEND_PSB | PEND_PMI | 0x37 | VPT_STATUS_MASK(PACKET_BYTE_CNT));
	case 4:
		return any & ~0x1full;
	default:
		return any >> 17;
	}
}

/* XRSTORS is WRMSR of each, or none of them. */
START_TEST(as_by_wrmsr)
{
	static const char *const models[] = {"skl", "icx", "spr"};
	unsigned int faults = 0, rounds;

	seed = 0x9e3779b97f4a7c15ull;
	for (rounds = 0; rounds < 3000; rounds++) {
		uint8_t state[VPT_XSAVE_BYTES] = {0};
		struct vpt_rtit by_msr, before;
		enum vpt_fault want = VPT_FAULT_NONE, fault;
		unsigned int n;

		setup(vpt_caps_model(models[rounds % 3]));
		m.pt.rtit.status = rnd(8); /* as a trace left it */
		before = by_msr = m.pt.rtit;
		for (n = 0; n < SLOT_LAST; n++) {
			set_slot(state, n, some_value(n));
			if (vpt_rtit_exists(m.pt.caps, msr_of(n)) &&
			    vpt_rtit_write(&by_msr, m.pt.caps, msr_of(n), slot(state, n),
					   VPT_ACCESS_GUEST) != VPT_FAULT_NONE)
				want = VPT_FAULT_GP;
		}
		ck_assert_int_eq(vpt_pt_xrstors_check(&m.pt, state), want);
		fault = vpt_pt_xrstors(&m.pt, state, HERE, NEXT(HERE));
		ck_assert_int_eq(fault, want);
		faults += fault != VPT_FAULT_NONE;
		ck_assert_mem_eq(&m.pt.rtit, fault == VPT_FAULT_NONE ? &by_msr : &before,
				 sizeof(before));
	}
	ck_assert_uint_gt(faults, 500);
	ck_assert_uint_lt(faults, 2500);
	TEST_PROVES("XSAVE-RESTORE-VALUES XSAVE-RESTORE-ORDER");
}
END_TEST

static bool takes_single(void)
{
	return vpt_caps_has(m.pt.caps, VPT_CAP_SINGLE_RANGE);
}

/* Ends the trace in one of the ways that keep the registers, and begins it again. */
static bool interrupt_trace(void)
{
	uint8_t state[VPT_XSAVE_BYTES];
	uint64_t ctl = read_msr(VPT_MSR_CTL);
	bool pended;

	switch (rnd(3)) {
	case 0:
		write_msr(VPT_MSR_CTL, ctl & ~TRACE_EN);
		pended = read_msr(VPT_MSR_STATUS) & PEND_PSB;
		write_msr(VPT_MSR_CTL, ctl);
		return pended;
	case 1:
		vpt_pt_xsaves(&m.pt, state, HERE, NEXT(HERE));
		pended = slot(state, 3) & PEND_PSB;
		if (rnd(2))
			ck_assert(vpt_pt_xrstors(&m.pt, NULL, HERE, NEXT(HERE)) == VPT_FAULT_NONE);
		ck_assert(vpt_pt_xrstors(&m.pt, state, HERE, NEXT(HERE)) == VPT_FAULT_NONE);
		return pended;
	default:
		vpt_pt_flush(&m.pt);
		vpt_pt_warm_reset(&m.pt);
		pended = read_msr(VPT_MSR_STATUS) & PEND_PSB;
		write_msr(VPT_MSR_CTL, ctl);
		return pended;
	}
}

static void some_flow(void)
{
	struct vpt_event event = {.from = HERE, .to = 0x10000 + 16 * rnd(4096)};
	unsigned int i = (unsigned int)rnd(300);

	while (i--) {
		event.kind = rnd(4) ? VPT_EV_COND : VPT_EV_JMP_INDIRECT;
		event.flags = rnd(2) ? VPT_EVF_TAKEN : 0;
		event.to += rnd(2) ? rnd(1ull << 30) : 0;
		vpt_pt_event(&m.pt, &event);
	}
}

/* The longest stretch from one PSB to the next. */
static size_t longest(size_t end, unsigned int *count)
{
	size_t at = OUT, most = 0;

	for (*count = 0; at < end; ++*count) {
		size_t next = at + 1 + vpt_packet_find_psb(m.ram + at + 1, end - at - 1);

		most = next - at > most ? next - at : most;
		at = next;
	}
	return most;
}

/*
 * However a trace is interrupted, the distance of two PSBs is their period and what comes
 * at most before the end of an instruction: TNT, FUP, TIP.PGD and the packets of enabling.
 */
START_TEST(no_psb_is_lost)
{
	uint32_t period = 2048u << (_i / 2);
	uint64_t ctl = CTL_ALL | TRACE_EN | (uint64_t)(_i / 2) << VPT_CTL_PSB_FREQ_SHIFT;
	unsigned int pended = 0, count, n = 0;
	size_t end, most;

	seed = 77 + (uint64_t)_i;
	setup(vpt_caps_model("spr"));
	ck_assert(takes_single());
	write_msr(VPT_MSR_OUTPUT_BASE, OUT);
	write_msr(VPT_MSR_OUTPUT_MASK_PTRS, (1 << 20) - 1);
	write_msr(VPT_MSR_CTL, _i & 1 ? ctl : ctl | INJECT);
	do {
		some_flow();
		pended += interrupt_trace();
		ck_assert_uint_lt(++n, 100000);
		end = OUT + (read_msr(VPT_MSR_OUTPUT_MASK_PTRS) >> 32);
	} while (end < OUT + (1 << 20) - 4096);
	most = longest(end, &count);
	ck_assert_uint_gt(count, (1 << 20) / period / 2);
	ck_assert_uint_lt(most, period + 96);
	if (_i & 1)
		ck_assert_uint_eq(pended, 0);
	else if (period <= 8192)
		ck_assert_uint_gt(pended, 0);
	TEST_PROVES("PRES-PSB-KEPT PRES-PSB-CAUSES PRES-XSAVES GEN-PSB-PERIOD");
}
END_TEST

/* The trace ends in the middle of the PSB+ itself. */
START_TEST(psb_is_cut)
{
	unsigned int left;

	for (left = 1; left < 64; left++) {
		bool pending = left <= 32; /* what this one has bytes */

		setup(vpt_caps_model("spr"));
		entry(0, OUT | STOP);
		entry(1, TABLE | END);
		start_topa(REGION_BYTES - left, INJECT);
		jumps(10);
		ck_assert_uint_eq(read_msr(VPT_MSR_STATUS) & 0xf0,
				  VPT_STATUS_MASK(STOPPED) | (pending ? PEND_PSB : 0));
		stop();
		write_msr(VPT_MSR_STATUS, read_msr(VPT_MSR_STATUS) & ~VPT_STATUS_MASK(STOPPED));
		start_topa(0, INJECT);
		ck_assert_uint_eq(vpt_packet_find_psb(m.ram + OUT, 64), pending ? 0 : 64);
		ck_assert_uint_eq(read_msr(VPT_MSR_STATUS) & 0xf0, 0);
	}
	TEST_PROVES("PRES-PSB-KEPT PRES-PSB-CAUSES");
}
END_TEST

START_TEST(pmi_is_owed)
{
	setup(vpt_caps_model("spr"));
	entry(0, OUT);
	entry(1, TABLE | END);
	/* Once, and software's to clear. */
	write_msr(VPT_MSR_STATUS, PEND_PMI);
	start_topa(0, INJECT);
	ck_assert_uint_eq(m.pmis, 1);
	ck_assert(read_msr(VPT_MSR_STATUS) & PEND_PMI);
	jumps(10);
	stop();
	ck_assert_uint_eq(m.pmis, 1);
	start_topa(0, INJECT);
	ck_assert_uint_eq(m.pmis, 2);
	stop();
	write_msr(VPT_MSR_STATUS, 0);
	start_topa(0, INJECT);
	ck_assert_uint_eq(m.pmis, 2);
	stop();
	/* Not looked at. */
	write_msr(VPT_MSR_STATUS, PEND_PMI);
	start_topa(0, 0);
	ck_assert_uint_eq(m.pmis, 2);
	stop();
	/* What keeps TriggerEn clear keeps the PMI no longer. */
	write_msr(VPT_MSR_STATUS, PEND_PMI | VPT_STATUS_MASK(STOPPED));
	start_topa(0, INJECT);
	ck_assert_uint_eq(m.pmis, 3);
	stop();
	write_msr(VPT_MSR_STATUS, PEND_PMI | VPT_STATUS_MASK(ERROR));
	start_topa(0, INJECT);
	ck_assert_uint_eq(m.pmis, 4);
	TEST_PROVES("PRES-PMI-OWED PRES-OFF GEN-PEND-PMI");
}
END_TEST

START_TEST(pmi_at_start)
{
	struct vpt_caps caps = *vpt_caps_model("spr");

	caps.l14_0_ecx &= ~(1u << 1); /* one output entry */
	setup(&caps);
	entry(0, OUT | INT);
	entry(1, TABLE | END);
	start_topa(REGION_BYTES - 100, 0);
	ck_assert_uint_eq(m.pmis, 1);
	ck_assert(!(read_msr(VPT_MSR_STATUS) & PEND_PMI));
	stop();
	start_topa(REGION_BYTES - 100, INJECT);
	ck_assert_uint_eq(m.pmis, 2);
	ck_assert(read_msr(VPT_MSR_STATUS) & PEND_PMI);
	stop();
	/* Owed from before as well: still one. */
	start_topa(REGION_BYTES - 100, INJECT);
	ck_assert_uint_eq(m.pmis, 3);
	TEST_PROVES("PRES-PMI-START TOPA-SINGLE-PMI PRES-OFF");
}
END_TEST

/* FUP and TIP.PGD of XSAVES are the bytes that fill the region. */
START_TEST(pmi_in_xsaves)
{
	uint8_t state[VPT_XSAVE_BYTES];
	uint64_t at;

	setup(vpt_caps_model("spr"));
	entry(0, OUT | INT);
	entry(1, OUT + REGION_BYTES);
	entry(2, TABLE | END);
	start_topa(0, INJECT);
	at = read_msr(VPT_MSR_OUTPUT_MASK_PTRS) >> 32;
	stop();
	write_msr(VPT_MSR_STATUS, 0);
	start_topa(REGION_BYTES - at - 2, INJECT);
	ck_assert_uint_eq(m.pmis, 0);
	vpt_pt_xsaves(&m.pt, state, HERE, NEXT(HERE));
	ck_assert_uint_eq(m.pmis, 1);
	ck_assert(slot(state, 3) & PEND_PMI);
	ck_assert_uint_eq((uint32_t)slot(state, 2) >> 7, 1);
	/* What its handler writes does not last, which is why it waits. */
	write_msr(VPT_MSR_STATUS, 0);
	ck_assert(vpt_pt_xrstors(&m.pt, NULL, HERE, NEXT(HERE)) == VPT_FAULT_NONE);
	ck_assert_uint_eq(m.pmis, 1);
	ck_assert(vpt_pt_xrstors(&m.pt, state, HERE, NEXT(HERE)) == VPT_FAULT_NONE);
	ck_assert_uint_eq(m.pmis, 2);
	TEST_PROVES("PRES-XSAVES XSAVE-SAVE-ORDER GEN-PEND-PMI");
}
END_TEST

/* Regions that were filled, by where output is; it never goes round unseen here. */
static uint64_t filled_at(void)
{
	return (uint32_t)read_msr(VPT_MSR_OUTPUT_MASK_PTRS) >> 7;
}

/*
 * The handler of 33.2.7.2: what comes while TraceEn is clear it leaves to the PMI that
 * comes with the next start. Switches and PMIs at random: each full region is seen, and
 * none is seen that was not full.
 */
START_TEST(no_pmi_is_lost)
{
	unsigned int i, handled = 0, ignored = 0, seen = 0;
	uint64_t last = 0, now;

	seed = 4711 + (uint64_t)_i;
	setup(vpt_caps_model("spr"));
	for (i = 0; i < 500; i++)
		entry(i, (OUT + (i & 63) * REGION_BYTES) | INT);
	entry(i, TABLE | END);
	start_topa(0, INJECT);
	for (i = 0; filled_at() < 450; i++) {
		uint8_t state[VPT_XSAVE_BYTES];
		bool late = rnd(2);

		ck_assert_uint_lt(i, 20000);
		some_flow();
		vpt_pt_xsaves(&m.pt, state, HERE, NEXT(HERE));
		if (m.pmis && late) { /* it came too late, and is not for now */
			m.pmis = 0;
			ignored++;
			write_msr(VPT_MSR_STATUS, rnd(2) ? 0 : PEND_PMI);
		}
		ck_assert(vpt_pt_xrstors(&m.pt, state, HERE, NEXT(HERE)) == VPT_FAULT_NONE);
		now = filled_at();
		ck_assert_uint_eq(!!m.pmis, now != last);
		if (!m.pmis)
			continue;
		handled++;
		seen += (unsigned int)(now - last);
		last = now;
		m.pmis = 0;
		stop();
		write_msr(VPT_MSR_STATUS, read_msr(VPT_MSR_STATUS) & ~PEND_PMI);
		write_msr(VPT_MSR_CTL, read_msr(VPT_MSR_CTL) | TRACE_EN);
		if (filled_at() == last)
			ck_assert_uint_eq(m.pmis, 0);
	}
	ck_assert_uint_ge(seen, 449);
	ck_assert_uint_gt(handled, 100);
	ck_assert_uint_gt(ignored, 50);
	TEST_PROVES("PRES-PMI-OWED PRES-XSAVES GEN-PEND-PMI");
}
END_TEST

/* Broadwell's four models lack the component, the models beside them in each bit do not. */
START_TEST(models_without)
{
	static const uint32_t models[] = {0x3d, 0x47, 0x4f, 0x56};
	const uint32_t model = models[_i];
	struct vpt_caps caps = *vpt_caps_model("skl");
	unsigned int bit;

	caps.signature = (model >> 4) << 16 | 6 << 8 | (model & 0xf) << 4 | 4;
	ck_assert_uint_eq(vpt_xsave_bytes(&caps), 0);
	caps.signature ^= 1 << 8; /* family 7 */
	ck_assert_uint_eq(vpt_xsave_bytes(&caps), 128);
	for (bit = 0; bit < 8; bit++) {
		const uint32_t other = model ^ 1u << bit;

		caps.signature = (other >> 4) << 16 | 6 << 8 | (other & 0xf) << 4;
		ck_assert_uint_eq(vpt_xsave_bytes(&caps), other == 0x47 || other == 0x4f ? 0 : 128);
	}
	TEST_PROVES("XSAVE-COMPONENT");
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("xsave");
	TCase *state = tcase_create("state"), *kept = tcase_create("preservation");

	tcase_add_test(state, layout);
	tcase_add_test(state, layout_of_four_ranges);
	tcase_add_test(state, which_have_it);
	tcase_add_loop_test(state, models_without, 0, 4);
	tcase_add_test(state, initial);
	tcase_add_test(state, locked);
	tcase_add_test(state, locked_by_vmx);
	tcase_add_test(state, as_by_wrmsr);
	suite_add_tcase(s, state);

	tcase_set_timeout(kept, 60);
	tcase_add_loop_test(kept, no_psb_is_lost, 0, 12);
	tcase_add_test(kept, psb_is_cut);
	tcase_add_test(kept, pmi_is_owed);
	tcase_add_test(kept, pmi_at_start);
	tcase_add_test(kept, pmi_in_xsaves);
	tcase_add_loop_test(kept, no_pmi_is_lost, 0, 8);
	suite_add_tcase(s, kept);
	return s;
}
