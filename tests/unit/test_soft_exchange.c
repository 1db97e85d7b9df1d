// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * XCHG, XADD, CMPXCHG and the bit instructions of the software CPU. Each is compared with this
 * machine's processor. A faulting instruction must change nothing.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/beside.h"

#define INSN(text) BESIDE_INSN(test_insns, text)
extern const struct beside_insn __start_test_insns[], __stop_test_insns[];

#define PLAIN BESIDE_FLAGS
#define REGISTERS(op)            \
	INSN(op " %bl, %al")     \
	INSN(op " %bh, %al")     \
	INSN(op " %cl, %dh")     \
	INSN(op " %al, %al")     \
	INSN(op " %bx, %ax")     \
	INSN(op " %cx, %r9w")    \
	INSN(op " %ebx, %eax")   \
	INSN(op " %ecx, %edx")   \
	INSN(op " %eax, %ecx")   \
	INSN(op " %eax, %eax")   \
	INSN(op " %r10d, %r11d") \
	INSN(op " %rbx, %rax")   \
	INSN(op " %rcx, %rdx")   \
	INSN(op " %rdx, %rdx")
#define MEMORY(op)                      \
	INSN(op " %bl, (%rsi)")         \
	INSN(op " %ch, 3(%rsi)")        \
	INSN(op " %bx, 1(%rsi)")        \
	INSN(op " %ebx, (%rsi)")        \
	INSN(op " %eax, 5(%rsi)")       \
	INSN(op " %r9d, 4(%rsi,%r8,4)") \
	INSN(op " %rbx, (%rsi)")        \
	INSN(op " %rdx, 8(%rsi,%r8,8)") \
	INSN(op " %rcx, (%esi)")

REGISTERS("xchg")
MEMORY("xchg")
REGISTERS("xadd")
MEMORY("xadd")
MEMORY("lock xadd")
REGISTERS("cmpxchg")
MEMORY("cmpxchg")
MEMORY("lock cmpxchg")
INSN("cmpxchg8b (%rsi)")
INSN("lock cmpxchg8b 3(%rsi)")
INSN("cmpxchg16b (%rsi)")
INSN("lock cmpxchg16b 16(%rsi)")

#define BITS(op)                        \
	INSN(op " %bx, %ax")            \
	INSN(op " %ebx, %eax")          \
	INSN(op " %eax, %eax")          \
	INSN(op " %rbx, %rax")          \
	INSN(op "w $17, %ax")           \
	INSN(op "l $31, %edx")          \
	INSN(op "q $63, %rcx")          \
	INSN(op "w $3, (%rsi)")         \
	INSN(op "l $0x25, 2(%rsi)")     \
	INSN(op "q $0x7f, 1(%rsi,%r8)") \
	INSN(op " %r10w, (%rsi)")       \
	INSN(op " %r10d, (%rsi)")       \
	INSN(op " %r10d, 1(%esi)")      \
	INSN(op " %r10, (%rsi,%r8,4)")  \
	INSN(op " %r10, (%rsi)")

BITS("bt")
BITS("bts")
BITS("btr")
BITS("btc")
INSN("lock bts %r10, (%rsi)")
INSN("lock btrl $5, (%rsi)")

static const uint64_t values[] = {0,
				  1,
				  0x7f,
				  0x80,
				  0xff,
				  0x8000,
				  0x7fffffff,
				  0x80000000,
				  0xffffffff,
				  0x0123456789abcdef,
				  0x100000000,
				  ~0ull,
				  0x8000000000000000,
				  0xfedcba9876543219};

#define VALUES (sizeof(values) / sizeof(values[0]))

/* Bit numbers that stay inside the part of the window that is compared. */
static const int64_t bit_numbers[] = {0, 1, 15, 16, 31, 63, 64, 1000, -1, -16, -33, -1000, 0x7fff};

#define BIT_NUMBERS (sizeof(bit_numbers) / sizeof(bit_numbers[0]))

static struct beside_state make_state(unsigned int a, unsigned int b)
{
	struct beside_state s = {.rflags = X86_FL_FIXED | (b & 1 ? PLAIN & ~X86_FL_DF : 0)};
	uint64_t *at = (uint64_t *)(beside_window() + 0x8000);
	unsigned int i;

	for (i = 0; i < REGS; i++)
		s.reg[i] = values[(a + i * b) % VALUES];
	s.reg[RAX] = values[a];
	s.reg[RBX] = values[b];
	s.reg[RSI] = BESIDE_WINDOW + 0x8000;
	s.reg[RSP] = BESIDE_WINDOW + 0x4000;
	s.reg[R8] = 1;
	s.reg[R10] = (uint64_t)bit_numbers[(a * VALUES + b) % BIT_NUMBERS];
	/* Comparisons succeed in half of the cases. */
	at[0] = b & 2 ? values[a] : values[b];
	at[1] = b & 2 ? s.reg[RDX] : values[(a + b) % VALUES];
	at[2] = b & 4 ? values[a] : ~values[b];
	at[3] = b & 4 ? s.reg[RDX] : 0;
	return s;
}

START_TEST(beside_host)
{
	const struct beside_insn *insn = &__start_test_insns[_i];
	unsigned int a, b;

	for (a = 0; a < VALUES; a++) {
		for (b = 0; b < VALUES; b++) {
			struct beside_state in = make_state(a, b);

			beside_compare(insn, &in, PLAIN);
		}
	}
}
END_TEST

/* An instruction that must fault, and its exception. Memory at RSI can be read-only. */
struct refusal {
	const char *text;
	uint8_t code[8];
	uint64_t rsi, rbx;
	bool read_only;
	uint8_t vector;
	uint32_t error;
};

static const struct refusal refusals[] = {
	{"xchg, not mapped", {0x48, 0x87, 0x1e}, BESIDE_NOWHERE, 1, false, X86_VEC_PF, 2},
	{"xadd, not mapped", {0x48, 0x0f, 0xc1, 0x1e}, BESIDE_NOWHERE, 1, false, X86_VEC_PF, 2},
	{"cmpxchg that differs, read-only",
	 {0x48, 0x0f, 0xb1, 0x1e},
	 BESIDE_WINDOW,
	 1,
	 true,
	 X86_VEC_PF,
	 3},
	{"cmpxchg8b that differs, read-only",
	 {0x0f, 0xc7, 0x0e},
	 BESIDE_WINDOW,
	 1,
	 true,
	 X86_VEC_PF,
	 3},
	{"cmpxchg16b, not aligned",
	 {0x48, 0x0f, 0xc7, 0x0e},
	 BESIDE_WINDOW + 8,
	 1,
	 false,
	 X86_VEC_GP,
	 0},
	{"cmpxchg16b, not canonical",
	 {0x48, 0x0f, 0xc7, 0x0e},
	 0x800000000000,
	 1,
	 false,
	 X86_VEC_GP,
	 0},
	{"bt reads only", {0x48, 0x0f, 0xa3, 0x1e}, BESIDE_NOWHERE, 1, false, X86_VEC_PF, 0},
	/* The bit number selects an address beyond the operand. */
	{"bts beyond the end",
	 {0x48, 0x0f, 0xab, 0x1e},
	 BESIDE_NOWHERE - 8,
	 64,
	 false,
	 X86_VEC_PF,
	 2},
	{"btc before the start",
	 {0x48, 0x0f, 0xbb, 0x1e},
	 BESIDE_WINDOW,
	 ~0ull,
	 false,
	 X86_VEC_PF,
	 2},
	{"btr, read-only", {0x48, 0x0f, 0xb3, 0x1e}, BESIDE_WINDOW, 1, true, X86_VEC_PF, 3},
};

START_TEST(refuses)
{
	const struct refusal *r = &refusals[_i];
	struct x86_regs before;
	struct engine_exit exit;
	uint64_t entry = BESIDE_WINDOW_RAM | (r->read_only ? 0x85 : 0x87);

	beside_put64(BESIDE_PD + 8 * (BESIDE_WINDOW >> 21), entry);
	beside_put64(BESIDE_WINDOW_RAM, 0x1234);
	*beside_vcpu->regs = (struct x86_regs){.rax = 5,
					       .rbx = r->rbx,
					       .rdx = 6,
					       .rcx = 7,
					       .rsi = r->rsi,
					       .rip = BESIDE_CODE,
					       .rflags = X86_FL_FIXED | X86_FL_CF | X86_FL_ZF};
	before = *beside_vcpu->regs;
	exit = beside_step(r->code, sizeof(r->code));
	ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT, "%s: exit %d", r->text, exit.kind);
	ck_assert_msg(exit.fault.vector == r->vector && exit.fault.error == r->error,
		      "%s: vector %u, error %#x", r->text, exit.fault.vector, exit.fault.error);
	ck_assert_msg(!memcmp(&before, beside_vcpu->regs, sizeof(before)), "%s: registers changed",
		      r->text);
	ck_assert_uint_eq(beside_get64(BESIDE_WINDOW_RAM), 0x1234);
}
END_TEST

/* Bit strings with short addresses wrap, and each access is checked against the segment limit. */
START_TEST(bit_strings16)
{
	struct x86_sregs s;
	struct engine_exit exit;

	beside_mode(16, 0);
	s = beside_sregs();
	s.ds.base = 0x40000;
	beside_set_sregs(&s);
	*beside_vcpu->regs =
		(struct x86_regs){.rax = (uint16_t)-16, .rbx = 0, .rflags = X86_FL_FIXED};
	/* bts [bx], ax: the word before offset 0 is the last one */
	exit = BESIDE_STEP("\x0f\xab\x07");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
	ck_assert_uint_eq(beside_get64(0x4fffe) & 0xffff, 1);
	/* bts [bx], eax, whose last byte is beyond the limit */
	beside_vcpu->regs->rbx = 0xffff;
	beside_vcpu->regs->rax = 0;
	exit = BESIDE_STEP("\x66\x0f\xab\x07");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_GP);
	/* btc [ebx], eax with a 32-bit address: 0x10000 is beyond the limit */
	beside_vcpu->regs->rbx = 0xfff0;
	beside_vcpu->regs->rax = 128;
	exit = BESIDE_STEP("\x66\x67\x0f\xbb\x03");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	/* bt [bp], ax is on the stack */
	beside_vcpu->regs->rbp = 0xffff;
	beside_vcpu->regs->rax = 0;
	exit = BESIDE_STEP("\x0f\xa3\x46\x00");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_SS);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("soft_exchange");
	TCase *tc = tcase_create("exchange");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_loop_test(tc, beside_host, 0, (int)(__stop_test_insns - __start_test_insns));
	tcase_add_loop_test(tc, refuses, 0, (int)(sizeof(refusals) / sizeof(refusals[0])));
	tcase_add_test(tc, bit_strings16);
	suite_add_tcase(suite, tc);
	return suite;
}
