// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Performance monitoring: registers, the architectural events, overflow, the latch of ToPA PMIs, and
 * freezing on a PMI. The engine only counts instructions and branches.
 */
#include "lib/suite.h"

#include <string.h>

#include "core/devices.h"
#include "core/irq.h"
#include "core/msr.h"
#include "core/vcpu.h"

#define NEVER UINT64_MAX
#define WIDE  ((1ull << 48) - 1)

enum {
	PMC0 = 0xc1,
	SELECT0 = 0x186,
	FIXED0 = 0x309,
	CAPABILITIES = 0x345,
	FIXED_CONTROL = 0x38d,
	STATUS = 0x38e,
	CONTROL = 0x38f,
	RESET = 0x390,
	SET = 0x391,
	IN_USE = 0x392,
	PMC0_WIDE = 0x4c1,
};

/* Event select values: instructions retired in ring 0 or 3, and the interrupt flag. */
#define OS  0x4200c0ull
#define USR 0x4100c0ull
#define INT (1ull << 20)
/* Other events in ring 0. */
#define CLOCKS	  0x42003cull
#define REFERENCE 0x42013cull
#define BRANCHES  0x4200c4ull
#define MISSES	  0x4200c5ull
#define TOPA	  (1ull << 55)
#define FROZEN	  (1ull << 59)

static struct engine engine;
static struct engine_vcpu ev;
static struct x86_regs regs;
static struct core_vm vm;
static struct core_vcpu v;
static uint64_t debugctl;

static int get_msr(struct engine_vcpu *vcpu, uint32_t index, uint64_t *value)
{
	(void)vcpu;
	ck_assert_uint_eq(index, 0x1d9);
	*value = debugctl;
	return 0;
}

static int set_msr(struct engine_vcpu *vcpu, uint32_t index, uint64_t value)
{
	(void)vcpu;
	ck_assert_uint_eq(index, 0x1d9);
	debugctl = value;
	return 0;
}

static void setup_model(const char *model)
{
	memset(&vm, 0, sizeof(vm));
	memset(&v, 0, sizeof(v));
	memset(&ev, 0, sizeof(ev));
	debugctl = 0;
	tracer_unit_choose(&v.tracer, TRACER_SYSTEM_PT);
	engine = (struct engine){
		.name = "test", .can = ENGINE_COUNTS, .get_msr = get_msr, .set_msr = set_msr};
	vm.engine = &engine;
	vm.vcpu = vm.cpu[0] = &v;
	vm.cpus = 1;
	vm.caps = *vpt_caps_model(model);
	vm.owner = TRACE_OWNER_GUEST;
	vm.mem.bytes = 64 << 20;
	v.vm = &vm;
	v.engine = &engine;
	v.ev = &ev;
	v.regs = &regs;
	v.way |= CORE_WAY_UNTRACED;
	core_perfmon_init(&v.perfmon);
	core_irq_advance(&v);
	vm.platform.lapic[0].svr |= 0x100;
	vm.platform.lapic[0].lvt[DEV_LVT_PMC] = 0x50;
}

static void setup(void)
{
	setup_model("spr");
}

static bool writes(uint32_t msr, uint64_t value)
{
	enum dev_platform_msr done = core_perfmon_wrmsr(&v, msr, value);

	ck_assert(done != DEV_PLATFORM_OTHER);
	return done == DEV_PLATFORM_DONE;
}

static void put(uint32_t msr, uint64_t value)
{
	ck_assert_msg(writes(msr, value), "#GP on WRMSR %#x := %#llx", msr,
		      (unsigned long long)value);
}

static uint64_t get(uint32_t msr)
{
	uint64_t value = ~0ull;

	ck_assert_int_eq(core_perfmon_rdmsr(&v, msr, &value), DEV_PLATFORM_DONE);
	return value;
}

static void reads(uint32_t msr, uint64_t value)
{
	uint64_t got = get(msr);

	ck_assert_msg(got == value, "MSR %#x: %#llx, not %#llx", msr, (unsigned long long)got,
		      (unsigned long long)value);
}

/* Registers, the value with all valid bits, and the least invalid value. */
static const struct {
	uint32_t msr, count;
	uint64_t takes, refuses;
} rows[] = {
	{SELECT0, 4, 0xffdfffff, 1 << 21},
	{PMC0_WIDE, 4, WIDE, WIDE + 1},
	{FIXED0, 3, WIDE, WIDE + 1},
	{FIXED_CONTROL, 1, 0xbbb, 4},
	{CONTROL, 1, 0x70000000full, 0x10},
	{RESET, 1, 0xcc8000070000000full, 1ull << 35},
	{SET, 1, 0x0c8000070000000full, 1ull << 62},
};

START_TEST(registers)
{
	uint32_t i, msr;

	for (i = 0; i < rows[_i].count; i++) {
		msr = rows[_i].msr + i;
		ck_assert(core_msr_traps(msr));
		put(msr, rows[_i].takes);
		if (msr != RESET && msr != SET)
			reads(msr, rows[_i].takes);
		ck_assert(!writes(msr, rows[_i].refuses));
		if (msr != RESET && msr != SET)
			reads(msr, rows[_i].takes);
	}
}
END_TEST

START_TEST(read_only)
{
	static const uint32_t msrs[] = {CAPABILITIES, STATUS, IN_USE};
	uint64_t value;
	unsigned int i;

	for (i = 0; i < 3; i++)
		ck_assert(!writes(msrs[i], get(msrs[i])));
	reads(CAPABILITIES, 1 << 13);
	reads(RESET, 0);
	/* There are four general counters and three fixed ones. */
	ck_assert_int_eq(core_perfmon_rdmsr(&v, PMC0 + 4, &value), DEV_PLATFORM_OTHER);
	ck_assert_int_eq(core_perfmon_wrmsr(&v, FIXED0 + 3, 0), DEV_PLATFORM_OTHER);
	reads(CONTROL, 0xf);
}
END_TEST

START_TEST(an_older_version)
{
	struct engine_cpuid_entry e = {0};
	uint64_t value;

	core_perfmon_cpuid(&vm.caps, &e);
	ck_assert_uint_eq(e.eax, 0x07300404);
	ck_assert_uint_eq(e.ebx, 0);
	ck_assert_uint_eq(e.edx, 0x8603);
	setup_model("bdw");
	core_perfmon_cpuid(&vm.caps, &e);
	ck_assert_uint_eq(e.eax, 0x07300402);
	ck_assert_uint_eq(e.edx, 0x603);
	ck_assert_int_eq(core_perfmon_rdmsr(&v, SET, &value), DEV_PLATFORM_GP);
	ck_assert_int_eq(core_perfmon_rdmsr(&v, IN_USE, &value), DEV_PLATFORM_GP);
	ck_assert(!writes(SET, 0));
	ck_assert(!writes(RESET, FROZEN));
	put(RESET, TOPA | 0xf);
}
END_TEST

START_TEST(narrow_writes)
{
	put(PMC0 + 1, 0xffff0000);
	reads(PMC0 + 1, 0xffffffff0000);
	put(PMC0 + 1, 0x123456789ull);
	reads(PMC0_WIDE + 1, 0x23456789);
}
END_TEST

static void run(uint64_t insns, uint8_t cpl)
{
	core_perfmon_advance(&v);
	v.cpl = cpl;
	ev.retired += insns;
}

/* The counters of `counting` after 130 instructions in ring 0 and 7 in ring 3. */
static const struct {
	uint32_t msr;
	uint64_t count;
} counted[] = {
	{PMC0, 130},   {PMC0 + 1, 7},	  {PMC0 + 2, 137}, {PMC0 + 3, 137},
	{FIXED0, 130}, {FIXED0 + 1, 137}, {FIXED0 + 2, 7}, {IN_USE, 0x70000000full},
};

START_TEST(counting)
{
	unsigned int i;

	put(SELECT0, OS);
	put(SELECT0 + 1, USR);
	put(SELECT0 + 2, OS | USR);
	put(SELECT0 + 3, 0x43003c); /* clocks */
	put(FIXED_CONTROL, 0x231);
	put(CONTROL, 0x70000000full);
	run(100, 0);
	run(7, 3);
	run(30, 0);
	for (i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		reads(counted[i].msr, counted[i].count);
	/* A disabled counter and a counter of an event that is not architectural do not count. */
	put(CONTROL, 1);
	put(SELECT0, OS ^ 0xc0 ^ 0xc1);
	run(50, 0);
	reads(PMC0, 130);
	reads(FIXED0, 130);
	ck_assert_uint_eq(core_perfmon_next(&v), NEVER);
}
END_TEST

/* The events, and their counts after 120 instructions with 30 branches at a half of P1. */
static const struct {
	uint64_t select, count;
} architectural[] = {
	{CLOCKS, 120},	{OS, 120},   {REFERENCE, 240}, {0x424f2e, 0}, /* LLC references */
	{0x42412e, 0},						      /* LLC misses */
	{BRANCHES, 30}, {MISSES, 0},
};

START_TEST(each_event)
{
	ev.time.ticks = 20;
	ev.time.clocks = 10;
	/* These occur before the counter counts. */
	ev.retired = ev.branches = 77;
	put(CONTROL, 1);
	put(SELECT0, architectural[_i].select);
	ck_assert_int_eq(!!(ev.state & ENGINE_BRANCHES), architectural[_i].select == BRANCHES);
	ev.branches += 30;
	run(100, 0);
	run(20, 0);
	reads(PMC0, architectural[_i].count);
	/* The core's clock is stopped in HLT. */
	core_devices_idle(&v, 1000);
	reads(PMC0, architectural[_i].count);
	put(SELECT0, 0);
	ck_assert(!(ev.state & ENGINE_BRANCHES));
}
END_TEST

START_TEST(overflow_of_branches)
{
	put(SELECT0, BRANCHES | INT);
	put(PMC0_WIDE, WIDE - 9);
	put(CONTROL, 1);
	/* There are no more branches than instructions. */
	ck_assert_uint_eq(core_perfmon_next(&v), 10);
	run(10, 0);
	ev.branches += 9;
	core_irq_advance(&v);
	ck_assert(!core_irq_pending(&v));
	ck_assert_uint_eq(core_irq_next(&v), 1);
	run(1, 0);
	core_irq_advance(&v);
	ck_assert(!core_irq_pending(&v));
	run(1, 0);
	ev.branches++;
	core_irq_advance(&v);
	ck_assert(core_irq_pending(&v));
	reads(STATUS, 1);
	reads(PMC0, 0);
	/* A branch that never comes. */
	put(SELECT0, MISSES | INT);
	put(PMC0_WIDE, WIDE);
	ck_assert_uint_eq(core_perfmon_next(&v), NEVER);
}
END_TEST

START_TEST(overflow_of_ticks)
{
	ev.time.ticks = 20;
	ev.time.clocks = 30;
	put(FIXED_CONTROL, 0x900);
	put(FIXED0 + 2, WIDE - 9);
	put(CONTROL, 4ull << 32);
	ck_assert_uint_eq(core_perfmon_next(&v), 15);
	run(14, 0);
	core_irq_advance(&v);
	ck_assert(!core_irq_pending(&v));
	ck_assert_uint_eq(core_perfmon_next(&v), 1);
	run(1, 0);
	core_irq_advance(&v);
	ck_assert(core_irq_pending(&v));
	reads(STATUS, 4ull << 32);
}
END_TEST

START_TEST(overflow)
{
	put(SELECT0, OS | INT);
	put(PMC0_WIDE, WIDE - 99);
	put(CONTROL, 1);
	ck_assert_uint_eq(core_perfmon_next(&v), 100);
	run(40, 0);
	ck_assert_uint_eq(core_perfmon_next(&v), 60);
	ck_assert_uint_eq(core_irq_next(&v), 60);
	run(59, 0);
	core_irq_advance(&v);
	ck_assert(!core_irq_pending(&v));
	run(1, 0);
	core_irq_advance(&v);
	ck_assert(core_irq_pending(&v));
	reads(STATUS, 1);
	reads(PMC0, 0);
	ck_assert_uint_eq(dev_platform_ack(&vm.platform, 0), 0x50);
	ck_assert(vm.platform.lapic[0].lvt[DEV_LVT_PMC] & DEV_LVT_MASKED);
	put(RESET, 1);
	reads(STATUS, 0);
	/* Without INT the overflow only sets STATUS. */
	put(SELECT0, OS);
	put(PMC0_WIDE, WIDE);
	ck_assert_uint_eq(core_perfmon_next(&v), NEVER);
	run(3, 0);
	reads(STATUS, 1);
	reads(PMC0, 2);
}
END_TEST

START_TEST(topa_pmi)
{
	core_irq_pmi(&v);
	reads(STATUS, TOPA);
	ck_assert(core_irq_pending(&v));
	ck_assert_uint_eq(dev_platform_ack(&vm.platform, 0), 0x50);
	ck_assert_uint_eq(vm.platform.lapic[0].lvt[DEV_LVT_PMC], DEV_LVT_MASKED | 0x50);
	/* A masked PMI is not delivered, but STATUS reports the PMI. */
	put(RESET, TOPA);
	reads(STATUS, 0);
	core_irq_pmi(&v);
	reads(STATUS, TOPA);
	ck_assert(!core_irq_pending(&v));
	vm.platform.lapic[0].lvt[DEV_LVT_PMC] = 0x400;
	core_irq_pmi(&v);
	ck_assert(dev_platform_nmi(&vm.platform, 0));
	ck_assert_uint_eq(vm.platform.lapic[0].lvt[DEV_LVT_PMC], DEV_LVT_MASKED | 0x400);
	/* A hypervisor can set the bit to restore a guest. */
	put(RESET, TOPA);
	put(SET, TOPA);
	reads(STATUS, TOPA);
	/* The bit does not exist if the trace is the host's. */
	put(RESET, TOPA);
	vm.owner = TRACE_OWNER_HOST;
	ck_assert(!writes(SET, TOPA));
	TEST_PROVES("PMI-LATCH PMI-LVT");
}
END_TEST

START_TEST(freezing)
{
	put(SELECT0, OS);
	put(CONTROL, 1);
	run(10, 0);
	core_irq_pmi(&v);
	run(10, 0);
	reads(PMC0, 20);
	debugctl = 1 << 12 | 1 << 11 | 1;
	core_irq_pmi(&v);
	run(10, 0);
	reads(PMC0, 20);
	reads(STATUS, TOPA | FROZEN | 1ull << 58);
	reads(CONTROL, 1);
	put(RESET, FROZEN);
	run(10, 0);
	reads(PMC0, 30);
	/* Before version 4 a PMI clears the enable bits instead. */
	setup_model("bdw");
	put(SELECT0, OS);
	put(CONTROL, 1);
	debugctl = 1 << 12 | 1 << 11 | 1;
	run(10, 0);
	core_irq_pmi(&v);
	run(10, 0);
	reads(PMC0, 10);
	reads(STATUS, TOPA);
	reads(CONTROL, 0);
	ck_assert_uint_eq(debugctl, 1 << 12 | 1 << 11);
	TEST_PROVES("PMI-FREEZE");
}
END_TEST

START_TEST(rdpmc)
{
	uint64_t value = 0;

	put(PMC0_WIDE + 3, 0x123456789abcull);
	put(FIXED0 + 2, 0x77);
	ck_assert(core_perfmon_rdpmc(&v, 3, &value));
	ck_assert_uint_eq(value, 0x123456789abcull);
	ck_assert(core_perfmon_rdpmc(&v, 1u << 30 | 2, &value));
	ck_assert_uint_eq(value, 0x77);
	ck_assert(!core_perfmon_rdpmc(&v, 4, &value));
	ck_assert(!core_perfmon_rdpmc(&v, 1u << 30 | 3, &value));
	ck_assert(!core_perfmon_rdpmc(&v, 1u << 29, &value));
}
END_TEST

/* Load a state with another value at this offset. */
static bool loads(const struct core_perfmon_state *good, size_t offset, uint64_t value)
{
	struct core_perfmon_state s = *good;

	memcpy((uint8_t *)&s + offset, &value, sizeof(value));
	return core_perfmon_load(&v, &s);
}

START_TEST(saved)
{
	struct core_perfmon_state s;

	put(SELECT0, OS | INT);
	put(PMC0_WIDE, WIDE - 50);
	put(CONTROL, 1);
	run(20, 0);
	core_perfmon_save(&v, &s);
	ev.retired = 5000;
	core_perfmon_init(&v.perfmon);
	ck_assert(core_perfmon_load(&v, &s));
	reads(PMC0, WIDE - 30);
	ck_assert_uint_eq(core_perfmon_next(&v), 31);
	/* The branches of a resumed run count from there. */
	s.select[0] = BRANCHES;
	ev.branches = 400;
	ck_assert(core_perfmon_load(&v, &s));
	ck_assert(ev.state & ENGINE_BRANCHES);
	ev.branches += 2;
	run(5, 0);
	reads(PMC0, WIDE - 28);
	put(PMC0_WIDE, WIDE - 30);
	ck_assert(!loads(&s, offsetof(struct core_perfmon_state, general[1]), WIDE + 1));
	ck_assert(!loads(&s, offsetof(struct core_perfmon_state, select[2]), 1ull << 32));
	ck_assert(!loads(&s, offsetof(struct core_perfmon_state, fixed[0]), ~0ull));
	ck_assert(!loads(&s, offsetof(struct core_perfmon_state, fixed_control), 1 << 12));
	ck_assert(!loads(&s, offsetof(struct core_perfmon_state, enabled), 1 << 4));
	ck_assert(!loads(&s, offsetof(struct core_perfmon_state, status), 1ull << 63));
	reads(PMC0, WIDE - 30);
}
END_TEST

TEST_SUITE("perfmon", setup, NULL)
{
	TEST_ROWS(tcase, registers, rows);
	TEST_ROWS(tcase, each_event, architectural);
	TEST_ADD(tcase, read_only, an_older_version, narrow_writes, counting, overflow,
		 overflow_of_branches, overflow_of_ticks, topa_pmi, freezing, rdpmc, saved);
}
