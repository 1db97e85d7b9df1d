// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compiled blocks against the functions that they replace. Random programs execute in run() and in
 * step(), which compiles nothing, and must have the same results. Every other program has its
 * branches counted, also by a decoder. TEST_COMPILE_PROGRAMS is the number of programs, and
 * TEST_COMPILE_SEED the seed.
 */
#include "lib/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bit.h"
#include "engine/engine.h"
#include "lib/plain_machine.h"
#include "soft/compile.h"
#include "soft/engine.h"
#include "soft/kind.h"
#include "soft/soft.h"
#include "x86/insn.h"
#include "x86/x86.h"

enum { PROGRAMS = 8000, CHUNKS = 6 };

/* `fast` executes in run(), `slow` in step(). */
static struct plain_machine fast, slow;
static struct plain_program program;
static uint64_t made, executed, compiled_blocks, faults, branches, indirect;
/* Compiled micro-operations by their kind. */
static uint64_t of_kind[256][SOFT_K_FORMS];
static ZydisDecoder decoder;

/* Set the same random registers on both machines. */
static void set_registers(uint64_t *state, unsigned int bits)
{
	plain_set_registers(&fast, &program, state, bits);
	plain_copy_registers(&slow, &fast);
}

static void show(uint64_t seed, unsigned int bits, uint64_t from)
{
	uint32_t i;

	fprintf(stderr, "seed %#" PRIx64 ", %u-bit code, run from RIP %#" PRIx64 ", at %#x:", seed,
		bits, from, PLAIN_CODE + program.first);
	for (i = program.first; i < program.end; i++)
		fprintf(stderr, " %02x", program.code[i]);
	fprintf(stderr, "\n");
}

/* Return a text that describes the first difference, or NULL if there is none. */
static const char *difference(void)
{
	static const char *const name[] = {"RAX", "RBX", "RCX", "RDX", "RSI", "RDI",
					   "RSP", "RBP", "R8",	"R9",  "R10", "R11",
					   "R12", "R13", "R14", "R15", "RIP", "RFLAGS"};
	const uint64_t *a = (const uint64_t *)fast.vcpu->regs;
	const uint64_t *b = (const uint64_t *)slow.vcpu->regs;
	static char text[96];
	unsigned int i;

	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (a[i] != b[i]) {
			snprintf(text, sizeof(text), "%s: %#" PRIx64 " run, %#" PRIx64 " stepped",
				 name[i], a[i], b[i]);
			return text;
		}
	if (fast.vcpu->retired != slow.vcpu->retired)
		return "the number of instructions";
	if (fast.vcpu->branches != slow.vcpu->branches || slow.vcpu->branches != branches)
		return "the number of branches";
	return NULL;
}

static const char *memory_difference(void)
{
	static char text[64];
	uint64_t i;

	if (!memcmp(fast.mem.host, slow.mem.host, PLAIN_RAM))
		return NULL;
	for (i = 0; fast.mem.host[i] == slow.mem.host[i]; i++)
		;
	snprintf(text, sizeof(text), "RAM at %#" PRIx64 ": %#x run, %#x stepped", i,
		 fast.mem.host[i], slow.mem.host[i]);
	return text;
}

static const char *exit_difference(const struct engine_exit *a, const struct engine_exit *b)
{
	const struct engine_exception *x = &a->fault, *y = &b->fault;
	static char text[128];

	if (b->kind == ENGINE_EXIT_NONE && a->kind == ENGINE_EXIT_KICK)
		return NULL;
	/* Stores to code can create any instruction, even one that only the core executes. */
	if (b->kind == ENGINE_EXIT_UNABLE && a->kind == ENGINE_EXIT_UNABLE)
		return NULL;
	if (b->kind == ENGINE_EXIT_HLT && a->kind == ENGINE_EXIT_HLT)
		return NULL;
	if (a->kind == ENGINE_EXIT_FAULT && b->kind == ENGINE_EXIT_FAULT &&
	    x->vector == y->vector && x->has_error == y->has_error && x->error == y->error &&
	    x->cr2 == y->cr2)
		return NULL;
	snprintf(text, sizeof(text),
		 "exit %d, vector %d, error %#x run, exit %d, vector %d, "
		 "error %#x stepped",
		 a->kind, x->vector, x->error, b->kind, y->vector, y->error);
	return text;
}

/* Returns true if the next instruction is a near branch. */
static bool is_branch(const struct plain_machine *m)
{
	const uint8_t *code = m->mem.host + m->vcpu->regs->rip;
	ZydisDecodedInstruction insn;

	if (m->vcpu->regs->rip > PLAIN_RAM - 15 ||
	    !ZYAN_SUCCESS(x86_decode_insn(&decoder, code, 15, &insn)))
		return false;
	switch (insn.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
		return insn.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR;
	default:
		return false;
	}
}

/* Execute one instruction, and count it if it is a branch that retires. */
static void step(struct engine_exit *exit)
{
	const bool branch = slow.vcpu->state & ENGINE_BRANCHES && is_branch(&slow);
	const struct engine_step_hint hint = {0};

	memset(exit, 0, sizeof(*exit));
	soft_engine.step(slow.vcpu, &hint, exit);
	branches += branch && exit->kind == ENGINE_EXIT_NONE;
}

/* Execute by run(), and by step() what run() leaves to the core. */
static void run_fast(uint64_t budget, struct engine_exit *exit)
{
	const uint64_t end = fast.vcpu->retired + budget;
	const struct engine_step_hint hint = {0};

	do {
		memset(exit, 0, sizeof(*exit));
		fast.vcpu->budget = end - fast.vcpu->retired;
		soft_engine.run(fast.vcpu, false, exit);
		if (exit->kind != ENGINE_EXIT_CORE)
			return;
		memset(exit, 0, sizeof(*exit));
		soft_engine.step(fast.vcpu, &hint, exit);
	} while (exit->kind == ENGINE_EXIT_NONE && fast.vcpu->retired < end);
}

/* Execute until `budget` instructions or an exit. Return the difference, NULL if none. */
static const char *compare_chunk(uint64_t budget, bool *faulted)
{
	struct engine_exit one = {.kind = ENGINE_EXIT_NONE}, all;
	const char *what;
	uint64_t i;

	run_fast(budget, &all);
	for (i = 0; i < budget && one.kind == ENGINE_EXIT_NONE; i++)
		step(&one);
	executed += i;
	*faulted = one.kind != ENGINE_EXIT_NONE;
	what = exit_difference(&all, &one);
	return what ? what : difference();
}

static void count_kinds(const struct soft_block *b)
{
	unsigned int i;

	for (i = 0; i < b->uops; i++)
		of_kind[SOFT_KIND_OP(b->uop[i].kind)][SOFT_KIND_FORM(b->uop[i].kind)]++;
}

/* The kinds that few programs have, with their forms. */
static const uint8_t seldom[][2] = {
	{SOFT_K_PUSH, SOFT_K_RI},    {SOFT_K_SHL, SOFT_K_MI},	{SOFT_K_ROR, SOFT_K_MI},
	{SOFT_K_BT, SOFT_K_RM},	     {SOFT_K_BT, SOFT_K_MI},	{SOFT_K_BT, SOFT_K_AR},
	{SOFT_K_BSWAP, SOFT_K_RR},   {SOFT_K_BASED, SOFT_K_RR}, {SOFT_K_XCHG, SOFT_K_RR},
	{SOFT_K_XCHG, SOFT_K_AR},    {SOFT_K_SHLD, SOFT_K_RI},	{SOFT_K_SHRD, SOFT_K_RI},
	{SOFT_K_SCAN, SOFT_K_RR},    {SOFT_K_SCAN, SOFT_K_RM},	{SOFT_K_SET, SOFT_K_MI},
	{SOFT_K_CMPXCHG, SOFT_K_AR}, {SOFT_K_XADD, SOFT_K_AR},	{SOFT_K_MUL, SOFT_K_RR},
	{SOFT_K_MUL, SOFT_K_RM},     {SOFT_K_IMUL1, SOFT_K_RR}, {SOFT_K_DIV, SOFT_K_RR},
	{SOFT_K_DIV, SOFT_K_RM},     {SOFT_K_IDIV, SOFT_K_RR},	{SOFT_K_IDIV, SOFT_K_RM},
	{SOFT_K_LEAVE, SOFT_K_RR},
};

static void check_kinds(uint64_t programs)
{
	unsigned int i;

	for (i = 0; i < sizeof(seldom) / sizeof(seldom[0]); i++)
		ck_assert_msg(of_kind[seldom[i][0]][seldom[i][1]] > programs / 200,
			      "only %" PRIu64 " of kind %u, form %u",
			      of_kind[seldom[i][0]][seldom[i][1]], seldom[i][0], seldom[i][1]);
}

/* Count the blocks at labels that have host code. */
static void count_compiled(void)
{
	struct soft *c = soft(fast.vcpu);
	unsigned int i, j;

	for (i = 0; i < program.blocks; i++) {
		const struct soft_block *b;

		c->r[SOFT_R_RIP] = PLAIN_CODE + program.block[i];
		b = soft_block(c, c->mode);
		indirect +=
			SOFT_KIND_OP(b->uop[b->uops - 1].kind) >= SOFT_K_RET && b->link[0].inner;
		for (j = 0; b->compiled && j < b->uops; j++)
			if (soft_compiler_made(c->compiler, b->uop[j].fn)) {
				compiled_blocks++;
				count_kinds(b);
				break;
			}
	}
}

static uint64_t random_budget(uint64_t *state)
{
	uint64_t x = plain_next(state);

	return x & 1 ? 1 + (x >> 8 & 31) : 100 + (x >> 8 & 255);
}

static const char *compare_program(uint64_t *state, unsigned int bits, uint64_t *from)
{
	unsigned int i;
	const char *what;
	bool faulted;

	if (soft(fast.vcpu)->compiler)
		soft_compile_after(soft(fast.vcpu), plain_next(state) & 3);
	plain_program(state, bits, &program);
	made += program.insns;
	plain_load(&fast, &program);
	plain_load(&slow, &program);
	set_registers(state, bits);
	for (i = 0; i < CHUNKS; i++) {
		*from = fast.vcpu->regs->rip;
		what = compare_chunk(random_budget(state), &faulted);
		if (what)
			return what;
		faults += faulted;
		if (faulted)
			set_registers(state, bits);
	}
	return memory_difference();
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void begin(void)
{
	plain_create(&fast);
	plain_create(&slow);
	made = executed = compiled_blocks = faults = branches = indirect = 0;
	memset(of_kind, 0, sizeof(of_kind));
}

static void end(void)
{
	plain_destroy(&fast);
	plain_destroy(&slow);
}

static void count_branches(bool on)
{
	core_put_bit(&fast.vcpu->state, ENGINE_BRANCHES, on);
	core_put_bit(&slow.vcpu->state, ENGINE_BRANCHES, on);
}

static void compare_programs(unsigned int bits)
{
	uint64_t seed = number_from("TEST_COMPILE_SEED", 1) << 32, from = 0, i;
	uint64_t programs = number_from("TEST_COMPILE_PROGRAMS", PROGRAMS);
	bool has_compiler = soft(fast.vcpu)->compiler;

	plain_set_mode(&fast, bits);
	plain_set_mode(&slow, bits);
	ck_assert(ZYAN_SUCCESS(ZydisDecoderInit(
		&decoder,
		bits == 64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
		bits == 64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)));
	for (i = 0; i < programs; i++) {
		uint64_t state = seed + i;
		const char *what;

		count_branches(i & 1);
		what = compare_program(&state, bits, &from);
		if (what)
			show(seed + i, bits, from);
		ck_assert_msg(!what, "program %" PRIu64 ": %s", i, what);
		if (has_compiler)
			count_compiled();
	}
	printf("%u bits: %" PRIu64 " instructions, executed %" PRIu64 ", %" PRIu64
	       " faults, %" PRIu64 " blocks with host code, %" PRIu64
	       " that go on indirectly, %" PRIu64 " branches counted\n",
	       bits, made, executed, faults, compiled_blocks, indirect, branches);

	ck_assert_uint_gt(made, 30 * programs);
	ck_assert_uint_gt(executed, 10 * made);
	ck_assert_uint_gt(faults, programs / 20);
	ck_assert_uint_gt(branches, executed / 20);
	if (has_compiler)
		ck_assert_uint_gt(compiled_blocks, programs / 2);
	if (has_compiler && bits == 64) {
		ck_assert_uint_gt(indirect, programs / 20);
		check_kinds(programs);
	}
}

START_TEST(test_random_programs)
{
	compare_programs(_i ? 32 : 64);
}
END_TEST

/* Count an execution of the host code at the start of a block, and jump to that code. */
uint64_t compile_test_count;
soft_uop_fn compile_test_run;
SOFT_NO_ENDBR const struct soft_uop *compile_test_counted(struct soft *c, const struct soft_uop *u);

__asm__(".text\n"
	".type compile_test_counted, @function\n"
	"compile_test_counted:\n"
	"	incq	compile_test_count(%rip)\n"
	"	jmp	*compile_test_run(%rip)\n"
	".size compile_test_counted, . - compile_test_counted\n");

static struct engine_exit run_for(uint64_t budget)
{
	struct engine_exit exit;

	memset(&exit, 0, sizeof(exit));
	fast.vcpu->budget = budget;
	soft_engine.run(fast.vcpu, false, &exit);
	return exit;
}

/* Programs that end with a HLT or with a fault, and how many of their branches retire. */
static const struct {
	const char *name;
	uint8_t code[16];
	uint64_t rax, rsp;
	uint64_t branches;
	enum engine_exit_kind end;
} counted[] = {
	{"CALL, RET", {0xe8, 1, 0, 0, 0, 0xf4, 0xc3}, 0, PLAIN_STACK, 2, ENGINE_EXIT_HLT},
	{"JMP", {0xeb, 1, 0xcc, 0xf4}, 0, PLAIN_STACK, 1, ENGINE_EXIT_HLT},
	{"JE, taken", {0x31, 0xdb, 0x74, 0, 0xf4}, 0, PLAIN_STACK, 1, ENGINE_EXIT_HLT},
	{"JNE, not taken", {0x31, 0xdb, 0x75, 5, 0xf4}, 0, PLAIN_STACK, 1, ENGINE_EXIT_HLT},
	{"CMP, JE", {0x39, 0xc3, 0x74, 0, 0xf4}, 7, PLAIN_STACK, 1, ENGINE_EXIT_HLT},
	{"LOOP", {0xb9, 5, 0, 0, 0, 0xe2, 0xfe, 0xf4}, 0, PLAIN_STACK, 5, ENGINE_EXIT_HLT},
	{"JMP RAX", {0xff, 0xe0, 0xcc, 0xf4}, PLAIN_CODE + 3, PLAIN_STACK, 1, ENGINE_EXIT_HLT},
	{"CALL RAX", {0xff, 0xd0, 0xcc, 0xf4}, PLAIN_CODE + 3, PLAIN_STACK, 1, ENGINE_EXIT_HLT},
	{"JMP, JMP to no address", {0xeb, 0, 0xff, 0xe0}, 1ull << 63, 0, 1, ENGINE_EXIT_FAULT},
	{"CALL to no address", {0xff, 0xd0}, 1ull << 63, PLAIN_STACK, 0, ENGINE_EXIT_FAULT},
	{"JMP by no memory", {0xff, 0x20}, PLAIN_NOTHING, 0, 0, ENGINE_EXIT_FAULT},
	{"CALL, no stack", {0xe8, 0, 0, 0, 0}, 0, PLAIN_NOTHING + 8, 0, ENGINE_EXIT_FAULT},
	{"CALL RAX, no stack", {0xff, 0xd0}, PLAIN_CODE, PLAIN_NOTHING + 8, 0, ENGINE_EXIT_FAULT},
	{"JMP, RET, no stack", {0xeb, 0, 0xc3}, 0, PLAIN_NOTHING, 1, ENGINE_EXIT_FAULT},
	{"RET, no canonical stack", {0xc2, 8, 0}, 0, 1ull << 62, 0, ENGINE_EXIT_FAULT},
};

static void load_counted(struct plain_machine *m, int row)
{
	plain_set_mode(m, 64);
	plain_load(m, &program);
	*m->vcpu->regs = (struct x86_regs){.rip = PLAIN_CODE,
					   .rax = counted[row].rax,
					   .rbx = counted[row].rax,
					   .rsp = counted[row].rsp,
					   .rflags = X86_FL_FIXED};
	m->vcpu->state |= ENGINE_REGS_DIRTY;
}

/* A branch that faults is not counted. */
START_TEST(test_counted)
{
	struct engine_exit one;
	unsigned int pass, i;

	memset(&program, 0, sizeof(program));
	memcpy(program.code, counted[_i].code, sizeof(counted[_i].code));
	count_branches(true);
	/* In the second pass the blocks and their links exist. */
	for (pass = 1; pass <= 2; pass++) {
		load_counted(&fast, _i);
		ck_assert_int_eq(run_for(1000).kind, counted[_i].end);
		ck_assert_uint_eq(fast.vcpu->branches, pass * counted[_i].branches);
	}
	load_counted(&slow, _i);
	one.kind = ENGINE_EXIT_NONE;
	for (i = 0; i < 20 && one.kind == ENGINE_EXIT_NONE; i++)
		step(&one);
	ck_assert_int_eq(one.kind, counted[_i].end);
	ck_assert_uint_eq(slow.vcpu->branches, counted[_i].branches);
	count_branches(false);
	load_counted(&fast, _i);
	(void)run_for(1000);
	ck_assert_uint_eq(fast.vcpu->branches, 2 * counted[_i].branches);
}
END_TEST

/* Each execution of a compiled block executes its host code. */
START_TEST(test_host_code_runs)
{
	static const uint8_t loop[] = {
		0x48, 0x01, 0xd8, /* add %rbx, %rax */
		0x48, 0x89, 0xc2, /* mov %rax, %rdx */
		0xff, 0xc9,	  /* dec %ecx */
		0x75, 0xf6,	  /* jne back to the start */
	};
	struct soft *c = soft(fast.vcpu);
	uint64_t interpreted;
	struct soft_block *b;

	if (!c->compiler)
		return;
	plain_set_mode(&fast, 64);
	memset(&program, 0, sizeof(program));
	memcpy(program.code, loop, sizeof(loop));
	plain_load(&fast, &program);
	*fast.vcpu->regs = (struct x86_regs){
		.rip = PLAIN_CODE, .rbx = 3, .rcx = 1000000, .rflags = X86_FL_FIXED};
	fast.vcpu->state |= ENGINE_REGS_DIRTY;
	ck_assert_int_eq(run_for(4 * 100).kind, ENGINE_EXIT_KICK);
	b = soft_block(c, c->mode);
	ck_assert(b->compiled);
	ck_assert(soft_compiler_made(c->compiler, b->uop[0].fn));
	ck_assert(!soft_compiler_made(c->compiler, b->uop[1].fn));
	interpreted = fast.vcpu->interpreted;
	ck_assert_uint_gt(interpreted, 0);
	ck_assert_uint_lt(interpreted, 4 * 100);
	ck_assert_uint_eq(interpreted % 4, 0);
	/* The loop is one unit, which is entered once. */
	compile_test_count = 0;
	compile_test_run = b->uop[0].fn;
	b->uop[0].fn = compile_test_counted;
	ck_assert_int_eq(run_for(4 * 1000).kind, ENGINE_EXIT_KICK);
	b->uop[0].fn = compile_test_run;
	ck_assert_uint_eq(compile_test_count, 1);
	ck_assert_uint_eq(fast.vcpu->regs->rax, 3 * 1100);
	ck_assert_uint_eq(fast.vcpu->regs->rcx, 1000000 - 1100);
	ck_assert_uint_eq(fast.vcpu->interpreted, interpreted);
	/* The start of a block is interpreted. */
	ck_assert_int_eq(run_for(4 * 10 + 3).kind, ENGINE_EXIT_KICK);
	ck_assert_uint_eq(fast.vcpu->interpreted, interpreted + 3);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_compile");
	TCase *t = tcase_create("compile");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, number_from("TEST_COMPILE_PROGRAMS", 0) > PROGRAMS ? 7200 : 60);
	tcase_add_test(t, test_host_code_runs);
	tcase_add_loop_test(t, test_counted, 0, sizeof(counted) / sizeof(counted[0]));
	tcase_add_loop_test(t, test_random_programs, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
