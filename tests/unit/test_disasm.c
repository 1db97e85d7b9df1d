// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions as `vpt decode --insn` shows them. */
#include "lib/suite.h"

#include <string.h>

#include "decode/disasm.h"

/* Addresses with a SIB byte, in the forms that binutils 2.40 shows as well. */
static const struct {
	const char *code;
	unsigned int len, mode;
	const char *text;
} rows[] = {
	/* mod 0 and base 5: no base, and a displacement of 32 bits. REX.B does not count. */
	{"\x8b\x04\x25\x00\x10\x10\x00", 7, 64, "mov eax, [0x101000]"},
	{"\x41\x8b\x04\x25\x00\x10\x10\x00", 8, 64, "mov eax, [0x101000]"},
	{"\x67\x8b\x04\x25\x00\x10\x10\x00", 8, 64, "mov eax, [0x101000]"},
	{"\x67\x41\x8b\x04\x25\x00\x10\x10\x00", 9, 64, "mov eax, [0x101000]"},
	{"\x67\x43\x8b\x04\x65\x00\x10\x10\x00", 9, 64, "mov eax, [r12d*2+0x101000]"},
	{"\x67\x42\x8b\x04\x25\x00\x10\x10\x00", 9, 64, "mov eax, [r12d*1+0x101000]"},
	{"\x67\x41\xff\x2c\x25\x00\x10\x10\x00", 9, 64, "jmp far [0x101000]"},
	/* mod 1: there is a base. */
	{"\x67\x41\x8b\x44\x25\x10", 6, 64, "mov eax, [r13d+0x10]"},
	{"\x67\x45\x8b\x44\x65\x00", 6, 64, "mov r8d, [r13d]"},
	{"\x8b\x04\x25\x00\x10\x10\x00", 7, 32, "mov eax, [0x101000]"},
};

/* "dword ptr " and "ds:" say nothing here. */
static void plain(char *text)
{
	static const char *const words[] = {"dword ptr ", "fword ptr ", "ds:"};
	size_t i;

	for (i = 0; i < 3; i++) {
		char *at = strstr(text, words[i]);

		if (at)
			memmove(at, at + strlen(words[i]), strlen(at + strlen(words[i])) + 1);
	}
}

START_TEST(sib)
{
	struct decode_disasm *d = decode_disasm_new(NULL);
	char text[128];

	ck_assert_ptr_nonnull(d);
	ck_assert_uint_eq(decode_disasm_format(d, 0x400000, rows[_i].mode,
					       (const uint8_t *)rows[_i].code, rows[_i].len, text,
					       sizeof(text)),
			  rows[_i].len);
	plain(text);
	ck_assert_str_eq(text, rows[_i].text);
	decode_disasm_free(d);
}
END_TEST

TEST_SUITE("disasm", NULL, NULL)
{
	TEST_ROWS(tcase, sib, rows);
}
