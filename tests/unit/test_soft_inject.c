// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupts and faults at each instruction of compiled blocks. Random programs run compiled on one
 * machine. The other one executes each instruction alone and compiles nothing. A budget ends before each
 * instruction, and a handler runs there. Each page that an instruction accesses is once not present and,
 * if the instruction writes, once read-only. All states and traces must be the same.
 * TEST_INJECT_BLOCKS is the number of compiled blocks, and TEST_INJECT_SEED the seed.
 */
#include "lib/plain_path.h"
#include "lib/plain_traced.h"
#include "lib/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/compile.h"
#include "soft/engine.h"
#include "soft/soft.h"
#include "x86/x86.h"

/* Of each of the four tests. */
#ifdef __SANITIZE_ADDRESS__
#define BLOCKS 20
#else
#define BLOCKS 200
#endif

enum {
	PATH = 80, /* instructions of a program that are visited */
	NEVER = 20,
	HANDLER = PLAIN_STACK - 0x4000,
	MOST = 64 /* the most instructions of a handler */
};

/* The parts of RAM that the programs use. */
static const struct {
	uint32_t at, bytes;
} used[] = {{0x1000, 0x5000}, {PLAIN_CODE, 0x2c000}};

/* push rax; push rcx; mov ecx, 3; 1: add eax, ecx; add [rsp-64], eax; dec ecx; jnz 1b; pop; pop; popf; ret */
static const uint8_t handler[] = {0x50, 0x51, 0xb9, 0x03, 0x00, 0x00, 0x00, 0x01, 0xc8, 0x01, 0x44,
				  0x24, 0xc0, 0xff, 0xc9, 0x75, 0xf6, 0x59, 0x58, 0x9d, 0xc3};

/* `fast` compiles, `slow` does not. */
static struct plain_traced fast, slow;
static struct plain_program program;
/* At the begin of the path. */
static uint8_t ram[PLAIN_RAM];
static struct x86_regs initial;
static bool traced;
static uint64_t random_trace;
static unsigned int bits;

/* The path of a program. */
static struct {
	struct plain_visit is;
	bool begins; /* a block */
	bool inside; /* a compiled block, and not its first instruction */
} path[PATH + 1];
static unsigned int length;

static struct {
	uint64_t programs, blocks, cuts, inside, interrupts, absent, read_only, compiled_faults;
} count;

static void prepare(struct plain_traced *t)
{
	plain_traced_create(t);
	t->bits = bits;
	plain_set_mode(&t->machine, bits);
	plain_use_pages(&t->machine);
	ck_assert(x86_mem_write(&t->machine.mem, HANDLER, handler, sizeof(handler)));
	if (!traced)
		t->machine.vcpu->observer = NULL;
}

static struct x86_regs *regs(struct plain_traced *t)
{
	return t->machine.vcpu->regs;
}

/* Return to the begin of the path. */
static void restore(struct plain_traced *t)
{
	uint8_t *host = t->machine.mem.host;
	const bool patched = memcmp(host + PLAIN_CODE, ram + PLAIN_CODE, PLAIN_CODE_BYTES);
	unsigned int i;

	for (i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		memcpy(host + used[i].at, ram + used[i].at, used[i].bytes);
	if (patched)
		soft_engine.vm_wrote(t->machine.vm, PLAIN_CODE, PLAIN_CODE_BYTES);
	*regs(t) = initial;
	t->machine.vcpu->state |= ENGINE_REGS_DIRTY;
	t->machine.vcpu->retired = 0;
	if (traced)
		plain_traced_start(t, random_trace);
}

/* Execute one instruction by step(), which reports nothing. */
static enum engine_exit_kind step(struct plain_traced *t, struct engine_exit *exit)
{
	const struct engine_step_hint hint = {0};

	memset(exit, 0, sizeof(*exit));
	soft_engine.step(t->machine.vcpu, &hint, exit);
	return exit->kind;
}

/* Execute up to an instruction of the path or an exit. Instructions for the core are stepped. */
static struct engine_exit go_fast(uint64_t until)
{
	struct engine_vcpu *v = fast.machine.vcpu;
	struct engine_exit exit = {.kind = ENGINE_EXIT_NONE};

	while (exit.kind == ENGINE_EXIT_NONE && v->retired < until) {
		exit = plain_traced_run(&fast, until - v->retired);
		if (exit.kind == ENGINE_EXIT_CORE)
			step(&fast, &exit);
		else if (exit.kind == ENGINE_EXIT_KICK)
			exit.kind = ENGINE_EXIT_NONE;
	}
	return exit;
}

/* Do the same with each instruction alone. */
static struct engine_exit go_slow(uint64_t until)
{
	struct engine_vcpu *v = slow.machine.vcpu;
	struct engine_exit exit = {.kind = ENGINE_EXIT_NONE};

	while (exit.kind == ENGINE_EXIT_NONE && v->retired < until) {
		exit.kind = ENGINE_EXIT_CORE;
		if (traced)
			exit = plain_traced_run(&slow, 1);
		if (exit.kind == ENGINE_EXIT_CORE)
			step(&slow, &exit);
		else if (exit.kind == ENGINE_EXIT_KICK)
			exit.kind = ENGINE_EXIT_NONE;
	}
	return exit;
}

static const char *difference(const struct engine_exit *a, const struct engine_exit *b)
{
	unsigned int i;

	if (a->kind != b->kind)
		return "exit";
	if (a->kind == ENGINE_EXIT_FAULT &&
	    (a->fault.vector != b->fault.vector || a->fault.has_error != b->fault.has_error ||
	     a->fault.error != b->fault.error || a->fault.cr2 != b->fault.cr2))
		return "fault";
	if (regs(&fast)->rip != regs(&slow)->rip)
		return "RIP";
	if (regs(&fast)->rflags != regs(&slow)->rflags)
		return "RFLAGS";
	if (memcmp(regs(&fast), regs(&slow), sizeof(struct x86_regs)))
		return "registers";
	if (fast.machine.vcpu->retired != slow.machine.vcpu->retired)
		return "number of instructions";
	for (i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		if (memcmp(fast.machine.mem.host + used[i].at, slow.machine.mem.host + used[i].at,
			   used[i].bytes))
			return "RAM";
	return traced ? plain_traced_difference(&fast, &slow) : NULL;
}

/* Both go up to an instruction or an exit, which must be the same. */
static struct engine_exit go(uint64_t until, const char *what, unsigned int at)
{
	const struct engine_exit a = go_fast(until), b = go_slow(until);
	const char *other = difference(&a, &b);
	uint32_t i;

	if (other) {
		fprintf(stderr, "code at %#x:", PLAIN_CODE + program.first);
		for (i = program.first; i < program.end; i++)
			fprintf(stderr, " %02x", program.code[i]);
		fprintf(stderr, "\nfrom RIP %#" PRIx64 "\n", path[0].is.regs.rip);
	}
	ck_assert_msg(!other,
		      "program %" PRIu64 ", %s%u bits: other %s, %s at instruction %u, "
		      "RIP %#" PRIx64 ": exit %d at %#" PRIx64 ", stepped %d at %#" PRIx64,
		      count.programs, traced ? "traced, " : "", bits, other, what, at,
		      path[at].is.regs.rip, a.kind, regs(&fast)->rip, b.kind, regs(&slow)->rip);
	return a;
}

static bool is_code(unsigned int page)
{
	return page - PLAIN_CODE / X86_PAGE_SIZE < PLAIN_CODE_BYTES / X86_PAGE_SIZE;
}

/* Returns true if the path patches its code. */
static bool find_path(void)
{
	bool patches = false;
	unsigned int i;

	restore(&slow);
	memset(path, 0, sizeof(path));
	for (length = 0; length < PATH && plain_visit(&slow.machine, &path[length].is); length++)
		;
	path[length].is.regs = *regs(&slow);
	for (i = 0; i < PLAIN_PAGES * PATH; i++)
		patches |= i / PLAIN_PAGES < length && is_code(i % PLAIN_PAGES) &&
			   plain_has_page(path[i / PLAIN_PAGES].is.written, i % PLAIN_PAGES);
	return patches;
}

/* Find where blocks of the path begin, and count those that are compiled, each once. */
static void find_blocks(void)
{
	struct soft *c = soft(fast.machine.vcpu);
	uint64_t seen[PATH + 1];
	unsigned int at = 0, i, j, n = 0;

	while (at < length) {
		const struct soft_block *b;
		bool compiled;

		c->r[SOFT_R_RIP] = path[at].is.regs.rip;
		b = soft_block(c, c->mode | (traced ? SOFT_BLOCK_TRACED : 0));
		compiled =
			c->compiler && b->compiled && soft_compiler_made(c->compiler, b->uop[0].fn);
		path[at].begins = true;
		for (i = 1; i < b->insns && at + i < length; i++)
			path[at + i].inside = compiled;
		for (j = 0; j < n && seen[j] != b->ip; j++)
			;
		if (j == n && compiled) {
			seen[n++] = b->ip;
			count.blocks++;
		}
		at += b->insns;
	}
}

/* Push the flags and RIP, and continue at the handler. */
static void deliver(struct plain_traced *t)
{
	struct x86_regs *r = regs(t);
	unsigned int wide = bits / 8;

	r->rsp -= 2 * wide;
	memcpy(t->machine.mem.host + r->rsp, &r->rflags, wide);
	memcpy(t->machine.mem.host + r->rsp + wide, &r->rip, wide);
	r->rip = HANDLER;
	t->machine.vcpu->state |= ENGINE_REGS_DIRTY;
}

/* End the budget before an instruction, run the handler and resume. */
static void interrupt(unsigned int at)
{
	uint64_t rsp = path[at].is.regs.rsp;

	restore(&fast);
	restore(&slow);
	go(at, "cut", at);
	count.cuts++;
	count.inside += path[at].inside;
	if (rsp - (HANDLER + 0x1100) > 0x6000)
		return;
	deliver(&fast);
	deliver(&slow);
	go(length + MOST, "interrupt", at);
	count.interrupts++;
}

/*
 * Return where to change an entry so that the instruction is the first to fault. It is the begin of a block,
 * if there is one behind the last instruction that would fault.
 */
static unsigned int place_of_change(unsigned int at, unsigned int page, bool write)
{
	unsigned int last = at, from;

	while (last &&
	       !plain_has_page(write ? path[last - 1].is.written : path[last - 1].is.read, page))
		last--;
	for (from = last; from <= at && !path[from].begins; from++)
		;
	return from <= at ? from : last;
}

static void fault(unsigned int at, unsigned int page, bool write)
{
	const unsigned int from = place_of_change(at, page, write);
	const uint64_t old = plain_entry(&slow.machine, page);
	const char *what = write ? "store to a read-only page" : "access to no page";
	struct engine_exit exit;

	/* The code from there on is compiled as well. */
	restore(&fast);
	go_fast(from);
	go_fast(length);
	restore(&fast);
	restore(&slow);
	go(from, what, at);
	plain_change_entry(&fast.machine, page, write ? old & ~(uint64_t)PLAIN_WRITABLE : 0);
	plain_change_entry(&slow.machine, page, write ? old & ~(uint64_t)PLAIN_WRITABLE : 0);
	exit = go(length, what, at);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_PF);
	ck_assert_uint_eq(slow.machine.vcpu->retired, at);
	*(write ? &count.read_only : &count.absent) += 1;
	count.compiled_faults += path[at].inside && from < at;
	plain_change_entry(&fast.machine, page, old);
	plain_change_entry(&slow.machine, page, old);
	go(length, "access after a fault", at);
}

static void visit_path(void)
{
	unsigned int at, page;

	for (at = 0; at <= length; at++)
		interrupt(at);
	for (at = 0; at < length; at++)
		for (page = 0; page < PLAIN_PAGES; page++) {
			if (plain_has_page(path[at].is.read, page) && !is_code(page))
				fault(at, page, false);
			if (plain_has_page(path[at].is.written, page))
				fault(at, page, true);
		}
}

static void run_program(uint64_t *state)
{
	unsigned int i;

	random_trace = plain_next(state);
	if (soft(fast.machine.vcpu)->compiler)
		soft_compile_after(soft(fast.machine.vcpu), random_trace >> 16 & 3);
	plain_program(state, bits, &program);
	plain_load(&fast.machine, &program);
	plain_load(&slow.machine, &program);
	plain_set_registers(&fast.machine, &program, state, bits);
	memcpy(ram, fast.machine.mem.host, sizeof(ram));
	initial = *regs(&fast);
	count.programs++;
	if (find_path())
		return;
	for (i = 0; i < 12; i++) {
		restore(&fast);
		go_fast(length);
	}
	find_blocks();
	visit_path();
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

START_TEST(each_instruction)
{
	uint64_t blocks = number_from("TEST_INJECT_BLOCKS", BLOCKS);
	uint64_t state = number_from("TEST_INJECT_SEED", 1) << 32;

	bits = _i & 1 ? 32 : 64;
	traced = _i & 2;
	memset(&count, 0, sizeof(count));
	prepare(&fast);
	prepare(&slow);
	if (soft(slow.machine.vcpu)->compiler)
		soft_compile_after(soft(slow.machine.vcpu), NEVER);
	while (count.blocks < blocks && count.programs < 4 * blocks)
		run_program(&state);
	printf("%u bits, %s: %" PRIu64 " programs, %" PRIu64 " compiled blocks, %" PRIu64
	       " cuts (%" PRIu64 " inside), %" PRIu64 " interrupts, %" PRIu64 " absent and %" PRIu64
	       " read-only pages (%" PRIu64 " inside)\n",
	       bits, traced ? "traced" : "not traced", count.programs, count.blocks, count.cuts,
	       count.inside, count.interrupts, count.absent, count.read_only,
	       count.compiled_faults);
	ck_assert_uint_gt(count.interrupts, count.cuts / 2);
	ck_assert_uint_gt(count.absent, blocks);
	ck_assert_uint_gt(count.read_only, blocks / 2);
	if (soft(fast.machine.vcpu)->compiler) {
		ck_assert_uint_ge(count.blocks, blocks);
		ck_assert_uint_gt(count.inside, 2 * blocks);
		ck_assert_uint_gt(count.compiled_faults, blocks / 2);
	}
	plain_traced_destroy(&fast);
	plain_traced_destroy(&slow);
}
END_TEST

TEST_SUITE("soft_inject", NULL, NULL)
{
	tcase_set_timeout(tcase, number_from("TEST_INJECT_BLOCKS", 0) > BLOCKS ? 7200 : 120);
	tcase_add_loop_test(tcase, each_instruction, 0, 4);
}
