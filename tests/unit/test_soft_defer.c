// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flags that an exit of compiled code makes again. For each kind of step, and for pairs, the code
 * must give the flags of the instructions themselves. It is also decoded: it may change RAX and R10 only.
 */
#include "lib/suite.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "soft/compile/compiler.h"

#define CODE_BYTES 0x2000u
#define VALUES	   20000u

enum { A = H_RBX, B = H_RBP, C = H_R12 };

static struct soft_compiler compiler;
static struct soft cpu;

/* The steps of a row. The instructions are those of the guest, in its order. */
struct row {
	const char *name;
	unsigned int steps;
	struct soft_step step[2];
	unsigned int opcode[2], digit[2]; /* of the instruction; digit 8: the second operand is B */
};

#define STEP(kind, size, a, b, imm)                       \
	{                                                 \
		SOFT_STEP_##kind, (size), (a), (b), (imm) \
	}

static const struct row rows[] = {
	{"CMP r8", 1, {STEP(CMP, 0, A, B, 0)}, {0x38}, {8}},
	{"CMP r64", 1, {STEP(CMP, 3, A, B, 0)}, {0x39}, {8}},
	{"CMP imm", 1, {STEP(CMP, 2, A, H_NONE, 77)}, {0x81}, {7}},
	{"CMP imm8", 1, {STEP(CMP, 0, A, H_NONE, -3)}, {0x80}, {7}},
	{"CMP imm16", 1, {STEP(CMP, 1, A, H_NONE, 0x7fff)}, {0x81}, {7}},
	{"TEST r16", 1, {STEP(TEST, 1, A, B, 0)}, {0x85}, {8}},
	{"TEST imm", 1, {STEP(TEST, 3, A, H_NONE, -256)}, {0xf7}, {0}},
	{"ADD r8", 1, {STEP(ADD, 0, A, B, 0)}, {0x00}, {8}},
	{"ADD r64", 1, {STEP(ADD, 3, A, B, 0)}, {0x01}, {8}},
	{"ADD imm", 1, {STEP(ADD, 2, A, H_NONE, -1)}, {0x81}, {0}},
	{"SUB r16", 1, {STEP(SUB, 1, A, B, 0)}, {0x29}, {8}},
	{"SUB imm", 1, {STEP(SUB, 3, A, H_NONE, 0x12345678)}, {0x81}, {5}},
	{"INC r32", 1, {STEP(INC, 2, A, H_NONE, 0)}, {0xff}, {0}},
	{"INC r8", 1, {STEP(INC, 0, A, H_NONE, 0)}, {0xfe}, {0}},
	{"DEC r64", 1, {STEP(DEC, 3, A, H_NONE, 0)}, {0xff}, {1}},
	{"ROL r32", 1, {STEP(ROL, 2, A, H_NONE, 1)}, {0xc1}, {0}},
	{"ROL by 9", 1, {STEP(ROL, 3, A, H_NONE, 9)}, {0xc1}, {0}},
	{"ROR r64", 1, {STEP(ROR, 3, A, H_NONE, 63)}, {0xc1}, {1}},
	{"BT r64", 1, {STEP(BT, 3, A, B, 0)}, {0x0fa3}, {8}},
	{"BT imm", 1, {STEP(BT, 2, A, H_NONE, 31)}, {0x0fba}, {4}},
	{"ADD, INC", 2, {STEP(ADD, 3, A, B, 0), STEP(INC, 3, C, H_NONE, 0)}, {0x01, 0xff}, {8, 0}},
	{"CMP, ROR", 2, {STEP(CMP, 2, A, B, 0), STEP(ROR, 2, C, H_NONE, 5)}, {0x39, 0xc1}, {8, 1}},
	{"SUB, BT", 2, {STEP(SUB, 2, A, B, 0), STEP(BT, 2, C, H_NONE, 3)}, {0x29, 0x0fba}, {8, 4}},
	{"DEC, BT", 2, {STEP(DEC, 2, C, H_NONE, 0), STEP(BT, 3, A, B, 0)}, {0xff, 0x0fa3}, {1, 8}},
};

static void setup(void)
{
	ck_assert_int_eq(soft_region_create(&compiler.region, CODE_BYTES), 0);
}

static void teardown(void)
{
	soft_region_destroy(&compiler.region);
}

/* A function: RDI is the processor, and RSI, RDX and RCX are the values of A, B and C. */
static void begin_function(struct soft_emit *e)
{
	e8(e, 0x53), e8(e, 0x55); /* push rbx, rbp */
	e8(e, 0x41), e8(e, 0x54); /* push r12 */
	e_rr(e, SOFT_SIZE64, 0x89, H_RSI, A);
	e_rr(e, SOFT_SIZE64, 0x89, H_RDX, B);
	e_rr(e, SOFT_SIZE64, 0x89, H_RCX, C);
}

/* It returns A, and C in the slot T0. */
static void end_function(struct soft_emit *e)
{
	e_rr(e, SOFT_SIZE64, 0x89, A, H_RAX);
	e_rm(e, SOFT_SIZE64, 0x89, C, H_RDI, SOFT_AT_SLOT(SOFT_R_T0));
	e8(e, 0x41), e8(e, 0x5c);
	e8(e, 0x5d), e8(e, 0x5b);
	e8(e, 0xc3);
}

typedef uint64_t function(struct soft *c, uint64_t a, uint64_t b, uint64_t third);

static void emit_instruction(struct soft_emit *e, const struct row *row, unsigned int i)
{
	const struct soft_step *s = &row->step[i];
	const unsigned int opcode = row->opcode[i];

	if (row->digit[i] == 8) {
		e_rr(e, s->size, opcode, s->b, s->a);
		return;
	}
	e_rr(e, s->size, opcode, row->digit[i], s->a);
	if (opcode == 0xfe || opcode == 0xff)
		return;
	if (opcode == 0xc1 || opcode == 0x0fba || s->size == 0)
		e8(e, (uint32_t)s->imm & 0xff);
	else if (s->size == 1)
		e8(e, (uint32_t)s->imm & 0xff), e8(e, (uint32_t)s->imm >> 8 & 0xff);
	else
		e32(e, (uint32_t)s->imm);
}

/* Make the function that executes the instructions, with the flags before and after in memory. */
static function *real_function(const struct row *row)
{
	struct soft_compiler *g = &compiler;
	unsigned int i;
	void *run;

	g->e.at = soft_region_at(&g->region, &run);
	begin_function(&g->e);
	g->live = false;
	g->held.flags.steps = 0;
	soft_flags_need(g);
	for (i = 0; i < row->steps; i++)
		emit_instruction(&g->e, row, i);
	soft_flags_save(g);
	end_function(&g->e);
	soft_region_take(&g->region, g->e.at);
	return (function *)(uintptr_t)run;
}

static struct soft_flags flags_of(const struct row *row)
{
	struct soft_flags flags = {.steps = row->steps};

	memcpy(flags.step, row->step, sizeof(row->step));
	return flags;
}

static function *exit_function(const struct row *row)
{
	const struct soft_flags flags = flags_of(row);
	struct soft_compiler *g = &compiler;
	void *run;

	g->e.at = soft_region_at(&g->region, &run);
	begin_function(&g->e);
	soft_flags_emit(&g->e, &flags);
	end_function(&g->e);
	soft_region_take(&g->region, g->e.at);
	return (function *)(uintptr_t)run;
}

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 60 < 4 ? *seed >> 62 : *seed ^ *seed >> 29;
}

START_TEST(same_flags)
{
	const struct row *row = &rows[_i];
	function *real = real_function(row), *made = exit_function(row);
	uint64_t seed = 11 + (uint64_t)_i, seen = 0;
	unsigned int i;

	for (i = 0; i < VALUES; i++) {
		const uint64_t a = next(&seed), b = next(&seed), c = next(&seed);
		const uint16_t before =
			(uint16_t)((next(&seed) & 0xd5) << 8 | 2 << 8 | (a >> 7 & 1));
		uint64_t a_after, c_after;
		uint16_t after;

		cpu.fl = before;
		a_after = real(&cpu, a, b, c);
		c_after = cpu.r[SOFT_R_T0];
		after = cpu.fl;
		cpu.fl = before;
		ck_assert_uint_eq(made(&cpu, a_after, b, c_after), a_after);
		ck_assert_uint_eq(cpu.r[SOFT_R_T0], c_after);
		ck_assert_msg(cpu.fl == after, "%s of %#llx, %#llx, %#llx: flags %#x, not %#x",
			      row->name, (unsigned long long)a, (unsigned long long)b,
			      (unsigned long long)c, cpu.fl, after);
		seen |= 1ull << (after >> 8 & 1) | 4ull << (after & 1);
	}
	/* The carry flag was clear and set. So was the overflow flag, but for AND and BT. */
	ck_assert_uint_eq(seen & 1, 1);
	ck_assert(row->step[0].kind == SOFT_STEP_TEST || seen & 2);
}
END_TEST

static void check_write(const ZydisDecodedOperand *op)
{
	ZydisRegister reg;

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		ck_assert_int_eq(op->mem.base, ZYDIS_REGISTER_RDI);
		ck_assert_int_eq(op->mem.disp.value, SOFT_AT(fl));
	}
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return;
	reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value);
	ck_assert_msg(ZydisRegisterGetClass(reg) != ZYDIS_REGCLASS_GPR64 ||
			      reg == ZYDIS_REGISTER_RAX || reg == ZYDIS_REGISTER_R10,
		      "writes %s", ZydisRegisterGetString(reg));
}

START_TEST(reads_back)
{
	const struct soft_flags flags = flags_of(&rows[_i]);
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t code[256];
	struct soft_emit e = {.at = code};
	ZydisDecodedInstruction insn;
	unsigned int i, stores = 0;
	ZydisDecoder decoder;
	const uint8_t *at;

	soft_flags_emit(&e, &flags);
	ck_assert(ZYAN_SUCCESS(
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
	for (at = code; at < e.at; at += insn.length) {
		ck_assert(ZYAN_SUCCESS(
			ZydisDecoderDecodeFull(&decoder, at, (size_t)(e.at - at), &insn, op)));
		for (i = 0; i < insn.operand_count; i++) {
			if (!(op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
				continue;
			check_write(&op[i]);
			stores += op[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
		}
	}
	ck_assert_ptr_eq(at, e.at);
	ck_assert_uint_eq(stores, 1);
}
END_TEST

/* Without a step the flags are in memory already. */
START_TEST(nothing_to_do)
{
	const struct soft_flags flags = {.steps = 0};
	uint8_t code[16];
	struct soft_emit e = {.at = code};

	soft_flags_emit(&e, &flags);
	ck_assert_ptr_eq(e.at, code);
}
END_TEST

Suite *test_suite(void)
{
	const int count = sizeof(rows) / sizeof(rows[0]);
	Suite *s = suite_create("soft_defer");
	TCase *t = tcase_create("steps");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, same_flags, 0, count);
	tcase_add_loop_test(t, reads_back, 0, count);
	tcase_add_test(t, nothing_to_do);
	suite_add_tcase(s, t);
	return s;
}
