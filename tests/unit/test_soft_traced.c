// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The trace of compiled code. Random programs run on two machines, one that compiles early and one
 * that does not compile. Both trace into memory, and both traces and units must be the same after
 * each budget. TEST_TRACED_PROGRAMS is the number of programs, and TEST_TRACED_SEED the seed.
 */
#include "lib/guestmem.h"
#include "lib/plain_machine.h"
#include "lib/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/compile.h"
#include "soft/compile/compiler.h"
#include "soft/engine.h"
#include "vpt/state.h"

#define REGION	    0x100000u
#define REGION_SIZE 0x1000u
#define CTL \
	(VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN))

enum { PROGRAMS = 1500, CHUNKS = 6, NEVER = 20 };

struct side {
	struct guestmem out; /* first: it is the callbacks' `opaque` */
	struct plain_machine machine;
	struct vpt_pt_ops ops;
	struct vpt_pt pt;
	struct engine_observer observer;
	uint64_t reports;
};

static struct side fast, slow;
static struct plain_program program;
static unsigned int code_bits;

static void context(void *opaque, struct vpt_context *ctx)
{
	(void)opaque;
	*ctx = (struct vpt_context){.cr3 = 0x1000,
				    .cs_l = code_bits == 64,
				    .cs_d = code_bits == 32,
				    .lma = true,
				    .paging = true};
}

static void report(void *opaque, struct engine_report *r)
{
	struct side *s = opaque;

	if (r->event.kind == VPT_EV_COUNT)
		return;
	s->reports++;
	vpt_pt_event(&s->pt, &r->event);
}

static void create(struct side *s)
{
	memset(s, 0, sizeof(*s));
	plain_create(&s->machine);
	guestmem_init(&s->out, GUESTMEM_MAP_MORE);
	guestmem_ram(&s->out, REGION, REGION_SIZE);
	s->ops.mem = s->out.ops;
	s->ops.context = context;
	s->observer = (struct engine_observer){.gate = &s->pt.gate, .report = report, .opaque = s};
	s->machine.vcpu->observer = &s->observer;
}

static void destroy(struct side *s)
{
	ck_assert(guestmem_guards_intact(&s->out));
	guestmem_free(&s->out);
	plain_destroy(&s->machine);
}

static void begin(void)
{
	create(&fast);
	create(&slow);
	if (soft(slow.machine.vcpu)->compiler)
		soft_compile_after(soft(slow.machine.vcpu), NEVER);
}

static void end(void)
{
	destroy(&fast);
	destroy(&slow);
}

static const uint64_t controls[] = {
	0,
	0,
	VPT_CTL_MASK(DIS_RETC),
	1ull << VPT_CTL_PSB_FREQ_SHIFT,
	VPT_CTL_MASK(DIS_TNT),
	VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(CYC_EN),
};

/* Begin a new trace. */
static void start(struct side *s, uint64_t x)
{
	const struct vpt_pt_options options = {.defer_tips = !(x >> 8 & 15)};

	vpt_pt_init(&s->pt, vpt_caps_model("spr"), &s->ops, s);
	s->pt.rtit.output_base = REGION;
	s->pt.rtit.output_mask_ptrs = REGION_SIZE - 1;
	ck_assert_int_eq(vpt_pt_set_options(&s->pt, &options), VPT_OK);
	ck_assert_int_eq(vpt_pt_wrmsr(&s->pt, VPT_MSR_CTL,
				      CTL | controls[x % (sizeof(controls) / sizeof(controls[0]))],
				      VPT_ACCESS_HOST, PLAIN_CODE, PLAIN_CODE),
			 VPT_FAULT_NONE);
}

static struct engine_exit run(struct side *s, uint64_t budget)
{
	struct engine_exit exit;

	memset(&exit, 0, sizeof(exit));
	s->machine.vcpu->budget = budget;
	soft_engine.run(s->machine.vcpu, false, &exit);
	return exit;
}

static const char *difference(void)
{
	struct vpt_pt_state a, b;

	if (memcmp(fast.machine.vcpu->regs, slow.machine.vcpu->regs, sizeof(struct x86_regs)) ||
	    fast.machine.vcpu->retired != slow.machine.vcpu->retired)
		return "registers";
	if (!guestmem_same(&fast.out, &slow.out))
		return "bytes of the trace";
	vpt_pt_save(&fast.pt, &a);
	vpt_pt_save(&slow.pt, &b);
	return memcmp(&a, &b, sizeof(a)) ? "state of the unit" : NULL;
}

static const char *compare_program(uint64_t *state, uint64_t *tips)
{
	uint64_t x = plain_next(state);
	unsigned int i;

	if (soft(fast.machine.vcpu)->compiler)
		soft_compile_after(soft(fast.machine.vcpu), x >> 16 & 3);
	plain_program(state, code_bits, &program);
	plain_load(&fast.machine, &program);
	plain_load(&slow.machine, &program);
	plain_set_registers(&fast.machine, &program, state, code_bits);
	plain_copy_registers(&slow.machine, &fast.machine);
	start(&fast, x);
	start(&slow, x);
	for (i = 0; i < CHUNKS; i++) {
		uint64_t y = plain_next(state), bytes = fast.pt.psb_bytes;
		uint64_t budget = y & 1 ? 1 + (y >> 8 & 31) : 100 + (y >> 8 & 2047);
		const struct engine_exit a = run(&fast, budget), b = run(&slow, budget);
		const char *what = a.kind != b.kind ? "exit" : difference();

		if (what)
			return what;
		*tips += fast.pt.psb_bytes != bytes;
		if (a.kind == ENGINE_EXIT_FAULT || a.kind == ENGINE_EXIT_CORE) {
			plain_set_registers(&fast.machine, &program, state, code_bits);
			plain_copy_registers(&slow.machine, &fast.machine);
		}
	}
	return NULL;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

START_TEST(same_traces)
{
	uint64_t seed = number_from("TEST_TRACED_SEED", 1) << 32, tips = 0, i;
	uint64_t programs = number_from("TEST_TRACED_PROGRAMS", PROGRAMS);

	code_bits = _i ? 32 : 64;
	plain_set_mode(&fast.machine, code_bits);
	plain_set_mode(&slow.machine, code_bits);
	for (i = 0; i < programs; i++) {
		uint64_t state = seed + i;
		const char *what = compare_program(&state, &tips);

		ck_assert_msg(!what, "program %" PRIu64 ", %u bits: other %s", i, code_bits, what);
	}
	printf("%u bits: %" PRIu64 " instructions, %" PRIu64 " parts with packets, %" PRIu64
	       " and %" PRIu64 " reports\n",
	       code_bits, fast.machine.vcpu->retired, tips, fast.reports, slow.reports);
	ck_assert_uint_gt(tips, programs);
	ck_assert_uint_gt(slow.reports, 0);
	if (soft(fast.machine.vcpu)->compiler)
		ck_assert_uint_gt(soft(fast.machine.vcpu)->compiler->region.used, 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_traced");
	TCase *t = tcase_create("traced");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, number_from("TEST_TRACED_PROGRAMS", 0) > PROGRAMS ? 7200 : 60);
	tcase_add_loop_test(t, same_traces, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
