// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stack of the software CPU. In 64-bit mode it is compared with this machine's processor. Other
 * stacks, privilege levels and faults have results by hand.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/beside.h"

#define INSN(text) BESIDE_INSN(test_insns, text)
extern const struct beside_insn __start_test_insns[], __stop_test_insns[];

INSN("push %rax")
INSN("push %rsp")
INSN("push %r15")
INSN("push %bx")
INSN("push %sp")
INSN("push $-5")
INSN("push $0x12345678")
INSN("pushw $-5")
INSN("pushw $0x1234")
INSN("pushq (%rsi)")
INSN("pushq -8(%rsp)")
INSN("pushw 8(%rsi)")
INSN("pop %rax")
INSN("pop %rsp")
INSN("pop %r14")
INSN("pop %cx")
INSN("pop %sp")
INSN("popq (%rsi)")
INSN("popq (%rsp)")
INSN("popq 8(%rsp,%r8,8)")
INSN("popq -8(%rsp)")
INSN("popw (%rsp)")
INSN("popw 6(%rsi)")
INSN("popq 16(%esp)")
INSN("leave")
INSN("leavew")
INSN("enter $0, $0")
INSN("enter $0x20, $0")
INSN("enter $0x20, $1")
INSN("enter $8, $2")
INSN("enter $0x1f0, $31")
INSN("enter $8, $0x23")
INSN("enterw $0x20, $0")
INSN("enterw $0x20, $3")
INSN("pushf")
INSN("pushfw")
INSN("popf")
INSN("popfw")

START_TEST(beside_host)
{
	const struct beside_insn *insn = &__start_test_insns[_i];
	unsigned int salt, i;

	/* IF is set in programs on the host. */
	for (salt = 0; salt < 16; salt++) {
		uint64_t *stack = (uint64_t *)(beside_window() + 0x4000);
		struct beside_state in = {.rflags = X86_FL_FIXED | X86_FL_IF |
						    (salt & 1 ? X86_FL_CF : 0) |
						    (salt & 2 ? X86_FL_ZF : 0) |
						    (salt & 4 ? X86_FL_DF | X86_FL_OF : 0)};

		memset(beside_window(), 0, 0x8000);
		for (i = 0; i < REGS; i++)
			in.reg[i] = 0x0123456789abcdef * (i + salt + 1);
		in.reg[RSP] = BESIDE_WINDOW + 0x4000 + salt / 8 * 3;
		in.reg[RBP] = BESIDE_WINDOW + 0x5000 - salt % 8 * 0x1fe;
		in.reg[RSI] = BESIDE_WINDOW + 0x6000;
		in.reg[R8] = 1;
		/* An address for POP RSP, flags for POPF without TF and AC. */
		stack[0] = BESIDE_WINDOW + salt * 0x80;
		stack[1] = 0x1122334455667788;
		if (strncmp(insn->text, "popf", 4) == 0) {
			in.reg[RSP] = BESIDE_WINDOW + 0x4000;
			stack[0] = X86_FL_FIXED | X86_FL_ID | X86_FL_IF | 0xc1 * (salt & 1) |
				   X86_FL_DF * (salt >> 1 & 1) | X86_FL_OF * (salt >> 2 & 1) |
				   X86_FL_NT * (salt >> 3);
		}
		beside_compare(insn, &in, BESIDE_FLAGS | X86_FL_ID | X86_FL_NT | X86_FL_IF);
	}
}
END_TEST

static struct x86_regs *regs(void)
{
	return beside_vcpu->regs;
}

static void set_regs(uint64_t rsp, uint64_t rflags)
{
	*regs() = (struct x86_regs){.rax = 0x1111aaaa,
				    .rbx = 0x2222bbbb,
				    .rcx = 0x3333cccc,
				    .rdx = 0x4444dddd,
				    .rsi = BESIDE_DATA,
				    .rdi = 0x5555eeee,
				    .rbp = 0x6666ffff,
				    .rsp = rsp,
				    .rflags = rflags | X86_FL_FIXED};
}

/* An instruction that faults changes nothing. */
struct refusal {
	const char *text, *code;
	unsigned int bits;
	uint64_t rsp, rbp;
	uint8_t vector;
	uint32_t error;
};

static const struct refusal refusals[] = {
	{"push", "\x50", 64, BESIDE_NOWHERE + 16, 0, X86_VEC_PF, 2},
	{"push, not canonical", "\x50", 64, 0x800000000008, 0, X86_VEC_SS, 0},
	{"push of memory", "\xff\x36", 64, BESIDE_NOWHERE + 16, 0, X86_VEC_PF, 2},
	{"pop", "\x58", 64, BESIDE_NOWHERE, 0, X86_VEC_PF, 0},
	{"pop, not canonical", "\x58", 64, 0x7ffffffffffc, 0, X86_VEC_PF, 0},
	{"pop, all of it not canonical", "\x58", 64, 0x800000000000, 0, X86_VEC_SS, 0},
	{"pop to memory", "\x8f\x45\x00", 64, BESIDE_STACK, BESIDE_NOWHERE, X86_VEC_PF, 2},
	{"leave", "\xc9", 64, BESIDE_STACK, BESIDE_NOWHERE, X86_VEC_PF, 0},
	{"enter, the last byte", "\xc8\x00\x10\x00", 64, BESIDE_WINDOW + 0x1000, 0, X86_VEC_PF, 2},
	{"enter, an outer frame", "\xc8\x00\x00\x02", 64, BESIDE_STACK, BESIDE_NOWHERE + 8,
	 X86_VEC_PF, 0},
	{"pushf", "\x9c", 64, BESIDE_NOWHERE + 16, 0, X86_VEC_PF, 2},
	{"popf", "\x9d", 64, BESIDE_NOWHERE, 0, X86_VEC_PF, 0},
	{"pusha, half of it", "\x60", 32, BESIDE_WINDOW + 16, 0, X86_VEC_PF, 2},
	{"popa, half of it", "\x61", 32, BESIDE_NOWHERE - 16, 0, X86_VEC_PF, 0},
	{"push in 32-bit code", "\x50", 32, BESIDE_NOWHERE + 16, 0, X86_VEC_PF, 2},
	{"pop in 32-bit code", "\x58", 32, BESIDE_NOWHERE, 0, X86_VEC_PF, 0},
	{"push across the limit", "\x50", 16, 1, 0, X86_VEC_SS, 0},
	{"pop across the limit", "\x58", 16, 0xffff, 0, X86_VEC_SS, 0},
};

START_TEST(refuses)
{
	const struct refusal *r = &refusals[_i];
	struct x86_regs before;
	struct engine_exit exit;

	beside_mode(r->bits, 0);
	set_regs(r->rsp, 0);
	regs()->rbp = r->rbp;
	before = *regs();
	exit = beside_step(r->code, r->code[0] == '\xc8' ? 4 : r->code[0] == '\x8f' ? 3 : 2);
	before.rip = regs()->rip;
	ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT, "%s: exit %d", r->text, exit.kind);
	ck_assert_msg(exit.fault.vector == r->vector && exit.fault.error == r->error,
		      "%s: vector %u, error %#x", r->text, exit.fault.vector, exit.fault.error);
	ck_assert_msg(!memcmp(&before, regs(), sizeof(before)), "%s: registers changed", r->text);
}
END_TEST

static void check_step(const char *code, size_t len)
{
	struct engine_exit exit = beside_step(code, len);

	ck_assert_msg(exit.kind == ENGINE_EXIT_NONE, "exit %d, vector %u", exit.kind,
		      exit.fault.vector);
}
#define STEP(code) check_step(code, sizeof(code) - 1)

/* 32-bit code: the stack has a base, and ESP is the stack pointer. */
START_TEST(stack32)
{
	struct x86_sregs s;

	beside_mode(32, 0);
	s = beside_sregs();
	s.ss.base = 0x1000;
	beside_set_sregs(&s);
	set_regs(BESIDE_STACK, 0);
	STEP("\x50");
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK - 4);
	ck_assert_uint_eq(beside_get64(BESIDE_STACK + 0x1000 - 4), 0x1111aaaa);
	STEP("\x66\x53");
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK - 6);
	ck_assert_uint_eq(beside_get64(BESIDE_STACK + 0x1000 - 6) & 0xffff, 0xbbbb);
	STEP("\x66\x59");
	STEP("\x5a");
	ck_assert_uint_eq(regs()->rcx, 0x3333bbbb);
	ck_assert_uint_eq(regs()->rdx, 0x1111aaaa);
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK);
	/* pop [esp + 4] uses ESP after the increment */
	beside_put64(BESIDE_STACK + 0x1000, 0x0000000077777777);
	STEP("\x8f\x44\x24\x04");
	ck_assert_uint_eq(beside_get64(BESIDE_STACK + 0x1008) & 0xffffffff, 0x77777777);
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK + 4);
	/* push es writes 16 bits and keeps the upper half of the slot */
	beside_put64(BESIDE_STACK + 0x1000, 0xffffffffffffffff);
	STEP("\x06");
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK);
	ck_assert_uint_eq(beside_get64(BESIDE_STACK + 0x1000), 0xffffffffffff0000 | BESIDE_DATA0);
}
END_TEST

START_TEST(all_registers)
{
	static const uint32_t want[8] = {0x5555eeee, BESIDE_DATA, 0x6666ffff, BESIDE_STACK,
					 0x2222bbbb, 0x4444dddd,  0x3333cccc, 0x1111aaaa};
	uint32_t got[8];

	beside_mode(32, 0);
	set_regs(BESIDE_STACK, 0);
	STEP("\x60");
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK - 32);
	ck_assert(x86_mem_read(&beside_mem, BESIDE_STACK - 32, got, sizeof(got)));
	ck_assert_mem_eq(got, want, sizeof(got));
	*regs() = (struct x86_regs){.rsp = BESIDE_STACK - 32, .rflags = X86_FL_FIXED};
	/* POPA does not load the image of ESP. */
	beside_put(BESIDE_STACK - 20, "\1\2\3\4", 4);
	STEP("\x61");
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK);
	ck_assert_uint_eq(regs()->rax, 0x1111aaaa);
	ck_assert_uint_eq(regs()->rbx, 0x2222bbbb);
	ck_assert_uint_eq(regs()->rcx, 0x3333cccc);
	ck_assert_uint_eq(regs()->rdx, 0x4444dddd);
	ck_assert_uint_eq(regs()->rsi, BESIDE_DATA);
	ck_assert_uint_eq(regs()->rdi, 0x5555eeee);
	ck_assert_uint_eq(regs()->rbp, 0x6666ffff);
}
END_TEST

/* Real mode: SP wraps, and nothing above it changes. */
START_TEST(stack16)
{
	struct x86_sregs s;

	beside_mode(16, 0);
	s = beside_sregs();
	s.ss.base = 0x40000;
	beside_set_sregs(&s);
	set_regs(0xabcd0000, 0);
	STEP("\x50");
	ck_assert_uint_eq(regs()->rsp, 0xabcdfffe);
	ck_assert_uint_eq(beside_get64(0x4fffe) & 0xffff, 0xaaaa);
	STEP("\x5b");
	ck_assert_uint_eq(regs()->rsp, 0xabcd0000);
	ck_assert_uint_eq(regs()->rbx, 0x2222aaaa);
	/* enter 4, 0; leave */
	regs()->rsp = 0xabcd0100;
	STEP("\xc8\x04\x00\x00");
	ck_assert_uint_eq(regs()->rbp, 0x666600fe);
	ck_assert_uint_eq(regs()->rsp, 0xabcd00fa);
	STEP("\xc9");
	ck_assert_uint_eq(regs()->rbp, 0x6666ffff);
	ck_assert_uint_eq(regs()->rsp, 0xabcd0100);
	/* A 32-bit push on a 16-bit stack. */
	STEP("\x66\x50");
	ck_assert_uint_eq(regs()->rsp, 0xabcd00fc);
	ck_assert_uint_eq(beside_get64(0x400fc) & 0xffffffff, 0x1111aaaa);
}
END_TEST

#define IOPL(n) ((uint64_t)(n) << 12)

/* The flags that POPF changes. */
struct popf_row {
	const char *text;
	unsigned int bits, cpl;
	uint64_t rflags, popped, want;
	bool narrow;
};

static const struct popf_row popf_rows[] = {
	{"CPL 0: all but VM, RF, VIF, VIP", 64, 0, 0, ~0ull,
	 X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_TF | X86_FL_IF |
		 X86_FL_DF | X86_FL_OF | X86_FL_IOPL | X86_FL_NT | X86_FL_AC | X86_FL_ID,
	 false},
	{"16 bits", 64, 0, X86_FL_ID, ~0ull,
	 X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_TF | X86_FL_IF |
		 X86_FL_DF | X86_FL_OF | X86_FL_IOPL | X86_FL_NT | X86_FL_ID,
	 true},
	{"CPL 3, IOPL 0: neither IF nor IOPL", 64, 3, X86_FL_IF, IOPL(3), X86_FL_IF, false},
	{"CPL 3, IOPL 3: IF", 64, 3, X86_FL_IF | IOPL(3), 0, IOPL(3), false},
	{"CPL 3, IOPL 3: IF, set", 64, 3, IOPL(3), X86_FL_IF, IOPL(3) | X86_FL_IF, false},
	{"CPL 0: IF and AC go", 64, 0, X86_FL_IF | X86_FL_AC, 0, 0, false},
	{"RF is cleared", 64, 0, X86_FL_RF, X86_FL_RF, 0, false},
	{"32-bit code", 32, 3, X86_FL_IF, X86_FL_NT | X86_FL_ZF, X86_FL_IF | X86_FL_NT | X86_FL_ZF,
	 false},
	{"VIF and VIP stay", 32, 0, X86_FL_VIF, X86_FL_VIP, X86_FL_VIF, false},
};

START_TEST(pops_flags)
{
	const struct popf_row *r = &popf_rows[_i];
	uint64_t size = r->narrow ? 2 : r->bits / 8;

	beside_mode(r->bits, r->cpl);
	set_regs(BESIDE_STACK, r->rflags);
	beside_put64(BESIDE_STACK, r->popped);
	check_step(r->narrow ? "\x66\x9d" : "\x9d", r->narrow ? 2 : 1);
	ck_assert_msg(regs()->rflags == (r->want | X86_FL_FIXED), "%s: %#llx", r->text,
		      (unsigned long long)regs()->rflags);
	ck_assert_uint_eq(regs()->rsp, BESIDE_STACK + size);
}
END_TEST

/* New flags apply to the next instruction: TF leaves to the core, and IF allows interrupts. */
START_TEST(flags_take_effect)
{
	struct engine_exit exit;

	set_regs(BESIDE_STACK, 0);
	beside_put64(BESIDE_STACK, X86_FL_FIXED | X86_FL_TF);
	exit = beside_run("\x9d\x90\xf4", 3, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_CORE);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE + 1);
	set_regs(BESIDE_STACK, 0);
	beside_put64(BESIDE_STACK, X86_FL_FIXED | X86_FL_IF);
	beside_put(BESIDE_CODE, "\x90\x9d\x90\xf4", 4);
	regs()->rip = BESIDE_CODE;
	beside_vcpu->budget = 100;
	beside_engine->run(beside_vcpu, true, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_IRQ_WINDOW);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE + 2);
}
END_TEST

/* Virtual-8086 mode allows PUSHF and POPF only with IOPL 3. */
START_TEST(virtual_8086)
{
	struct engine_exit exit;
	struct x86_sregs s;

	beside_mode(16, 0);
	s = beside_sregs();
	s.cr0 |= X86_CR0_PE;
	s.ss.ar |= X86_AR_DPL;
	s.cs.ar |= X86_AR_DPL;
	s.ss.base = 0;
	beside_set_sregs(&s);
	set_regs(0x8000, X86_FL_VM | IOPL(3) | X86_FL_CF);
	STEP("\x9c");
	ck_assert_uint_eq(beside_get64(0x7ffe) & 0xffff, IOPL(3) | X86_FL_CF | X86_FL_FIXED);
	set_regs(0x8000, X86_FL_VM | IOPL(2));
	exit = BESIDE_STEP("\x9c");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_GP);
	exit = BESIDE_STEP("\x9d");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_GP);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("soft_stack");
	TCase *tc = tcase_create("stack");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_loop_test(tc, beside_host, 0, (int)(__stop_test_insns - __start_test_insns));
	tcase_add_loop_test(tc, refuses, 0, (int)(sizeof(refusals) / sizeof(refusals[0])));
	tcase_add_loop_test(tc, pops_flags, 0, (int)(sizeof(popf_rows) / sizeof(popf_rows[0])));
	tcase_add_test(tc, stack32);
	tcase_add_test(tc, all_registers);
	tcase_add_test(tc, stack16);
	tcase_add_test(tc, flags_take_effect);
	tcase_add_test(tc, virtual_8086);
	suite_add_tcase(suite, tc);
	return suite;
}
