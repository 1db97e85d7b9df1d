// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Storms of exceptions, in ring 0, in ring 3 and inside each other's handlers. They are #DE, #BP,
 * #UD, #NP, #SS, #GP with and without a selector, #PF, and INT n. Then double faults on their own
 * stack, and single steps with the guest's own TF.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/rand.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "pt/trace.h"

PAYLOAD("storms of nested exceptions, double faults, single steps");

#define ROUNDS	     30 /* --arg: another number */
#define DEPTH_MAX    6
#define VEC_SOFT     0x51
#define VEC_MISSING  0x52 /* a vector without a gate */
#define VEC_KERNEL   0x53 /* a vector that ring 3 may not use */
#define BAD_SELECTOR 0x58 /* beyond the end of the GDT */
#define STRING(x)    STRING2(x)
#define STRING2(x)   #x

/*
 * void f(void): functions that raise one exception each, in the code of ring 0 and of ring 3.
 * Handlers continue at RCX, which is the next instruction.
 */
#define RAISE(name, before, insn)      \
	".globl " name "\n" name ":\n" \
	"	" before "\n"          \
	"	lea 2f(%rip), %rcx\n"        \
	"1:	" insn "\n"            \
	"2:	ret\n"

#define NON_CANONICAL "movabs $0x8000000000000000, %rax"

#define RAISES(section, ring)                                                                    \
	".pushsection " section ", \"ax\"\n" RAISE(ring "_de", "xor %edx, %edx; xor %esi, %esi", \
						   "div %esi") RAISE(ring "_bp", "", "int3")     \
		RAISE(ring "_ud", "", "ud2") RAISE(ring "_np", "", "int $" STRING(VEC_MISSING))  \
			RAISE(ring "_ss", "" NON_CANONICAL, "mov (%rsp,%rax), %rax")             \
				RAISE(ring "_gp", NON_CANONICAL, "mov (%rax), %rax") RAISE(      \
					ring "_gs", "mov $" STRING(BAD_SELECTOR) ", %eax",       \
					"mov %eax, %es") RAISE(ring "_pf",                       \
							       "movabs $0x9000000000, %rax",     \
							       "mov %rax, (%rax)")               \
					RAISE(ring "_in", "", "int $" STRING(VEC_SOFT))          \
						RAISE(ring "_kn", "",                            \
						      "int $" STRING(VEC_KERNEL)) ".popsection\n"

__asm__(RAISES(".text", "k") RAISES(".user.text", "u"));

typedef void raise_fn(void);
raise_fn k_de, k_bp, k_ud, k_np, k_ss, k_gp, k_gs, k_pf, k_in, k_kn;
raise_fn u_de, u_bp, u_ud, u_np, u_ss, u_gp, u_gs, u_pf, u_in, u_kn;

static const struct {
	raise_fn *kernel, *user;
	uint64_t vector, error;	  /* in ring 0 */
	uint64_t vector3, error3; /* in ring 3 */
} kinds[] = {
	{k_de, u_de, VEC_DE, 0, VEC_DE, 0},
	{k_bp, u_bp, VEC_BP, 0, VEC_BP, 0},
	{k_ud, u_ud, VEC_UD, 0, VEC_UD, 0},
	{k_np, u_np, VEC_NP, 8 * VEC_MISSING + 2, VEC_NP, 8 * VEC_MISSING + 2},
	{k_ss, u_ss, VEC_SS, 0, VEC_SS, 0},
	{k_gp, u_gp, VEC_GP, 0, VEC_GP, 0},
	{k_gs, u_gs, VEC_GP, BAD_SELECTOR, VEC_GP, BAD_SELECTOR},
	{k_pf, u_pf, VEC_PF, 2, VEC_PF, 6},
	{k_in, u_in, VEC_SOFT, 0, VEC_SOFT, 0},
	{k_kn, u_kn, VEC_KERNEL, 0, VEC_GP, 8 * VEC_KERNEL + 2},
};

static struct rng rng;
static uint64_t rounds, raised, taken, wrong, deepest;
static unsigned int depth, depth_wanted;
/* The expected exception. */
static uint64_t want_vector, want_error, want_cpl;

static void expect(unsigned int kind, bool user)
{
	raised++;
	want_vector = user ? kinds[kind].vector3 : kinds[kind].vector;
	want_error = user ? kinds[kind].error3 : kinds[kind].error;
	want_cpl = user ? 3 : 0;
}

static void raise_kernel(void)
{
	unsigned int kind = rng_below(&rng, ARRAY_SIZE(kinds));

	expect(kind, false);
	kinds[kind].kernel();
}

static void on_any(struct trap_frame *f)
{
	bool trap = f->vector == VEC_BP || f->vector == VEC_SOFT || f->vector == VEC_KERNEL;

	taken++;
	wrong += f->vector != want_vector || f->error != want_error || (f->cs & 3) != want_cpl ||
		 (f->rip == f->rcx) != trap || read_rflags() & (RFLAGS_IF | RFLAGS_TF);
	if (++depth > deepest)
		deepest = depth;
	while (depth < depth_wanted && rng_chance(&rng, 70))
		raise_kernel();
	depth--;
	f->rip = f->rcx;
}

static void storm(void)
{
	uint64_t i;

	for (i = 0; i < rounds; i++) {
		unsigned int kind = rng_below(&rng, ARRAY_SIZE(kinds));

		depth_wanted = 1 + rng_below(&rng, DEPTH_MAX);
		if (boot->flags & VPT_BOOT_RING3 && rng_chance(&rng, 50)) {
			expect(kind, true);
			ring3_call((uint64_t(*)(uint64_t))(uintptr_t)kinds[kind].user, 0);
		} else {
			raise_kernel();
		}
	}
}

static uint64_t doubles, wrong_double;

/* The handler runs on IST1. RDX: the stack on which execution continues. */
static void on_df(struct trap_frame *f)
{
	doubles++;
	wrong_double += f->error != 0 || (uintptr_t)f == f->rsp;
	idt_set_present(VEC_GP, true);
	f->rsp = f->rdx;
	f->rip = f->rcx;
}

/* #GP without a gate raises #NP during delivery: a double fault. */
static noinline void double_by_gate(void)
{
	idt_set_present(VEC_GP, false);
	__asm__ volatile("mov %%rsp, %%rdx\n"
			 "lea 1f(%%rip), %%rcx\n"
			 "mov (%0), %%rax\n"
			 "1:"
			 :
			 : "r"(1ull << 63)
			 : "rax", "rcx", "rdx", "memory");
}

/* A #PF whose frame cannot be pushed, as when a kernel's stack overflows. */
static noinline void double_by_stack(void)
{
	__asm__ volatile("mov %%rsp, %%rdx\n"
			 "lea 1f(%%rip), %%rcx\n"
			 "mov %0, %%rsp\n"
			 "push %%rax\n"
			 "1:"
			 :
			 : "r"(0x9000000000ull)
			 : "rcx", "rdx", "memory");
}

static uint64_t steps, step_ints, first_step, last_step;
static bool step_wrong;
extern const uint8_t step_first[], step_last[];

static void on_db(struct trap_frame *f)
{
	if (!steps++)
		first_step = f->rip;
	last_step = f->rip;
	step_wrong |= !(f->rflags & RFLAGS_TF) && f->rip != (uintptr_t)step_last;
	step_wrong |= !!(read_rflags() & RFLAGS_TF);
}

static void on_step_int(struct trap_frame *f)
{
	step_ints++;
	step_wrong |= !(f->rflags & RFLAGS_TF);
}

/*
 * The first POPF sets TF. TF traps from the instruction after it to the last POPF, inclusive. These
 * are XOR, four in each iteration, CALL, RET, JMP, and three more.
 */
#define STEPS(turns) (1 + 4 * (turns) + 3 + 3)
uint64_t stepped(uint64_t turns);
__asm__(".pushsection .text\n"
	"stepped:\n"
	"	pushfq\n"
	"	pushfq\n"
	"	orq $0x100, (%rsp)\n"
	"	popfq\n"
	"	xor %eax, %eax\n"
	".globl step_first\n"
	"step_first:\n"
	"1:	add %rdi, %rax\n"
	"	int $0x54\n" /* does not trap, because it clears TF before it completes */
	"	test $1, %dil\n"
	"	dec %rdi\n"
	"	jnz 1b\n"
	"	call 2f\n"
	"	jmp 3f\n"
	"2:	ret\n"
	"3:	pushfq\n"
	"	andq $~0x100, (%rsp)\n"
	"	popfq\n"
	".globl step_last\n"
	"step_last:\n"
	"	popfq\n"
	"	ret\n"
	".popsection\n");

static uint64_t step_sum;

static void work(void)
{
	unsigned int i;

	rng_seed(&rng, boot->seed);
	storm();
	for (i = 0; i < 8; i++) {
		double_by_gate();
		double_by_stack();
	}
	step_sum = stepped(10);
}

void payload(void)
{
	static const uint8_t vectors[] = {VEC_DE, VEC_BP, VEC_UD,   VEC_NP,    VEC_SS,
					  VEC_GP, VEC_PF, VEC_SOFT, VEC_KERNEL};
	struct trace t;
	unsigned int i;

	rounds = boot->arg[0] ? boot->arg[0] : ROUNDS;
	ring3_init(NULL);
	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		idt_hook(vectors[i], on_any);
	idt_hook(VEC_DF, on_df);
	idt_set_ist(VEC_DF, 1);
	idt_hook(VEC_DB, on_db);
	idt_hook(0x54, on_step_int);
	/* A complete gate with its P bit clear. */
	idt_hook(VEC_MISSING, on_any);
	idt_set_present(VEC_MISSING, false);
	idt_allow_user(VEC_MISSING);
	idt_allow_user(VEC_BP);
	idt_allow_user(VEC_SOFT);
	trace_long(&t, work);
	report_equal(taken, raised, "every exception came");
	report_equal(wrong, 0, "vector, error code, CPL and RIP of each");
	report(deepest >= DEPTH_MAX / 2, "inside each other's handlers");
	report_equal(doubles, 16, "double faults");
	report_equal(wrong_double, 0, "on a stack of their own, error code 0");
	report_equal(step_sum, 55, "a function under TF");
	report_equal(steps, STEPS(10), "a #DB after each of its instructions");
	report_equal(step_ints, 10, "INT n under TF");
	report(first_step == (uintptr_t)step_first && last_step == (uintptr_t)step_last,
	       "from the one after POPF to the POPF that ends it");
	report(!step_wrong, "TF is in the frames, and off in the handlers");
}
