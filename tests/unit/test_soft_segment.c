// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Segment registers of the software CPU: loads with their checks, and the results of LAR, LSL, VERR
 * and VERW.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/beside.h"

/* Selectors of this file. */
enum selector {
	RO_DATA = BESIDE_FREE,
	EXPAND_DOWN = BESIDE_FREE + 0x08,
	GONE = BESIDE_FREE + 0x10,
	FRESH = BESIDE_FREE + 0x18, /* not accessed yet; base 0x12345678 */
	EXECUTE_ONLY = BESIDE_FREE + 0x20,
	CONFORMING = BESIDE_FREE + 0x28,
	CALL_GATE = BESIDE_FREE + 0x30,
	TSS = BESIDE_FREE + 0x38, /* 16 bytes */
	LDT = BESIDE_FREE + 0x48, /* 16 bytes */
	DATA_DPL1 = BESIDE_FREE + 0x58,
	TSS16 = BESIDE_FREE + 0x60,
	GONE_TSS = BESIDE_FREE + 0x68, /* 16 bytes */
	BEYOND = BESIDE_GDT_BYTES,
};

static void create(void)
{
	beside_create();
	beside_put64(BESIDE_GDT + RO_DATA, 0x00cf91000000ffff);
	beside_put64(BESIDE_GDT + EXPAND_DOWN, 0x00cf97000000ffff);
	beside_put64(BESIDE_GDT + GONE, 0x00cf13000000ffff);
	beside_put64(BESIDE_GDT + FRESH, 0x1240923456780fff);
	beside_put64(BESIDE_GDT + EXECUTE_ONLY, 0x00cf99000000ffff);
	beside_put64(BESIDE_GDT + CONFORMING, 0x00cf9f000000ffff);
	beside_put64(BESIDE_GDT + CALL_GATE, 0x00008c0000080000);
	beside_put64(BESIDE_GDT + TSS, 0x0000890060000067);
	beside_put64(BESIDE_GDT + TSS + 8, 0xffff8000);
	beside_put64(BESIDE_GDT + LDT, 0x000082005000000f);
	beside_put64(BESIDE_GDT + LDT + 8, 0);
	beside_put64(BESIDE_GDT + DATA_DPL1, 0x00cfb3000000ffff);
	beside_put64(BESIDE_GDT + TSS16, 0x000081006000002b);
	beside_put64(BESIDE_GDT + GONE_TSS, 0x0000090060000067);
	beside_put64(BESIDE_GDT + GONE_TSS + 8, 0);
	beside_put64(BESIDE_LDT + 8, 0x00cff30000000010);
}

static struct x86_regs *regs(void)
{
	return beside_vcpu->regs;
}

static void set_regs(uint64_t rax)
{
	*regs() = (struct x86_regs){.rax = rax,
				    .rbx = 0x2222bbbb2222bbbb,
				    .rsi = BESIDE_DATA,
				    .rsp = BESIDE_STACK,
				    .rflags = X86_FL_FIXED | X86_FL_CF};
}

/* MOV to a segment register from AX, in 64-bit or 32-bit code. */
struct load {
	const char *text, *code;
	unsigned int bits, cpl;
	uint16_t selector;
	int vector; /* -1: it works */
	uint32_t error;
};

#define TO_DS "\x8e\xd8"
#define TO_ES "\x8e\xc0"
#define TO_SS "\x8e\xd0"
#define TO_FS "\x8e\xe0"
#define OK    (-1)

static const struct load loads[] = {
	{"data into DS", TO_DS, 64, 0, BESIDE_DATA0, OK, 0},
	{"null into DS", TO_DS, 64, 0, 0, OK, 0},
	{"null with RPL into FS", TO_FS, 64, 3, 3, OK, 0},
	{"read-only data into ES", TO_ES, 32, 0, RO_DATA, OK, 0},
	{"readable code into DS", TO_DS, 32, 0, BESIDE_CODE32, OK, 0},
	{"execute-only code", TO_DS, 32, 0, EXECUTE_ONLY, X86_VEC_GP, EXECUTE_ONLY},
	{"a gate", TO_DS, 64, 0, CALL_GATE, X86_VEC_GP, CALL_GATE},
	{"beyond the GDT", TO_DS, 64, 0, BEYOND, X86_VEC_GP, BEYOND},
	{"no LDT", TO_DS, 64, 0, 0xc, X86_VEC_GP, 0xc},
	{"not present", TO_DS, 64, 0, GONE, X86_VEC_NP, GONE},
	{"data of CPL 0 for CPL 3", TO_DS, 64, 3, BESIDE_DATA0 | 3, X86_VEC_GP, BESIDE_DATA0},
	{"RPL 3 for data of DPL 0", TO_ES, 64, 0, BESIDE_DATA0 | 3, X86_VEC_GP, BESIDE_DATA0},
	{"RPL 1 for data of DPL 1", TO_ES, 64, 0, DATA_DPL1 | 1, OK, 0},
	{"conforming code for CPL 3", TO_DS, 32, 3, CONFORMING | 3, OK, 0},
	{"data into SS", TO_SS, 64, 0, BESIDE_DATA0, OK, 0},
	{"null into SS, 64 bits", TO_SS, 64, 0, 0, OK, 0},
	{"null into SS, 32 bits", TO_SS, 32, 0, 0, X86_VEC_GP, 0},
	{"null into SS, CPL 3", TO_SS, 64, 3, 3, X86_VEC_GP, 0},
	{"null into SS, another RPL", TO_SS, 64, 0, 1, X86_VEC_GP, 0},
	{"read-only data into SS", TO_SS, 32, 0, RO_DATA, X86_VEC_GP, RO_DATA},
	{"code into SS", TO_SS, 32, 0, BESIDE_CODE32, X86_VEC_GP, BESIDE_CODE32},
	{"another DPL into SS", TO_SS, 64, 0, DATA_DPL1, X86_VEC_GP, DATA_DPL1},
	{"another RPL into SS", TO_SS, 64, 0, BESIDE_DATA0 | 1, X86_VEC_GP, BESIDE_DATA0},
	{"not present, into SS", TO_SS, 64, 0, GONE, X86_VEC_SS, GONE},
	{"SS of CPL 3", TO_SS, 64, 3, BESIDE_DATA3, OK, 0},
};

static const struct x86_segment *loaded(const struct x86_sregs *s, const char *code)
{
	switch (code[1] >> 3 & 7) {
	case 0:
		return &s->es;
	case 2:
		return &s->ss;
	case 4:
		return &s->fs;
	default:
		return &s->ds;
	}
}

START_TEST(loads_one)
{
	const struct load *l = &loads[_i];
	struct x86_sregs before, after;
	struct engine_exit exit;

	beside_mode(l->bits, l->cpl);
	before = beside_sregs();
	set_regs(0xffff0000 | l->selector);
	exit = beside_step(l->code, 2);
	after = beside_sregs();
	if (l->vector == OK) {
		ck_assert_msg(exit.kind == ENGINE_EXIT_NONE, "%s: exit %d", l->text, exit.kind);
		ck_assert_uint_eq(loaded(&after, l->code)->selector, l->selector);
		ck_assert_int_eq(!!(loaded(&after, l->code)->ar & X86_AR_UNUSABLE),
				 l->selector < 4);
		ck_assert_uint_eq(regs()->rip, BESIDE_CODE + 2);
		return;
	}
	ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT, "%s: exit %d", l->text, exit.kind);
	ck_assert_msg(exit.fault.vector == l->vector && exit.fault.error == l->error &&
			      exit.fault.has_error,
		      "%s: vector %u, error %#x", l->text, exit.fault.vector, exit.fault.error);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE);
}
END_TEST

static void check_step(const char *code, size_t len)
{
	struct engine_exit exit = beside_step(code, len);

	ck_assert_msg(exit.kind == ENGINE_EXIT_NONE, "exit %d, vector %u, error %#x", exit.kind,
		      exit.fault.vector, exit.fault.error);
}
#define STEP(code) check_step(code, sizeof(code) - 1)

static void check_fault(const char *code, size_t len, uint8_t vector, uint32_t error)
{
	struct engine_exit exit = beside_step(code, len);

	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, vector);
	ck_assert_uint_eq(exit.fault.error, error);
}
#define FAULTS(code, vector, error) check_fault(code, sizeof(code) - 1, vector, error)

/* A load sets all fields of the segment register, and the accessed bit in the descriptor table. */
START_TEST(descriptor)
{
	struct x86_sregs s;

	set_regs(FRESH);
	STEP(TO_FS);
	s = beside_sregs();
	ck_assert_uint_eq(s.fs.base, 0x12345678);
	ck_assert_uint_eq(s.fs.limit, 0xfff);
	ck_assert_uint_eq(s.fs.ar & X86_AR_TYPE, 3);
	ck_assert_uint_eq(beside_get64(BESIDE_GDT + FRESH), 0x1240933456780fff);
	/* A null selector clears the base. */
	set_regs(0);
	STEP(TO_FS);
	ck_assert_uint_eq(beside_sregs().fs.base, 0);
	/* Load from the LDT. */
	set_regs(LDT);
	STEP("\x0f\x00\xd0");
	ck_assert_uint_eq(beside_sregs().ldt.base, BESIDE_LDT);
	ck_assert_uint_eq(beside_sregs().ldt.limit, 0xf);
	set_regs(0xc);
	STEP(TO_DS);
	ck_assert_uint_eq(beside_sregs().ds.limit, 0xf0010fff);
}
END_TEST

/* Loads at CPL 3 may read a descriptor table on a supervisor page. */
START_TEST(system_access)
{
	const struct engine_step_hint hint = {0};
	struct engine_exit exit;

	beside_put64(BESIDE_PD, 0x83);
	/* Code is also mapped as a user page. */
	beside_put64(BESIDE_PD + 8 * 2, 0x87);
	beside_mode(64, 3);
	beside_put(BESIDE_CODE, TO_DS, 2);
	*regs() = (struct x86_regs){
		.rax = BESIDE_DATA3, .rip = 0x400000 + BESIDE_CODE, .rflags = X86_FL_FIXED};
	beside_vcpu->state |= ENGINE_REGS_DIRTY;
	beside_engine->step(beside_vcpu, &hint, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
	ck_assert_uint_eq(beside_sregs().ds.selector, BESIDE_DATA3);
}
END_TEST

/* After a load of SS, one more instruction retires before an interrupt. */
START_TEST(shadow)
{
	struct engine_exit exit;

	set_regs(BESIDE_DATA0);
	regs()->rflags |= X86_FL_IF;
	beside_put(BESIDE_CODE, TO_SS "\x90\x90\xf4", 5);
	regs()->rip = BESIDE_CODE;
	beside_vcpu->budget = 1;
	beside_engine->run(beside_vcpu, false, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_KICK);
	ck_assert(beside_vcpu->state & ENGINE_SHADOW);
	beside_vcpu->budget = 100;
	beside_engine->run(beside_vcpu, true, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_IRQ_WINDOW);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE + 3);
}
END_TEST

START_TEST(pop_and_push)
{
	beside_mode(32, 0);
	set_regs(0);
	beside_put64(BESIDE_STACK, DATA_DPL1 | 0xabcd0000);
	STEP("\x07");
	ck_assert_uint_eq(beside_sregs().es.selector, DATA_DPL1);
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK + 4);
	/* A POP that faults does not change ESP. */
	set_regs(0);
	beside_put64(BESIDE_STACK, GONE);
	FAULTS("\x1f", X86_VEC_NP, GONE);
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK);
	/* POP SS reads from the old stack. */
	beside_put64(BESIDE_STACK, FRESH);
	STEP("\x66\x17");
	ck_assert_uint_eq(beside_sregs().ss.base, 0x12345678);
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK + 2);
	beside_mode(64, 0);
	set_regs(0);
	beside_put64(BESIDE_STACK, BESIDE_DATA0);
	STEP("\x0f\xa9");
	ck_assert_uint_eq(beside_sregs().gs.selector, BESIDE_DATA0);
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK + 8);
	STEP("\x0f\xa8");
	ck_assert_uint_eq(beside_get64(BESIDE_STACK), BESIDE_DATA0);
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK);
}
END_TEST

/* MOV from a segment register writes a whole register, but only 16 bits of memory. */
START_TEST(reads)
{
	set_regs(~0ull);
	STEP("\x66\x8c\xd8");
	ck_assert_uint_eq(regs()->rax, 0xffffffffffff0000 | BESIDE_DATA0);
	STEP("\x8c\xd8");
	ck_assert_uint_eq(regs()->rax, BESIDE_DATA0);
	regs()->rax = ~0ull;
	STEP("\x48\x8c\xc8");
	ck_assert_uint_eq(regs()->rax, BESIDE_CODE64);
	beside_put64(BESIDE_DATA, ~0ull);
	STEP("\x48\x8c\x0e");
	ck_assert_uint_eq(beside_get64(BESIDE_DATA), 0xffffffffffff0000 | BESIDE_CODE64);
	FAULTS("\x8e\xc8", X86_VEC_UD, 0);
}
END_TEST

START_TEST(far_pointers)
{
	beside_mode(32, 0);
	set_regs(~0ull);
	beside_put64(BESIDE_DATA, (uint64_t)DATA_DPL1 << 32 | 0x89abcdef);
	STEP("\xc4\x06"); /* les eax, [esi] */
	ck_assert_uint_eq(regs()->rax, 0x89abcdef);
	ck_assert_uint_eq(beside_sregs().es.selector, DATA_DPL1);
	beside_put64(BESIDE_DATA, (uint64_t)BESIDE_DATA0 << 16 | 0x4321);
	STEP("\x66\x0f\xb2\x1e"); /* lss bx, [esi] */
	ck_assert_uint_eq(regs()->rbx, 0x2222bbbb22224321);
	ck_assert_uint_eq(beside_sregs().ss.selector, BESIDE_DATA0);
	/* If the segment cannot be loaded, the general register does not change either. */
	beside_put64(BESIDE_DATA, (uint64_t)GONE << 32);
	FAULTS("\xc5\x06", X86_VEC_NP, GONE);
	ck_assert_uint_eq(regs()->rax, 0x89abcdef);
	beside_mode(64, 0);
	beside_put64(BESIDE_DATA, 0x1122334455667788);
	beside_put64(BESIDE_DATA + 8, BESIDE_DATA0);
	STEP("\x48\x0f\xb4\x06"); /* lfs rax, [rsi] */
	ck_assert_uint_eq(regs()->rax, 0x1122334455667788);
	ck_assert_uint_eq(beside_sregs().fs.selector, BESIDE_DATA0);
}
END_TEST

START_TEST(real_mode)
{
	beside_mode(16, 0);
	set_regs(0x1234);
	STEP(TO_ES);
	ck_assert_uint_eq(beside_sregs().es.base, 0x12340);
	ck_assert_uint_eq(beside_sregs().es.limit, 0xffff);
	ck_assert_uint_eq(beside_sregs().es.selector, 0x1234);
	/* None of these instructions exists in real mode. */
	FAULTS("\x0f\x02\xc0", X86_VEC_UD, 0);
	FAULTS("\x0f\x03\xc0", X86_VEC_UD, 0);
	FAULTS("\x0f\x00\xe0", X86_VEC_UD, 0);
	FAULTS("\x63\xc0", X86_VEC_UD, 0);
	FAULTS("\x0f\x00\xd0", X86_VEC_UD, 0);
	FAULTS("\x0f\x00\xc8", X86_VEC_UD, 0);
}
END_TEST

/* LAR and LSL ECX, EAX; VERR and VERW AX. -1 means that ZF is cleared and ECX is unchanged. */
struct question {
	const char *text;
	unsigned int bits, cpl;
	uint16_t selector;
	int64_t lar, lsl;
	bool verr, verw;
};

static const struct question questions[] = {
	{"null", 64, 0, 0, -1, -1, false, false},
	{"beyond", 64, 0, BEYOND, -1, -1, false, false},
	{"data", 64, 0, BESIDE_DATA0, 0xcf9300, 0xffffffff, true, true},
	{"read-only data", 64, 0, RO_DATA, 0xcf9100, 0xffffffff, true, false},
	{"code", 64, 0, BESIDE_CODE64, 0xaf9b00, 0xffffffff, true, false},
	{"execute-only code", 64, 0, EXECUTE_ONLY, 0xcf9900, 0xffffffff, false, false},
	{"conforming code from CPL 3", 64, 3, CONFORMING | 3, 0xcf9f00, 0xffffffff, true, false},
	{"data of DPL 0 from CPL 3", 64, 3, BESIDE_DATA0, -1, -1, false, false},
	{"data of DPL 0 with RPL 3", 64, 0, BESIDE_DATA0 | 3, -1, -1, false, false},
	{"data of CPL 3", 64, 3, BESIDE_DATA3, 0xcff300, 0xffffffff, true, true},
	{"not present", 64, 0, GONE, 0xcf1300, 0xffffffff, true, true},
	{"small", 64, 0, FRESH, 0x409200, 0xfff, true, true},
	{"TSS", 64, 0, TSS, 0x8900, 0x67, false, false},
	{"LDT", 64, 0, LDT, 0x8200, 0xf, false, false},
	{"call gate", 64, 0, CALL_GATE, 0x8c00, -1, false, false},
	{"16-bit TSS in long mode", 64, 0, TSS16, -1, -1, false, false},
};

static void ask(const char *code, const char *text, int64_t want)
{
	regs()->rcx = 0x5555555512345678;
	regs()->rflags ^= X86_FL_ZF;
	check_step(code, 3);
	ck_assert_msg(!(regs()->rflags & X86_FL_ZF) == (want < 0), "%s: ZF", text);
	ck_assert_msg(regs()->rcx == (want < 0 ? 0x5555555512345678 : (uint64_t)want), "%s: %#llx",
		      text, (unsigned long long)regs()->rcx);
}

START_TEST(rights)
{
	const struct question *q = &questions[_i];

	beside_mode(q->bits, q->cpl);
	set_regs(0xffff0000 | q->selector);
	ask("\x0f\x02\xc8", q->text, q->lar);
	ask("\x0f\x03\xc8", q->text, q->lsl);
	STEP("\x0f\x00\xe0");
	ck_assert_msg(!(regs()->rflags & X86_FL_ZF) == !q->verr, "%s: VERR", q->text);
	STEP("\x0f\x00\xe8");
	ck_assert_msg(!(regs()->rflags & X86_FL_ZF) == !q->verw, "%s: VERW", q->text);
	/* A 16-bit destination gets the low 16 bits. */
	regs()->rcx = 0x5555555512345678;
	STEP("\x66\x0f\x02\xc8");
	ck_assert_uint_eq(regs()->rcx,
			  q->lar < 0 ? 0x5555555512345678
				     : (0x5555555512340000 | ((uint64_t)q->lar & 0xffff)));
}
END_TEST

START_TEST(arpl)
{
	beside_mode(32, 0);
	set_regs(0x12340010);
	regs()->rcx = 3;
	STEP("\x63\xc8"); /* arpl ax, cx */
	ck_assert_uint_eq(regs()->rax, 0x12340013);
	ck_assert(regs()->rflags & X86_FL_ZF);
	STEP("\x63\xc8");
	ck_assert_uint_eq(regs()->rax, 0x12340013);
	ck_assert(!(regs()->rflags & X86_FL_ZF));
	beside_put64(BESIDE_DATA, 0xff21);
	STEP("\x63\x0e"); /* arpl [esi], cx */
	ck_assert_uint_eq(beside_get64(BESIDE_DATA), 0xff23);
}
END_TEST

START_TEST(task_register)
{
	struct x86_sregs s;

	set_regs(TSS);
	STEP("\x0f\x00\xd8");
	s = beside_sregs();
	ck_assert_uint_eq(s.tr.selector, TSS);
	ck_assert_uint_eq(s.tr.base, 0xffff800000006000);
	ck_assert_uint_eq(s.tr.limit, 0x67);
	ck_assert_uint_eq(s.tr.ar & X86_AR_TYPE, 11);
	ck_assert_uint_eq(beside_get64(BESIDE_GDT + TSS), 0x00008b0060000067);
	/* The TSS is now busy. */
	FAULTS("\x0f\x00\xd8", X86_VEC_GP, TSS);
	regs()->rax = 0;
	FAULTS("\x0f\x00\xd8", X86_VEC_GP, 0);
	regs()->rax = TSS16;
	FAULTS("\x0f\x00\xd8", X86_VEC_GP, TSS16);
	regs()->rax = GONE_TSS;
	FAULTS("\x0f\x00\xd8", X86_VEC_NP, GONE_TSS);
	regs()->rax = TSS | 4;
	FAULTS("\x0f\x00\xd8", X86_VEC_GP, TSS | 4);
	/* A base that is not canonical. */
	beside_put64(BESIDE_GDT + TSS, 0x0000890060000067);
	beside_put64(BESIDE_GDT + TSS + 8, 0x00008000);
	regs()->rax = TSS;
	FAULTS("\x0f\x00\xd8", X86_VEC_GP, TSS);
	STEP("\x0f\x00\xc8"); /* str eax */
	ck_assert_uint_eq(regs()->rax, TSS);
	beside_put64(BESIDE_DATA, ~0ull);
	STEP("\x0f\x00\x06"); /* sldt [rsi] */
	ck_assert_uint_eq(beside_get64(BESIDE_DATA), 0xffffffffffff0000);
	regs()->rax = BESIDE_DATA0;
	FAULTS("\x0f\x00\xd0", X86_VEC_GP, BESIDE_DATA0); /* lldt */
	regs()->rax = 0;
	STEP("\x0f\x00\xd0");
	ck_assert(beside_sregs().ldt.ar & X86_AR_UNUSABLE);
}
END_TEST

/* After a load of a 16-bit stack segment in 32-bit code, the next push uses SP. */
START_TEST(stack_size)
{
	struct engine_exit exit;

	beside_mode(32, 0);
	beside_put64(BESIDE_GDT + FRESH, 0x000093020000ffff); /* base 0x20000 */
	set_regs(FRESH);
	regs()->rsp = 0xaaaa0000;
	exit = beside_run(TO_SS "\x66\x50\xf4", 5, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_eq(regs()->rsp, 0xaaaafffe);
	ck_assert_uint_eq(beside_get64(0x2fffe) & 0xffff, FRESH);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("soft_segment");
	TCase *tc = tcase_create("segments");

	tcase_add_checked_fixture(tc, create, beside_destroy);
	tcase_add_loop_test(tc, loads_one, 0, (int)(sizeof(loads) / sizeof(loads[0])));
	tcase_add_loop_test(tc, rights, 0, (int)(sizeof(questions) / sizeof(questions[0])));
	tcase_add_test(tc, descriptor);
	tcase_add_test(tc, system_access);
	tcase_add_test(tc, shadow);
	tcase_add_test(tc, pop_and_push);
	tcase_add_test(tc, reads);
	tcase_add_test(tc, far_pointers);
	tcase_add_test(tc, real_mode);
	tcase_add_test(tc, arpl);
	tcase_add_test(tc, task_register);
	tcase_add_test(tc, stack_size);
	suite_add_tcase(suite, tc);
	return suite;
}
