// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decimal arithmetic of the software CPU, on sums and differences of decimal digits. Also the other
 * old instructions: BOUND, XLAT, SALC.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/beside.h"

static struct x86_regs *regs(void)
{
	return beside_vcpu->regs;
}

static void create32(void)
{
	beside_create();
	beside_mode(32, 0);
}

static void set_regs(uint64_t rax)
{
	*regs() = (struct x86_regs){.rax = rax,
				    .rbx = BESIDE_DATA,
				    .rsi = BESIDE_DATA,
				    .rsp = BESIDE_STACK,
				    .rflags = X86_FL_FIXED};
}

static void check_step(const char *code, size_t len)
{
	struct engine_exit exit = beside_step(code, len);

	ck_assert_msg(exit.kind == ENGINE_EXIT_NONE, "exit %d, vector %u", exit.kind,
		      exit.fault.vector);
}
#define STEP(code) check_step(code, sizeof(code) - 1)

static uint8_t packed(unsigned int n)
{
	return (uint8_t)(n / 10 % 10 << 4 | n % 10);
}

static void check_flags(uint8_t result)
{
	ck_assert_int_eq(!(regs()->rflags & X86_FL_ZF), result != 0);
	ck_assert_int_eq(!(regs()->rflags & X86_FL_SF), result < 0x80);
	ck_assert_int_eq(!(regs()->rflags & X86_FL_PF), __builtin_parity(result));
}

/* add al, bl; daa: the decimal sum and its carry. */
START_TEST(packed_sum)
{
	unsigned int a = (unsigned int)_i, b;

	for (b = 0; b < 100; b++) {
		set_regs(0xabcdef00 | packed(a));
		regs()->rbx = packed(b);
		STEP("\x00\xd8");
		STEP("\x27");
		ck_assert_uint_eq(regs()->rax, 0xabcdef00 | packed((a + b) % 100));
		ck_assert_int_eq(regs()->rflags & X86_FL_CF, a + b >= 100);
		ck_assert_int_eq(!(regs()->rflags & X86_FL_AF), a % 10 + b % 10 < 10);
		check_flags((uint8_t)regs()->rax);
	}
}
END_TEST

/* sub al, bl; das */
START_TEST(packed_difference)
{
	unsigned int a = (unsigned int)_i, b;

	for (b = 0; b < 100; b++) {
		set_regs(0xabcdef00 | packed(a));
		regs()->rbx = packed(b);
		STEP("\x28\xd8");
		STEP("\x2f");
		ck_assert_uint_eq(regs()->rax, 0xabcdef00 | packed((100 + a - b) % 100));
		ck_assert_int_eq(regs()->rflags & X86_FL_CF, a < b);
		ck_assert_int_eq(!(regs()->rflags & X86_FL_AF), a % 10 >= b % 10);
		check_flags((uint8_t)regs()->rax);
	}
}
END_TEST

/* Digits of one byte each. AH is the next digit. */
START_TEST(unpacked)
{
	unsigned int a = (unsigned int)_i, b;

	for (b = 0; b < 10; b++) {
		set_regs(0x1100 | a);
		regs()->rbx = b;
		STEP("\x00\xd8");
		STEP("\x37");
		ck_assert_uint_eq(regs()->rax, (0x11 + (a + b) / 10) << 8 | (a + b) % 10);
		ck_assert_int_eq(regs()->rflags & X86_FL_CF, a + b >= 10);
		ck_assert_int_eq(!(regs()->rflags & X86_FL_AF), a + b < 10);
		set_regs(0x1100 | a);
		regs()->rbx = b;
		STEP("\x28\xd8");
		STEP("\x3f");
		ck_assert_uint_eq(regs()->rax, (0x11 - (a < b)) << 8 | (10 + a - b) % 10);
		ck_assert_int_eq(regs()->rflags & X86_FL_CF, a < b);
	}
}
END_TEST

/* Operands that are not decimal digits, with the results of real processors. */
struct odd {
	const char *text, *code;
	uint16_t ax, flags, want_ax, want_flags;
};

#define AF X86_FL_AF
#define CF X86_FL_CF

static const struct odd odds[] = {
	{"daa 0x9a", "\x27", 0x9a, 0, 0x00, AF | CF},
	{"daa 0xff", "\x27", 0xff, 0, 0x65, AF | CF},
	{"daa with CF", "\x27", 0x10, CF, 0x70, CF},
	{"daa with AF", "\x27", 0xfa, AF, 0x60, AF | CF},
	{"das 0xff", "\x2f", 0xff, 0, 0x99, AF | CF},
	{"das 3 with AF", "\x2f", 0x03, AF, 0xfd, AF | CF},
	{"das with CF", "\x2f", 0x10, CF, 0xb0, CF},
	{"aaa 0xff into AH", "\x37", 0x00ff, 0, 0x0205, AF | CF},
	{"aas 2 with AF", "\x3f", 0x0002, AF, 0xfe0c, AF | CF},
};

START_TEST(odd_values)
{
	const struct odd *o = &odds[_i];

	set_regs(o->ax);
	regs()->rflags |= o->flags;
	check_step(o->code, 1);
	ck_assert_msg(regs()->rax == o->want_ax, "%s: %#llx", o->text,
		      (unsigned long long)regs()->rax);
	ck_assert_msg((regs()->rflags & (AF | CF)) == o->want_flags, "%s: flags %#llx", o->text,
		      (unsigned long long)regs()->rflags);
}
END_TEST

START_TEST(multiply_and_divide)
{
	struct engine_exit exit;
	unsigned int n;

	for (n = 0; n < 256; n++) {
		set_regs(0x12345500 | n);
		STEP("\xd4\x0a");
		ck_assert_uint_eq(regs()->rax, 0x12340000 | n / 10 << 8 | n % 10);
		check_flags((uint8_t)(n % 10));
		STEP("\xd5\x0a");
		ck_assert_uint_eq(regs()->rax, 0x12340000 | n);
		check_flags((uint8_t)n);
		set_regs(n);
		STEP("\xd4\x10");
		ck_assert_uint_eq(regs()->rax, n / 16 << 8 | n % 16);
	}
	exit = beside_step("\xd4\x00", 2);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_DE);
	ck_assert(!exit.fault.has_error);
}
END_TEST

START_TEST(salc)
{
	set_regs(0x1234);
	STEP("\xd6");
	ck_assert_uint_eq(regs()->rax, 0x1200);
	regs()->rflags |= X86_FL_CF;
	STEP("\xd6");
	ck_assert_uint_eq(regs()->rax, 0x12ff);
}
END_TEST

struct bounds {
	int32_t index, low, high;
	bool narrow, raises;
};

static const struct bounds bound_rows[] = {
	{0, 0, 0, false, false},    {-1, 0, 5, false, true},	   {5, 0, 5, false, false},
	{6, 0, 5, false, true},	    {-3, -3, 7, false, false},	   {-4, -3, 7, false, true},
	{7, -3, 7, true, false},    {8, -3, 7, true, true},	   {-32768, -32768, 0, true, false},
	{32767, -1, 0, true, true}, {0x10000, -1, 1, true, false},
};

START_TEST(bound)
{
	const struct bounds *b = &bound_rows[_i];
	int16_t narrow[2] = {(int16_t)b->low, (int16_t)b->high};
	int32_t wide[2] = {b->low, b->high};
	struct engine_exit exit;

	set_regs((uint32_t)b->index);
	beside_put(BESIDE_DATA, b->narrow ? (void *)narrow : (void *)wide, b->narrow ? 4 : 8);
	exit = b->narrow ? beside_step("\x66\x62\x06", 3) : beside_step("\x62\x06", 2);
	ck_assert_int_eq(exit.kind, b->raises ? ENGINE_EXIT_FAULT : ENGINE_EXIT_NONE);
	ck_assert(!b->raises || exit.fault.vector == X86_VEC_BR);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE + (b->raises ? 0 : b->narrow ? 3 : 2));
}
END_TEST

START_TEST(read_table)
{
	struct x86_sregs s;
	struct engine_exit exit;

	set_regs(0xfffffff3);
	beside_put64(BESIDE_DATA + 0xf0, 0x0706050403020100);
	STEP("\xd7");
	ck_assert_uint_eq(regs()->rax, 0xffffff03);
	/* With an FS prefix, and then beyond the limit of FS. */
	s = beside_sregs();
	s.fs.base = 4;
	s.fs.limit = BESIDE_DATA + 0xf0;
	beside_set_sregs(&s);
	set_regs(0xf0);
	STEP("\x64\xd7");
	ck_assert_uint_eq(regs()->rax, 4);
	set_regs(0xf1);
	exit = beside_step("\x64\xd7", 2);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_GP);
	/* A 32-bit address in 64-bit code wraps. */
	beside_mode(64, 0);
	set_regs(0x10);
	regs()->rbx = 0xffffffff00000000 | (BESIDE_DATA + 0xe2);
	STEP("\x67\xd7");
	ck_assert_uint_eq(regs()->rax, 2);
}
END_TEST

/* None of these instructions exists in 64-bit mode. */
START_TEST(not_in_64_bit_mode)
{
	static const char codes[] = "\x27\x2f\x37\x3f\xd4\xd5\xd6\x60\x61\x06\x07\xce";
	struct engine_exit exit;
	unsigned int i;

	beside_mode(64, 0);
	for (i = 0; i < sizeof(codes) - 1; i++) {
		const char code[2] = {codes[i], 0xa};

		set_regs(0);
		exit = beside_step(code, 2);
		ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
		ck_assert_uint_eq(exit.fault.vector, X86_VEC_UD);
	}
}
END_TEST

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

Suite *test_suite(void)
{
	Suite *suite = suite_create("soft_decimal");
	TCase *tc = tcase_create("decimal");

	tcase_add_checked_fixture(tc, create32, beside_destroy);
	tcase_add_loop_test(tc, packed_sum, 0, 100);
	tcase_add_loop_test(tc, packed_difference, 0, 100);
	tcase_add_loop_test(tc, unpacked, 0, 10);
	tcase_add_loop_test(tc, odd_values, 0, ROWS(odds));
	tcase_add_loop_test(tc, bound, 0, ROWS(bound_rows));
	tcase_add_test(tc, multiply_and_divide);
	tcase_add_test(tc, salc);
	tcase_add_test(tc, read_table);
	tcase_add_test(tc, not_in_64_bit_mode);
	suite_add_tcase(suite, tc);
	return suite;
}
