// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The TIP of compiled code. The code is decoded, and called with random states of a unit. Each call
 * must have the effect of vpt_pt_event(), or none.
 */
#include "lib/guestmem.h"
#include "lib/suite.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "soft/compile/compiler.h"
#include "vpt/pt.h"

#define REGION	    0x10000u
#define REGION_SIZE 0x1000u
#define STEPS	    40000u
#define CODE_BYTES  0x1000u
#define CTL \
	(VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN))

struct unit {
	struct guestmem mem; /* first: it is the callbacks' `opaque` */
	struct vpt_pt_ops ops;
	struct vpt_pt pt;
};

static struct soft_compiler compiler;
static const uint8_t *code, *slow, *end; /* of the code, where it is written */
static bool (*put_tip)(struct vpt_pt *pt, uint64_t to);

/* Make a function of the code: RDI and RSI are its arguments, and it returns 0 or 1 in EAX. */
static void setup(void)
{
	struct soft_slow jumps = {.count = 0};
	struct soft_emit *e = &compiler.e;
	unsigned int i;
	void *run;

	ck_assert_int_eq(soft_region_create(&compiler.region, CODE_BYTES), 0);
	e->at = soft_region_at(&compiler.region, &run);
	e_rr(e, SOFT_SIZE64, 0x89, H_RDI, H_RAX);
	e_rr(e, SOFT_SIZE64, 0x89, H_RSI, H_R11);
	code = e->at;
	soft_emit_tip(&compiler, &jumps);
	end = e->at;
	e_const(e, H_RAX, 1);
	e8(e, 0xc3);
	slow = e->at;
	for (i = 0; i < jumps.count; i++)
		e_aim(e, jumps.from[i]);
	e_const(e, H_RAX, 0);
	e8(e, 0xc3);
	put_tip = (bool (*)(struct vpt_pt *, uint64_t))(uintptr_t)run;
}

static void teardown(void)
{
	soft_region_destroy(&compiler.region);
}

static void context(void *opaque, struct vpt_context *ctx)
{
	(void)opaque;
	*ctx = (struct vpt_context){.cr3 = 0x1000, .cs_l = true, .lma = true, .paging = true};
}

/* No timing packet comes due, so the gate stays open for TNT packets with MTC and CYC. */
static void clock(void *opaque, struct vpt_clock *now)
{
	(void)opaque;
	*now = (struct vpt_clock){.cycles = 1, .tsc = 1};
}

static bool keeps_due(void *opaque, bool whole)
{
	(void)opaque;
	(void)whole;
	return true;
}

/* Bits of `changed` are the other way round in CTL. */
static struct unit *new_unit(uint64_t changed, bool defers)
{
	const struct vpt_pt_options options = {.defer_tips = defers};
	struct unit *u = calloc(1, sizeof(*u));

	ck_assert_ptr_nonnull(u);
	guestmem_init(&u->mem, GUESTMEM_MAP_MORE);
	guestmem_ram(&u->mem, REGION, REGION_SIZE);
	u->ops.mem = u->mem.ops;
	u->ops.context = context;
	u->ops.clock = clock;
	u->ops.keeps_due = keeps_due;
	vpt_pt_init(&u->pt, vpt_caps_model("spr"), &u->ops, u);
	u->pt.rtit.output_base = REGION;
	u->pt.rtit.output_mask_ptrs = REGION_SIZE - 1;
	ck_assert_int_eq(vpt_pt_set_options(&u->pt, &options), VPT_OK);
	u->pt.rtit.addr[1] = ~0ull >> 17;
	ck_assert_int_eq(
		vpt_pt_wrmsr(&u->pt, VPT_MSR_CTL, CTL ^ changed, VPT_ACCESS_HOST, 0x1000, 0x1000),
		VPT_FAULT_NONE);
	return u;
}

static void free_unit(struct unit *u)
{
	ck_assert(guestmem_guards_intact(&u->mem));
	guestmem_free(&u->mem);
	free(u);
}

static uint64_t random_of(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

/* Return an IP that mostly differs from @ip in its low words. */
static uint64_t next_ip(uint64_t ip, uint64_t *seed)
{
	switch (random_of(seed, 8)) {
	case 0:
		return 0xffff800000000000ull | random_of(seed, 0x1000000);
	case 1:
		return random_of(seed, 0x800000000000);
	case 2:
	case 3:
		return (ip & ~0xffffffffull) | random_of(seed, 0x100000000);
	case 4:
		return ip ^ (random_of(seed, 2) ? 0xffff : random_of(seed, 2) << 16);
	default:
		return (ip & ~0xffffull) | random_of(seed, 0x10000);
	}
}

/* Report up to 8 conditional branches. */
static void outcomes(struct unit *a, struct unit *b, uint64_t *seed)
{
	uint64_t n = random_of(seed, 9);

	for (; n; n--) {
		struct vpt_event event;

		vpt_event_cond(&event, 0x1000, 0x2000, 0x1002, random_of(seed, 2));
		vpt_pt_event(&a->pt, &event);
		vpt_pt_event(&b->pt, &event);
	}
}

static void report(struct unit *u, uint64_t to)
{
	const struct vpt_event event = {
		.kind = VPT_EV_JMP_INDIRECT, .from = 0x1000, .to = to, .next = 0x1002};

	vpt_pt_event(&u->pt, &event);
}

static const struct {
	const char *name;
	uint64_t changed;
	bool defers, takes;
} rows[] = {
	{"plain", 0, false, true},
	{"DisRETC", VPT_CTL_MASK(DIS_RETC), false, true},
	{"a longer PSB period", 1ull << VPT_CTL_PSB_FREQ_SHIFT, false, true},
	{"DisTNT", VPT_CTL_MASK(DIS_TNT), false, false},
	{"MTC", VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(MTC_EN), false, true},
	{"CYC", VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(CYC_EN), false, false},
	{"deferred TIPs", 0, true, false},
	{"out of context", VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER), false, false},
	{"a range", 1ull << VPT_CTL_ADDR0_CFG_SHIFT, false, false},
};

START_TEST(same_packets)
{
	struct unit *a = new_unit(rows[_i].changed, rows[_i].defers),
		    *b = new_unit(rows[_i].changed, rows[_i].defers);
	unsigned int i, taken = 0, left = 0;
	uint64_t seed = 7 + (uint64_t)_i, ip = 0x1000;
	struct vpt_pt before;

	for (i = 0; i < STEPS; i++) {
		outcomes(a, b, &seed);
		ip = next_ip(ip, &seed);
		before = a->pt;
		if (put_tip(&a->pt, ip)) {
			taken++;
		} else {
			left++;
			ck_assert_mem_eq(&before, &a->pt, sizeof(before));
			ck_assert(guestmem_same(&a->mem, &b->mem));
			report(a, ip);
		}
		report(b, ip);
		ck_assert_uint_eq(a->pt.gate.tnt, b->pt.gate.tnt);
		ck_assert_uint_eq(a->pt.gate.state, b->pt.gate.state);
		ck_assert_uint_eq(a->pt.last_ip, b->pt.last_ip);
		ck_assert_uint_eq(a->pt.psb_bytes, b->pt.psb_bytes);
		ck_assert_int_eq(a->pt.out.cur - a->pt.out.end, b->pt.out.cur - b->pt.out.end);
		ck_assert(guestmem_same(&a->mem, &b->mem));
	}
	ck_assert_msg(rows[_i].takes ? taken > left : !taken, "%s: %u of %u", rows[_i].name, taken,
		      STEPS);
	ck_assert_uint_gt(left, 0);
	free_unit(a);
	free_unit(b);
	TEST_PROVES("GEN-TNT-ORDER GEN-LAST-IP");
}
END_TEST

/* Without a valid last IP, or with a gate that has expired, the code does nothing. */
START_TEST(no_last_ip)
{
	struct unit *u = new_unit(0, false);

	u->pt.last_ip_valid = false;
	ck_assert(!put_tip(&u->pt, 0x1234));
	u->pt.last_ip_valid = true;
	ck_assert(put_tip(&u->pt, 0x1234));
	vpt_gate_expire(&u->pt.gate);
	ck_assert(put_tip(&u->pt, 0x1234));
	u->pt.gate.state |= VPT_GATE_TIMED;
	vpt_gate_expire(&u->pt.gate);
	ck_assert(!put_tip(&u->pt, 0x1234));
	free_unit(u);
}
END_TEST

/* Check an operand: what compiled code may use and change, and where its jumps lead. */
static void check_operand(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op,
			  const uint8_t *at)
{
	const bool writes = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	ZydisRegister reg;

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_MEM)
		ck_assert(op->mem.base == ZYDIS_REGISTER_RAX || op->mem.base == ZYDIS_REGISTER_RCX);
	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative)
		ck_assert_ptr_eq(at + insn->length + op->imm.value.s, slow);
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || !writes)
		return;
	reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value);
	ck_assert_msg(ZydisRegisterGetClass(reg) != ZYDIS_REGCLASS_GPR64 ||
			      reg == ZYDIS_REGISTER_RCX || reg == ZYDIS_REGISTER_RDX ||
			      reg == ZYDIS_REGISTER_RSI || reg == ZYDIS_REGISTER_R8 ||
			      reg == ZYDIS_REGISTER_R9,
		      "writes %s", ZydisRegisterGetString(reg));
}

START_TEST(reads_back)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	unsigned int jumps = 0, i;
	ZydisDecoder decoder;
	const uint8_t *at;
	bool wrote = false;

	ck_assert(ZYAN_SUCCESS(
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
	for (at = code; at < end; at += insn.length) {
		ck_assert(ZYAN_SUCCESS(
			ZydisDecoderDecodeFull(&decoder, at, (size_t)(end - at), &insn, op)));
		for (i = 0; i < insn.operand_count; i++) {
			check_operand(&insn, &op[i], at);
			wrote |= op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
				 op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
		}
		/* The code leaves only before its first store. */
		if (insn.meta.category == ZYDIS_CATEGORY_COND_BR) {
			ck_assert(!wrote);
			jumps++;
		}
	}
	ck_assert_ptr_eq(at, end);
	ck_assert_uint_eq(jumps, 6);
	ck_assert(wrote);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_tip");
	TCase *t = tcase_create("tip");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, reads_back);
	tcase_add_test(t, no_last_ip);
	tcase_add_loop_test(t, same_packets, 0, sizeof(rows) / sizeof(rows[0]));
	suite_add_tcase(s, t);
	return s;
}
