// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One instruction and the debug exceptions around it, on an engine in software:
 * TF, breakpoints in DR0 to DR3, DR7.GD, RF, and the loads of SS that delay them.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/flat.h"
#include "core/debug.h"
#include "core/emulate.h"
#include "core/exec.h"
#include "core/fault.h"

#define FLAGS	 (X86_FL_FIXED | X86_FL_IF | X86_FL_ZF)
#define DR6_NONE 0xffff0ff0ull
#define GD	 (1ull << 13)

enum { INTERRUPT = 0x8e };

static uint64_t dr6; /* what the step hits */
static int64_t len;
static unsigned int iterations;

/* Stands for what an engine does with `len` bytes of plain code. */
static void plain_step(struct engine_exit *exit)
{
	regs.rip += (uint64_t)len;
	if (!dr6)
		return;
	exit->kind = ENGINE_EXIT_DEBUG;
	exit->debug.dr6 = dr6;
}

static void repeat_step(struct engine_exit *exit)
{
	(void)exit;
	if (!--regs.rcx)
		regs.rip += (uint64_t)len;
	iterations++;
}

static void faulting_step(struct engine_exit *exit)
{
	exit->kind = ENGINE_EXIT_FAULT;
	exit->fault = core_fault_code(X86_VEC_GP, 0);
}

static void code(const char *bytes, unsigned int count)
{
	put_bytes(CODE, bytes, count);
	len = count;
}

static void setup(void)
{
	unsigned int i;

	flat_protect();
	for (i = 0; i < 32; i++)
		set_gate((uint8_t)i, KCODE, HANDLER + 16 * i, INTERRUPT);
	still.step = plain_step;
	still.dr[6] = DR6_NONE;
	still.dr[7] = 0x400;
	dr6 = 0;
	iterations = 0;
	code("\x90", 1);
}

static void check_debug(uint64_t rip, uint64_t flags, uint64_t causes)
{
	ck_assert_uint_eq(regs.rip, HANDLER + 16 * X86_VEC_DB);
	ck_assert_uint_eq(get32(regs.rsp), rip);
	ck_assert_uint_eq(get32(regs.rsp + 8), flags);
	ck_assert_uint_eq(still.dr[6], DR6_NONE | causes);
}

START_TEST(nothing_to_trap)
{
	ck_assert(!core_debug_armed(&v));
	core_exec_one(&v);
	ck_assert_uint_eq(regs.rip, CODE + 1);
	ck_assert_uint_eq(still.dr[6], DR6_NONE);
}
END_TEST

START_TEST(trap_flag)
{
	regs.rflags |= X86_FL_TF;
	ck_assert(core_debug_armed(&v));
	still.dr[6] |= 3; /* of an earlier breakpoint */
	core_exec_one(&v);
	check_debug(CODE + 1, FLAGS | X86_FL_TF, X86_DR6_BS);
}
END_TEST

/* What the core does itself, with TF set: is there a trap, and where? */
static const struct {
	const char *name, *code;
	unsigned int len;
	uint64_t rip; /* 0: none */
} emulated[] = {
	{"jmp far", "\xea\x34\x12\x00\x00\x08\x00", 7, 0x1234},
	{"into", "\xce", 1, CODE + 1},
	{"int", "\xcd\x10", 2, 0},
	{"int1", "\xf1", 1, 0},
	{"sysenter", "\x0f\x34", 2, 0x4321},
	{"hlt", "\xf4", 1, CODE + 1},
};

START_TEST(trap_flag_and_the_core)
{
	still.sysenter_cs = KCODE;
	still.sysenter_eip = 0x4321;
	still.sysenter_esp = STACK;
	regs.rflags |= X86_FL_TF;
	code(emulated[_i].code, emulated[_i].len);
	core_exec_one(&v);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_NONE);
	ck_assert(!(v.pending & CORE_VCPU_HALTED));
	ck_assert_uint_eq(v.ev->retired, 1);
	if (!emulated[_i].rip) {
		ck_assert_msg(still.dr[6] == DR6_NONE, "%s", emulated[_i].name);
		return;
	}
	ck_assert_msg(still.dr[6] == (DR6_NONE | X86_DR6_BS), "%s", emulated[_i].name);
	ck_assert_uint_eq(regs.rip, HANDLER + 16 * X86_VEC_DB);
	ck_assert_uint_eq(get32(regs.rsp), emulated[_i].rip);
}
END_TEST

START_TEST(trap_after_a_fault)
{
	regs.rflags |= X86_FL_TF;
	still.step = faulting_step;
	core_exec_one(&v);
	/* There is none: nothing retired. */
	ck_assert_uint_eq(regs.rip, HANDLER + 16 * X86_VEC_GP);
	ck_assert_uint_eq(still.dr[6], DR6_NONE);
	ck_assert_uint_eq(get32(regs.rsp + 12), FLAGS | X86_FL_TF | X86_FL_RF);
}
END_TEST

START_TEST(breakpoint_on_data)
{
	dr6 = 4;
	core_exec_one(&v);
	check_debug(CODE + 1, FLAGS, 4);
}
END_TEST

START_TEST(both_at_once)
{
	dr6 = 4;
	regs.rflags |= X86_FL_TF;
	core_exec_one(&v);
	check_debug(CODE + 1, FLAGS | X86_FL_TF, X86_DR6_BS | 4);
}
END_TEST

/* Breakpoints on execution: DR7, whether it hits at CODE, DR6. */
static const struct {
	uint64_t dr7, at[4];
	bool armed;
	uint64_t causes;
} execution[] = {
	{0x400, {CODE}, false, 0},	   {0x401, {CODE}, true, 1}, /* local */
	{0x402, {CODE}, true, 1},				     /* global */
	{0x401, {CODE + 1}, true, 0},	   {0x4aa, {CODE, CODE + 1, CODE, CODE}, true, 13},
	{0x00010402, {CODE}, false, 0},	   /* writes */
	{0x00040402, {CODE}, false, 0},	   /* LEN is not that of an instruction */
	{0x00100408, {0, CODE}, false, 0}, /* writes, DR1 */
	{0x00010408, {0, CODE}, true, 2},
};

START_TEST(breakpoint_on_execution)
{
	memcpy(still.dr, execution[_i].at, sizeof(execution[_i].at));
	still.dr[7] = execution[_i].dr7;
	ck_assert(core_debug_armed(&v) == execution[_i].armed);
	core_exec_one(&v);
	if (execution[_i].causes)
		check_debug(CODE, FLAGS, execution[_i].causes);
	else
		ck_assert_uint_eq(regs.rip, CODE + 1);
}
END_TEST

START_TEST(breakpoint_is_linear)
{
	still.dr[0] = CODE + 0x100;
	still.dr[7] = 0x402;
	v.s.cs.base = 0x100;
	core_exec_one(&v);
	check_debug(CODE, FLAGS, 1);
}
END_TEST

/* RF: not this time, and only this time. */
START_TEST(resume_flag)
{
	still.dr[0] = CODE;
	still.dr[7] = 0x402;
	regs.rflags |= X86_FL_RF;
	ck_assert(core_debug_armed(&v));
	core_exec_one(&v);
	ck_assert_uint_eq(regs.rip, CODE + 1);
	ck_assert_uint_eq(regs.rflags, FLAGS);
	regs.rip = CODE;
	core_exec_one(&v);
	check_debug(CODE, FLAGS, 1);
}
END_TEST

START_TEST(guarded_debug_registers)
{
	code("\x0f\x21\xf0", 3); /* mov %dr6, %eax */
	still.dr[7] = 0x400 | GD;
	ck_assert(core_debug_armed(&v));
	core_exec_one(&v);
	check_debug(CODE, FLAGS | X86_FL_RF, X86_DR6_BD);
	ck_assert_uint_eq(still.dr[7], 0x400);
	/* #GP comes first where the ring may not look. */
	still.dr[7] |= GD;
	still.step = faulting_step;
	flat_ring(3);
	regs.rip = CODE;
	put32(TSS + 4, STACK0);
	core_exec_one(&v);
	ck_assert_uint_eq(regs.rip, HANDLER + 16 * X86_VEC_GP);
}
END_TEST

/* MOV SS holds a trap and a breakpoint back until one more instruction is done. */
START_TEST(load_of_ss)
{
	put_bytes(CODE, "\x8e\xd0\x90\x90", 4); /* mov %eax, %ss; nop; nop */
	len = 2;
	dr6 = 2;
	regs.rflags |= X86_FL_TF;
	still.dr[0] = CODE + 2;
	still.dr[7] = 0x402;
	core_exec_one(&v);
	ck_assert_uint_eq(regs.rip, CODE + 2);
	ck_assert(v.shadowed & CORE_VCPU_SHADOW);
	ck_assert(core_debug_armed(&v));
	len = 1;
	dr6 = 0;
	core_exec_one(&v);
	check_debug(CODE + 3, FLAGS | X86_FL_TF, X86_DR6_BS | 2);
}
END_TEST

START_TEST(each_iteration_traps)
{
	code("\xf3\xa4", 2); /* rep movsb */
	still.step = repeat_step;
	regs.rcx = 2;
	regs.rflags |= X86_FL_TF;
	core_exec_one(&v);
	check_debug(CODE, FLAGS | X86_FL_TF | X86_FL_RF, X86_DR6_BS);
	ck_assert_uint_eq(iterations, 1);
	regs.rip = CODE;
	regs.rflags = FLAGS | X86_FL_TF;
	core_exec_one(&v);
	check_debug(CODE + 2, FLAGS | X86_FL_TF, X86_DR6_BS);
}
END_TEST

START_TEST(iterations_without_traps)
{
	code("\xf3\xa4", 2);
	still.step = repeat_step;
	regs.rcx = 5;
	core_exec_one(&v);
	ck_assert_uint_eq(iterations, 5);
	ck_assert_uint_eq(regs.rip, CODE + 2);
}
END_TEST

/* ENGINE_DEBUG. */
static const struct {
	const char *code;
	size_t len;
} natives[] = {
	{"\x9c", 1},	 {"\x9d", 1},	  {"\x0f\x01\x0f", 3}, {"\x74\x10", 2},
	{"\xeb\x10", 2}, {"\xe2\x10", 2}, {"\x0f\xa2", 2},
};

START_TEST(left_to_the_engine)
{
	struct x86_regs before = regs;
	struct engine_exception e;

	ck_assert_int_eq(run(natives[_i].code, natives[_i].len, &e), CORE_DONE_NATIVE);
	ck_assert_mem_eq(&before, &regs, sizeof(regs));
}
END_TEST

/* A near branch of 16 bits cannot leave the first 64 KiB. */
START_TEST(target_of_16_bits)
{
	code("\x66\xeb\x10", 3);
	len = ((CODE + 0x13) & 0xffff) - CODE;
	core_exec_one(&v);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_NONE);
	ck_assert_uint_eq(regs.rip, (CODE + 0x13) & 0xffff);
	regs.rip = CODE;
	len = 0x13;
	core_exec_one(&v);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_UNEXPLAINED);
}
END_TEST

START_TEST(a_task_switch_stops)
{
	put64(GDT + SPARE, 0x0000e50000000000ull);
	code("\xea\x00\x00\x00\x00\x88\x00", 7);
	core_exec_one(&v);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_UNABLE);
	ck_assert_uint_eq(regs.rip, CODE);
}
END_TEST

START_TEST(triple_fault)
{
	v.s.idt.limit = 0;
	still.step = faulting_step;
	core_exec_one(&v);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_TRIPLE_FAULT);
}
END_TEST

TEST_SUITE("exec", setup, still_destroy)
{
	TEST_ADD(tcase, nothing_to_trap, trap_flag);
	TEST_ROWS(tcase, trap_flag_and_the_core, emulated);
	TEST_ADD(tcase, trap_after_a_fault, breakpoint_on_data, both_at_once);
	TEST_ROWS(tcase, breakpoint_on_execution, execution);
	TEST_ADD(tcase, breakpoint_is_linear, resume_flag, guarded_debug_registers, load_of_ss,
		 each_iteration_traps, iterations_without_traps);
	TEST_ROWS(tcase, left_to_the_engine, natives);
	TEST_ADD(tcase, target_of_16_bits, a_task_switch_stops, triple_fault);
}
