// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HLT, MONITOR, MWAIT, UMONITOR, UMWAIT, TPAUSE and PTWRITE as the core does them: what
 * they wait for, what ends it, what they raise, and what of it a snapshot keeps.
 */
#include "lib/suite.h"

#include <string.h>

#include "core/emulate.h"
#include "core/irq.h"
#include "core/vcpu_save.h"
#include "lib/flat.h"

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

#define MONITOR	    "\x0f\x01\xc8"
#define MONITOR_FS  "\x64\x0f\x01\xc8"
#define MWAIT	    "\x0f\x01\xc9"
#define UMONITOR_AX "\xf3\x0f\xae\xf0"
#define UMWAIT_CX   "\xf2\x0f\xae\xf1"
#define TPAUSE_CX   "\x66\x0f\xae\xf1"
#define PTWRITE_CX  "\xf3\x0f\xae\xe1"
#define ARITHMETIC  0x8d5ull

enum { LINE = 0x60040, ON_LINE = LINE + 0x2f };

static struct engine_exception e;

static void has(uint32_t leaf, uint32_t ecx)
{
	vm.cpuid[vm.cpuid_count++] = (struct engine_cpuid_entry){.leaf = leaf, .ecx = ecx};
}

static void setup(void)
{
	flat_long();
	has(1, 1 << 3);
	has(7, 1 << 5);
	vm.caps.l14_0_ebx = 1 << 4;
	e = (struct engine_exception){0};
}

static void arm(void)
{
	regs.rax = ON_LINE;
	regs.rcx = 0;
	ck_assert_int_eq(RUN(MONITOR, &e), CORE_DONE_RETIRED);
	ck_assert(v.wait.flags & CORE_WAIT_ARMED);
	ck_assert_uint_eq(v.wait.line, LINE);
}

static void mwait(uint32_t hints, uint32_t ext)
{
	regs.rax = hints;
	regs.rcx = ext;
	ck_assert_int_eq(RUN(MWAIT, &e), CORE_DONE_RETIRED);
	ck_assert(!(v.wait.flags & CORE_WAIT_ARMED));
}

/* Hints and the state that they come to; C0 is no sleep. */
static const struct {
	uint32_t hints;
	bool sleeps;
	uint8_t state;
} resolved[] = {
	{0x00, true, 0x00}, {0x01, true, 0x01}, {0x0f, true, 0x0f}, {0x10, true, 0x10},
	{0x1f, true, 0x1f}, {0x20, true, 0x20}, {0x21, true, 0x20}, {0x60, true, 0x20},
	{0xef, true, 0x20}, {0xf0, false, 0},	{0xff, false, 0},   {0x12345620, true, 0x20},
};

START_TEST(resolves)
{
	arm();
	mwait(resolved[_i].hints, 0);
	ck_assert_int_eq(!!(v.pending & CORE_VCPU_HALTED), resolved[_i].sleeps);
	if (!(v.pending & CORE_VCPU_HALTED))
		return;
	ck_assert_uint_eq(v.wait.cstate, resolved[_i].state);
	ck_assert_uint_eq(v.wait.hints, (uint8_t)resolved[_i].hints);
	ck_assert(v.wait.flags & CORE_WAIT_INSTRUCTION && !(v.wait.flags & CORE_WAIT_TIMED) &&
		  !(v.wait.flags & CORE_WAIT_ANY_IRQ));
}
END_TEST

/* A store to the line, not one beside it; and each MONITOR serves one MWAIT. */
START_TEST(stores)
{
	unsigned int i;

	for (i = 0; i < 64; i++) {
		arm();
		put_bytes(LINE + i, "\xff", 1);
		mwait(0, 0);
		ck_assert(!(v.pending & CORE_VCPU_HALTED));
		put_bytes(LINE + i, "\0", 1);
	}
	arm();
	put64(LINE - 8, ~0ull);
	put64(LINE + 64, ~0ull);
	mwait(0, 0);
	ck_assert(v.pending & CORE_VCPU_HALTED);
	core_wait_end(&v, VPT_WAKE_INTERRUPT);
	ck_assert(!(v.pending & CORE_VCPU_HALTED));
	mwait(0, 0);
	ck_assert(!(v.pending & CORE_VCPU_HALTED));
}
END_TEST

static void check_fault(const char *code, size_t len, uint8_t vector)
{
	uint64_t rip = regs.rip;

	ck_assert_int_eq(run(code, len, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, vector);
	ck_assert_uint_eq(regs.rip, rip);
	ck_assert(!(v.pending & CORE_VCPU_HALTED) && !(v.wait.flags & CORE_WAIT_ARMED));
}

#define FAULTS(code, vector) check_fault(code, sizeof(code) - 1, vector)

START_TEST(faults)
{
	regs.rax = ON_LINE;
	regs.rcx = 1;
	FAULTS(MONITOR, X86_VEC_GP);
	regs.rcx = 2;
	FAULTS(MWAIT, X86_VEC_GP);
	FAULTS(UMWAIT_CX, X86_VEC_GP);
	FAULTS(TPAUSE_CX, X86_VEC_GP);
	regs.rcx = 0;
	regs.rax = 1ull << 47;
	FAULTS(MONITOR, X86_VEC_GP);
	FAULTS(UMONITOR_AX, X86_VEC_GP);
	/* Not mapped. */
	regs.rax = 1ull << 40;
	FAULTS(MONITOR, X86_VEC_PF);
	ck_assert_uint_eq(e.cr2, 1ull << 40);
}
END_TEST

START_TEST(rings)
{
	flat_ring(3);
	regs.rax = ON_LINE;
	FAULTS(MONITOR, X86_VEC_UD);
	FAULTS(MWAIT, X86_VEC_UD);
	ck_assert_int_eq(RUN(UMONITOR_AX, &e), CORE_DONE_RETIRED);
	ck_assert(v.wait.flags & CORE_WAIT_ARMED);
	v.wait.flags &= ~CORE_WAIT_ARMED;
	ck_assert_int_eq(RUN(TPAUSE_CX, &e), CORE_DONE_RETIRED);
	v.pending &= ~CORE_VCPU_HALTED;
	v.s.cr4 |= 1 << 2; /* TSD */
	FAULTS(TPAUSE_CX, X86_VEC_GP);
	FAULTS(UMWAIT_CX, X86_VEC_GP);
	flat_ring(0);
	v.s.cr4 |= 1 << 2;
	ck_assert_int_eq(RUN(TPAUSE_CX, &e), CORE_DONE_RETIRED);
}
END_TEST

START_TEST(not_there)
{
	vm.cpuid_count = 0;
	FAULTS(MONITOR, X86_VEC_UD);
	FAULTS(MWAIT, X86_VEC_UD);
	FAULTS(UMONITOR_AX, X86_VEC_UD);
	FAULTS(UMWAIT_CX, X86_VEC_UD);
	FAULTS(TPAUSE_CX, X86_VEC_UD);
}
END_TEST

/* A segment's base counts; outside of 64-bit mode its limit too. */
START_TEST(segments)
{
	regs.rcx = 0;
	regs.rax = 0x40;
	v.s.fs.base = LINE;
	ck_assert_int_eq(RUN(MONITOR_FS, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(v.wait.line, LINE + 0x40);
	still_destroy();
	flat_protect();
	has(1, 1 << 3);
	regs.rax = 0x40;
	v.s.ds.base = LINE;
	v.s.ds.limit = 0x40;
	ck_assert_int_eq(RUN(MONITOR, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(v.wait.line, LINE + 0x40);
	v.wait.flags &= ~CORE_WAIT_ARMED;
	regs.rax = 0x41;
	FAULTS(MONITOR, X86_VEC_GP);
}
END_TEST

static void tpause(uint32_t state, uint64_t deadline)
{
	regs.rcx = state;
	regs.rax = (uint32_t)deadline;
	regs.rdx = deadline >> 32;
	regs.rflags |= ARITHMETIC;
	ck_assert_int_eq(RUN(TPAUSE_CX, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rflags & ARITHMETIC, 0);
}

START_TEST(deadlines)
{
	v.ev->retired = 1000;
	tpause(0, 1000);
	ck_assert(!(v.pending & CORE_VCPU_HALTED));
	tpause(0, 999);
	ck_assert(!(v.pending & CORE_VCPU_HALTED));
	tpause(0, 1001);
	ck_assert(v.pending & CORE_VCPU_HALTED);
	ck_assert_uint_eq(v.wait.cstate, 0xf2);
	ck_assert_uint_eq(v.wait.ext, 0);
	ck_assert(core_wait_ends(&v));
	ck_assert(!(v.pending & CORE_VCPU_HALTED));
	ck_assert_uint_eq(engine_time_read(&v.ev->time, 1000), 1001);
	tpause(1, 1ull << 40);
	ck_assert_uint_eq(v.wait.cstate, 0xf1);
	ck_assert_uint_eq(v.wait.ext, 1);
	ck_assert(core_wait_ends(&v));
	ck_assert_uint_eq(engine_time_read(&v.ev->time, 1000), 1ull << 40);
	ck_assert_uint_eq(regs.rflags & X86_FL_CF, 0);
}
END_TEST

/* The timer of abi/boot.h is due first, or just not. */
START_TEST(interrupts_first)
{
	unsigned int after;

	for (after = 9; after <= 12; after++) {
		v.pending &= ~CORE_VCPU_HALTED;
		v.ev->retired += 100;
		core_irq_set_timer(&v, 0x40u << 24 | 10);
		regs.rflags &= ~(uint64_t)X86_FL_IF;
		tpause(0, engine_time_read(&v.ev->time, v.ev->retired) + after);
		ck_assert(v.pending & CORE_VCPU_HALTED);
		/* Due after 11 instructions, which would be 11 ticks. */
		ck_assert_int_eq(core_wait_ends(&v), after <= 11);
		ck_assert_int_eq(!!(v.pending & CORE_VCPU_HALTED), after > 11);
		if (!(v.pending & CORE_VCPU_HALTED))
			continue;
		core_irq_skip_to_next(&v);
		ck_assert(core_irq_pending(&v));
		ck_assert(!core_irq_deliver(&v));
		ck_assert(core_wait_ends(&v));
		ck_assert(!(v.pending & CORE_VCPU_HALTED));
		v.irq.pending &= ~CORE_IRQ_TIMER_DUE;
	}
}
END_TEST

/* IA32_UMWAIT_CONTROL: a limit that CF tells of, and no C0.2. */
START_TEST(limits)
{
	still.umwait_control = 400;
	tpause(0, 1000);
	ck_assert_uint_eq(v.wait.deadline, 400);
	ck_assert(core_wait_ends(&v));
	ck_assert_uint_eq(regs.rflags & ARITHMETIC, X86_FL_CF);
	tpause(0, 800);
	ck_assert(!(v.wait.flags & CORE_WAIT_OS_LIMIT));
	ck_assert(core_wait_ends(&v));
	ck_assert_uint_eq(regs.rflags & ARITHMETIC, 0);
	tpause(0, 5000);
	core_wait_end(&v, VPT_WAKE_INTERRUPT);
	ck_assert_uint_eq(regs.rflags & ARITHMETIC, 0);
	still.umwait_control = 1;
	tpause(0, 5000);
	ck_assert_uint_eq(v.wait.cstate, 0xf1);
}
END_TEST

/* UMWAIT waits for the line that UMONITOR or MONITOR gave, else not at all. */
START_TEST(umwait)
{
	regs.rax = 5000;
	regs.rcx = regs.rdx = 0;
	ck_assert_int_eq(RUN(UMWAIT_CX, &e), CORE_DONE_RETIRED);
	ck_assert(!(v.pending & CORE_VCPU_HALTED));
	regs.rax = ON_LINE;
	ck_assert_int_eq(RUN(UMONITOR_AX, &e), CORE_DONE_RETIRED);
	regs.rax = 5000;
	ck_assert_int_eq(RUN(UMWAIT_CX, &e), CORE_DONE_RETIRED);
	ck_assert(v.pending & CORE_VCPU_HALTED && v.wait.flags & CORE_WAIT_TIMED &&
		  v.wait.flags & CORE_WAIT_ANY_IRQ);
}
END_TEST

/* What IF holds back ends an MWAIT that asks for it, and no other, nor a HLT. */
START_TEST(masked_interrupts)
{
	regs.rflags &= ~(uint64_t)X86_FL_IF;
	v.irq.pending |= CORE_IRQ_TIMER_DUE;
	arm();
	mwait(0, 0);
	ck_assert(v.pending & CORE_VCPU_HALTED && !core_wait_ends(&v));
	v.pending &= ~CORE_VCPU_HALTED;
	ck_assert_int_eq(RUN("\xf4", &e), CORE_DONE_RETIRED);
	ck_assert(v.pending & CORE_VCPU_HALTED && !core_wait_ends(&v));
	v.pending &= ~CORE_VCPU_HALTED;
	arm();
	mwait(0, 1);
	ck_assert(v.pending & CORE_VCPU_HALTED && core_wait_ends(&v));
	ck_assert(!(v.pending & CORE_VCPU_HALTED) && v.irq.pending & CORE_IRQ_TIMER_DUE);
}
END_TEST

START_TEST(saved)
{
	struct core_wait_state state, again;
	struct core_wait before;
	unsigned int bit;

	arm();
	regs.rcx = 0;
	v.wait.flags |= CORE_WAIT_TOLD;
	tpause(0, 777);
	v.wait.flags |= CORE_WAIT_ARMED;
	before = v.wait;
	memset(&state, 0xa5, sizeof(state));
	core_wait_save(&v, &state);
	memset(&v.wait, 0, sizeof(v.wait));
	ck_assert(core_wait_load(&v, &state));
	ck_assert_uint_eq(v.wait.deadline, before.deadline);
	ck_assert_uint_eq(v.wait.line, before.line);
	ck_assert_mem_eq(v.wait.copy, before.copy, sizeof(before.copy));
	ck_assert_uint_eq(v.wait.cstate, before.cstate);
	core_wait_save(&v, &again);
	ck_assert_mem_eq(&state, &again, sizeof(state));
	for (bit = 0; bit < 8; bit++) {
		state.flags = (uint8_t)(1u << bit);
		ck_assert_int_eq(core_wait_load(&v, &state), (CORE_WAIT_FLAGS >> bit & 1) != 0);
	}
	state.flags = 0;
	state.line++;
	ck_assert(!core_wait_load(&v, &state));
	state.line--;
	state.reserved = 1;
	ck_assert(!core_wait_load(&v, &state));
}
END_TEST

/* The engine does it here, so that only the operand is looked at. */
static const struct {
	const char *name, *code;
	unsigned int len;
	uint64_t value;
} operands[] = {
	{"ecx", "\xf3\x0f\xae\xe1", 4, 0x99aabbcc},
	{"rcx", "\xf3\x48\x0f\xae\xe1", 5, 0x1122334499aabbcc},
	{"r9d", "\xf3\x41\x0f\xae\xe1", 5, 0x77},
	{"[rsi]", "\xf3\x0f\xae\x26", 4, 0xcafef00d},
	{"qword [rsi + 4]", "\xf3\x48\x0f\xae\x66\x04", 6, 0xdeadbeef01234567},
	{"fs:[rsi]", "\x64\xf3\x0f\xae\x26", 5, 0x5555},
	{"[rip + 0x100]", "\xf3\x0f\xae\x25\x00\x01\x00\x00", 8, 0x4444},
	{"[esi + 2 * ecx]", "\x67\xf3\x0f\xae\x24\x4e", 6, 0x3333},
};

START_TEST(ptwrite_operands)
{
	regs.rcx = 0x1122334499aabbcc;
	regs.r9 = 0x77;
	regs.rsi = 0x60000;
	put32(0x60000, 0xcafef00d);
	put64(0x60004, 0xdeadbeef01234567);
	v.s.fs.base = 0x1000;
	put32(0x61000, 0x5555);
	put32(CODE + 8 + 0x100, 0x4444);
	if (!strcmp(operands[_i].name, "[esi + 2 * ecx]")) {
		regs.rcx = 0xabcd00000100;
		put32(0x60200, 0x3333);
	}
	ck_assert_int_eq(run(operands[_i].code, operands[_i].len, &e), CORE_DONE_NATIVE);
	ck_assert_msg(v.ptwrite == operands[_i].value, "%s: %#llx", operands[_i].name,
		      (unsigned long long)v.ptwrite);
}
END_TEST

/* On an engine without ENGINE_NEAR the core does all of it. */
START_TEST(ptwrite_faults)
{
	static struct engine other;

	other = *v.engine;
	other.can = 0;
	v.engine = &other;
	regs.rcx = 5;
	regs.rsi = 0x60000;
	ck_assert_int_eq(RUN(PTWRITE_CX, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, CODE + 4);
	regs.rsi = 1ull << 40;
	FAULTS("\xf3\x0f\xae\x26", X86_VEC_PF);
	regs.rsi = 1ull << 47;
	FAULTS("\xf3\x0f\xae\x26", X86_VEC_GP);
	FAULTS("\x66\xf3\x0f\xae\xe1", X86_VEC_UD);
	FAULTS("\xf3\x66\x48\x0f\xae\xe1", X86_VEC_UD);
	vm.caps.l14_0_ebx = 0;
	FAULTS(PTWRITE_CX, X86_VEC_UD);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("wait");
	TCase *tcase = tcase_create("waiting");

	tcase_add_checked_fixture(tcase, setup, still_destroy);
	tcase_add_loop_test(tcase, resolves, 0, ROWS(resolved));
	tcase_add_test(tcase, stores);
	tcase_add_test(tcase, faults);
	tcase_add_test(tcase, rings);
	tcase_add_test(tcase, not_there);
	tcase_add_test(tcase, segments);
	tcase_add_test(tcase, deadlines);
	tcase_add_test(tcase, interrupts_first);
	tcase_add_test(tcase, limits);
	tcase_add_test(tcase, umwait);
	tcase_add_test(tcase, masked_interrupts);
	tcase_add_test(tcase, saved);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("ptwrite");
	tcase_add_checked_fixture(tcase, setup, still_destroy);
	tcase_add_loop_test(tcase, ptwrite_operands, 0, ROWS(operands));
	tcase_add_test(tcase, ptwrite_faults);
	suite_add_tcase(suite, tcase);
	return suite;
}
