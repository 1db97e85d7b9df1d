// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * String instructions of the software CPU. They are compared with this machine's processor. Further
 * tests are about faults, attention requested by a device, segments, and ports.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/beside.h"

#define INSN(text) BESIDE_INSN(test_insns, text)
extern const struct beside_insn __start_test_insns[], __stop_test_insns[];

#define SIZES(op)    \
	INSN(op "b") \
	INSN(op "w") \
	INSN(op "l") \
	INSN(op "q")
#define ADDRESS32(op)          \
	INSN("addr32 " op "b") \
	INSN("addr32 " op "q")
#define BOTH(op) SIZES(op) ADDRESS32(op)

BOTH("movs")
BOTH("cmps")
BOTH("scas")
BOTH("lods")
BOTH("stos")
BOTH("rep movs")
BOTH("repne movs")
BOTH("rep stos")
BOTH("rep lods")
BOTH("repe cmps")
BOTH("repne cmps")
BOTH("repe scas")
BOTH("repne scas")

/* Offsets of source and destination, and the count. Some overlap, and some cross pages. */
struct shape {
	uint32_t from, to;
	uint64_t count;
	bool down;
};

static const struct shape shapes[] = {
	{0x1000, 0x3000, 0, false},
	{0x1000, 0x3000, 1, false},
	{0x1000, 0x3000, 100, false},
	{0x1003, 0x3001, 1500, false},
	{0x1ffe, 0x3ff9, 50, false},
	{0x1000, 0x1001, 700, false},
	{0x1000, 0x1004, 700, false},
	{0x1000, 0x1008, 300, false},
	{0x1003, 0x1000, 700, false},
	{0x1000, 0x1000, 64, false},
	{0x3000, 0x5000, 100, true},
	{0x3001, 0x4ffe, 900, true},
	{0x3000, 0x3005, 300, true},
	{0x3005, 0x3000, 300, true},
	{0x2000, 0x4000, 3, false},
	/* Short ones in one page, and those that fill a page or end after it. */
	{0x1100, 0x1104, 12, false},
	{0x1100, 0x1108, 9, false},
	{0x1100, 0x110c, 16, false},
	{0x1100, 0x1103, 17, false},
	{0x1108, 0x1100, 16, false},
	{0x2000, 0x4000, 512, false},
	{0x2000, 0x4008, 512, false},
	{0x2008, 0x4000, 512, false},
	{0x2ff9, 0x4ff0, 8, false},
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Fill with strings that first are equal and then differ in the middle of a page. */
static void fill_window(unsigned int salt)
{
	uint8_t *at = beside_window();
	unsigned int i;

	for (i = 0; i < 0x8000; i++)
		at[i] = salt == 0   ? 0x5a
			: salt == 1 ? (uint8_t)(i / 700)
				    : (uint8_t)(i * 7 ^ i / 9);
}

START_TEST(beside_host)
{
	const struct beside_insn *insn = &__start_test_insns[_i];
	unsigned int i, salt;

	for (i = 0; i < SHAPES; i++) {
		for (salt = 0; salt < 3; salt++) {
			const struct shape *s = &shapes[i];
			struct beside_state in = {
				.reg = {[RAX] = 0x5a5a5a5a5a5a5a5a,
					[RCX] = s->count,
					[RSI] = BESIDE_WINDOW + s->from,
					[RDI] = BESIDE_WINDOW + s->to,
					[RSP] = BESIDE_WINDOW + 0x9000},
				.rflags = X86_FL_FIXED | (s->down ? X86_FL_DF : 0) |
					  (salt ? X86_FL_CF | X86_FL_OF | X86_FL_ZF : 0),
			};

			fill_window(salt);
			beside_compare(insn, &in, BESIDE_FLAGS);
		}
	}
}
END_TEST

static void set_regs(uint64_t rax, uint64_t rcx, uint64_t rsi, uint64_t rdi)
{
	*beside_vcpu->regs = (struct x86_regs){.rax = rax,
					       .rcx = rcx,
					       .rdx = 0x70,
					       .rsi = rsi,
					       .rdi = rdi,
					       .rsp = BESIDE_STACK,
					       .rflags = X86_FL_FIXED | X86_FL_SF};
}

/* A fault keeps the iterations before it, and RIP stays at the instruction. */
struct middle {
	const char *text, *code;
	uint64_t rsi, rdi, rcx; /* before */
	uint64_t done;		/* iterations until the fault */
	unsigned int size;	/* of one */
	bool moves_si, moves_di, down;
	uint32_t error;
};

#define END BESIDE_NOWHERE

static const struct middle middles[] = {
	{"stosb", "\xf3\xaa", 0, END - 100, 200, 100, 1, false, true, false, 2},
	{"stosq", "\xf3\x48\xab", 0, END - 104, 20, 13, 8, false, true, false, 2},
	{"stosq that straddles", "\xf3\x48\xab", 0, END - 100, 20, 12, 8, false, true, false, 2},
	{"movsb to nowhere", "\xf3\xa4", BESIDE_DATA, END - 5, 9, 5, 1, true, true, false, 2},
	{"movsb from nowhere", "\xf3\xa4", END - 7, BESIDE_DATA, 9, 7, 1, true, true, false, 0},
	{"movsd down", "\xf3\xa5", BESIDE_WINDOW + 8, BESIDE_DATA + 64, 9, 3, 4, true, true, true,
	 0},
	{"lodsw", "\xf3\x66\xad", END - 6, 0, 9, 3, 2, true, false, false, 0},
	{"repe scasb", "\xf3\xae", 0, END - 6, 9, 6, 1, false, true, false, 0},
	{"repe cmpsb", "\xf3\xa6", END - 6, BESIDE_DATA, 9, 6, 1, true, true, false, 0},
};

static void fault_in_the_middle(const struct middle *m)
{
	uint64_t moved = m->down ? -(m->done * m->size) : m->done * m->size;
	struct engine_exit exit;

	set_regs(0, m->rcx, m->rsi, m->rdi);
	if (m->down)
		beside_vcpu->regs->rflags |= X86_FL_DF;
	exit = beside_step(m->code, strlen(m->code));
	ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT, "%s: exit %d", m->text, exit.kind);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_PF);
	ck_assert_uint_eq(exit.fault.error, m->error);
	ck_assert_msg(beside_vcpu->regs->rcx == m->rcx - m->done, "%s: %llu left", m->text,
		      (unsigned long long)beside_vcpu->regs->rcx);
	ck_assert_uint_eq(beside_vcpu->regs->rsi, m->rsi + (m->moves_si ? moved : 0));
	ck_assert_uint_eq(beside_vcpu->regs->rdi, m->rdi + (m->moves_di ? moved : 0));
	ck_assert_uint_eq(beside_vcpu->regs->rip, BESIDE_CODE);
	/* A comparison that faults does not change the flags. */
	ck_assert_uint_eq(beside_vcpu->regs->rflags & BESIDE_FLAGS & ~X86_FL_DF, X86_FL_SF);
	ck_assert_uint_eq(beside_vcpu->retired, 0);
}

START_TEST(faults_in_the_middle)
{
	fault_in_the_middle(&middles[_i]);
	/* The TLB has the pages now. */
	fault_in_the_middle(&middles[_i]);
}
END_TEST

/* A REP instruction retires once, whatever its count. A long one takes several calls of run(). */
START_TEST(counts_once)
{
	static const char code[] = "\xf3\xab\x90\x90\xf4"; /* rep stosl; nop; nop; hlt */
	struct engine_exit exit;
	unsigned int runs = 0;

	set_regs(0x11223344, BESIDE_WINDOW_BYTES / 4, 0, BESIDE_WINDOW);
	exit = beside_run(code, sizeof(code) - 1, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_eq(beside_vcpu->retired, 4);
	ck_assert_uint_eq(beside_get64(BESIDE_WINDOW_RAM + BESIDE_WINDOW_BYTES - 8),
			  0x1122334411223344);
	/*
	 * LODS moves one element at a time. This one is long, so run() returns often before it is
	 * complete.
	 */
	set_regs(0x55, 1 << 21, BESIDE_WINDOW, 0);
	beside_vcpu->retired = 0;
	beside_put(BESIDE_CODE, "\xf3\xac\xf4", 3);
	beside_vcpu->regs->rip = BESIDE_CODE;
	do {
		beside_vcpu->budget = 100;
		beside_engine->run(beside_vcpu, false, &exit);
		runs++;
	} while (exit.kind == ENGINE_EXIT_KICK && runs < 1000);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_gt(runs, 256);
	ck_assert_uint_eq(beside_vcpu->retired, 2);
	ck_assert_uint_eq(beside_vcpu->regs->rcx, 0);
	ck_assert_uint_eq(beside_vcpu->regs->rax, 0x11);
}
END_TEST

/* The device: the sum of the values written, and the number of calls. */
static uint32_t out_sum, io_calls, attention_at;

static void io(void *opaque, uint16_t port, uint8_t size, bool in, uint32_t count, void *data)
{
	uint32_t value = 0;

	(void)opaque;
	ck_assert_uint_eq(port, 0x70);
	ck_assert_uint_eq(count, 1);
	io_calls++;
	if (in) {
		value = 0x01010101 * io_calls;
		memcpy(data, &value, size);
	} else {
		memcpy(&value, data, size);
		out_sum += value;
	}
	if (io_calls == attention_at)
		beside_vcpu->state |= ENGINE_ATTENTION;
}

START_TEST(ports)
{
	struct engine_exit exit;

	io_calls = out_sum = attention_at = 0;
	beside_vcpu->bus.io = io;
	/* INS does not read the port for the third byte, because the store would fault. */
	set_regs(0, 3, 0, BESIDE_NOWHERE - 2);
	exit = BESIDE_STEP("\xf3\x6c");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(io_calls, 2);
	ck_assert_uint_eq(beside_vcpu->regs->rcx, 1);
	ck_assert_uint_eq(beside_get64(BESIDE_WINDOW_RAM + BESIDE_WINDOW_BYTES - 8) >> 48, 0x0201);
	/* OUTS of words. */
	beside_put64(BESIDE_DATA, 0x0003000200010000);
	set_regs(0, 4, BESIDE_DATA, 0);
	exit = BESIDE_STEP("\xf3\x66\x6f");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
	ck_assert_uint_eq(out_sum, 6);
	ck_assert_uint_eq(beside_vcpu->regs->rsi, BESIDE_DATA + 8);
}
END_TEST

/* When a device requests attention, the instruction stops after the current iteration. */
START_TEST(attention)
{
	static const char code[] = "\xf3\x6e\x90\xf4"; /* rep outsb; nop; hlt */
	struct engine_exit exit;

	io_calls = out_sum = 0;
	attention_at = 2;
	beside_vcpu->bus.io = io;
	set_regs(0, 5, BESIDE_DATA, 0);
	exit = beside_run(code, sizeof(code) - 1, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_KICK);
	ck_assert_uint_eq(io_calls, 2);
	ck_assert_uint_eq(beside_vcpu->regs->rcx, 3);
	ck_assert_uint_eq(beside_vcpu->regs->rip, BESIDE_CODE);
	ck_assert_uint_eq(beside_vcpu->retired, 0);
	/* After the last iteration the instruction is complete. */
	attention_at = 5;
	beside_engine->run(beside_vcpu, false, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_KICK);
	ck_assert_uint_eq(io_calls, 5);
	ck_assert_uint_eq(beside_vcpu->regs->rip, BESIDE_CODE + 2);
	ck_assert_uint_eq(beside_vcpu->retired, 1);
	beside_engine->run(beside_vcpu, false, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_eq(beside_vcpu->retired, 3);
}
END_TEST

/* An FS prefix applies to the source, never to the destination. */
START_TEST(override)
{
	struct x86_sregs s = beside_sregs();
	struct engine_exit exit;

	s.fs.base = 0x40;
	beside_set_sregs(&s);
	beside_put64(BESIDE_DATA + 0x40, 0x1122334455667788);
	set_regs(0, 1, BESIDE_DATA, BESIDE_DATA + 0x100);
	exit = BESIDE_STEP("\x64\x48\xa5");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
	ck_assert_uint_eq(beside_get64(BESIDE_DATA + 0x100), 0x1122334455667788);
	set_regs(0, 100, BESIDE_DATA, BESIDE_DATA + 0x200);
	exit = BESIDE_STEP("\x64\xf3\xa4");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
	ck_assert_uint_eq(beside_get64(BESIDE_DATA + 0x200), 0x1122334455667788);
}
END_TEST

/* Real mode: SI and DI wrap without changing the upper halves, and the limit is checked. */
START_TEST(real_mode)
{
	struct x86_sregs s;
	struct engine_exit exit;

	beside_mode(16, 0);
	s = beside_sregs();
	s.es.base = 0x40000;
	s.ds.base = 0x50000;
	beside_set_sregs(&s);
	beside_put(0x5ffff, "\xaa", 1);
	beside_put(0x50000, "\xbb", 1);
	set_regs(0, 0xdead00000002, 0x1111000000000000 | 0xffff, 0x2222000000001000);
	exit = BESIDE_STEP("\xf3\xa4");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
	ck_assert_uint_eq(beside_get64(0x41000) & 0xffff, 0xbbaa);
	ck_assert_uint_eq(beside_vcpu->regs->rsi, 0x1111000000000001);
	ck_assert_uint_eq(beside_vcpu->regs->rdi, 0x2222000000001002);
	ck_assert_uint_eq(beside_vcpu->regs->rcx, 0xdead00000000);
	/* A word at 0xffff is not within the limit. */
	set_regs(0x1234, 4, 0, 0xfffb);
	exit = BESIDE_STEP("\xf3\xab");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_GP);
	ck_assert_uint_eq(beside_vcpu->regs->rcx, 2);
	ck_assert_uint_eq(beside_vcpu->regs->rdi, 0xffff);
}
END_TEST

/* 32-bit code: a segment with a small limit, and a read-only segment. */
START_TEST(segments)
{
	struct x86_sregs s;
	struct engine_exit exit;

	beside_mode(32, 0);
	s = beside_sregs();
	s.es.base = BESIDE_DATA;
	s.es.limit = 0x1f;
	beside_set_sregs(&s);
	set_regs(0x77, 0x40, 0, 0);
	exit = BESIDE_STEP("\xf3\xaa");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_GP);
	ck_assert_uint_eq(beside_vcpu->regs->rcx, 0x20);
	ck_assert_uint_eq(beside_get64(BESIDE_DATA + 0x18), 0x7777777777777777);
	ck_assert_uint_eq(beside_get64(BESIDE_DATA + 0x20), 0);
	s.es.limit = 0xfffff;
	s.es.ar &= ~X86_AR_RW;
	beside_set_sregs(&s);
	set_regs(0x77, 0x40, 0, 0);
	exit = BESIDE_STEP("\xf3\xaa");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(beside_vcpu->regs->rcx, 0x40);
}
END_TEST

/* Code that a string instruction has written is executed as written. */
START_TEST(writes_code)
{
	/* rep movsb over the NOPs that follow: hlt where they were */
	static const char code[] = "\xf3\xa4\x90\x90\x90\x90\xf4";
	struct engine_exit exit;

	beside_put(BESIDE_DATA, "\x90\xf4\x90\x90", 4);
	set_regs(0, 4, BESIDE_DATA, BESIDE_CODE + 2);
	exit = beside_run(code, sizeof(code) - 1, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_eq(beside_vcpu->regs->rip, BESIDE_CODE + 4);
	ck_assert_uint_eq(beside_vcpu->retired, 3);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("soft_string");
	TCase *tc = tcase_create("strings");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_loop_test(tc, beside_host, 0, (int)(__stop_test_insns - __start_test_insns));
	tcase_add_loop_test(tc, faults_in_the_middle, 0,
			    (int)(sizeof(middles) / sizeof(middles[0])));
	tcase_add_test(tc, counts_once);
	tcase_add_test(tc, ports);
	tcase_add_test(tc, attention);
	tcase_add_test(tc, override);
	tcase_add_test(tc, real_mode);
	tcase_add_test(tc, segments);
	tcase_add_test(tc, writes_code);
	suite_add_tcase(suite, tc);
	return suite;
}
