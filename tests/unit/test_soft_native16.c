// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions that the software CPU executes on the host, in 16-bit code. Prefix 66H has the opposite
 * meaning there, is a part of some opcodes, and is undefined for others. A wrong one would end this
 * process with SIGILL.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/beside.h"

#define NO_FAULT 0xff
#define AT	 0x500u
#define VALUE	 0x11223344aabbccddull

/* DS:AT has VALUE. RAX, RBX and RSI are 12345678H, 80F0H and AT. */
static const struct row {
	const char *text, *code;
	uint8_t len, vector; /* NO_FAULT, or that of the exception */
	uint64_t rax, memory;
} rows[] = {
	{"movnti %eax, (%si)", "\x0f\xc3\x04", 3, NO_FAULT, 0x12345678, 0x1122334412345678},
	{"66 movnti %eax, (%si)", "\x66\x0f\xc3\x04", 4, X86_VEC_UD, 0x12345678, VALUE},
	{"adcx %ebx, %eax", "\x66\x0f\x38\xf6\xc3", 5, NO_FAULT, 0x1234d768, VALUE},
	{"adox %ebx, %eax", "\xf3\x0f\x38\xf6\xc3", 5, NO_FAULT, 0x1234d768, VALUE},
	{"movbe (%si), %ax", "\x0f\x38\xf0\x04", 4, NO_FAULT, 0x1234ddcc, VALUE},
	{"movbe (%si), %eax", "\x66\x0f\x38\xf0\x04", 5, NO_FAULT, 0xddccbbaa, VALUE},
	{"movbe %ax, (%si)", "\x0f\x38\xf1\x04", 4, NO_FAULT, 0x12345678, 0x11223344aabb7856},
	{"popcnt %bx, %ax", "\xf3\x0f\xb8\xc3", 4, NO_FAULT, 0x12340005, VALUE},
	{"popcnt (%si), %eax", "\x66\xf3\x0f\xb8\x04", 5, NO_FAULT, 20, VALUE},
	{"bsf %bx, %ax", "\x0f\xbc\xc3", 3, NO_FAULT, 0x12340004, VALUE},
	{"bsr (%si), %eax", "\x66\x0f\xbd\x04", 4, NO_FAULT, 31, VALUE},
	{"bswap %eax", "\x66\x0f\xc8", 3, NO_FAULT, 0x78563412, VALUE},
};

START_TEST(in_16_bit_code)
{
	const struct row *r = &rows[_i];
	struct engine_exit exit;

	beside_mode(16, 0);
	beside_put64(AT, VALUE);
	*beside_vcpu->regs = (struct x86_regs){
		.rax = 0x12345678, .rbx = 0x80f0, .rsi = AT, .rflags = X86_FL_FIXED};
	exit = beside_step((const uint8_t *)r->code, r->len);
	if (r->vector == NO_FAULT)
		ck_assert_msg(exit.kind == ENGINE_EXIT_NONE, "%s: exit %d, vector %u", r->text,
			      exit.kind, exit.fault.vector);
	else
		ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT && exit.fault.vector == r->vector,
			      "%s: exit %d", r->text, exit.kind);
	ck_assert_msg(beside_vcpu->regs->rax == r->rax && beside_get64(AT) == r->memory,
		      "%s: %#llx, %#llx", r->text, (unsigned long long)beside_vcpu->regs->rax,
		      (unsigned long long)beside_get64(AT));
}
END_TEST

/* The same bytes are undefined in the other modes, too. */
START_TEST(movnti_with_66h)
{
	static const unsigned int modes[] = {16, 32, 64};
	struct engine_exit exit;

	beside_mode(modes[_i], 0);
	*beside_vcpu->regs = (struct x86_regs){.rsi = AT, .rbx = AT, .rflags = X86_FL_FIXED};
	exit = BESIDE_STEP("\x66\x0f\xc3\x03");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_UD);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("soft_native16");
	TCase *tc = tcase_create("native16");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_loop_test(tc, in_16_bit_code, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_loop_test(tc, movnti_with_66h, 0, 3);
	suite_add_tcase(suite, tc);
	return suite;
}
