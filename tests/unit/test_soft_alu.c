// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Integer instructions of the software CPU. Each is compared with this machine's processor on
 * boundary values, and some with results by hand. A faulting instruction must change nothing.
 */
#include "lib/suite.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "lib/beside.h"

#define ARITHMETIC (X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_OF)

/* The address of the memory operand, its offset in the guest's RAM, and a stack for signals. */
enum { MEM = BESIDE_WINDOW, MEM_RAM = BESIDE_WINDOW_RAM, STACK = BESIDE_WINDOW + (1 << 20) };

struct state {
	struct beside_state s;
	uint64_t mem[4];
};

/* Instructions may use RAX, RBX, RCX, RDX and memory at RSI. RDI and R8 are 1. */
#define INSN(text) BESIDE_INSN(test_insns, text)
extern const struct beside_insn __start_test_insns[], __stop_test_insns[];

#define TWO_OPERANDS(op)                  \
	INSN(op "b %bl, %al")             \
	INSN(op "b %ah, %bh")             \
	INSN(op "b %bh, %cl")             \
	INSN(op "b %al, %al")             \
	INSN(op "b $0x80, %al")           \
	INSN(op "b $0x7f, %ch")           \
	INSN(op "b (%rsi), %dl")          \
	INSN(op "b %bl, (%rsi)")          \
	INSN(op "b %dh, 3(%rsi,%rdi,4)")  \
	INSN(op "b $-1, 1(%rsi)")         \
	INSN(op "w %bx, %ax")             \
	INSN(op "w $-1, %bx")             \
	INSN(op "w $0x8000, %ax")         \
	INSN(op "w (%rsi), %ax")          \
	INSN(op "w %bx, 6(%rsi,%r8,2)")   \
	INSN(op "w $0x1234, (%rsi)")      \
	INSN(op "l %ebx, %eax")           \
	INSN(op "l %eax, %eax")           \
	INSN(op "l $-1, %r9d")            \
	INSN(op "l $0x80000000, %eax")    \
	INSN(op "l (%rsi), %eax")         \
	INSN(op "l 4(%rsi,%r8,4), %ebx")  \
	INSN(op "l %eax, (%rsi)")         \
	INSN(op "l %eax, (%rsi,%r8,8)")   \
	INSN(op "l $0x7fffffff, (%rsi)")  \
	INSN(op "q %rbx, %rax")           \
	INSN(op "q %rbx, %rbx")           \
	INSN(op "q $-1, %rax")            \
	INSN(op "q $0x7fffffff, %r10")    \
	INSN(op "q (%rsi), %rax")         \
	INSN(op "q (%rsi,%r8,8), %rax")   \
	INSN(op "q %rax, (%rsi)")         \
	INSN(op "q %rax, 8(%rsi,%r8,8)")  \
	INSN(op "q $-0x80000000, (%rsi)") \
	INSN(op "q $1, 8(%rsi,%r8,4)")

#define LOCKED(op)                         \
	INSN("lock " op "b %bl, (%rsi)")   \
	INSN("lock " op "w $3, (%rsi)")    \
	INSN("lock " op "l %ebx, 8(%rsi)") \
	INSN("lock " op "q %rbx, (%rsi,%r8,8)")

TWO_OPERANDS("add")
TWO_OPERANDS("or")
TWO_OPERANDS("adc")
TWO_OPERANDS("sbb")
TWO_OPERANDS("and")
TWO_OPERANDS("sub")
TWO_OPERANDS("xor")
TWO_OPERANDS("cmp")
TWO_OPERANDS("test")
LOCKED("add")
LOCKED("or")
LOCKED("adc")
LOCKED("sbb")
LOCKED("and")
LOCKED("sub")
LOCKED("xor")

#define ONE_OPERAND(op)           \
	INSN(op "b %al")          \
	INSN(op "b %bh")          \
	INSN(op "b (%rsi)")       \
	INSN(op "w %bx")          \
	INSN(op "w 4(%rsi)")      \
	INSN(op "l %eax")         \
	INSN(op "l %r11d")        \
	INSN(op "l (%rsi,%r8,4)") \
	INSN(op "q %rax")         \
	INSN(op "q (%rsi)")       \
	INSN(op "q (%rsi,%r8,8)")

#define CHANGES_MEMORY(op) \
	ONE_OPERAND(op)    \
	INSN("lock " op "l (%rsi)")

CHANGES_MEMORY("inc")
CHANGES_MEMORY("dec")
CHANGES_MEMORY("neg")
CHANGES_MEMORY("not")
ONE_OPERAND("mul")
ONE_OPERAND("imul")
ONE_OPERAND("div")
ONE_OPERAND("idiv")

#define SHIFT_BY(op, count)                   \
	INSN(op "b " count ", %al")           \
	INSN(op "b " count ", %bh")           \
	INSN(op "b " count ", (%rsi)")        \
	INSN(op "w " count ", %bx")           \
	INSN(op "w " count ", 2(%rsi,%r8,2)") \
	INSN(op "l " count ", %eax")          \
	INSN(op "l " count ", (%rsi)")        \
	INSN(op "q " count ", %rbx")          \
	INSN(op "q " count ", 8(%rsi,%r8,8)")

#define SHIFT(op)             \
	SHIFT_BY(op, "$0")    \
	SHIFT_BY(op, "$1")    \
	SHIFT_BY(op, "$7")    \
	SHIFT_BY(op, "$17")   \
	SHIFT_BY(op, "$31")   \
	SHIFT_BY(op, "$0x61") \
	SHIFT_BY(op, "%cl")

SHIFT("rol")
SHIFT("ror")
SHIFT("rcl")
SHIFT("rcr")
SHIFT("shl")
SHIFT("shr")
SHIFT("sar")

#define SHIFT_DOUBLE(op, count)                    \
	INSN(op "w " count ", %ax, %bx")           \
	INSN(op "w " count ", %ax, (%rsi)")        \
	INSN(op "l " count ", %eax, %ebx")         \
	INSN(op "l " count ", %eax, (%rsi,%r8,4)") \
	INSN(op "q " count ", %rax, %rbx")         \
	INSN(op "q " count ", %rax, 8(%rsi)")

SHIFT_DOUBLE("shld", "$0")
SHIFT_DOUBLE("shld", "$1")
SHIFT_DOUBLE("shld", "$15")
SHIFT_DOUBLE("shld", "%cl")
SHIFT_DOUBLE("shrd", "$0")
SHIFT_DOUBLE("shrd", "$1")
SHIFT_DOUBLE("shrd", "$15")
SHIFT_DOUBLE("shrd", "%cl")

#define IMUL(s, a, b)                        \
	INSN("imul" s " " b ", " a)          \
	INSN("imul" s " (%rsi), " a)         \
	INSN("imul" s " 8(%rsi,%r8,4), " a)  \
	INSN("imul" s " $-3, " b ", " a)     \
	INSN("imul" s " $0x1234, " b ", " a) \
	INSN("imul" s " $0x7f, (%rsi), " a)  \
	INSN("imul" s " $-0x7f00, (%rsi,%r8,8), " a)

IMUL("w", "%ax", "%bx")
IMUL("l", "%eax", "%ebx")
IMUL("q", "%rax", "%rbx")
INSN("mulxl %ebx, %eax, %ecx")
INSN("mulxl (%rsi), %eax, %ecx")
INSN("mulxl %ebx, %eax, %eax")
INSN("mulxq %rbx, %rax, %rcx")
INSN("mulxq %rbx, %rcx, %rcx")
INSN("mulxq 8(%rsi,%r8,8), %rdx, %rax")

INSN("movb %bl, %al")
INSN("movb %bh, %al")
INSN("movb %al, %bh")
INSN("movb %bpl, %r9b")
INSN("movb %r10b, %dil")
INSN("movb $0x5a, %ah")
INSN("movb (%rsi), %ch")
INSN("movb %ah, 1(%rsi,%rdi,2)")
INSN("movb $0x5a, (%rsi)")
INSN("movw %bx, %ax")
INSN("movw $0x1234, %bx")
INSN("movw (%rsi,%r8,2), %ax")
INSN("movw %bx, (%rsi)")
INSN("movw $-2, 4(%rsi)")
INSN("movl %ebx, %eax")
INSN("movl %eax, %eax")
INSN("movl $-2, %eax")
INSN("movl (%rsi), %eax")
INSN("movl 4(%rsi,%r8,4), %eax")
INSN("movl %ebx, (%rsi)")
INSN("movl %ebx, (%rsi,%r8,8)")
INSN("movl $0x12345678, (%rsi)")
INSN("movq %rbx, %rax")
INSN("movq %r8, %r15")
INSN("movq $-2, %rax")
INSN("movabsq $0x123456789abcdef0, %r12")
INSN("movq (%rsi), %rax")
INSN("movq (%rsi,%r8,8), %rax")
INSN("movq %rbx, (%rsi)")
INSN("movq %rbx, 8(%rsi,%r8,8)")
INSN("movq $-2, (%rsi)")

#define EXTEND_BYTE(op)                   \
	INSN(op "bw %bl, %ax")            \
	INSN(op "bw %ah, %cx")            \
	INSN(op "bw (%rsi), %ax")         \
	INSN(op "bl %bl, %eax")           \
	INSN(op "bl %bh, %eax")           \
	INSN(op "bl 1(%rsi,%r8,2), %eax") \
	INSN(op "bq %bl, %rax")           \
	INSN(op "bq (%rsi), %rax")        \
	INSN(op "wl %bx, %eax")           \
	INSN(op "wl (%rsi), %eax")        \
	INSN(op "wq %bx, %rax")           \
	INSN(op "wq 2(%rsi,%r8,4), %rax")

EXTEND_BYTE("movz")
EXTEND_BYTE("movs")
INSN("movslq %ebx, %rax")
INSN("movslq (%rsi), %rax")
INSN(".byte 0x63, 0xc3")       /* MOVSXD EAX, EBX */
INSN(".byte 0x66, 0x63, 0xc3") /* MOVSXD AX, BX */
INSN(".byte 0x66, 0x0f, 0xb7, 0xc3")
INSN(".byte 0x66, 0x0f, 0xbf, 0x06")
INSN("cbtw")
INSN("cwtl")
INSN("cltq")
INSN("cwtd")
INSN("cltd")
INSN("cqto")

INSN("leaq 8(%rbx,%rcx,4), %rax")
INSN("leaq -1(%rbx), %rbx")
INSN("leaq (,%rax,8), %rdx")
INSN("leaq 0x7fffffff, %rdx")
INSN("leal 8(%rbx,%rcx,2), %eax")
INSN("leal 3(%rbx), %eax")
INSN("leaw 8(%rbx,%rcx), %ax")
INSN("leaq 8(%ebx,%ecx,4), %rax")
INSN("leal -8(%ebx), %eax")
INSN("leaw 8(%ebx,%ecx,4), %ax")
INSN(".byte 0x64, 0x48, 0x8d, 0x44, 0x8b, 0x08") /* LEA RAX, FS:[RBX + RCX * 4 + 8] */

#define CONDITION(cc)                        \
	INSN("cmov" cc " %bx, %ax")          \
	INSN("cmov" cc " (%rsi,%r8,2), %ax") \
	INSN("cmov" cc " %ebx, %eax")        \
	INSN("cmov" cc " (%rsi), %eax")      \
	INSN("cmov" cc " %rbx, %rax")        \
	INSN("cmov" cc " 8(%rsi), %rax")     \
	INSN("set" cc " %al")                \
	INSN("set" cc " %bh")                \
	INSN("set" cc " 3(%rsi,%r8,4)")

CONDITION("o")
CONDITION("no")
CONDITION("b")
CONDITION("ae")
CONDITION("z")
CONDITION("nz")
CONDITION("be")
CONDITION("a")
CONDITION("s")
CONDITION("ns")
CONDITION("p")
CONDITION("np")
CONDITION("l")
CONDITION("ge")
CONDITION("le")
CONDITION("g")

INSN("clc")
INSN("stc")
INSN("cmc")
INSN("cld")
INSN("std")
INSN("lahf")
INSN("sahf")
INSN("nop")
INSN("xchg %ax, %ax")
INSN("nopl (%rax)")
INSN("nopw 0x12345678(%rax,%rbx,8)")
INSN("pause")
INSN("lfence")
INSN("mfence")
INSN("sfence")
INSN("endbr64")
INSN("endbr32")
INSN("prefetchnta (%rax)")
INSN("prefetcht0 (%rax)")
INSN("prefetchw (%rax)")
INSN("clflush (%rsi)")

static const uint64_t values[] = {0,
				  1,
				  2,
				  0x7f,
				  0x80,
				  0xff,
				  0x7fff,
				  0x8000,
				  0x7fffffff,
				  0x80000000,
				  0xffffffff,
				  0x100000000,
				  0x7fffffffffffffff,
				  0x8000000000000000,
				  0xffffffffffffffff,
				  0x0123456789abcdef,
				  0xfedcba9876543219};

#define VALUES (sizeof(values) / sizeof(values[0]))

/* The code after each row. */
void beside_native_end(void);

static volatile sig_atomic_t divide_error;

static void on_sigfpe(int sig, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)sig;
	(void)info;
	divide_error = 1;
	at->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)beside_native_end;
}

/* Run the code on the host. Return false, with the state unchanged, if it raises #DE. */
static bool native(struct state *s, const uint8_t *code)
{
	const struct state before = *s;

	divide_error = 0;
	memcpy(beside_window(), s->mem, sizeof(s->mem));
	beside_native(&s->s, code);
	memcpy(s->mem, beside_window(), sizeof(s->mem));
	if (divide_error)
		*s = before;
	return !divide_error;
}

/* Execute one instruction on the software CPU. */
static struct engine_exit step(struct state *s)
{
	const struct engine_step_hint hint = {0};
	struct x86_regs *regs = beside_vcpu->regs;
	uint8_t *ram = beside_mem.host + MEM_RAM;
	struct engine_exit exit;

	memcpy(regs, s->s.reg, sizeof(s->s.reg));
	regs->rflags = s->s.rflags;
	regs->rip = BESIDE_CODE;
	beside_vcpu->state |= ENGINE_REGS_DIRTY;
	memcpy(ram, s->mem, sizeof(s->mem));
	beside_engine->step(beside_vcpu, &hint, &exit);
	memcpy(s->s.reg, regs, sizeof(s->s.reg));
	s->s.rflags = regs->rflags;
	memcpy(s->mem, ram, sizeof(s->mem));
	return exit;
}

static struct state make_state(uint64_t a, uint64_t b, unsigned int salt)
{
	struct state t = {
		.s.reg = {[RAX] = a, [RBX] = b, [RSI] = MEM, [RDI] = 1, [RSP] = STACK, [R8] = 1},
		.s.rflags = X86_FL_FIXED | (salt & 1 ? BESIDE_FLAGS : 0),
		.mem = {salt & 2 ? a : b, salt & 2 ? b : a, a ^ b, a + b},
	};
	unsigned int i;

	t.s.reg[RCX] = values[salt * 7 % VALUES] ^ b;
	t.s.reg[RDX] = values[(salt / 2 * 5 + 3) % VALUES];
	t.s.reg[RBP] = a ^ 0x5a;
	for (i = R9; i < REGS; i++)
		t.s.reg[i] = values[(salt + i) % VALUES] ^ a;
	return t;
}

static const char *describe(const struct beside_insn *insn, const struct state *in)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "%s with RAX %#" PRIx64 " RBX %#" PRIx64 " RCX %#" PRIx64 " RDX %#" PRIx64
		 " memory %#" PRIx64 " %#" PRIx64 " flags %#" PRIx64,
		 insn->text, in->s.reg[RAX], in->s.reg[RBX], in->s.reg[RCX], in->s.reg[RDX],
		 in->mem[0], in->mem[1], in->s.rflags);
	return text;
}

static void same(const struct beside_insn *insn, const struct state *in, const char *what,
		 uint64_t got, uint64_t want)
{
	ck_assert_msg(got == want, "%s: %s %#" PRIx64 ", not %#" PRIx64, describe(insn, in), what,
		      got, want);
}

/*
 * ROL and ROR by an immediate other than 1 leave OF undefined. The software CPU rotates by CL, for
 * which Intel's processors set OF differently than for an immediate.
 */
static uint64_t flags_of(const struct beside_insn *insn)
{
	bool rotates = !strncmp(insn->text, "rol", 3) || !strncmp(insn->text, "ror", 3);

	return rotates && strchr(insn->text, '$') && !strstr(insn->text, "$1,")
		       ? BESIDE_FLAGS & ~X86_FL_OF
		       : BESIDE_FLAGS;
}

static void compare(const struct beside_insn *insn, const struct state *in, const struct state *got,
		    const struct state *want)
{
	static const char *const name[REGS] = {"RAX", "RBX", "RCX", "RDX", "RSI", "RDI",
					       "RSP", "RBP", "R8",  "R9",  "R10", "R11",
					       "R12", "R13", "R14", "R15"};
	unsigned int i;

	for (i = 0; i < REGS; i++)
		if (got->s.reg[i] != want->s.reg[i])
			same(insn, in, name[i], got->s.reg[i], want->s.reg[i]);
	for (i = 0; i < 4; i++)
		if (got->mem[i] != want->mem[i])
			same(insn, in, "memory", got->mem[i], want->mem[i]);
	if ((got->s.rflags ^ want->s.rflags) & flags_of(insn))
		same(insn, in, "flags", got->s.rflags & flags_of(insn),
		     want->s.rflags & flags_of(insn));
}

static void one_beside_host(const struct beside_insn *insn, const struct state *in)
{
	struct state got = *in, want = *in;
	const bool divides = native(&want, insn->code);
	const struct engine_exit exit = step(&got);
	const uint64_t len = divides ? (uint64_t)(insn->end - insn->code) : 0;

	if (divides ? exit.kind != ENGINE_EXIT_NONE
		    : exit.kind != ENGINE_EXIT_FAULT || exit.fault.vector != X86_VEC_DE)
		ck_abort_msg("%s: exit %d, vector %d", describe(insn, in), exit.kind,
			     exit.fault.vector);
	if (beside_vcpu->regs->rip != BESIDE_CODE + len)
		same(insn, in, "RIP", beside_vcpu->regs->rip, BESIDE_CODE + len);
	compare(insn, in, &got, &want);
}

static void put_code(const void *code, size_t len)
{
	beside_put(BESIDE_CODE, code, len);
}

static void put_insn(const struct beside_insn *insn)
{
	put_code(insn->code, (size_t)(insn->end - insn->code));
}

START_TEST(beside_host)
{
	const struct beside_insn *insn = &__start_test_insns[_i];
	const struct sigaction fpe = {.sa_sigaction = on_sigfpe, .sa_flags = SA_SIGINFO};
	unsigned int a, b, salt;

	if (!strncmp(insn->text, "mulx", 4) && !__builtin_cpu_supports("bmi2"))
		return;
	sigaction(SIGFPE, &fpe, NULL);
	put_insn(insn);
	for (a = 0; a < VALUES; a++) {
		for (b = 0; b < VALUES; b++) {
			for (salt = 0; salt < 4; salt++) {
				struct state in =
					make_state(values[a], values[b], salt + a * 4 + b * 28);

				one_beside_host(insn, &in);
			}
		}
	}
}
END_TEST

/* Results by hand. Code is 64-bit unless the row says otherwise. RSI points to `mem`. */
struct known {
	const char *code;
	uint8_t len, bits;
	uint64_t rax, rbx, rdx, mem, flags;
	uint64_t to_rax, to_rdx, to_mem, to_flags;
	uint64_t undefined; /* flags that are not looked at */
};

#define CODE_BYTES(text) .code = (text), .len = sizeof(text) - 1
#define AFTER_MUL	 (X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF)

static const struct known known[] = {
	/* ADD AL, BL: overflow; carry. */
	{CODE_BYTES("\x00\xd8"), .rax = 0x117f, .rbx = 1, .to_rax = 0x1180,
	 .to_flags = X86_FL_OF | X86_FL_SF | X86_FL_AF},
	{CODE_BYTES("\x01\xd8"), .rax = 0xaaaaaaaaffffffff, .rbx = 1,
	 .to_flags = X86_FL_CF | X86_FL_ZF | X86_FL_PF | X86_FL_AF},
	/* ADC RAX, imm8 -1 with CF keeps RAX and sets CF. */
	{CODE_BYTES("\x48\x83\xd0\xff"), .rax = 0x10, .flags = X86_FL_CF, .to_rax = 0x10,
	 .to_flags = X86_FL_CF | X86_FL_AF},
	/* SBB EAX, EAX copies the carry to all bits. */
	{CODE_BYTES("\x19\xc0"), .rax = 5, .flags = X86_FL_CF, .to_rax = 0xffffffff,
	 .to_flags = X86_FL_CF | X86_FL_AF | X86_FL_SF | X86_FL_PF},
	/* SUB EAX, EAX and XOR EAX, EAX clear all of RAX. */
	{CODE_BYTES("\x29\xc0"), .rax = ~0ull, .flags = ARITHMETIC,
	 .to_flags = X86_FL_ZF | X86_FL_PF},
	{CODE_BYTES("\x31\xc0"), .rax = ~0ull, .flags = ARITHMETIC,
	 .to_flags = X86_FL_ZF | X86_FL_PF, .undefined = X86_FL_AF},
	/* XOR AX, AX does not. */
	{CODE_BYTES("\x66\x31\xc0"), .rax = 0x12345678, .to_rax = 0x12340000,
	 .to_flags = X86_FL_ZF | X86_FL_PF, .undefined = X86_FL_AF},
	/* CMP and TEST of memory do not change the memory. */
	{CODE_BYTES("\x48\x83\x3e\x05"), .mem = 4, .to_mem = 4,
	 .to_flags = X86_FL_CF | X86_FL_AF | X86_FL_SF | X86_FL_PF},
	{CODE_BYTES("\xf6\x06\x80"), .mem = 0x80, .to_mem = 0x80, .to_flags = X86_FL_SF,
	 .undefined = X86_FL_AF},
	/* INC and DEC preserve CF. */
	{CODE_BYTES("\xff\x06"), .mem = 0x7fffffff, .flags = X86_FL_CF, .to_mem = 0x80000000,
	 .to_flags = X86_FL_CF | X86_FL_OF | X86_FL_SF | X86_FL_AF | X86_FL_PF},
	{CODE_BYTES("\x48\xff\xc8"), .to_rax = ~0ull,
	 .to_flags = X86_FL_SF | X86_FL_AF | X86_FL_PF},
	/* NEG of the least number; NOT, which preserves the flags. */
	{CODE_BYTES("\xf6\xd8"), .rax = 0x80, .to_rax = 0x80,
	 .to_flags = X86_FL_CF | X86_FL_OF | X86_FL_SF},
	{CODE_BYTES("\xf7\xd0"), .rax = 0x5aa5, .flags = ARITHMETIC, .to_rax = 0xffffa55a,
	 .to_flags = ARITHMETIC},
	/* SHL EAX by 32, which is 0, clears the upper half and preserves the flags. */
	{CODE_BYTES("\xc1\xe0\x20"), .rax = ~0ull, .flags = ARITHMETIC, .to_rax = 0xffffffff,
	 .to_flags = ARITHMETIC},
	/* RCL RAX, 1; ROR AL, 1. */
	{CODE_BYTES("\x48\xd1\xd0"), .rax = 1ull << 63, .flags = X86_FL_CF | X86_FL_ZF, .to_rax = 1,
	 .to_flags = X86_FL_CF | X86_FL_OF | X86_FL_ZF},
	{CODE_BYTES("\xd0\xc8"), .rax = 1, .to_rax = 0x80, .to_flags = X86_FL_CF | X86_FL_OF},
	/* SHRD RAX, RBX, 4. */
	{CODE_BYTES("\x48\x0f\xac\xd8\x04"), .rax = 0x18, .rbx = 0xf, .to_rax = 0xfull << 60 | 1,
	 .to_flags = X86_FL_CF | X86_FL_SF, .undefined = X86_FL_OF | X86_FL_AF | X86_FL_PF},
	/* MUL RBX, IMUL BL. */
	{CODE_BYTES("\x48\xf7\xe3"), .rax = ~0ull, .rbx = ~0ull, .to_rax = 1, .to_rdx = ~1ull,
	 .to_flags = X86_FL_CF | X86_FL_OF, .undefined = AFTER_MUL},
	{CODE_BYTES("\xf6\xeb"), .rax = 0xff80, .rbx = 0xff, .to_rax = 0x80,
	 .to_flags = X86_FL_CF | X86_FL_OF, .undefined = AFTER_MUL},
	/* DIV RBX, IDIV RBX: 128 by 64, the largest quotients. */
	{CODE_BYTES("\x48\xf7\xf3"), .rax = ~0ull, .rdx = ~1ull, .rbx = ~0ull, .to_rax = ~0ull,
	 .to_rdx = ~1ull, .undefined = ARITHMETIC},
	{CODE_BYTES("\x48\xf7\xfb"), .rax = 0, .rdx = ~0ull, .rbx = 2, .to_rax = 1ull << 63,
	 .undefined = ARITHMETIC},
	{CODE_BYTES("\x48\xf7\xfb"), .rax = 1, .rdx = 1ull << 62, .rbx = 1ull << 63,
	 .to_rax = 1ull << 63, .to_rdx = 1, .undefined = ARITHMETIC},
	/* MOV to and from absolute addresses, of 64 and of 32 bits. */
	{CODE_BYTES("\x48\xa1\x00\x00\x00\x10\x00\x00\x00\x00"), .mem = 0x123456789abcdef,
	 .to_mem = 0x123456789abcdef, .to_rax = 0x123456789abcdef},
	{CODE_BYTES("\xa2\x01\x00\x00\x10\x00\x00\x00\x00"), .rax = 0x5a, .to_rax = 0x5a,
	 .to_mem = 0x5a00},
	{CODE_BYTES("\xa1\x00\x00\x00\x10"), .bits = 32, .rax = ~0ull, .mem = ~1ull,
	 .to_mem = ~1ull, .to_rax = 0xfffffffe},
	/* LEA of RIP, of EIP, with an address size of 16. */
	{CODE_BYTES("\x48\x8d\x05\x10\x00\x00\x00"), .to_rax = BESIDE_CODE + 7 + 0x10},
	{CODE_BYTES("\x67\x48\x8d\x05\xf8\xff\xfe\xff"), .to_rax = 0},
	{CODE_BYTES("\x67\x8d\x47\xff"), .bits = 32, .rax = ~0ull, .rbx = 0x12340000,
	 .to_rax = 0xffff},
	/* INC EAX and DEC EAX of one byte. */
	{CODE_BYTES("\x40"), .bits = 32, .rax = 0xff, .to_rax = 0x100,
	 .to_flags = X86_FL_PF | X86_FL_AF},
	{CODE_BYTES("\x66\x48"), .bits = 32, .rax = 0x10000, .to_rax = 0x1ffff,
	 .to_flags = X86_FL_PF | X86_FL_AF | X86_FL_SF},
	/* CMOVZ EAX, EBX zero-extends EAX even if the condition is false. */
	{CODE_BYTES("\x0f\x44\xc3"), .rax = ~0ull, .to_rax = 0xffffffff},
	/* F3 90 is PAUSE with REX.B too; without F3 that is XCHG of R8, and R8 is 0. */
	{CODE_BYTES("\xf3\x41\x90"), .rax = 5, .to_rax = 5},
	{CODE_BYTES("\xf3\x49\x90"), .rax = 5, .to_rax = 5},
	{CODE_BYTES("\x49\x90"), .rax = 5},
	/* SAHF; LAHF with the bit that is always set. */
	{CODE_BYTES("\x9e"), .rax = 0xff00, .flags = X86_FL_OF, .to_rax = 0xff00,
	 .to_flags = ARITHMETIC},
	{CODE_BYTES("\x9f"), .flags = ARITHMETIC, .to_rax = 0xd700, .to_flags = ARITHMETIC},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

START_TEST(by_hand)
{
	const struct known *k = &known[_i];
	struct state t = {
		.s.reg = {[RAX] = k->rax, [RBX] = k->rbx, [RDX] = k->rdx, [RSI] = MEM},
		.s.rflags = X86_FL_FIXED | k->flags,
		.mem = {k->mem},
	};
	struct engine_exit exit;

	put_code(k->code, k->len);
	if (k->bits)
		beside_mode(k->bits, 0);
	exit = step(&t);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
	ck_assert_uint_eq(beside_vcpu->regs->rip, BESIDE_CODE + k->len);
	ck_assert_uint_eq(t.s.reg[RAX], k->to_rax);
	ck_assert_uint_eq(t.s.reg[RBX], k->rbx);
	ck_assert_uint_eq(t.s.reg[RDX], k->to_rdx);
	ck_assert_uint_eq(t.mem[0], k->to_mem);
	ck_assert_uint_eq((t.s.rflags ^ (k->to_flags | X86_FL_FIXED)) & ~k->undefined, 0);
}
END_TEST

/* Instructions that raise an exception: quotients that do not fit, and undefined instructions. */
static const struct refused {
	const char *code;
	uint8_t len, vector;
	uint64_t rax, rbx, rdx;
} refused[] = {
	{CODE_BYTES("\xf6\xf3"), .vector = X86_VEC_DE, .rax = 0x1234},
	{CODE_BYTES("\xf6\xf3"), .vector = X86_VEC_DE, .rax = 0x200, .rbx = 2},
	{CODE_BYTES("\xf6\xfb"), .vector = X86_VEC_DE, .rax = 0xff80, .rbx = 0xff},
	{CODE_BYTES("\xf6\xfb"), .vector = X86_VEC_DE, .rax = 0x8000, .rbx = 0xff},
	{CODE_BYTES("\xf6\xfb"), .vector = X86_VEC_DE, .rax = 0x80, .rbx = 1},
	{CODE_BYTES("\x66\xf7\xf3"), .vector = X86_VEC_DE, .rdx = 7, .rbx = 7},
	{CODE_BYTES("\x66\xf7\xfb"), .vector = X86_VEC_DE, .rax = 0x8000, .rdx = 0xffff,
	 .rbx = 0xffff},
	{CODE_BYTES("\xf7\xf3"), .vector = X86_VEC_DE, .rax = ~0ull, .rbx = 1ull << 32},
	{CODE_BYTES("\xf7\xfb"), .vector = X86_VEC_DE, .rax = 1u << 31, .rdx = 0xffffffff,
	 .rbx = 0xffffffff},
	{CODE_BYTES("\xf7\xfb"), .vector = X86_VEC_DE, .rdx = 1, .rbx = 2},
	{CODE_BYTES("\x48\xf7\xf3"), .vector = X86_VEC_DE},
	{CODE_BYTES("\x48\xf7\xf3"), .vector = X86_VEC_DE, .rdx = 5, .rbx = 5},
	{CODE_BYTES("\x48\xf7\xfb"), .vector = X86_VEC_DE, .rax = 1},
	{CODE_BYTES("\x48\xf7\xfb"), .vector = X86_VEC_DE, .rax = 1ull << 63, .rdx = ~0ull,
	 .rbx = ~0ull},
	{CODE_BYTES("\x48\xf7\xfb"), .vector = X86_VEC_DE, .rdx = 1, .rbx = 2},
	{CODE_BYTES("\x48\xf7\xfb"), .vector = X86_VEC_DE, .rdx = 1ull << 63, .rbx = ~0ull},
	{CODE_BYTES("\x48\xf7\xfb"), .vector = X86_VEC_DE, .rdx = 1ull << 62, .rax = 1,
	 .rbx = 1ull << 62},
	{CODE_BYTES("\x0f\x0b"), .vector = X86_VEC_UD},
	{CODE_BYTES("\x0f\xb9\xc0"), .vector = X86_VEC_UD},
	{CODE_BYTES("\x0f\xff\xc0"), .vector = X86_VEC_UD},
	/* LOCK is invalid here: ADD EAX, EBX; CMP [RSI], EAX; MOV [RSI], EAX. */
	{CODE_BYTES("\xf0\x01\xd8"), .vector = X86_VEC_UD},
	{CODE_BYTES("\xf0\x39\x06"), .vector = X86_VEC_UD},
	{CODE_BYTES("\xf0\x89\x06"), .vector = X86_VEC_UD},
};

#define REFUSED (sizeof(refused) / sizeof(refused[0]))

static void expect_untouched(const struct state *before, const struct state *after)
{
	ck_assert_mem_eq(before->s.reg, after->s.reg, sizeof(before->s.reg));
	ck_assert_mem_eq(before->mem, after->mem, sizeof(before->mem));
	ck_assert_uint_eq(before->s.rflags, after->s.rflags);
	ck_assert_uint_eq(beside_vcpu->regs->rip, BESIDE_CODE);
}

START_TEST(has_no_result)
{
	const struct refused *r = &refused[_i];
	unsigned int flags;

	put_code(r->code, r->len);
	for (flags = 0; flags < 2; flags++) {
		const struct state before = {
			.s.reg = {[RAX] = r->rax, [RBX] = r->rbx, [RDX] = r->rdx, [RSI] = MEM},
			.s.rflags = X86_FL_FIXED | (flags ? BESIDE_FLAGS : 0),
		};
		struct state t = before;
		struct engine_exit exit = step(&t);

		ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
		ck_assert_uint_eq(exit.fault.vector, r->vector);
		ck_assert(!exit.fault.has_error);
		expect_untouched(&before, &t);
	}
}
END_TEST

/* Instructions that read memory at RSI, and instructions that write to it. */
#define READS(text)  BESIDE_INSN(test_reads, text)
#define WRITES(text) BESIDE_INSN(test_writes, text)

READS("addl (%rsi), %eax")
READS("adcq (%rsi), %rax")
READS("cmpl %eax, (%rsi)")
READS("cmpq $5, (%rsi)")
READS("testl %eax, (%rsi)")
READS("testq $5, (%rsi)")
READS("imull (%rsi), %eax")
READS("imulq $5, (%rsi), %rax")
READS("mull (%rsi)")
READS("imulq (%rsi)")
READS("divl (%rsi)")
READS("idivq (%rsi)")
READS("movl (%rsi), %eax")
READS("movq (%rsi), %rsi")
READS("movzwl (%rsi), %eax")
READS("movslq (%rsi), %rax")
READS("cmovzl (%rsi), %eax")
READS("cmovnzl (%rsi), %eax")
READS("clflush (%rsi)")
WRITES("addl %eax, (%rsi)")
WRITES("adcq $5, (%rsi)")
WRITES("xorl $0, (%rsi)")
WRITES("lock orl $0, (%rsi)")
WRITES("incl (%rsi)")
WRITES("negq (%rsi)")
WRITES("notl (%rsi)")
WRITES("shll $1, (%rsi)")
WRITES("shll $0, (%rsi)")
WRITES("rolq %cl, (%rsi)")
WRITES("shldl $3, %eax, (%rsi)")
WRITES("movl %eax, (%rsi)")
WRITES("movq $5, (%rsi)")
WRITES("setz (%rsi)")

extern const struct beside_insn __start_test_reads[], __stop_test_reads[];
extern const struct beside_insn __start_test_writes[], __stop_test_writes[];

/* The second of the identity-mapped 2 MiB pages. */
enum { READ_ONLY = 2 << 20 };

static void expect_page_fault(const struct beside_insn *insn, uint64_t at, uint64_t cr2,
			      uint32_t error)
{
	const struct state before = {
		.s.reg = {[RAX] = 0x1111111122222222, [RBX] = 3, [RCX] = 4, [RDX] = 5, [RSI] = at},
		.s.rflags = X86_FL_FIXED | X86_FL_CF | X86_FL_PF | X86_FL_OF,
	};
	struct state t = before;
	struct engine_exit exit = step(&t);

	ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT && exit.fault.vector == X86_VEC_PF &&
			      exit.fault.has_error && exit.fault.error == error &&
			      exit.fault.cr2 == cr2,
		      "%s: exit %d, vector %d, error %#x, CR2 %#lx", insn->text, exit.kind,
		      exit.fault.vector, exit.fault.error, exit.fault.cr2);
	expect_untouched(&before, &t);
}

/* A faulting access changes nothing. */
START_TEST(faulting_load)
{
	const struct beside_insn *insn = &__start_test_reads[_i];
	struct state t = {.s.reg = {[RSI] = READ_ONLY}, .s.rflags = X86_FL_FIXED};

	put_insn(insn);
	expect_page_fault(insn, BESIDE_NOWHERE, BESIDE_NOWHERE, 0);
	if (strncmp(insn->text, "clflush", 7))
		expect_page_fault(insn, BESIDE_NOWHERE - 1, BESIDE_NOWHERE, 0);
	ck_assert_int_eq(step(&t).kind, ENGINE_EXIT_NONE);
}
END_TEST

START_TEST(faulting_store)
{
	const struct beside_insn *insn = &__start_test_writes[_i];

	put_insn(insn);
	expect_page_fault(insn, BESIDE_NOWHERE, BESIDE_NOWHERE, 2);
	expect_page_fault(insn, READ_ONLY, READ_ONLY, 3);
	if (!strncmp(insn->text, "set", 3))
		return;
	/* A store that crosses into a faulting page does not write to the page before either. */
	expect_page_fault(insn, READ_ONLY - 2, READ_ONLY, 3);
	expect_page_fault(insn, BESIDE_NOWHERE - 2, BESIDE_NOWHERE, 2);
	ck_assert_uint_eq(beside_get64(READ_ONLY - 8), 0);
	ck_assert_uint_eq(beside_get64(MEM_RAM + BESIDE_WINDOW_BYTES - 8), 0);
}
END_TEST

/* MOV BYTE [RIP], 0F9H changes the NOP after it to STC, and the STC is executed. */
START_TEST(nop_changed)
{
	static const char code[] = "\xc6\x05\x00\x00\x00\x00\xf9\x90\x0f\x0b";
	struct engine_exit exit;

	exit = beside_run(code, sizeof(code) - 1, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_UD);
	ck_assert_uint_eq(beside_vcpu->regs->rip, BESIDE_CODE + 8);
	ck_assert_uint_eq(beside_vcpu->retired, 2);
	ck_assert(beside_vcpu->regs->rflags & X86_FL_CF);
}
END_TEST

static void setup(void)
{
	beside_create();
	beside_put64(BESIDE_PD + 8, READ_ONLY | 0x85);
	beside_put64(READ_ONLY, 1);
}

#define COUNT(table) (int)(__stop_##table - __start_##table)

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_alu");
	TCase *tc = tcase_create("integer");

	tcase_add_checked_fixture(tc, setup, beside_destroy);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, beside_host, 0, COUNT(test_insns));
	tcase_add_loop_test(tc, by_hand, 0, KNOWN);
	tcase_add_loop_test(tc, has_no_result, 0, REFUSED);
	tcase_add_loop_test(tc, faulting_load, 0, COUNT(test_reads));
	tcase_add_loop_test(tc, faulting_store, 0, COUNT(test_writes));
	tcase_add_test(tc, nop_changed);
	suite_add_tcase(s, tc);
	return s;
}
