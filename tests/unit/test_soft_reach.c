// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loops at the edges of what compiled code joins. Operands in memory have one look-up, and flags pass
 * indirect branches. Each loop executes in run(), and in step(), which compiles nothing.
 */
#include "lib/suite.h"

#include <string.h>

#include "engine/engine.h"
#include "lib/plain_machine.h"
#include "soft/compile.h"
#include "soft/engine.h"
#include "soft/soft.h"

enum { ROUNDS = 200, BUDGET = 20 * ROUNDS };

static const struct row {
	const char *name;
	uint8_t code[56]; /* the loop counts in R9, and ends with HLT */
	int64_t rbx;	  /* from the data */
} rows[] = {
	/*
	 * mov rax, [rbx+rcx-0x80000000]; mov rdx, [rbx+rcx-0x7ffffff8]; dec r9; jnz; hlt
	 */
	{"the lowest displacement",
	 {0x48, 0x8b, 0x84, 0x0b, 0x00, 0x00, 0x00, 0x80, 0x48, 0x8b, 0x94,
	  0x0b, 0x08, 0x00, 0x00, 0x80, 0x49, 0xff, 0xc9, 0x75, 0xeb, 0xf4},
	 0x80000000},
	/* mov [rbx+rcx-0x80000000], r9; add [rbx+rcx-0x80000000], r9; dec r9; jnz; hlt */
	{"the lowest displacement, stores",
	 {0x4c, 0x89, 0x8c, 0x0b, 0x00, 0x00, 0x00, 0x80, 0x4c, 0x01, 0x8c,
	  0x0b, 0x00, 0x00, 0x00, 0x80, 0x49, 0xff, 0xc9, 0x75, 0xeb, 0xf4},
	 0x80000000},
	/*
	 * mov rax, [rsp+rcx*8+8]; mov rdx, [rsp+rcx*8+16]; push rbx; mov rsi, [rsp+rcx*8+16];
	 * lea rsp, [rsp+8]; dec r9; jnz; hlt
	 */
	{"RSP with an index, and a PUSH",
	 {0x48, 0x8b, 0x44, 0xcc, 0x08, 0x48, 0x8b, 0x54, 0xcc, 0x10, 0x53, 0x48, 0x8b, 0x74,
	  0xcc, 0x10, 0x48, 0x8d, 0x64, 0x24, 0x08, 0x49, 0xff, 0xc9, 0x75, 0xe6, 0xf4},
	 0},
	/*
	 * push rbx; lea rax, [rip+5]; push rax; call [rsp]; hlt;
	 * lea rsp, [rsp+24]; dec r9; jnz; hlt
	 */
	{"CALL by the stack",
	 {0x53, 0x48, 0x8d, 0x05, 0x05, 0x00, 0x00, 0x00, 0x50, 0xff, 0x14, 0x24,
	  0xf4, 0x48, 0x8d, 0x64, 0x24, 0x18, 0x49, 0xff, 0xc9, 0x75, 0xe9, 0xf4},
	 0},
	/*
	 * mov [rbx+rcx*4], r9d; inc rcx; and ecx, 63; mov eax, [rbx+rcx*4]; add [rbx+rcx*4], eax;
	 * dec r9; jnz; hlt
	 */
	{"an index that changes",
	 {0x44, 0x89, 0x0c, 0x8b, 0x48, 0xff, 0xc1, 0x83, 0xe1, 0x3f, 0x8b,
	  0x04, 0x8b, 0x01, 0x04, 0x8b, 0x49, 0xff, 0xc9, 0x75, 0xeb, 0xf4},
	 0},
	/*
	 * mov [rbx+rcx+0x1000], r9; add rdx, [rbx+rcx+0x1008]; add rdx, [rbx+rcx+0x1000];
	 * xor ecx, 0x1000; dec r9; jnz; hlt. The two pages are not neighbours in RAM.
	 */
	{"an index that changes the page, and a displacement of a page",
	 {0x4c, 0x89, 0x8c, 0x0b, 0x00, 0x10, 0x00, 0x00, 0x48, 0x03, 0x94, 0x0b,
	  0x08, 0x10, 0x00, 0x00, 0x48, 0x03, 0x94, 0x0b, 0x00, 0x10, 0x00, 0x00,
	  0x81, 0xf1, 0x00, 0x10, 0x00, 0x00, 0x49, 0xff, 0xc9, 0x75, 0xdd, 0xf4},
	 PLAIN_AGAIN - PLAIN_DATA},
	/*
	 * test r9b, 1; lea rsi, A; lea rdi, B; cmovnz rsi, rdi; cmp r9, rbx; jmp rsi.
	 * A: xor eax, eax; jmp C. B: setb al; add r10, rax. C: dec r9; jnz; hlt
	 */
	{"JMP to code that reads flags, and to code that does not",
	 {0x41, 0xf6, 0xc1, 0x01, 0x48, 0x8d, 0x35, 0x10, 0,	0,    0,    0x48, 0x8d, 0x3d, 0x0d,
	  0,	0,    0,    0x48, 0x0f, 0x45, 0xf7, 0x49, 0x39, 0xd9, 0xff, 0xe6, 0x31, 0xc0, 0xeb,
	  0x06, 0x0f, 0x92, 0xc0, 0x49, 0x01, 0xc2, 0x49, 0xff, 0xc9, 0x75, 0xd6, 0xf4},
	 100 - (int64_t)PLAIN_DATA},
	/* The same with call rsi, and lea rsp, [rsp+8] at the end. */
	{"CALL likewise",
	 {0x41, 0xf6, 0xc1, 0x01, 0x48, 0x8d, 0x35, 0x10, 0,	0,    0,    0x48,
	  0x8d, 0x3d, 0x0d, 0,	  0,	0,    0x48, 0x0f, 0x45, 0xf7, 0x49, 0x39,
	  0xd9, 0xff, 0xd6, 0x31, 0xc0, 0xeb, 0x06, 0x0f, 0x92, 0xc0, 0x49, 0x01,
	  0xc2, 0x48, 0x8d, 0x64, 0x24, 0x08, 0x49, 0xff, 0xc9, 0x75, 0xd1, 0xf4},
	 100 - (int64_t)PLAIN_DATA},
};

static struct plain_machine fast, slow;

static void setup(void)
{
	plain_create(&fast);
	plain_create(&slow);
	plain_set_mode(&fast, 64);
	plain_set_mode(&slow, 64);
	if (soft(fast.vcpu)->compiler)
		soft_compile_after(soft(fast.vcpu), 4);
}

static void teardown(void)
{
	plain_destroy(&fast);
	plain_destroy(&slow);
}

static void load(struct plain_machine *m, const struct row *row)
{
	struct x86_regs *regs = m->vcpu->regs;
	uint64_t i, value;

	ck_assert(x86_mem_write(&m->mem, PLAIN_CODE, row->code, sizeof(row->code)));
	soft_engine.vm_wrote(m->vm, PLAIN_CODE, sizeof(row->code));
	for (i = 0; i < 64; i++) {
		value = 0x1111111111111111 * (i + 1);
		ck_assert(x86_mem_write(&m->mem, PLAIN_DATA + 8 * i, &value, sizeof(value)));
		ck_assert(x86_mem_write(&m->mem, PLAIN_STACK + 8 * i, &value, sizeof(value)));
	}
	memset(regs, 0, sizeof(*regs));
	regs->rip = PLAIN_CODE;
	regs->rflags = X86_FL_FIXED;
	regs->rsp = PLAIN_STACK;
	regs->rbx = PLAIN_DATA + (uint64_t)row->rbx;
	regs->r9 = ROUNDS;
	m->vcpu->state |= ENGINE_REGS_DIRTY;
}

static bool is_compiled(void)
{
	struct soft *c = soft(fast.vcpu);

	c->r[SOFT_R_RIP] = PLAIN_CODE;
	return soft_compiler_made(c->compiler, soft_block(c, c->mode)->uop[0].fn);
}

START_TEST(same_results)
{
	const struct row *row = &rows[_i];
	struct engine_exit a = {.kind = ENGINE_EXIT_NONE}, b = a;
	const struct engine_step_hint hint = {0};
	unsigned int i;

	load(&fast, row);
	load(&slow, row);
	fast.vcpu->budget = BUDGET;
	soft_engine.run(fast.vcpu, false, &a);
	for (i = 0; i < BUDGET && b.kind == ENGINE_EXIT_NONE; i++)
		soft_engine.step(slow.vcpu, &hint, &b);
	ck_assert_int_eq(b.kind, ENGINE_EXIT_HLT);
	ck_assert_int_eq(a.kind, b.kind);
	ck_assert_uint_eq(slow.vcpu->regs->r9, 0);
	ck_assert_msg(!memcmp(fast.vcpu->regs, slow.vcpu->regs, sizeof(*fast.vcpu->regs)),
		      "%s: other registers", row->name);
	ck_assert_msg(!memcmp(fast.mem.host, slow.mem.host, PLAIN_RAM), "%s: other memory",
		      row->name);
	if (soft(fast.vcpu)->compiler)
		ck_assert_msg(is_compiled(), "%s: not compiled", row->name);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_reach");
	TCase *t = tcase_create("look-ups");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, same_results, 0, sizeof(rows) / sizeof(rows[0]));
	suite_add_tcase(s, t);
	return s;
}
