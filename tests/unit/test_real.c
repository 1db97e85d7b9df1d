// SPDX-License-Identifier: GPL-2.0-or-later
/* Real mode: interrupts, IRET and far transfers. */
#include "lib/suite.h"

#include <string.h>

#include "lib/still.h"
#include "core/deliver.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/fetch.h"

enum { CODE = 0x7c00, STACK = 0x8000, SS_BASE = 0x20000, HANDLER = 0xf0001234 };

#define FLAGS (X86_FL_FIXED | X86_FL_IF | X86_FL_ZF)

static struct x86_segment segment(uint16_t selector, uint8_t type)
{
	return (struct x86_segment){
		.base = (uint64_t)selector << 4,
		.limit = 0xffff,
		.selector = selector,
		.ar = X86_AR_P | X86_AR_S | type,
	};
}

static void setup(void)
{
	unsigned int i;

	still_create(2 << 20, true);
	sregs.cs = segment(0, 11);
	sregs.ss = segment(SS_BASE >> 4, 3);
	sregs.ds = sregs.es = sregs.fs = sregs.gs = segment(0x3000, 3);
	sregs.idt.limit = 0x3ff;
	regs.rip = CODE;
	regs.rsp = STACK;
	regs.rflags = FLAGS;
	for (i = 0; i < 256; i++)
		put32(4 * i, HANDLER + 16 * i);
	core_vcpu_load(&v);
}

static void check_frame(uint64_t at, uint16_t ip, uint16_t cs, uint64_t flags)
{
	check_words(at, 2, (const uint64_t[]){ip, cs, (uint16_t)flags}, 3);
}

START_TEST(int_n)
{
	RETIRES("\xcd\x10");
	ck_assert_uint_eq(sregs.cs.selector, 0xf000);
	ck_assert_uint_eq(sregs.cs.base, 0xf0000);
	ck_assert_uint_eq(sregs.cs.limit, 0xffff);
	EXPECT_AT(0x1234 + 16 * 0x10, STACK - 6);
	check_frame(SS_BASE + STACK - 6, CODE + 2, 0, FLAGS);
	ck_assert_uint_eq(regs.rflags, FLAGS & ~X86_FL_IF);
	ck_assert_uint_eq(v.cpl, 0);
	RETIRES("\xcf");
	ck_assert_uint_eq(regs.rip, CODE + 2);
	ck_assert_uint_eq(sregs.cs.base, 0);
	ck_assert_uint_eq(regs.rsp, STACK);
	ck_assert_uint_eq(regs.rflags, FLAGS);
}
END_TEST

/* Exceptions push no error code in real mode. */
START_TEST(exception)
{
	struct engine_exception e = core_fault_code(X86_VEC_GP, 0);

	ck_assert(core_deliver(&v, &e, CORE_SOURCE_EXCEPTION, CODE));
	EXPECT_AT(0x1234 + 16 * X86_VEC_GP, STACK - 6);
	check_frame(SS_BASE + STACK - 6, CODE, 0, FLAGS);
}
END_TEST

START_TEST(frame_wraps_around_the_segment)
{
	struct engine_exception e = core_fault_plain(8);

	regs.rsp = 0xabcd0002;
	ck_assert(core_deliver(&v, &e, CORE_SOURCE_EXTERNAL, CODE));
	ck_assert_uint_eq(regs.rsp, 0xabcdfffc);
	ck_assert_uint_eq(get16(SS_BASE), (uint16_t)FLAGS);
	ck_assert_uint_eq(get16(SS_BASE + 0xfffe), 0);
	ck_assert_uint_eq(get16(SS_BASE + 0xfffc), CODE);
	RETIRES("\xcf");
	ck_assert_uint_eq(regs.rsp, 0xabcd0002);
	ck_assert_uint_eq(regs.rip, CODE);
}
END_TEST

/* No word can be pushed across the end of the segment, not even for #DF. */
START_TEST(odd_stack_is_a_triple_fault)
{
	struct engine_exception e = core_fault_plain(X86_VEC_UD);
	struct x86_regs before;

	regs.rsp = 3;
	before = regs;
	ck_assert(!core_deliver(&v, &e, CORE_SOURCE_EXCEPTION, CODE));
	ck_assert_mem_eq(&before, &regs, sizeof(regs));
	ck_assert_uint_eq(still.wrote, 0);
}
END_TEST

START_TEST(vector_beyond_the_limit)
{
	struct engine_exception e = core_fault_plain(0x40);

	v.s.idt.limit = 0x40 * 4 + 2;
	ck_assert(core_deliver(&v, &e, CORE_SOURCE_EXTERNAL, CODE));
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
	/* The error code is internal: real mode does not push it. */
	RAISES("\xcd\x40", X86_VEC_GP, 8 * 0x40);
	/* An IDT limit of 0 is a common way to reset: no vector can be delivered. */
	v.s.idt.limit = 0;
	e = core_fault_plain(3);
	ck_assert(!core_deliver(&v, &e, CORE_SOURCE_SOFTWARE, CODE));
}
END_TEST

START_TEST(iret_of_32_bits)
{
	const uint32_t frame[] = {0x1234, 0xf000, ~0u};
	put_bytes(SS_BASE + STACK, frame, sizeof(frame));
	RETIRES("\x66\xcf");
	EXPECT_AT(0x1234, STACK + 12);
	ck_assert_uint_eq(regs.rflags, 0x257fd5 | X86_FL_FIXED);
	regs.rip = CODE;
	regs.rsp = STACK;
	put32(SS_BASE + STACK, 0x10000);
	RAISES("\x66\xcf", X86_VEC_GP, 0);
}
END_TEST

/* DS:0x100 has the pointer 0x2000:0x5678, and DS:0x104 has 0x4000:0x00005678. */
static const struct {
	const char *name, *code;
	size_t len;
	uint16_t cs;
	uint32_t ip, sp;
	uint16_t ret_ip, ret_cs; /* that a CALL pushes */
} transfers[] = {
	{"jmp 0x1000:0x2345", "\xea\x45\x23\x00\x10", 5, 0x1000, 0x2345, STACK, 0, 0},
	{"jmp 0x1000:dword 0x2345", "\x66\xea\x45\x23\x00\x00\x00\x10", 8, 0x1000, 0x2345, STACK, 0,
	 0},
	{"call 0x1000:0x2345", "\x9a\x45\x23\x00\x10", 5, 0x1000, 0x2345, STACK - 4, CODE + 5, 0},
	{"call 0x1000:dword 0x2345", "\x66\x9a\x45\x23\x00\x00\x00\x10", 8, 0x1000, 0x2345,
	 STACK - 8, CODE + 8, 0},
	{"jmp far [0x100]", "\xff\x2e\x00\x01", 4, 0x2000, 0x5678, STACK, 0, 0},
	{"jmp far dword [0x104]", "\x66\xff\x2e\x04\x01", 5, 0x4000, 0x5678, STACK, 0, 0},
	{"call far [bx+si]", "\xff\x18", 2, 0x2000, 0x5678, STACK - 4, CODE + 2, 0},
	{"jmp far es:[0x100]", "\x26\xff\x2e\x00\x01", 5, 0x2000, 0x5678, STACK, 0, 0},
	{"retf", "\xcb", 1, 0x1111, 0x2222, STACK + 4, 0, 0},
	{"retf 6", "\xca\x06\x00", 3, 0x1111, 0x2222, STACK + 10, 0, 0},
};

START_TEST(far_transfers)
{
	const uint16_t pointer[] = {0x5678, 0x2000, 0x5678, 0, 0x4000}, frame[] = {0x2222, 0x1111};
	uint64_t sp = transfers[_i].sp;
	put_bytes(0x30100, pointer, sizeof(pointer));
	put_bytes(SS_BASE + STACK, frame, sizeof(frame));
	regs.rbx = 0xff0080;
	regs.rsi = 0x80;
	ck_assert_msg(run(transfers[_i].code, transfers[_i].len, &raised) == CORE_DONE_RETIRED,
		      "%s", transfers[_i].name);
	ck_assert_msg(regs.rip == transfers[_i].ip, "%s", transfers[_i].name);
	ck_assert_uint_eq(sregs.cs.selector, transfers[_i].cs);
	ck_assert_uint_eq(sregs.cs.base, (uint64_t)transfers[_i].cs << 4);
	ck_assert_uint_eq(regs.rsp, sp);
	if (transfers[_i].ret_ip) {
		ck_assert_uint_eq(get16(SS_BASE + sp), transfers[_i].ret_ip);
		ck_assert_uint_eq(get16(SS_BASE + STACK - (STACK - sp) / 2), transfers[_i].ret_cs);
	}
}
END_TEST

/* CS keeps the limit that it had in protected mode ("unreal mode"). */
START_TEST(limits)
{
	RAISES("\x66\xea\x00\x00\x01\x00\x00\x10", X86_VEC_GP, 0);
	ck_assert_uint_eq(regs.rip, CODE);
	v.s.cs.limit = ~0u;
	RETIRES("\x66\xea\x00\x00\x01\x00\x00\x10");
	ck_assert_uint_eq(regs.rip, 0x10000);
	ck_assert_uint_eq(sregs.cs.limit, ~0u);
	/* A pointer beyond the limit of DS. */
	regs.rip = CODE;
	RAISES("\xff\x2e\xfe\xff", X86_VEC_GP, 0);
}
END_TEST

START_TEST(no_system_calls)
{
	still.sysenter_cs = 8;
	RAISES("\x0f\x34", X86_VEC_GP, 0);
	RAISES("\x0f\x35", X86_VEC_GP, 0);
}
END_TEST

START_TEST(fetch_ends_at_the_limit)
{
	struct core_fetched f;

	v.s.cs.limit = CODE + 3;
	put_bytes(CODE, "\x9a\x45\x23\x00\x10", 5);
	core_fetch(&v, CODE, &f);
	ck_assert_ptr_null(f.insn);
	ck_assert_uint_eq(f.bytes.count, 4);
	v.s.cs.limit = CODE + 4;
	core_fetch(&v, CODE, &f);
	ck_assert_ptr_nonnull(f.insn);
	core_fetch(&v, CODE + 5, &f);
	ck_assert_ptr_null(f.insn);
}
END_TEST

TEST_SUITE("real", setup, still_destroy)
{
	TEST_ADD(tcase, int_n, exception, frame_wraps_around_the_segment,
		 odd_stack_is_a_triple_fault, vector_beyond_the_limit, iret_of_32_bits, limits,
		 no_system_calls, fetch_ends_at_the_limit);
	TEST_ROWS(tcase, far_transfers, transfers);
}
