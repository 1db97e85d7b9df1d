// SPDX-License-Identifier: GPL-2.0-or-later
/* Corner cases of the PT unit that no table of the manual describes: registers, ends, state. */
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
	size_t committed_at_end; /* bytes, when TriggerEn fell last */
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

/* Save the state, load it into a new unit, and save again: the states must be equal. */
static struct vpt_pt_state reload(const struct vpt_caps *caps)
{
	struct vpt_pt_state before, after;

	vpt_pt_save(&u.pt, &before);
	vpt_pt_init(&u.pt, caps, &u.ops, &u);
	ck_assert_int_eq(vpt_pt_load(&u.pt, &before), VPT_OK);
	vpt_pt_save(&u.pt, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	return before;
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

/* Trace into a single range of @room bytes. */
static void start(uint64_t room, uint64_t ctl)
{
	write_msr(VPT_MSR_OUTPUT_BASE, RAM);
	write_msr(VPT_MSR_OUTPUT_MASK_PTRS, room - 1);
	write_msr(VPT_MSR_CTL, ctl);
}

/* Report indirect jumps to distant targets: TIPs of seven bytes. */
static void jumps(unsigned int count)
{
	struct vpt_event event = {.kind = VPT_EV_JMP_INDIRECT, .from = IP};

	while (count--) {
		event.to = count & 1 ? 0x7f0000001000 : 0x550000002000;
		vpt_pt_event(&u.pt, &event);
	}
}

/* PacketByteCnt has 17 bits and saturates. */
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
	TEST_PROVES("STATUS-BYTECNT");
}
END_TEST

/* At a TraceStop all bytes are reported before trigger() reports the end. */
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
}
END_TEST

/* If PT cannot be used in VMX operation, only writes to CTL raise #GP. */
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
}
END_TEST

/* VMXOFF restores the state that the unit had before VMXON. */
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
}
END_TEST

/* The state includes the error that stopped the output. */
START_TEST(state_of_an_error)
{
	setup(vpt_caps_model("skl"));
	guestmem_poke64(&u.mem, RAM, RAM | 1 << 10); /* a reserved bit */
	write_msr(VPT_MSR_OUTPUT_BASE, RAM);
	write_msr(VPT_MSR_OUTPUT_MASK_PTRS, 0x7f);
	write_msr(VPT_MSR_CTL, ON | VPT_CTL_MASK(TOPA));
	ck_assert_uint_eq(read_msr(VPT_MSR_STATUS) & 0x34, VPT_STATUS_MASK(ERROR));
	ck_assert_uint_eq(reload(vpt_caps_model("skl")).error, VPT_OUT_ERR_ENTRY_RESERVED);
	ck_assert_int_eq(u.pt.out.why, VPT_OUT_ERR_ENTRY_RESERVED);
}
END_TEST

/* The state includes the last IP, which a PSB clears, and the CS base that LIPs include. */
START_TEST(state_of_ips)
{
	struct vpt_caps caps = *vpt_caps_model("skl");
	struct vpt_pt_state state;

	caps.l14_0_ecx |= 1u << 31;
	setup(&caps);
	u.ctx.cs_l = u.ctx.lma = false;
	u.ctx.cs_base = 0x10000;
	u.ctx.cpl = 3;
	start(0x1000, ON);
	vpt_pt_flush(&u.pt);
	state = reload(&caps);
	ck_assert_uint_eq(state.last_ip, 0);
	ck_assert_uint_eq(state.ip_base, 0x10000);
}
END_TEST

/* The state includes both addresses of each of the most ranges that a processor can have. */
START_TEST(state_of_ranges)
{
	struct vpt_caps caps = *vpt_caps_model("skl");
	unsigned int i;

	caps.l14_1_eax = (caps.l14_1_eax & ~7u) | VPT_MAX_RANGES;
	setup(&caps);
	for (i = 0; i < 2 * VPT_MAX_RANGES; i++)
		write_msr(VPT_MSR_ADDR0_A + i, 0x1000 * (i + 1));
	(void)reload(&caps);
	for (i = 0; i < 2 * VPT_MAX_RANGES; i++)
		ck_assert_uint_eq(read_msr(VPT_MSR_ADDR0_A + i), 0x1000 * (i + 1));
}
END_TEST

/* Load a state of deferred TIPs that are valid, but whose last TIP ends behind the array. */
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
}
END_TEST

TEST_SUITE("pt_corners", NULL, finish)
{
	TEST_ADD(tcase, byte_count, ctl_alone_is_locked, stop_commits, rsm_while_stopped,
		 vmxoff_leaves_nothing, state_of_an_error, state_of_ips, state_of_ranges,
		 state_of_tips);
}
