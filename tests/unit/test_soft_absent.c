// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions that the software CPU does not support (docs/limits.md), even if the host does. They
 * raise #UD, or are NOPs as on a processor without the feature.
 */
#include "lib/suite.h"

#include <Zydis/Zydis.h>
#include <string.h>

#include "lib/beside.h"

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define BYTES(text) text, sizeof(text) - 1

static struct engine_exit execute(const char *code, size_t len)
{
	*beside_vcpu->regs =
		(struct x86_regs){.rsi = BESIDE_DATA, .rsp = BESIDE_STACK, .rflags = X86_FL_FIXED};
	return beside_step(code, len);
}

struct insn {
	const char *text, *code;
	size_t len;
};

static const struct insn absent[] = {
	{"rdpkru", BYTES("\x0f\x01\xee")},
	{"wrpkru", BYTES("\x0f\x01\xef")},
	{"vmcall", BYTES("\x0f\x01\xc1")},
	{"vmlaunch", BYTES("\x0f\x01\xc2")},
	{"vmxoff", BYTES("\x0f\x01\xc4")},
	{"vmptrst", BYTES("\x0f\xc7\x3e")},
	{"vmread", BYTES("\x0f\x78\xc0")},
	{"invept", BYTES("\x66\x0f\x38\x80\x06")},
	{"invvpid", BYTES("\x66\x0f\x38\x81\x06")},
	{"vmfunc", BYTES("\x0f\x01\xd4")},
	{"getsec", BYTES("\x0f\x37")},
	{"encls", BYTES("\x0f\x01\xcf")},
	{"enclu", BYTES("\x0f\x01\xd7")},
	{"enclv", BYTES("\x0f\x01\xc0")},
	{"pconfig", BYTES("\x0f\x01\xc5")},
	{"rsm", BYTES("\x0f\xaa")},
	{"incsspd", BYTES("\xf3\x0f\xae\xe8")},
	{"saveprevssp", BYTES("\xf3\x0f\x01\xea")},
	{"rstorssp", BYTES("\xf3\x0f\x01\x2e")},
	{"setssbsy", BYTES("\xf3\x0f\x01\xe8")},
	{"clrssbsy", BYTES("\xf3\x0f\xae\x36")},
	{"wrssd", BYTES("\x0f\x38\xf6\x06")},
	{"wrussd", BYTES("\x66\x0f\x38\xf5\x06")},
	{"xbegin", BYTES("\xc7\xf8\x00\x00\x00\x00")},
	{"xend", BYTES("\x0f\x01\xd5")},
	{"xabort", BYTES("\xc6\xf8\x01")},
	{"xtest", BYTES("\x0f\x01\xd6")},
	{"xsusldtrk", BYTES("\xf2\x0f\x01\xe8")},
	{"xresldtrk", BYTES("\xf2\x0f\x01\xe9")},
	{"uiret", BYTES("\xf3\x0f\x01\xec")},
	{"testui", BYTES("\xf3\x0f\x01\xed")},
	{"clui", BYTES("\xf3\x0f\x01\xee")},
	{"stui", BYTES("\xf3\x0f\x01\xef")},
	{"senduipi", BYTES("\xf3\x0f\xc7\xf0")},
	{"movdiri", BYTES("\x0f\x38\xf9\x06")},
	{"movdir64b", BYTES("\x66\x0f\x38\xf8\x06")},
	{"enqcmd", BYTES("\xf2\x0f\x38\xf8\x06")},
	{"enqcmds", BYTES("\xf3\x0f\x38\xf8\x06")},
	{"loadiwkey", BYTES("\xf3\x0f\x38\xdc\xc1")},
	{"encodekey128", BYTES("\xf3\x0f\x38\xfa\xc0")},
	{"aesenc128kl", BYTES("\xf3\x0f\x38\xdc\x06")},
	{"ldtilecfg", BYTES("\xc4\xe2\x78\x49\x06")},
	{"tilerelease", BYTES("\xc4\xe2\x78\x49\xc0")},
	{"tdpbssd", BYTES("\xc4\xe2\x6b\x5e\xc1")},
	{"vaddph", BYTES("\x62\xf5\x74\x48\x58\xc2")},
	{"vdpbf16ps", BYTES("\x62\xf2\x76\x48\x52\xc2")},
	{"vp2intersectd", BYTES("\x62\xf2\x77\x48\x68\xc2")},
	{"v4fmaddps", BYTES("\x62\xf2\x77\x48\x9a\x06")},
	{"vexp2ps", BYTES("\x62\xf2\x7d\x48\xc8\xc1")},
	{"vpdpbusd with VEX", BYTES("\xc4\xe2\x71\x50\xc2")},
	{"serialize", BYTES("\x0f\x01\xe8")},
	{"prefetchwt1", BYTES("\x0f\x0d\x16")},
	{"hreset", BYTES("\xf3\x0f\x3a\xf0\xc0\x01")},
	{"femms", BYTES("\x0f\x0e")},
	{"pfadd", BYTES("\x0f\x0f\xc1\x9e")},
	{"extrq", BYTES("\x66\x0f\x79\xc1")},
	{"vpcmov", BYTES("\x8f\xe8\x70\xa2\xc2\x30")},
	{"vfmaddps with four operands", BYTES("\xc4\xe3\x71\x68\xc2\x30")},
	{"blcfill", BYTES("\x8f\xe9\x78\x01\xc8")},
	{"llwpcb", BYTES("\x8f\xe9\x78\x12\xc0")},
	{"vmrun", BYTES("\x0f\x01\xd8")},
	{"stgi", BYTES("\x0f\x01\xdc")},
	{"clzero", BYTES("\x0f\x01\xfc")},
	{"monitorx", BYTES("\x0f\x01\xfa")},
	{"mwaitx", BYTES("\x0f\x01\xfb")},
	{"rdpru", BYTES("\x0f\x01\xfd")},
};

/* Check that a decoder finds the instruction that the first word of the row's text names. */
static void check_row(const struct insn *r)
{
	ZydisDecodedInstruction insn;
	const char *name = "?";
	ZydisDecoder d;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, r->code, r->len, &insn)))
		name = ZydisMnemonicGetString(insn.mnemonic);
	ck_assert_msg(!strncmp(r->text, name, strcspn(r->text, " ")) && insn.length == r->len,
		      "%s is %s", r->text, name);
}

START_TEST(raises_ud)
{
	const struct insn *r = &absent[_i];
	struct engine_exit exit;

	check_row(r);
	exit = execute(r->code, r->len);
	ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT && exit.fault.vector == X86_VEC_UD,
		      "%s: exit %d, vector %u", r->text, exit.kind, exit.fault.vector);
	ck_assert_uint_eq(beside_vcpu->regs->rip, BESIDE_CODE);
}
END_TEST

static const struct insn nothing[] = {
	{"endbr64", BYTES("\xf3\x0f\x1e\xfa")},
	{"endbr32", BYTES("\xf3\x0f\x1e\xfb")},
	{"rdsspq", BYTES("\xf3\x48\x0f\x1e\xc8")},
	{"bndmk", BYTES("\xf3\x0f\x1b\x06")},
	{"bndcl", BYTES("\xf3\x0f\x1a\xc0")},
	{"invd", BYTES("\x0f\x08")},
	{"wbinvd", BYTES("\x0f\x09")},
};

START_TEST(does_nothing)
{
	const struct insn *r = &nothing[_i];
	struct engine_exit exit;
	struct x86_regs after = {.rsi = BESIDE_DATA,
				 .rsp = BESIDE_STACK,
				 .rip = BESIDE_CODE + r->len,
				 .rflags = X86_FL_FIXED};

	check_row(r);
	exit = execute(r->code, r->len);
	ck_assert_msg(exit.kind == ENGINE_EXIT_NONE, "%s: exit %d", r->text, exit.kind);
	ck_assert_mem_eq(beside_vcpu->regs, &after, sizeof(after));
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_absent");
	TCase *tc = tcase_create("absent");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_loop_test(tc, raises_ud, 0, ROWS(absent));
	tcase_add_loop_test(tc, does_nothing, 0, ROWS(nothing));
	suite_add_tcase(s, tc);
	return s;
}
