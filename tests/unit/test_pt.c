// SPDX-License-Identifier: GPL-2.0-or-later
/* A whole trace unit: how registers, packet generator and output act on each other. */
#include "lib/suite.h"
#include "lib/ram.h"

#include <string.h>

#include "vpt/packet.h"
#include "vpt/pt.h"

enum {
	RAM = 1 << 20,
	TABLE = 0x1000,
	REGION = 0x10000,
	REGION_SIZE = 0x1000,
	CTL_ALL = 0x200c, /* OS, User, BranchEn */
	END = 1,
	INT = 1 << 2,
	STOP = 1 << 4,
};

static struct {
	struct vpt_pt pt;
	struct vpt_context ctx;
	unsigned int pmis, rises, falls;
	uint64_t status_at_pmi, status_at_fall;
	uint8_t ram[RAM];
} m;

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
	*ctx = m.ctx;
}

static void pmi(void *opaque)
{
	(void)opaque;
	m.pmis++;
	m.status_at_pmi = m.pt.rtit.status;
}

static void trigger(void *opaque, bool trigger_en)
{
	(void)opaque;
	if (trigger_en) {
		m.rises++;
	} else {
		m.falls++;
		m.status_at_fall = m.pt.rtit.status;
	}
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
	.pmi = pmi,
	.trigger = trigger,
};

static void setup_model(const char *model)
{
	memset(&m, 0, sizeof(m));
	m.ctx.cs_l = m.ctx.lma = true;
	m.ctx.cr3 = 0x3000;
	vpt_pt_init(&m.pt, vpt_caps_model(model), &ops, NULL);
}

static void setup(void)
{
	setup_model("spr");
}

static void entry(unsigned int index, uint64_t value)
{
	memcpy(m.ram + TABLE + 8 * index, &value, 8);
}

static void write_msr(uint32_t msr, uint64_t value)
{
	ck_assert_int_eq(vpt_pt_wrmsr(&m.pt, msr, value, VPT_ACCESS_GUEST, 0x1000, 0x1002),
			 VPT_FAULT_NONE);
}

static uint64_t read_msr(uint32_t msr)
{
	uint64_t value = ~0ull;

	ck_assert_int_eq(vpt_pt_rdmsr(&m.pt, msr, &value), VPT_FAULT_NONE);
	return value;
}

static void start_topa(uint64_t ctl)
{
	write_msr(VPT_MSR_OUTPUT_BASE, TABLE);
	write_msr(VPT_MSR_OUTPUT_MASK_PTRS, 0);
	write_msr(VPT_MSR_CTL, ctl | CTL_ALL | VPT_CTL_MASK(TOPA) | VPT_CTL_MASK(TRACE_EN));
}

static void start_single(uint64_t ctl, uint32_t mask)
{
	write_msr(VPT_MSR_OUTPUT_BASE, 0x80000);
	write_msr(VPT_MSR_OUTPUT_MASK_PTRS, mask);
	write_msr(VPT_MSR_CTL, ctl | CTL_ALL | VPT_CTL_MASK(TRACE_EN));
}

static uint64_t offset(void)
{
	return read_msr(VPT_MSR_OUTPUT_MASK_PTRS) >> VPT_MASK_PTRS_OFFSET_SHIFT;
}

static unsigned int entry_index(void)
{
	return (read_msr(VPT_MSR_OUTPUT_MASK_PTRS) & 0xffffffff) >> VPT_MASK_PTRS_TABLE_SHIFT;
}

/* Check these bits of STATUS. */
static void check_status(uint64_t mask, uint64_t bits)
{
	ck_assert_uint_eq(read_msr(VPT_MSR_STATUS) & mask, bits);
}

/* A table of one region, which wraps. */
static void start_region(uint64_t flags, uint64_t ctl)
{
	entry(0, REGION | flags);
	entry(1, TABLE | END);
	start_topa(ctl);
}

/* Report indirect jumps to distant targets: TIPs of seven bytes. */
static void jumps(unsigned int count)
{
	static const uint64_t targets[2] = {0x7f0000001000, 0x550000002000};
	struct vpt_event event = {.kind = VPT_EV_JMP_INDIRECT, .from = 0x1000};

	while (count--) {
		event.to = targets[count & 1];
		vpt_pt_event(&m.pt, &event);
	}
}

START_TEST(topa_stop)
{
	start_region(STOP | INT, 0);
	jumps(2 * REGION_SIZE / 7);
	ck_assert_uint_eq(offset(), REGION_SIZE);
	ck_assert_uint_eq(entry_index(), 0);
	ck_assert_uint_eq(read_msr(VPT_MSR_OUTPUT_BASE), TABLE);
	check_status(0x34, 0x20);
	ck_assert_uint_eq(m.pmis, 1);
	ck_assert_uint_eq(m.status_at_pmi & 0x24, 0x20);
	ck_assert_uint_eq(m.falls, 1);
	ck_assert_uint_eq(m.status_at_fall & 0x24, 0x20);
	/* No byte follows the region, and clearing TraceEn adds no packet. */
	write_msr(VPT_MSR_CTL, 0);
	ck_assert_uint_eq(m.ram[REGION + REGION_SIZE], 0);
	ck_assert_uint_eq(offset(), REGION_SIZE);
	ck_assert_uint_eq(m.falls, 1);
	TEST_PROVES("STATUS-STOPPED GEN-STOP-BEFORE-INT STATUS-TRIGGEREN");
}
END_TEST

START_TEST(topa_int_and_wrap)
{
	start_region(INT, 0);
	jumps(3 * REGION_SIZE / 7 + 10);
	ck_assert_uint_ge(m.pmis, 3);
	ck_assert_uint_eq(m.falls, 0);
	check_status(0x80, 0);
	TEST_PROVES("GEN-PEND-PMI");
}
END_TEST

START_TEST(pending_pmi)
{
	start_region(INT, VPT_CTL_MASK(INJECT_PSB_PMI));
	jumps(REGION_SIZE / 7 + 10);
	ck_assert_uint_ge(m.pmis, 1);
	check_status(0x80, 0x80);
	write_msr(VPT_MSR_CTL, 0);
	m.pmis = 0;
	start_topa(VPT_CTL_MASK(INJECT_PSB_PMI));
	ck_assert_uint_eq(m.pmis, 1);
	write_msr(VPT_MSR_CTL, 0);
	start_topa(0);
	ck_assert_uint_eq(m.pmis, 1);
	TEST_PROVES("GEN-PEND-PMI STATUS-PENDPMI CTL-INJECT");
}
END_TEST

START_TEST(topa_error)
{
	entry(0, REGION);
	entry(1, REGION | 1 << 3);
	start_topa(0);
	check_status(0x34, 0x04);
	jumps(REGION_SIZE / 7 + 10);
	check_status(0x34, 0x10);
	ck_assert_uint_eq(entry_index(), 1);
	ck_assert_uint_eq(offset(), 0);
	ck_assert_uint_eq(m.pt.out.why, VPT_OUT_ERR_ENTRY_RESERVED);
	ck_assert_uint_eq(m.falls, 1);
	TEST_PROVES("STATUS-ERROR");
}
END_TEST

START_TEST(error_at_once)
{
	entry(0, REGION | 2);
	start_topa(0);
	check_status(0x34, 0x10);
	ck_assert_uint_eq(m.rises, m.falls);
	jumps(3);
	ck_assert_uint_eq(m.ram[REGION], 0);
	/* With a valid entry and STATUS.Error cleared, the next run works. */
	write_msr(VPT_MSR_CTL, 0);
	write_msr(VPT_MSR_STATUS, 0);
	start_region(0, 0);
	check_status(0x34, 0x04);
	ck_assert_uint_eq(m.ram[REGION], 0x02);
	TEST_PROVES("STATUS-ERROR EN-TRIGGER");
}
END_TEST

START_TEST(refused_memory)
{
	write_msr(VPT_MSR_OUTPUT_BASE, 0x4000000);
	write_msr(VPT_MSR_OUTPUT_MASK_PTRS, 0xfff);
	write_msr(VPT_MSR_CTL, CTL_ALL | VPT_CTL_MASK(TRACE_EN));
	check_status(0x34, 0x10);
	ck_assert_uint_eq(m.pt.out.why, VPT_OUT_ERR_REGION_REFUSED);
}
END_TEST

/* Return the number of bytes between the first two PSBs of the buffer. */
static size_t psb_distance(size_t from, size_t end)
{
	size_t first = from + vpt_packet_find_psb(m.ram + from, end - from);

	return 1 + vpt_packet_find_psb(m.ram + first + 1, end - first - 1);
}

START_TEST(psb_period)
{
	size_t distance;

	start_single((uint64_t)_i << VPT_CTL_PSB_FREQ_SHIFT, 0x3ffff);
	jumps(3 * (2048u << _i) / 7);
	distance = psb_distance(0x80000, 0x80000 + offset());
	ck_assert_uint_ge(distance, 2048u << _i);
	ck_assert_uint_lt(distance, (2048u << _i) + 16);
	TEST_PROVES("GEN-PSB-PERIOD CTL-PSBFREQ");
}
END_TEST

START_TEST(psb_between_tnts)
{
	unsigned int i;

	start_single(0, 0x3ffff);
	for (i = 0; i < 20000; i++)
		vpt_pt_cond(&m.pt, 0x1000, 0x1000, true);
	ck_assert_uint_lt(psb_distance(0x80000, 0x80000 + offset()), 2048 + 16);
	TEST_PROVES("GEN-PSB-PERIOD");
}
END_TEST

START_TEST(byte_count)
{
	uint64_t before, after;

	start_single(5ull << VPT_CTL_PSB_FREQ_SHIFT, 0x3ffff);
	before = VPT_STATUS_GET(read_msr(VPT_MSR_STATUS), PACKET_BYTE_CNT);
	ck_assert_uint_eq(before, offset());
	jumps(10);
	after = VPT_STATUS_GET(read_msr(VPT_MSR_STATUS), PACKET_BYTE_CNT);
	ck_assert_uint_eq(after - before, 70);
	TEST_PROVES("GEN-BYTE-CNT STATUS-BYTECNT");
}
END_TEST

START_TEST(byte_count_absent)
{
	setup_model("bdw");
	start_region(0, 0);
	jumps(10);
	ck_assert_uint_eq(read_msr(VPT_MSR_STATUS) >> 32, 0);
	write_msr(VPT_MSR_CTL, 0);
	ck_assert_uint_eq(read_msr(VPT_MSR_STATUS) >> 32, 0);
	TEST_PROVES("GEN-BYTE-CNT CPUID-PSBCYC");
}
END_TEST

START_TEST(pending_psb)
{
	/* The packets of disabling end the PSB period. */
	start_single(VPT_CTL_MASK(INJECT_PSB_PMI), 0x3ffff);
	m.pt.psb_bytes = m.pt.psb_period - 1;
	write_msr(VPT_MSR_CTL, 0);
	check_status(VPT_STATUS_MASK(PEND_PSB), VPT_STATUS_MASK(PEND_PSB));
	start_single(VPT_CTL_MASK(INJECT_PSB_PMI), 0x3ffff);
	check_status(VPT_STATUS_MASK(PEND_PSB), 0);
	ck_assert_uint_eq(vpt_packet_find_psb(m.ram + 0x80000, offset()), 0);
	TEST_PROVES("GEN-PEND-PSB STATUS-PENDPSB");
}
END_TEST

START_TEST(host_changes_settings)
{
	uint64_t ctl, end;

	start_single(0, 0x3ffff);
	ctl = read_msr(VPT_MSR_CTL);
	ck_assert_int_eq(
		vpt_pt_wrmsr(&m.pt, VPT_MSR_CTL, ctl & ~VPT_CTL_MASK(OS), VPT_ACCESS_GUEST, 1, 2),
		VPT_FAULT_GP);
	end = offset();
	ck_assert_int_eq(vpt_pt_wrmsr(&m.pt, VPT_MSR_CTL, ctl & ~VPT_CTL_MASK(OS), VPT_ACCESS_HOST,
				      0x5000, 0x5000),
			 VPT_FAULT_NONE);
	/* FUP and TIP.PGD end the old settings. The new settings are out of context. */
	ck_assert_uint_eq(m.ram[0x80000 + end] & 0x1f, 0x1d);
	check_status(7, 5);
	ck_assert_uint_eq(m.rises, 2);
	TEST_PROVES("CTL-RESTART");
}
END_TEST

START_TEST(warm_reset)
{
	uint64_t end;

	start_single(0, 0x3ffff);
	jumps(5);
	end = offset();
	vpt_pt_warm_reset(&m.pt);
	ck_assert_uint_eq(read_msr(VPT_MSR_CTL) & 1, 0);
	ck_assert_uint_eq(read_msr(VPT_MSR_CTL) & CTL_ALL, CTL_ALL);
	ck_assert_uint_eq(offset(), end);
	ck_assert_uint_eq(m.falls, 1);
	jumps(5);
	ck_assert_uint_eq(offset(), end);
	TEST_PROVES("CPUID-IPFILTER");
}
END_TEST

START_TEST(flush_writes_a_tnt_early)
{
	uint64_t before;

	start_single(0, 0x3ffff);
	before = offset();
	vpt_pt_cond(&m.pt, 0x1000, 0x2000, true);
	ck_assert_uint_eq(offset(), before);
	vpt_pt_flush(&m.pt);
	ck_assert_uint_eq(offset(), before + 1);
	ck_assert_uint_eq(m.ram[0x80000 + before], 0x06);
	vpt_pt_flush(&m.pt);
	ck_assert_uint_eq(offset(), before + 1);
}
END_TEST

/* If CPUID reports LIP payloads, the IPs of 32-bit code include the CS base. */
START_TEST(linear_payloads)
{
	struct vpt_caps caps = *vpt_caps_model("skl");
	struct vpt_event event = {.kind = VPT_EV_FAR, .from = 0x1000, .to = 0x2000};
	struct vpt_packet packet;
	struct vpt_parser parser = {0};
	uint64_t at;

	if (_i)
		caps.l14_0_ecx |= 1u << 31;
	vpt_pt_init(&m.pt, &caps, &ops, NULL);
	start_single(0, 0x3ffff);
	m.ctx.cs_l = false;
	m.ctx.cs_d = true;
	m.ctx.cs_base = 0xfffff000;
	vpt_pt_event(&m.pt, &event);
	at = offset();
	event.kind = VPT_EV_JMP_INDIRECT;
	event.to = 0x12345678;
	vpt_pt_event(&m.pt, &event);
	ck_assert(vpt_packet_read(&parser, m.ram + 0x80000 + at, offset() - at, &packet) == VPT_OK);
	ck_assert_uint_eq(packet.value, _i ? 0x12344678 : 0x12345678);
	TEST_PROVES("CPUID-LIP");
}
END_TEST

/* Without capabilities there are no MSRs, and events do nothing. */
START_TEST(no_caps)
{
	const struct vpt_event event = {.kind = VPT_EV_RET, .from = 0x1000, .to = 0x2000};
	struct vpt_pt pt;
	uint32_t msr;
	uint64_t value;

	vpt_pt_init(&pt, vpt_caps_model("no such model"), &ops, NULL);
	for (msr = VPT_MSR_FIRST; msr <= VPT_MSR_LAST; msr++) {
		ck_assert_int_eq(vpt_pt_rdmsr(&pt, msr, &value), VPT_FAULT_GP);
		ck_assert_int_eq(vpt_pt_wrmsr(&pt, msr, 0, VPT_ACCESS_GUEST, 0, 2), VPT_FAULT_GP);
	}
	vpt_pt_event(&pt, &event);
	vpt_pt_tick(&pt, 0x2000);
	vpt_pt_flush(&pt);
	vpt_pt_warm_reset(&pt);
	ck_assert(!pt.trigger_en);
}
END_TEST

START_TEST(unknown_event)
{
	struct vpt_event event = {.kind = VPT_EV_COUNT, .to = 0x2000};
	uint64_t before;

	start_single(0, 0x3ffff);
	before = offset();
	vpt_pt_event(&m.pt, &event);
	ck_assert_uint_eq(offset(), before);
}
END_TEST

TEST_SUITE("pt", setup, NULL)
{
	TEST_ADD(tcase, topa_stop, topa_int_and_wrap, pending_pmi, topa_error, error_at_once,
		 refused_memory, psb_between_tnts, byte_count, byte_count_absent, pending_psb,
		 host_changes_settings, warm_reset, flush_writes_a_tnt_early, unknown_event,
		 no_caps);
	tcase_add_loop_test(tcase, psb_period, 0, 6);
	tcase_add_loop_test(tcase, linear_payloads, 0, 2);
}
