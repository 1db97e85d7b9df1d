// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * If an access to memory faults, vector instructions of the software CPU leave the same state as
 * Intel's processors.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/beside.h"
#include "soft/engine.h"
#include "soft/soft.h"

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define BYTES(text) text, sizeof(text) - 1

/* An offset from the window that is not mapped. */
#define FAR ((uint64_t)BESIDE_WINDOW_BYTES)

static struct engine_exit execute(uint64_t rsi, const char *code, size_t len)
{
	*beside_vcpu->regs =
		(struct x86_regs){.rsi = rsi, .rsp = BESIDE_STACK, .rflags = X86_FL_FIXED};
	return beside_step(code, len);
}

/* The software CPU has no instruction that the host lacks. */
static void expect_undefined(const struct engine_exit *exit)
{
	ck_assert_int_eq(exit->kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit->fault.vector, X86_VEC_UD);
}

/*
 * A gather of AVX2 to register 1, with the mask in register 2 and the indices in register 3. The
 * destination is full of DDH and the window of 11H.
 */
struct gather {
	const char *text, *code;
	size_t len;
	uint64_t index[4];
	uint32_t mask[10], mask_after[10];
	unsigned int loaded; /* bytes of the destination that are 11H after the fault */
	unsigned int kept;   /* bytes that are 11H or DDH; the rest is 0 */
	uint64_t cr2;
};

#define ON 0xffffffff

static const struct gather gathers[] = {
	{"vpgatherdd (%rsi,%ymm3), %ymm1",
	 BYTES("\xc4\xe2\x6d\x90\x0c\x1e"),
	 {0, FAR, 0, 0},
	 {0x80000001, 0x7fffffff, 0xc0000000, 5, 0x80000000, 6, 7, 0x90000000, 8, 9},
	 {0, 0, ON, 0, ON, 0, 0, ON, 0, 0},
	 4,
	 32,
	 BESIDE_NOWHERE},
	{"vpgatherdq (%rsi,%xmm3), %ymm1",
	 BYTES("\xc4\xe2\xed\x90\x0c\x1e"),
	 {FAR << 32, 0},
	 {3, 0x80000000, 4, 0x80000000, 5, 6, 7, 0x90000000, 8, 9},
	 {0, 0, ON, ON, 0, 0, ON, ON, 0, 0},
	 8,
	 32,
	 BESIDE_NOWHERE},
	{"vpgatherqd (%rsi,%xmm3), %xmm1",
	 BYTES("\xc4\xe2\x69\x91\x0c\x1e"),
	 {8, FAR},
	 {0x80000000, 0x80000001, 0x80000002, 4, 5, 6, 7, 8, 9, 10},
	 {0, ON, ON, 0, 0, 0, 0, 0, 0, 0},
	 4,
	 16,
	 BESIDE_NOWHERE},
	{"vgatherqps (%rsi,%ymm3), %xmm1",
	 BYTES("\xc4\xe2\x6d\x93\x0c\x1e"),
	 {0, 0, FAR, 8},
	 {0x80000001, 0x7fffffff, 0xc0000000, 0x80000000, 0x80000000, 6, 7, 0x90000000, 8, 9},
	 {0, 0, ON, ON, ON, 0, 0, ON, 0, 0},
	 4,
	 32,
	 BESIDE_NOWHERE},
	{"vgatherqpd (%rsi,%ymm3), %ymm1, at first",
	 BYTES("\xc4\xe2\xed\x93\x0c\x1e"),
	 {FAR + 1, 0},
	 {1, 0x80000000, 2, 0x80000000, 3, 3, 4, 5, 6, 7},
	 {ON, ON, ON, ON, 0, 0, 0, 0, 0, 0},
	 0,
	 64,
	 BESIDE_NOWHERE + 1},
};

START_TEST(gather_faults)
{
	const struct gather *r = &gathers[_i];
	struct soft *c = soft(beside_vcpu);
	struct engine_exit exit;
	unsigned int i;

	memset(beside_window(), 0x11, 64);
	beside_put(BESIDE_WINDOW_RAM, beside_window(), 64);
	memset(c->fpu.zmm[1], 0xdd, 64);
	memcpy(c->fpu.zmm[2], r->mask, sizeof(r->mask));
	memcpy(c->fpu.zmm[3], r->index, sizeof(r->index));
	exit = execute(BESIDE_WINDOW, r->code, r->len);
	if (!__builtin_cpu_supports("avx2")) {
		expect_undefined(&exit);
		return;
	}
	ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT && exit.fault.vector == X86_VEC_PF, "%s",
		      r->text);
	ck_assert_uint_eq(exit.fault.cr2, r->cr2);
	for (i = 0; i < 10; i++) {
		uint32_t mask;

		memcpy(&mask, c->fpu.zmm[2] + 4 * i, 4);
		ck_assert_msg(mask == r->mask_after[i], "%s: %#x in the mask at %u", r->text, mask,
			      i);
	}
	for (i = 0; i < 64; i++)
		ck_assert_msg(c->fpu.zmm[1][i] == (i < r->loaded ? 0x11
						   : i < r->kept ? 0xdd
								 : 0),
			      "%s: %#x in the destination at %u", r->text, c->fpu.zmm[1][i], i);
}
END_TEST

/* VCVTPS2PH of an inexact number to memory that faults. Bit 5 of MXCSR is PE, bit 12 is PM. */
struct convert {
	const char *text, *code;
	size_t len;
	uint64_t rsi;
	uint32_t mxcsr, mxcsr_after;
	unsigned int vector;
};

#define NOT_CANONICAL (1ull << 63)
#define VEX	      "vcvtps2ph $4, %xmm1, (%rsi)", BYTES("\xc4\xe3\x79\x1d\x0e\x04")
#define EVEX	      "vcvtps2ph $4, %xmm17, (%rsi)", BYTES("\x62\xe3\x7d\x08\x1d\x0e\x04")
#define MASKED	      "vcvtps2ph $4, %xmm17, (%rsi){%k1}", BYTES("\x62\xe3\x7d\x09\x1d\x0e\x04")

static const struct convert converts[] = {
	{VEX, BESIDE_NOWHERE, 0x1f80, 0x1fa0, X86_VEC_PF},
	{VEX, NOT_CANONICAL, 0x1f80, 0x1fa0, X86_VEC_GP},
	{VEX, BESIDE_NOWHERE, 0x0f80, 0x0fa0, 19},
	{VEX, NOT_CANONICAL, 0x0f80, 0x0fa0, 19},
	{EVEX, BESIDE_NOWHERE, 0x1f80, 0x1fa0, X86_VEC_PF},
	{EVEX, BESIDE_NOWHERE, 0x0f80, 0x0fa0, 19},
	{MASKED, BESIDE_NOWHERE, 0x1f80, 0x1fa0, X86_VEC_PF},
	{MASKED, NOT_CANONICAL, 0x0f80, 0x0fa0, 19},
};

static bool host_converts(const struct convert *r)
{
	return r->code[0] == '\x62' ? __builtin_cpu_supports("avx512vl")
				    : __builtin_cpu_supports("f16c");
}

START_TEST(convert_faults)
{
	static const uint32_t inexact[4] = {0x3f800000, 0x3f800001, 0, 0};
	const struct convert *r = &converts[_i];
	struct soft *c = soft(beside_vcpu);
	struct engine_exit exit;

	memcpy(c->fpu.zmm[1], inexact, sizeof(inexact));
	memcpy(c->fpu.zmm[17], inexact, sizeof(inexact));
	c->fpu.k[1] = 2;
	c->fpu.mxcsr = r->mxcsr;
	exit = execute(r->rsi, r->code, r->len);
	if (!host_converts(r)) {
		expect_undefined(&exit);
		return;
	}
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_msg(exit.fault.vector == r->vector && c->fpu.mxcsr == r->mxcsr_after,
		      "%s with MXCSR %#x: vector %d, MXCSR %#x", r->text, r->mxcsr,
		      exit.fault.vector, c->fpu.mxcsr);
}
END_TEST

static void setup(void)
{
	struct x86_sregs s;

	beside_create();
	s = beside_sregs();
	s.cr4 |= X86_CR4_OSXSAVE | X86_CR4_OSXMMEXCPT;
	beside_set_sregs(&s);
	soft(beside_vcpu)->fpu.xcr0 = __builtin_cpu_supports("avx512vl") ? 0xe7 : 7;
	beside_set_sregs(&s);
}

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_vector");
	TCase *tc = tcase_create("faults");

	tcase_add_checked_fixture(tc, setup, beside_destroy);
	tcase_add_loop_test(tc, gather_faults, 0, ROWS(gathers));
	tcase_add_loop_test(tc, convert_faults, 0, ROWS(converts));
	suite_add_tcase(s, tc);
	return s;
}
