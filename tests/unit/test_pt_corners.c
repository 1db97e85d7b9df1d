// SPDX-License-Identifier: GPL-2.0-or-later
/* Corners of the PT unit that no table of the manual describes: registers, ends, saved state. */
#include "lib/guestmem.h"
#include "lib/suite.h"

#include <string.h>

#include "vpt/encode.h"
#include "vpt/packet.h"
#include "vpt/pt.h"
#include "vpt/state.h"
#include "vpt/system.h"
#include "vpt/vmx_pt.h"

#define RAM  0x400000u
#define ROOM 0x40000u
#define IP   0x1000u
#define CTL  (VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN))
#define ON   (CTL | VPT_CTL_MASK(TRACE_EN))

struct unit {
	struct guestmem mem; /* first: it is the callbacks' `opaque` */
	struct vpt_pt_ops ops;
	struct vpt_pt pt;
	struct vpt_context ctx;
	size_t committed_at_end; /* bytes, as the trace ended last */
};

static struct unit u;

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct unit *)opaque)->ctx;
}

static void trigger(void *opaque, bool trigger_en)
{
	struct unit *unit = opaque;

	if (!trigger_en)
		unit->committed_at_end = unit->mem.committed.count;
}

static void setup(const struct vpt_caps *caps)
{
	memset(&u, 0, sizeof(u));
	guestmem_init(&u.mem, GUESTMEM_MAP_WHOLE);
	guestmem_ram(&u.mem, RAM, ROOM);
	u.ops.mem = u.mem.ops;
	u.ops.context = context;
	u.ops.trigger = trigger;
	u.ctx = (struct vpt_context){.cr3 = 0x1000, .cs_l = true, .lma = true, .cbr = 20};
	vpt_pt_init(&u.pt, caps, &u.ops, &u);
}

static void finish(void)
{
	ck_assert(guestmem_guards_intact(&u.mem));
	guestmem_free(&u.mem);
}

static void write_msr(uint32_t msr, uint64_t value)
{
	ck_assert_int_eq(vpt_pt_wrmsr(&u.pt, msr, value, VPT_ACCESS_GUEST, IP, IP + 2),
			 VPT_FAULT_NONE);
}

static uint64_t read_msr(uint32_t msr)
{
	uint64_t value = ~0ull;

	ck_assert_int_eq(vpt_pt_rdmsr(&u.pt, msr, &value), VPT_FAULT_NONE);
	return value;
}

/* A single range of @room bytes, and a trace into it. */
static void start(uint64_t room, uint64_t ctl)
{
	write_msr(VPT_MSR_OUTPUT_BASE, RAM);
	write_msr(VPT_MSR_OUTPUT_MASK_PTRS, room - 1);
	write_msr(VPT_MSR_CTL, ctl);
}

/* Indirect jumps far apart: TIPs of seven bytes. */
static void jumps(unsigned int count)
{
	struct vpt_event event = {.kind = VPT_EV_JMP_INDIRECT, .from = IP};

	while (count--) {
		event.to = count & 1 ? 0x7f0000001000 : 0x550000002000;
		vpt_pt_event(&u.pt, &event);
	}
}

/* PacketByteCnt has 17 bits, and sticks at its maximum. */
START_TEST(byte_count)
{
	struct vpt_caps caps = *vpt_caps_model("skl");

	caps.l14_1_ebx |= 0xffff0000; /* each PSBFreq */
	setup(&caps);
	start(ROOM, ON | 15ull << VPT_CTL_PSB_FREQ_SHIFT);
	jumps(14000);
	ck_assert_uint_gt(read_msr(VPT_MSR_STATUS) >> 32, 0x17000);
	ck_assert_uint_lt(read_msr(VPT_MSR_STATUS) >> 32, 0x18000);
	jumps(6000);
	ck_assert_uint_eq(read_msr(VPT_MSR_STATUS) >> 32, 0x1ffff);
	finish();
	TEST_PROVES("STATUS-BYTECNT");
}
END_TEST

/* A TraceStop: all bytes are reported before the trace is said to end. */
START_TEST(stop_commits)
{
	const struct vpt_event stop = {.kind = VPT_EV_JMP, .from = IP, .to = 0x5000};

	setup(vpt_caps_model("skl"));
	write_msr(VPT_MSR_ADDR0_A, 0x5000);
	write_msr(VPT_MSR_ADDR0_B, 0x5fff);
	start(0x1000, ON | 2ull << VPT_CTL_ADDR0_CFG_SHIFT);
	jumps(10);
	vpt_pt_event(&u.pt, &stop);
	ck_assert_uint_eq(read_msr(VPT_MSR_STATUS) & 0x27, 0x22);
	ck_assert_uint_gt(u.committed_at_end, 80);
	ck_assert_uint_eq(u.committed_at_end, read_msr(VPT_MSR_OUTPUT_MASK_PTRS) >> 32);
	finish();
}
END_TEST

/* RSM restores TraceEn, but STATUS.Stopped keeps TriggerEn clear: nothing is evaluated. */
START_TEST(rsm_while_stopped)
{
	setup(vpt_caps_model("skl"));
	start(0x1000, ON);
	vpt_pt_smi(&u.pt, IP);
	write_msr(VPT_MSR_STATUS, VPT_STATUS_MASK(STOPPED));
	u.mem.committed.count = 0;
	ck_assert(vpt_pt_rsm(&u.pt, IP, false));
	ck_assert_uint_eq(read_msr(VPT_MSR_CTL), ON);
	ck_assert_uint_eq(read_msr(VPT_MSR_STATUS), VPT_STATUS_MASK(STOPPED));
	vpt_pt_flush(&u.pt);
	ck_assert_uint_eq(u.mem.committed.count, 0);
	finish();
}
END_TEST

/* In VMX operation without PT a guest cannot write CTL, but any other register. */
START_TEST(ctl_alone_is_locked)
{
	struct vpt_caps caps = *vpt_caps_model("spr");

	caps.vmx_pt = 0;
	setup(&caps);
	vpt_pt_vmxon(&u.pt, IP);
	ck_assert_int_eq(vpt_pt_wrmsr(&u.pt, VPT_MSR_CTL, CTL, VPT_ACCESS_GUEST, IP, IP + 2),
			 VPT_FAULT_GP);
	write_msr(VPT_MSR_OUTPUT_BASE, RAM);
	write_msr(VPT_MSR_CR3_MATCH, 0x5000);
	ck_assert_uint_eq(read_msr(VPT_MSR_OUTPUT_BASE), RAM);
	ck_assert_uint_eq(read_msr(VPT_MSR_CR3_MATCH), 0x5000);
	finish();
}
END_TEST

/* VMXOFF leaves a unit as it was before VMXON. */
START_TEST(vmxoff_leaves_nothing)
{
	struct vpt_pt_state before, after;

	setup(vpt_caps_model("spr"));
	vpt_pt_save(&u.pt, &before);
	vpt_pt_vmxon(&u.pt, IP);
	vpt_pt_vmptrld(&u.pt, 0x5000);
	vpt_pt_vmxoff(&u.pt);
	vpt_pt_save(&u.pt, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	finish();
}
END_TEST

/* A state has the error that stopped the output, and a load restores it. */
START_TEST(state_of_an_error)
{
	struct vpt_pt_state before, after;

	setup(vpt_caps_model("skl"));
	guestmem_poke64(&u.mem, RAM, RAM | 1 << 10); /* a reserved bit */
	write_msr(VPT_MSR_OUTPUT_BASE, RAM);
	write_msr(VPT_MSR_OUTPUT_MASK_PTRS, 0x7f);
	write_msr(VPT_MSR_CTL, ON | VPT_CTL_MASK(TOPA));
	ck_assert_uint_eq(read_msr(VPT_MSR_STATUS) & 0x34, VPT_STATUS_MASK(ERROR));
	vpt_pt_save(&u.pt, &before);
	ck_assert_uint_eq(before.error, VPT_OUT_ERR_ENTRY_RESERVED);
	vpt_pt_init(&u.pt, vpt_caps_model("skl"), &u.ops, &u);
	ck_assert_int_eq(vpt_pt_load(&u.pt, &before), VPT_OK);
	ck_assert_int_eq(u.pt.out.why, VPT_OUT_ERR_ENTRY_RESERVED);
	vpt_pt_save(&u.pt, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	finish();
}
END_TEST

/* A state has the last IP that a PSB makes 0, and the CS base that makes LIPs of IPs. */
START_TEST(state_of_ips)
{
	struct vpt_caps caps = *vpt_caps_model("skl");
	struct vpt_pt_state before, after;

	caps.l14_0_ecx |= 1u << 31;
	setup(&caps);
	u.ctx.cs_l = u.ctx.lma = false;
	u.ctx.cs_base = 0x10000;
	u.ctx.cpl = 3;
	start(0x1000, ON);
	vpt_pt_flush(&u.pt);
	vpt_pt_save(&u.pt, &before);
	ck_assert_uint_eq(before.last_ip, 0);
	ck_assert_uint_eq(before.ip_base, 0x10000);
	vpt_pt_init(&u.pt, &caps, &u.ops, &u);
	ck_assert_int_eq(vpt_pt_load(&u.pt, &before), VPT_OK);
	vpt_pt_save(&u.pt, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	finish();
}
END_TEST

/* A state has both addresses of each range that there can be. */
START_TEST(state_of_ranges)
{
	struct vpt_caps caps = *vpt_caps_model("skl");
	struct vpt_pt_state before, after;
	unsigned int i;

	caps.l14_1_eax = (caps.l14_1_eax & ~7u) | VPT_MAX_RANGES;
	setup(&caps);
	for (i = 0; i < 2 * VPT_MAX_RANGES; i++)
		write_msr(VPT_MSR_ADDR0_A + i, 0x1000 * (i + 1));
	vpt_pt_save(&u.pt, &before);
	vpt_pt_init(&u.pt, &caps, &u.ops, &u);
	ck_assert_int_eq(vpt_pt_load(&u.pt, &before), VPT_OK);
	for (i = 0; i < 2 * VPT_MAX_RANGES; i++)
		ck_assert_uint_eq(read_msr(VPT_MSR_ADDR0_A + i), 0x1000 * (i + 1));
	vpt_pt_save(&u.pt, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	finish();
}
END_TEST

/* Thirteen TIPs of five bytes, each good, of which the last one ends behind the state. */
START_TEST(state_of_tips)
{
	const struct vpt_pt_options options = {.defer_tips = true};
	struct vpt_pt_state state;
	unsigned int at;

	setup(vpt_caps_model("skl"));
	ck_assert_int_eq(vpt_pt_set_options(&u.pt, &options), VPT_OK);
	start(0x1000, ON);
	vpt_pt_cond(&u.pt, IP, IP + 8, false);
	jumps(2);
	vpt_pt_save(&u.pt, &state);
	ck_assert_uint_ne(state.tips, 0);
	ck_assert_int_eq(vpt_pt_load(&u.pt, &state), VPT_OK);
	memset(state.tip, 0, sizeof(state.tip));
	for (at = 0; at < VPT_DEFER_BYTES; at += 5)
		state.tip[at] = (uint8_t)(VPT_IP_UPDATE_32 << 5 | VPT_OP_TIP);
	state.tips = at;
	ck_assert_uint_eq(state.tips, VPT_DEFER_BYTES + 1);
	ck_assert_int_eq(vpt_pt_load(&u.pt, &state), VPT_E_INVAL);
	finish();
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("pt_corners");
	TCase *tcase = tcase_create("registers");

	tcase_add_test(tcase, byte_count);
	tcase_add_test(tcase, ctl_alone_is_locked);
	suite_add_tcase(suite, tcase);

	tcase = tcase_create("ends");
	tcase_add_test(tcase, stop_commits);
	tcase_add_test(tcase, rsm_while_stopped);
	tcase_add_test(tcase, vmxoff_leaves_nothing);
	tcase_add_test(tcase, state_of_an_error);
	tcase_add_test(tcase, state_of_ips);
	tcase_add_test(tcase, state_of_ranges);
	tcase_add_test(tcase, state_of_tips);
	suite_add_tcase(suite, tcase);
	return suite;
}
