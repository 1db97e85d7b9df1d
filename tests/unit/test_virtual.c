// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Virtual time: the TSC by instructions and the clocks' ratio (engine/time.h), and whose
 * time it is that a guest gets (core/clock.c). The engine is one that does not count.
 */
#include "lib/suite.h"

#include <string.h>

#include "core/clock.h"
#include "core/irq.h"
#include "core/vcpu.h"

static struct engine engine;
static struct engine_vcpu ev;
static struct x86_regs regs;
static struct core_vm vm;
static struct core_vcpu v;
static uint64_t host_tsc, host_offset;

static void host_clock(struct engine_vcpu *vcpu, struct vpt_clock *now, uint64_t *tsc)
{
	(void)vcpu;
	now->cycles = now->tsc = host_tsc;
	*tsc = host_tsc + host_offset;
}

static void setup(void)
{
	memset(&vm, 0, sizeof(vm));
	memset(&v, 0, sizeof(v));
	memset(&ev, 0, sizeof(ev));
	memset(&regs, 0, sizeof(regs));
	engine = (struct engine){.name = "test", .clock = host_clock};
	vm.engine = &engine;
	vm.caps = *vpt_caps_model("skl");
	tracer_unit_choose(&v.tracer, TRACER_SYSTEM_PT);
	v.vm = &vm;
	v.engine = &engine;
	v.ev = &ev;
	v.regs = &regs;
	v.way |= CORE_WAY_UNTRACED;
	host_tsc = 1000000;
	host_offset = 0;
	core_clock_init(&v.ev->time, &v.vm->caps);
}

/* P1 in bus clocks, and the core's. */
static const struct {
	uint32_t ticks, clocks;
} ratios[] = {{0, 0}, {34, 34}, {34, 17}, {34, 40}, {20, 1}, {1, 255}, {255, 254}, {24, 7}};

START_TEST(tsc_goes_by_the_ratio)
{
	struct engine_time t = {.retired = 77, .tsc = 1000};
	uint64_t num, den, n;

	t.ticks = ratios[_i].ticks;
	t.clocks = ratios[_i].clocks;
	num = t.ticks ? t.ticks : 1;
	den = t.clocks ? t.clocks : 1;
	for (n = 0; n < 3000; n++)
		ck_assert_uint_eq(engine_time_tsc(&t, 77 + n), 1000 + n * num / den);
	/* As long as nothing lives. */
	n = 1ull << 55;
	ck_assert_uint_eq(engine_time_tsc(&t, 77 + den * n), 1000 + num * n);
}
END_TEST

START_TEST(reach_is_the_first)
{
	struct engine_time t = {.retired = 77, .tsc = 1000};
	uint64_t tsc, at;

	t.ticks = ratios[_i].ticks;
	t.clocks = ratios[_i].clocks;
	for (tsc = 0; tsc < 4000; tsc++) {
		at = engine_time_reach(&t, tsc);
		ck_assert_uint_ge(at, 77);
		ck_assert_uint_ge(engine_time_tsc(&t, at), tsc);
		if (at > 77)
			ck_assert_uint_lt(engine_time_tsc(&t, at - 1), tsc);
	}
}
END_TEST

START_TEST(reach_beyond_all_counts)
{
	struct engine_time t = {.retired = 77, .ticks = 1, .clocks = 255};

	ck_assert_uint_eq(engine_time_reach(&t, UINT64_MAX), UINT64_MAX);
	t.ticks = 255;
	ck_assert_uint_eq(engine_time_reach(&t, UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(idle_and_changes_of_the_ratio)
{
	struct engine_time t = {.ticks = 34, .clocks = 17};
	struct vpt_clock now;

	engine_time_idle(&t, 100, 50);
	now = engine_time_clock(&t, 100);
	ck_assert_uint_eq(now.cycles, 150);
	ck_assert_uint_eq(now.tsc, 300);
	engine_time_ratio(&t, 110, 34, 68, 5);
	now = engine_time_clock(&t, 110);
	ck_assert_uint_eq(now.cycles, 160);
	ck_assert_uint_eq(now.tsc, 325);
	ck_assert_uint_eq(engine_time_tsc(&t, 112), 326);
	/* Software's TSC is one more thing; nothing else moves with it. */
	engine_time_write(&t, 112, 7);
	ck_assert_uint_eq(engine_time_read(&t, 112), 7);
	ck_assert_uint_eq(engine_time_read(&t, 114), 8);
	ck_assert_uint_eq(engine_time_tsc(&t, 114), 327);
}
END_TEST

static uint64_t tsc_now(struct vpt_clock *now)
{
	uint64_t tsc;

	core_clock_now(&v, now, &tsc);
	return tsc;
}

/* A guest that was never let loose has seen no clock of the host's. */
START_TEST(stepped_from_the_start)
{
	struct vpt_clock now;

	ck_assert_uint_eq(tsc_now(&now), 0);
	core_irq_leave_untraced(&v);
	ev.retired = 10;
	ck_assert_uint_eq(tsc_now(&now), 10);
	ck_assert_uint_eq(now.cycles, 10);
}
END_TEST

START_TEST(stepped_after_running_free)
{
	struct vpt_clock now, later;

	core_clock_release(&v);
	ck_assert_uint_eq(tsc_now(&now), 1000000);
	/* It stands by now: a trace has begun. */
	host_tsc += 5000;
	core_irq_leave_untraced(&v);
	ev.retired += 3;
	ck_assert_uint_eq(tsc_now(&later), 1000003);
	ck_assert_uint_eq(later.cycles - now.cycles, 3);
	/* At full speed it catches up, and is never back behind what was told. */
	v.way |= CORE_WAY_UNTRACED;
	core_clock_release(&v);
	ck_assert_uint_eq(tsc_now(&now), 1005000);
	core_clock_release(&v);
	host_tsc = 7;
	ck_assert_uint_eq(tsc_now(&now), 1005000);
}
END_TEST

static uint64_t told(uint8_t cls, uint32_t rcx)
{
	const struct core_insn insn = {.cls = cls};

	regs.rax = regs.rdx = 0x5555;
	regs.rcx = rcx;
	ev.state &= ~ENGINE_REGS_DIRTY;
	core_clock_stepped(&v, &insn);
	return regs.rdx << 32 | regs.rax;
}

START_TEST(software_is_told_the_same)
{
	const struct core_insn wrmsr = {.cls = CORE_INSN_WRMSR};
	struct vpt_clock now;

	core_clock_release(&v);
	core_irq_leave_untraced(&v);
	ev.retired = 8;
	ck_assert_uint_eq(told(CORE_INSN_RDTSC, 0), 1000008);
	ck_assert(ev.state & ENGINE_REGS_DIRTY);
	ck_assert_uint_eq(told(CORE_INSN_RDMSR, 0x10), 1000008);
	ck_assert_uint_eq(told(CORE_INSN_RDMSR, 0x11), 0x555500005555);
	ck_assert_uint_eq(told(CORE_INSN_PLAIN, 0x10), 0x555500005555);
	ck_assert(!(ev.state & ENGINE_REGS_DIRTY));
	/* It writes the TSC, which no packet of the crystal's shows. */
	regs.rcx = 0x10;
	regs.rdx = 7;
	regs.rax = 3;
	host_offset = 12345;
	core_clock_stepped(&v, &wrmsr);
	ck_assert_uint_eq(told(CORE_INSN_RDTSC, 0), 7ull << 32 | 3);
	ck_assert_uint_eq(tsc_now(&now), 7ull << 32 | 3);
	ck_assert_uint_eq(now.tsc, 1000008);
	/* TSC_ADJUST moves it by as much as the host's. */
	regs.rcx = 0x3b;
	host_offset += 100;
	core_clock_stepped(&v, &wrmsr);
	ck_assert_uint_eq(told(CORE_INSN_RDTSC, 0), 7ull << 32 | 103);
	/* Other registers do not. */
	regs.rcx = 0x3c;
	host_offset += 100;
	core_clock_stepped(&v, &wrmsr);
	ck_assert_uint_eq(told(CORE_INSN_RDTSC, 0), 7ull << 32 | 103);
}
END_TEST

START_TEST(a_host_sleeps)
{
	struct vpt_clock now;

	core_irq_leave_untraced(&v);
	core_clock_slept(&v, 1000);
	ck_assert_uint_eq(tsc_now(&now), 3408);
	ck_assert_uint_eq(now.cycles, 0);
	/* Where time is counted it is not the host's that counts. */
	vm.counted = true;
	core_clock_slept(&v, 1000);
	ck_assert_uint_eq(tsc_now(&now), 3408);
}
END_TEST

START_TEST(the_core_clock_changes)
{
	struct vpt_clock now;

	vm.counted = true;
	ck_assert_uint_eq(core_clock_cbr(&v), 34);
	ck_assert_uint_eq(core_clock_next(&v), UINT64_MAX);
	core_clock_set_cbr(&v, 17);
	v.cbr[0] = (struct core_cbr_change){.at = 10, .cbr = 68};
	v.cbr[1] = (struct core_cbr_change){.at = 20, .cbr = 34, .stopped = 1000};
	v.cbr_count = 2;
	ck_assert_uint_eq(core_clock_next(&v), 10);
	ev.retired = 9;
	core_clock_update(&v);
	ck_assert_uint_eq(core_clock_cbr(&v), 17);
	ev.retired = 10;
	core_clock_update(&v);
	ck_assert_uint_eq(core_clock_cbr(&v), 68);
	ck_assert_uint_eq(core_clock_next(&v), 10);
	ck_assert_uint_eq(tsc_now(&now), 20);
	/* Late: both that are due are done. */
	ev.retired = 30;
	core_clock_update(&v);
	ck_assert_uint_eq(core_clock_cbr(&v), 34);
	ck_assert_uint_eq(tsc_now(&now), 20 + 10 + 1000);
	ck_assert_uint_eq(now.cycles, 30);
	ck_assert_uint_eq(core_clock_next(&v), UINT64_MAX);
}
END_TEST

START_TEST(no_ratio_is_none)
{
	vm.counted = true;
	vm.caps.max_nonturbo = 0;
	core_clock_init(&v.ev->time, &v.vm->caps);
	core_clock_set_cbr(&v, 17);
	ev.retired = 5;
	ck_assert_uint_eq(core_clock_cbr(&v), 0);
	ck_assert_uint_eq(engine_time_tsc(&ev.time, 5), 5);
	ck_assert_uint_eq(core_clock_tsc_hz(&vm.caps), 3408000000);
	vm.caps.l15_ecx = 0;
	ck_assert_uint_eq(core_clock_tsc_hz(&vm.caps), 100000000);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("virtual");
	TCase *tc = tcase_create("virtual");
	const int n = (int)(sizeof(ratios) / sizeof(ratios[0]));

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, tsc_goes_by_the_ratio, 0, n);
	tcase_add_loop_test(tc, reach_is_the_first, 0, n);
	tcase_add_test(tc, reach_beyond_all_counts);
	tcase_add_test(tc, idle_and_changes_of_the_ratio);
	tcase_add_test(tc, stepped_from_the_start);
	tcase_add_test(tc, stepped_after_running_free);
	tcase_add_test(tc, software_is_told_the_same);
	tcase_add_test(tc, a_host_sleeps);
	tcase_add_test(tc, the_core_clock_changes);
	tcase_add_test(tc, no_ratio_is_none);
	suite_add_tcase(s, tc);
	return s;
}
