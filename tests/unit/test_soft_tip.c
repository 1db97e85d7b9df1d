// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The TIP and TNT packets of compiled code. The code is decoded, and called with random states of a unit.
 * Each call must have the effect of vpt_pt_event(), or none.
 */
#include "lib/guestmem.h"
#include "lib/suite.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "soft/compile/compiler.h"
#include "soft/gate.h"
#include "soft/soft.h"
#include "vpt/pt.h"

#define REGION	    0x10000u
#define REGION_SIZE 0x1000u
#define STEPS	    40000u
#define CODE_BYTES  0x8000u
#define TARGETS	    64u
#define CTL \
	(VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN))

struct unit {
	struct guestmem mem; /* first: it is the callbacks' `opaque` */
	struct vpt_pt_ops ops;
	struct vpt_pt pt;
};

static struct soft_compiler compiler;

/* Code that puts a TIP, where it is written. */
struct code {
	const uint8_t *at, *slow, *end;
	bool (*put)(struct soft *c, uint64_t to);
	uint64_t to; /* the only address that it takes; 0: each */
};

/* To any address, and to known ones. */
static struct code any, known[TARGETS];

/* Outcomes in SOFT_TNT, and in memory with two registers. The argument has `open` and `tnt_limit`. */
static const uint8_t by[] = {SOFT_TNT, H_R10, H_RCX};
static bool (*put_outcome[2 * sizeof(by)])(struct soft *c);

static uint64_t next_ip(uint64_t ip, uint64_t *seed);

static void keep_tnt(bool save)
{
	e8(&compiler.e, 0x41);
	e8(&compiler.e, (save ? 0x50 : 0x58) | (SOFT_TNT & 7)); /* push, pop */
}

/* Begin a function. If `held`, SOFT_TNT has the outcomes, as in a unit with a loop. RAX := the gate. */
static void *begin(bool held)
{
	void *fn =
		(void *)(compiler.region.executable + (compiler.e.at - compiler.region.writable));

	compiler.fulls = 0;
	compiler.held.tnt = held;
	compiler.pool = SOFT_POOL - held;
	keep_tnt(true);
	soft_hold_load_fixed(&compiler);
	soft_emit_open(&compiler);
	return fn;
}

/* Return 0 or 1 from the function. */
static void leave(bool result)
{
	soft_hold_store_tnt(&compiler.e, &compiler.held);
	keep_tnt(false);
	e_const(&compiler.e, H_RAX, result);
	e8(&compiler.e, 0xc3);
}

static void make_tip(struct code *code, uint64_t to, bool held)
{
	struct soft_slow jumps = {.count = 0};
	struct soft_emit *e = &compiler.e;
	unsigned int i;

	code->to = to;
	code->put = (bool (*)(struct soft *, uint64_t))(uintptr_t)begin(held);
	e_rr(e, SOFT_SIZE64, 0x89, H_RSI, H_R11);
	if (to && !held)
		e_rm(e, SOFT_SIZE64, 0x8b, SOFT_TNT, H_RAX, SOFT_AT_GATE(tnt));
	code->at = e->at;
	if (to)
		soft_emit_tip_to(&compiler, &jumps, to);
	else
		soft_emit_tip(&compiler, &jumps);
	code->end = e->at;
	if (to && !held)
		e_rm(e, SOFT_SIZE64, 0x89, SOFT_TNT, H_RAX, SOFT_AT_GATE(tnt));
	leave(true);
	code->slow = e->at;
	for (i = 0; i < jumps.count; i++)
		e_aim(e, jumps.from[i]);
	leave(false);
}

static void make_outcome(unsigned int index)
{
	const bool held = by[index / 2] == SOFT_TNT;

	put_outcome[index] = (bool (*)(struct soft *))(uintptr_t)begin(held);
	soft_emit_outcome(&compiler, index & 1, NULL, by[index / 2]);
	leave(true);
	soft_outcomes_aim(&compiler, 0);
	leave(false);
	soft_outcomes_emit(&compiler);
}

static void setup(void)
{
	uint64_t seed = 3, to = 0x1000;
	unsigned int i;
	void *run;

	ck_assert_int_eq(soft_region_create(&compiler.region, CODE_BYTES), 0);
	compiler.e.at = soft_region_at(&compiler.region, &run);
	make_tip(&any, 0, false);
	for (i = 0; i < TARGETS; i++) {
		to = next_ip(to, &seed);
		make_tip(&known[i], to, i & 1);
	}
	for (i = 0; i < 2 * sizeof(by); i++)
		make_outcome(i);
	ck_assert_uint_le((size_t)(compiler.e.at - compiler.region.writable), CODE_BYTES);
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

/* Make a processor that has nothing but the gate of a unit. */
static struct soft *new_processor(struct unit *u)
{
	struct soft *c = calloc(1, sizeof(*c));

	ck_assert_ptr_nonnull(c);
	c->gate = &u->pt.gate;
	return c;
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

static void compare(const struct unit *a, const struct unit *b)
{
	/* With DisTNT a gate gathers outcomes that nobody sends. */
	if (!a->pt.dis_tnt)
		ck_assert_uint_eq(a->pt.gate.tnt, b->pt.gate.tnt);
	ck_assert_uint_eq(a->pt.gate.state, b->pt.gate.state);
	ck_assert_uint_eq(a->pt.last_ip, b->pt.last_ip);
	ck_assert_uint_eq(a->pt.psb_bytes, b->pt.psb_bytes);
	ck_assert_int_eq(a->pt.out.cur - a->pt.out.end, b->pt.out.cur - b->pt.out.end);
	ck_assert(guestmem_same(&a->mem, &b->mem));
}

START_TEST(same_packets)
{
	const unsigned int row = (unsigned int)_i / 2;
	struct unit *a = new_unit(rows[row].changed, rows[row].defers),
		    *b = new_unit(rows[row].changed, rows[row].defers);
	unsigned int i, taken = 0, left = 0;
	struct soft *c = new_processor(a);
	uint64_t seed = 7 + row, ip = 0x1000;
	struct vpt_pt before;

	for (i = 0; i < STEPS; i++) {
		const struct code *code = _i & 1 ? &known[random_of(&seed, TARGETS)] : &any;

		outcomes(a, b, &seed);
		ip = code->to ? code->to : next_ip(ip, &seed);
		before = a->pt;
		soft_look_at_gate(c);
		if (code->put(c, ip)) {
			taken++;
		} else {
			left++;
			ck_assert_mem_eq(&before, &a->pt, sizeof(before));
			ck_assert(guestmem_same(&a->mem, &b->mem));
			report(a, ip);
		}
		report(b, ip);
		compare(a, b);
	}
	ck_assert_msg(rows[row].takes ? taken > STEPS / 4 : !taken, "%s: %u of %u", rows[row].name,
		      taken, STEPS);
	ck_assert_uint_gt(left, 0);
	free(c);
	free_unit(a);
	free_unit(b);
	TEST_PROVES("GEN-TNT-ORDER GEN-LAST-IP");
}
END_TEST

static void report_cond(struct unit *u, bool taken)
{
	struct vpt_event event;

	vpt_event_cond(&event, 0x1000, 0x2000, 0x1002, taken);
	vpt_pt_event(&u->pt, &event);
}

START_TEST(same_outcomes)
{
	const unsigned int row = (unsigned int)_i / sizeof(by),
			   which = (unsigned int)_i % sizeof(by);
	const bool open = rows[row].takes || rows[row].defers ||
			  rows[row].changed & (VPT_CTL_MASK(DIS_TNT) | VPT_CTL_MASK(CYC_EN));
	struct unit *a = new_unit(rows[row].changed, rows[row].defers),
		    *b = new_unit(rows[row].changed, rows[row].defers);
	unsigned int i, taken = 0, left = 0, sent = 0;
	struct soft *c = new_processor(a);
	uint64_t seed = 5 + row;
	struct vpt_pt before;

	for (i = 0; i < STEPS; i++) {
		const bool outcome = random_of(&seed, 2);

		before = a->pt;
		soft_look_at_gate(c);
		if (put_outcome[2 * which + outcome](c)) {
			taken++;
			sent += a->pt.out.cur != before.out.cur;
		} else {
			left++;
			ck_assert_mem_eq(&before, &a->pt, sizeof(before));
			report_cond(a, outcome);
		}
		report_cond(b, outcome);
		compare(a, b);
	}
	ck_assert_msg(open ? taken > left : !taken, "%s: %u of %u", rows[row].name, taken, STEPS);
	ck_assert_msg(rows[row].takes ? sent > left : !sent, "%s: %u sent", rows[row].name, sent);
	ck_assert_uint_gt(left, 0);
	free(c);
	free_unit(a);
	free_unit(b);
	TEST_PROVES("GEN-TNT-SIZE");
}
END_TEST

/* Without a valid last IP, or with a gate that has expired, the code does nothing. */
static bool put_now(struct soft *c, const struct code *code)
{
	soft_look_at_gate(c);
	return code->put(c, code->to ? code->to : 0x1234);
}

START_TEST(no_last_ip)
{
	const struct code *code = _i ? &known[_i - 1] : &any;
	struct unit *u = new_unit(0, false);
	struct soft *c = new_processor(u);

	u->pt.last_ip = code->to;
	u->pt.last_ip_valid = false;
	ck_assert(!put_now(c, code));
	u->pt.last_ip_valid = true;
	ck_assert(put_now(c, code));
	vpt_gate_expire(&u->pt.gate);
	ck_assert(put_now(c, code));
	u->pt.gate.state |= VPT_GATE_TIMED;
	vpt_gate_expire(&u->pt.gate);
	ck_assert(!put_now(c, code));
	free(c);
	free_unit(u);
}
END_TEST

/* Check an operand: what compiled code may use and change, and where its jumps lead. */
static void check_operand(const struct code *code, const ZydisDecodedInstruction *insn,
			  const ZydisDecodedOperand *op, const uint8_t *at)
{
	const bool writes = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	ZydisRegister reg;

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_MEM)
		ck_assert(op->mem.base == ZYDIS_REGISTER_RAX ||
			  (op->mem.base == ZYDIS_REGISTER_RDI && !writes) ||
			  op->mem.base == (code->to ? ZYDIS_REGISTER_R10 : ZYDIS_REGISTER_RCX));
	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative)
		ck_assert_ptr_eq(at + insn->length + op->imm.value.s, code->slow);
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || !writes)
		return;
	reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value);
	ck_assert_msg(ZydisRegisterGetClass(reg) != ZYDIS_REGCLASS_GPR64 ||
			      (code->to ? reg == ZYDIS_REGISTER_R10 || reg == ZYDIS_REGISTER_R11 ||
						  reg == ZYDIS_REGISTER_R15
					: reg == ZYDIS_REGISTER_RCX || reg == ZYDIS_REGISTER_RDX ||
						  reg == ZYDIS_REGISTER_RSI ||
						  reg == ZYDIS_REGISTER_R8 ||
						  reg == ZYDIS_REGISTER_R9),
		      "writes %s", ZydisRegisterGetString(reg));
}

START_TEST(reads_back)
{
	const struct code *code = _i ? &known[_i - 1] : &any;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	unsigned int jumps = 0, i;
	ZydisDecoder decoder;
	const uint8_t *at;
	bool wrote = false;

	ck_assert(ZYAN_SUCCESS(
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
	for (at = code->at; at < code->end; at += insn.length) {
		ck_assert(ZYAN_SUCCESS(
			ZydisDecoderDecodeFull(&decoder, at, (size_t)(code->end - at), &insn, op)));
		for (i = 0; i < insn.operand_count; i++) {
			check_operand(code, &insn, &op[i], at);
			wrote |= op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
				 op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
		}
		/* The code leaves only before its first store. */
		if (insn.meta.category == ZYDIS_CATEGORY_COND_BR) {
			ck_assert(!wrote);
			jumps++;
		}
	}
	ck_assert_ptr_eq(at, code->end);
	ck_assert_uint_eq(jumps, 3);
	ck_assert(wrote);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_tip");
	TCase *t = tcase_create("tip");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, reads_back, 0, 1 + TARGETS);
	tcase_add_loop_test(t, no_last_ip, 0, 1 + TARGETS);
	tcase_add_loop_test(t, same_packets, 0, 2 * sizeof(rows) / sizeof(rows[0]));
	tcase_add_loop_test(t, same_outcomes, 0, sizeof(by) * sizeof(rows) / sizeof(rows[0]));
	suite_add_tcase(s, t);
	return s;
}
