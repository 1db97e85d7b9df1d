// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The software CPU: where a device, a signal and a budget end run(), and what the log of blocks shows
 * of it. The log has an entry for a block that is left early, and depends on the guest alone.
 */
#include <stdbool.h>
#include <string.h>

#include "lib/beside.h"
#include "lib/suite.h"
#include "vpt/gate.h"
#include "x86/x86.h"

#define DEVICE	  0x400000u /* linear; its page is outside RAM */
#define DEVICE_AT 0xfee00000u
#define WORDS	  64u
#define PORT	  0x70
/* The core executes HLT if there is an observer. */
#define END ENGINE_EXIT_CORE

static struct {
	unsigned int calls;
	bool wants;  /* the device requests the end of run() */
	bool signal; /* a signal comes during the access */
} device;

static void access_device(void)
{
	device.calls++;
	if (device.wants)
		beside_vcpu->state |= ENGINE_ATTENTION;
	if (device.signal)
		beside_engine->interrupt(beside_vcpu);
}

static void io(void *opaque, uint16_t port, uint8_t size, bool in, uint32_t count, void *data)
{
	(void)opaque;
	ck_assert_uint_eq(port, PORT);
	if (in)
		memset(data, 0, (size_t)size * count);
	access_device();
}

static void mmio(void *opaque, uint64_t gpa, uint32_t len, bool write, void *data)
{
	(void)opaque;
	ck_assert_uint_ge(gpa, DEVICE_AT);
	if (!write)
		memset(data, 0, len);
	access_device();
}

/* The words of the log. A block has its place and its number of instructions in place of a number. */
static uint32_t words[WORDS], found[256];
static size_t logged, blocks;
static uint32_t buffer[8];
static struct engine_log engine_log;
static struct vpt_gate gate;

static uint32_t stretch(void *opaque, const struct engine_stretch *s)
{
	(void)opaque;
	ck_assert_uint_lt(blocks, sizeof(found) / sizeof(found[0]));
	found[blocks] = (uint32_t)(s->ip - BESIDE_CODE) << 8 | s->insns;
	return (uint32_t)blocks++;
}

static void flush(void *opaque)
{
	const uint32_t *word;

	(void)opaque;
	for (word = engine_log.first; word < engine_log.at; word++) {
		ck_assert_uint_lt(logged, WORDS);
		words[logged++] = *word < ENGINE_LOG_CUT ? found[*word] : *word;
	}
	engine_log.at = engine_log.first;
}

static void report(void *opaque, struct engine_report *r)
{
	(void)opaque;
	(void)r;
}

static const struct engine_observer observer = {
	.gate = &gate,
	.wants = ENGINE_WANTS_LOG,
	.report = report,
	.log = &engine_log,
	.stretch = stretch,
	.flush = flush,
};

static void setup(void)
{
	beside_create();
	beside_mode(64, 0);
	beside_put64(BESIDE_PD + 8 * (DEVICE >> 21), DEVICE_AT | 0x87);
	beside_vcpu->bus = (struct engine_bus){.io = io, .mmio = mmio};
	engine_log = (struct engine_log){buffer, buffer + 8, buffer};
	memset(&device, 0, sizeof(device));
	logged = blocks = 0;
}

/* Code of 3 NOPs, an instruction and 3 NOPs. */
struct code {
	const char *text;
	const char *insn;
	size_t bytes;
	bool repeats; /* its count is so high that it runs in parts */
};

#define CODE(text, insn, repeats)                     \
	{                                             \
		text, insn, sizeof(insn) - 1, repeats \
	}

static const struct code codes[] = {
	CODE("out", "\xee", false),
	CODE("in", "\xec", false),
	CODE("outsb", "\x6e", false),
	CODE("store", "\x88\x07", false),
	CODE("load", "\x8a\x07", false),
	CODE("add to memory", "\x00\x07", false),
	CODE("stosb", "\xaa", false),
	CODE("push [mem]", "\xff\x37", false),
	CODE("vector store", "\x0f\x11\x07", false),
	CODE("rep lodsb from RAM", "\xf3\xac", true),
};

/* Put the code of a row, with registers for it. Returns the number of its instructions. */
static unsigned int begin(const struct code *code)
{
	uint8_t bytes[32] = {0x90, 0x90, 0x90};
	struct x86_regs *r = beside_vcpu->regs;

	memcpy(bytes + 3, code->insn, code->bytes);
	memset(bytes + 3 + code->bytes, 0x90, 3);
	bytes[6 + code->bytes] = 0xf4;
	beside_put(BESIDE_CODE, bytes, sizeof(bytes));
	beside_engine->vm_wrote(beside_vm, BESIDE_CODE, sizeof(bytes));
	*r = (struct x86_regs){
		.rip = BESIDE_CODE,
		.rdi = DEVICE,
		.rsi = BESIDE_DATA,
		.rdx = PORT,
		.rcx = 10000,
		.rsp = BESIDE_STACK,
		.rflags = X86_FL_FIXED,
	};
	beside_vcpu->state |= ENGINE_REGS_DIRTY;
	beside_vcpu->retired = 0;
	return 8;
}

static uint64_t place(void)
{
	return beside_vcpu->regs->rip - BESIDE_CODE;
}

static enum engine_exit_kind run(uint64_t until)
{
	struct engine_exit exit;

	beside_vcpu->budget = until - beside_vcpu->retired;
	beside_engine->run(beside_vcpu, false, &exit);
	return exit.kind;
}

/* A device that requests the end of run() gets it after the instruction. */
START_TEST(device_ends_run)
{
	const struct code *code = &codes[_i];

	if (code->repeats)
		return;
	begin(code);
	device.wants = true;
	ck_assert_int_eq(run(100), ENGINE_EXIT_KICK);
	ck_assert_msg(place() == 3 + code->bytes, "%s: at %llu", code->text,
		      (unsigned long long)place());
	ck_assert_uint_eq(beside_vcpu->retired, 4);
	ck_assert_uint_ge(device.calls, 1);
	ck_assert_uint_le(device.calls, 2);
	ck_assert_int_eq(run(100), ENGINE_EXIT_HLT);
	ck_assert_uint_eq(beside_vcpu->retired, 8);
}
END_TEST

/* A signal during an instruction ends run() behind the block, where nothing shows it. */
START_TEST(signal_leaves_no_cut)
{
	const struct code *code = &codes[_i];
	uint32_t before[WORDS];
	size_t n;

	beside_vcpu->observer = &observer;
	begin(code);
	while (run(100) != END)
		ck_assert(code->repeats);
	flush(NULL);
	n = logged;
	memcpy(before, words, sizeof(before));
	logged = 0;
	begin(code);
	device.signal = true;
	while (run(100) != END)
		ck_assert(code->repeats || device.calls);
	flush(NULL);
	ck_assert_msg(n == logged && !memcmp(before, words, n * sizeof(words[0])),
		      "%s: another log", code->text);
}
END_TEST

/*
 * A live run pauses where the engine returns, and stops an instruction later. Its replay has a budget
 * up to there. Their logs are the same.
 */
START_TEST(log_without_budgets)
{
	const struct code *code = &codes[_i];
	uint32_t live[WORDS];
	uint64_t stop;
	size_t n;

	beside_vcpu->observer = &observer;
	begin(code);
	device.wants = true;
	ck_assert_int_eq(run(100), ENGINE_EXIT_KICK);
	stop = beside_vcpu->retired + 1;
	ck_assert_uint_eq(stop, code->repeats ? 4 : 5);
	while (beside_vcpu->retired < stop)
		ck_assert_int_eq(run(stop), ENGINE_EXIT_KICK);
	flush(NULL);
	n = logged;
	memcpy(live, words, sizeof(live));
	ck_assert_uint_ge(n, 2);
	logged = 0;
	begin(code);
	while (beside_vcpu->retired < stop)
		ck_assert_int_eq(run(stop), ENGINE_EXIT_KICK);
	flush(NULL);
	ck_assert_msg(n == logged && !memcmp(live, words, n * sizeof(words[0])),
		      "%s: %zu words live, %zu in the replay", code->text, n, logged);
}
END_TEST

/* The start of a block that a budget ends has the number of the block, and how much of it ran. */
START_TEST(part_of_a_block)
{
	static const struct code nops = CODE("nop", "\x90", false);
	unsigned int insns = begin(&nops), budget;

	beside_vcpu->observer = &observer;
	for (budget = 1; budget < insns; budget++) {
		begin(&nops);
		ck_assert_int_eq(run(budget), ENGINE_EXIT_KICK);
		ck_assert_uint_eq(place(), budget);
		flush(NULL);
		ck_assert_uint_eq(logged, 2);
		ck_assert_uint_eq(words[0], insns);
		ck_assert_uint_eq(words[1], ENGINE_LOG_CUT | budget);
		logged = 0;
	}
}
END_TEST

/* An instruction of the part that runs changes the next one. The log has the code that ran. */
START_TEST(part_that_changes)
{
	/* nop; mov byte [rip + 0], 0x91; nop (becomes xchg ecx, eax); nop; nop; hlt */
	static const char code[] = "\x90\xc6\x05\x00\x00\x00\x00\x91\x90\x90\x90\xf4";
	uint64_t budget;

	beside_vcpu->observer = &observer;
	for (budget = 4; budget <= 6; budget++) {
		beside_put(BESIDE_CODE, code, sizeof(code));
		beside_engine->vm_wrote(beside_vm, BESIDE_CODE, sizeof(code));
		*beside_vcpu->regs = (struct x86_regs){.rip = BESIDE_CODE, .rflags = X86_FL_FIXED};
		beside_vcpu->regs->rcx = 7;
		beside_vcpu->state |= ENGINE_REGS_DIRTY;
		beside_vcpu->retired = 0;
		logged = 0;
		ck_assert_int_eq(run(budget), budget == 6 ? END : ENGINE_EXIT_KICK);
		ck_assert_uint_eq(beside_vcpu->regs->rax, 7);
		flush(NULL);
		ck_assert_uint_ge(logged, 3);
		ck_assert_uint_eq(words[0], 6);
		ck_assert_uint_eq(words[1], ENGINE_LOG_CUT | 2);
		ck_assert_uint_eq(words[2], 8u << 8 | 4);
	}
}
END_TEST

/* An observer of each instruction leaves no work to compiled code. */
START_TEST(each_is_interpreted)
{
	static const struct engine_observer each = {
		.gate = &gate,
		.wants = ENGINE_WANTS_INSNS,
		.report = report,
	};
	static const struct code nops = CODE("nop", "\x90", false);
	uint64_t before = beside_vcpu->interpreted;
	unsigned int insns = begin(&nops);

	beside_vcpu->observer = &each;
	ck_assert_int_eq(run(insns), END);
	ck_assert_uint_eq(beside_vcpu->retired, insns - 1);
	ck_assert_uint_eq(beside_vcpu->interpreted - before, insns - 1);
}
END_TEST

static unsigned int codes_reported;

static void count_code(void *opaque, uint64_t lin, unsigned int len, uint64_t gpa, uint64_t gpa2)
{
	(void)opaque;
	(void)len;
	ck_assert_uint_eq(lin, gpa);
	ck_assert_uint_eq(gpa2, 0);
	codes_reported++;
}

/*
 * Blocks that are linked to each other are not reported again, until the observer has forgotten them
 * between two instructions. A snapshot has no links.
 */
START_TEST(code_again)
{
	static const struct engine_observer reports = {
		.gate = &gate,
		.wants = ENGINE_WANTS_CODE,
		.report = report,
		.code = count_code,
	};
	static const char code[] = "\x90\xeb\x00\x90\xeb\xfa"; /* 1: nop; jmp 2f; 2: nop; jmp 1b */
	unsigned int before;

	beside_put(BESIDE_CODE, code, sizeof(code));
	beside_vcpu->observer = &reports;
	beside_vcpu->regs->rip = BESIDE_CODE;
	beside_vcpu->state |= ENGINE_REGS_DIRTY;
	gate.state = VPT_GATE_OPEN;
	codes_reported = 0;
	run(400);
	before = codes_reported;
	ck_assert_uint_ge(before, 2);
	ck_assert_uint_le(before, 8);
	run(800);
	/* Only the first block of run() has no link to it. */
	ck_assert_uint_le(codes_reported, before + 1);
	before = codes_reported;
	beside_vcpu->state |= ENGINE_CODE_AGAIN;
	run(1200);
	ck_assert_uint_ge(codes_reported, before + 2);
	ck_assert(!(beside_vcpu->state & ENGINE_CODE_AGAIN));
	gate.state = 0;
}
END_TEST

Suite *test_suite(void)
{
	const int rows = sizeof(codes) / sizeof(codes[0]);
	Suite *s = suite_create("soft_cuts");
	TCase *tc = tcase_create("soft_cuts");

	tcase_add_checked_fixture(tc, setup, beside_destroy);
	tcase_add_loop_test(tc, device_ends_run, 0, rows);
	tcase_add_loop_test(tc, signal_leaves_no_cut, 0, rows);
	tcase_add_loop_test(tc, log_without_budgets, 0, rows);
	tcase_add_test(tc, part_of_a_block);
	tcase_add_test(tc, part_that_changes);
	tcase_add_test(tc, each_is_interpreted);
	tcase_add_test(tc, code_again);
	suite_add_tcase(s, tc);
	return s;
}
