// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Far JMP, CALL and RET to code and through call gates. The transfers stay in a ring or change it,
 * in 32-bit protected mode, in 64-bit mode and between 64-bit and compatibility mode.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/flat.h"
#include "core/emulate.h"
#include "core/descriptor.h"

/* The selector of a gate in the spare room of the GDT. */
enum gates { GATE = 0x88, GATE_HIGH = 0x90 /* its upper half in long mode */ };
enum access { CALL32 = 0x8c, CALL16 = 0x84, TASK = 0x85, TSS_FREE = 0x89, DPL3 = 0x60 };

enum kind { JMP, CALL };

/* Run a JMP or CALL through the far pointer at ESI. @size is that of its offset in bytes. */
static enum core_done go(enum kind kind, unsigned int size, uint16_t selector, uint64_t offset)
{
	uint8_t insn[4], n = 0;

	put64(HANDLER, 0);
	put_bytes(HANDLER, &offset, size);
	put16(HANDLER + size, selector);
	regs.rsi = HANDLER;
	if (size != 4)
		insn[n++] = size == 2 ? 0x66 : 0x48;
	insn[n++] = 0xff;
	insn[n++] = kind == JMP ? 0x2e : 0x1e;
	return run((const char *)insn, n, &raised);
}

static void call_gate(uint16_t selector, uint64_t offset, uint8_t access, uint8_t count)
{
	put64(GDT + GATE, gate_bits(selector, (uint32_t)offset, access, count));
	if (core_vcpu_long_mode(&v))
		put64(GDT + GATE_HIGH, offset >> 32);
}

/* ---- protected mode ---- */

START_TEST(jmp_direct)
{
	RETIRES("\xea\x34\x12\x00\x00\x08\x00");
	EXPECT_AT(0x1234, STACK);
	ck_assert_uint_eq(sregs.cs.selector, KCODE);
	ck_assert_uint_eq(get64(GDT + KCODE) >> 40 & 0xff, 0x9b);
}
END_TEST

START_TEST(call_direct)
{
	RETIRES("\x9a\x34\x12\x00\x00\x30\x00");
	ck_assert_uint_eq(regs.rip, 0x1234);
	ck_assert_uint_eq(v.bits, 16);
	ck_assert_uint_eq(regs.rsp, STACK - 8);
	ck_assert_uint_eq(get32(STACK - 8), CODE + 7);
	ck_assert_uint_eq(get32(STACK - 4), KCODE);
	/* Return from 16-bit code by a RETF with 32-bit operands. */
	RETIRES("\x66\xcb");
	EXPECT_AT(CODE + 7, STACK);
	ck_assert_uint_eq(v.bits, 32);
}
END_TEST

START_TEST(conforming_code_keeps_the_ring)
{
	flat_ring(3);
	EXPECT_RETIRED(go(CALL, 4, CONFORMING | 3, 0x1234));
	ck_assert_uint_eq(v.cpl, 3);
	ck_assert_uint_eq(sregs.cs.selector, CONFORMING | 3);
	ck_assert_uint_eq(x86_segment_dpl(&sregs.cs), 3);
}
END_TEST

START_TEST(task_switches_stop)
{
	put64(GDT + GATE, gate_bits(0xf8, 0, _i ? TSS_FREE : TASK, 0));
	ck_assert_int_eq(go(JMP, 4, GATE, 0), CORE_DONE_STOPPED);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_UNABLE);
}
END_TEST

/* Far JMPs from ring @cpl to selectors that raise an exception. */
static const struct {
	const char *name;
	uint8_t cpl;
	uint16_t selector;
	uint32_t offset;
	uint8_t vector;
	uint32_t error;
} refused[] = {
	{"null", 0, 3, 0, X86_VEC_GP, 0},
	{"beyond the GDT", 0, 0x103, 0, X86_VEC_GP, 0x100},
	{"no LDT", 0, 4, 0, X86_VEC_GP, 4},
	{"data", 0, KDATA, 0, X86_VEC_GP, KDATA},
	{"an outer ring", 0, UCODE, 0, X86_VEC_GP, UCODE & ~3},
	{"an inner ring", 3, KCODE, 0, X86_VEC_GP, KCODE},
	{"RPL above CPL", 0, KCODE | 1, 0, X86_VEC_GP, KCODE},
	{"not present", 0, GONE, 0, X86_VEC_NP, GONE},
	{"beyond the limit", 0, SMALL_CODE, 0x1000, X86_VEC_GP, 0},
	{"an empty descriptor", 0, SPARE, 0, X86_VEC_GP, SPARE},
};

START_TEST(jmp_that_faults)
{
	struct x86_sregs before;

	flat_ring(refused[_i].cpl);
	before = sregs;
	check_raised(refused[_i].name, go(JMP, 4, refused[_i].selector, refused[_i].offset),
		     refused[_i].vector, refused[_i].error);
	ck_assert_mem_eq(&before, &sregs, sizeof(sregs));
	ck_assert_uint_eq(regs.rip, CODE);
}
END_TEST

/* Check the limit and the rights of the segment that holds a far pointer. */
START_TEST(pointers_are_checked)
{
	v.s.ds.limit = HANDLER + 4;
	EXPECT_FAULT(go(JMP, 4, KCODE, 0), X86_VEC_GP, 0);
	v.s.ds.limit++;
	EXPECT_RETIRED(go(JMP, 4, KCODE, CODE));
	v.s.ds.ar |= X86_AR_UNUSABLE;
	EXPECT_FAULT(go(JMP, 4, KCODE, 0), X86_VEC_GP, 0);
	/* jmp far [esp] raises #SS. */
	v.s.ss.limit = STACK + 4;
	RAISES("\xff\x2c\x24", X86_VEC_SS, 0);
	/* jmp far cs:[esi] from execute-only code */
	v.s.cs.ar &= ~X86_AR_RW;
	RAISES("\x2e\xff\x2e", X86_VEC_GP, 0);
}
END_TEST

START_TEST(call_without_room)
{
	v.s.ss.ar |= X86_AR_DC; /* expand-down */
	v.s.ss.limit = STACK - 8;
	EXPECT_FAULT(go(CALL, 4, KCODE, 0), X86_VEC_SS, 0);
	v.s.ss.limit--;
	EXPECT_RETIRED(go(CALL, 4, KCODE, 0));
}
END_TEST

START_TEST(gate_to_an_inner_ring)
{
	const uint64_t frame[] = {CODE + 2, UCODE, 0x11111111, 0x22222222, STACK, UDATA};

	flat_ring(3);
	put32(STACK, 0x11111111);
	put32(STACK + 4, 0x22222222);
	call_gate(KCODE, 0x12345678, CALL32 | DPL3, 2);
	/* The processor ignores the offset of the far pointer. */
	EXPECT_RETIRED(go(CALL, 4, GATE | 3, 0xffffffff));
	EXPECT_AT(0x12345678, STACK0 - 24);
	ck_assert_uint_eq(v.cpl, 0);
	ck_assert_uint_eq(sregs.cs.selector, KCODE);
	ck_assert_uint_eq(sregs.ss.selector, KDATA);
	check_words(STACK0 - 24, 4, frame, 6);
	/* RET 8 releases the parameters on both stacks. */
	RETIRES("\xca\x08\x00");
	EXPECT_AT(CODE + 2, STACK + 8);
	ck_assert_uint_eq(v.cpl, 3);
	ck_assert_uint_eq(sregs.ss.selector, UDATA);
}
END_TEST

START_TEST(gate_within_a_ring)
{
	call_gate(KCODE, 0x1234, CALL32, 2);
	EXPECT_RETIRED(go(CALL, 4, GATE, 0));
	EXPECT_AT(0x1234, STACK - 8);
	ck_assert_uint_eq(get32(STACK - 8), CODE + 2);
	/* A JMP pushes nothing. */
	EXPECT_RETIRED(go(JMP, 4, GATE, 0));
	ck_assert_uint_eq(regs.rsp, STACK - 8);
	/* A 16-bit gate pushes words and uses the low half of the offset. */
	regs.rsp = STACK;
	regs.rip = CODE;
	call_gate(KCODE, 0x12345678, CALL16, 0);
	EXPECT_RETIRED(go(CALL, 4, GATE, 0));
	EXPECT_AT(0x5678, STACK - 4);
	ck_assert_uint_eq(get16(STACK - 4), (uint16_t)(CODE + 2));
	ck_assert_uint_eq(get16(STACK - 2), KCODE);
}
END_TEST

static const struct {
	const char *name;
	enum kind kind;
	uint16_t pointer, selector;
	uint32_t offset;
	uint8_t access, vector;
	uint32_t error;
} bad_gates[] = {
	{"DPL below CPL", CALL, GATE | 3, KCODE, 0, CALL32, X86_VEC_GP, GATE},
	{"not present", CALL, GATE, KCODE, 0, (CALL32 & 0x7f) | DPL3, X86_VEC_NP, GATE},
	{"an interrupt gate", CALL, GATE, KCODE, 0, 0x8e | DPL3, X86_VEC_GP, GATE},
	{"a busy TSS", CALL, GATE, KCODE, 0, 0x8b | DPL3, X86_VEC_GP, GATE},
	{"null CS", CALL, GATE, 2, 0, CALL32 | DPL3, X86_VEC_GP, 0},
	{"CS beyond the GDT", CALL, GATE, 0x100, 0, CALL32 | DPL3, X86_VEC_GP, 0x100},
	{"CS is data", CALL, GATE, KDATA, 0, CALL32 | DPL3, X86_VEC_GP, KDATA},
	{"CS not present", CALL, GATE, GONE, 0, CALL32 | DPL3, X86_VEC_NP, GONE},
	{"JMP to an inner ring", JMP, GATE, KCODE, 0, CALL32 | DPL3, X86_VEC_GP, KCODE},
	{"beyond the limit", CALL, GATE, SMALL_CODE, 0x1000, CALL32 | DPL3, X86_VEC_GP, 0},
};

START_TEST(gate_that_faults)
{
	flat_ring(3);
	call_gate(bad_gates[_i].selector, bad_gates[_i].offset, bad_gates[_i].access, 0);
	check_raised(bad_gates[_i].name, go(bad_gates[_i].kind, 4, bad_gates[_i].pointer, 0),
		     bad_gates[_i].vector, bad_gates[_i].error);
	ck_assert_uint_eq(v.cpl, 3);
}
END_TEST

/* Faults of the inner stack. EXT is clear in the error code: the event is not external. */
START_TEST(inner_stack_that_faults)
{
	flat_ring(3);
	call_gate(KCODE, 0, CALL32 | DPL3, 0);
	put16(TSS + 8, UDATA);
	EXPECT_FAULT(go(CALL, 4, GATE, 0), X86_VEC_TS, UDATA & ~3);
	put16(TSS + 8, SMALL_DATA);
	EXPECT_FAULT(go(CALL, 4, GATE, 0), X86_VEC_SS, SMALL_DATA);
	sregs.tr.limit = 8;
	core_vcpu_load(&v);
	EXPECT_FAULT(go(CALL, 4, GATE, 0), X86_VEC_TS, sregs.tr.selector);
}
END_TEST

/* Far RETs to ring 3 that retire or fault. EIP, CS and SS are words of the stack frame. */
static const struct {
	const char *name;
	uint32_t eip, cs, ss;
	uint8_t vector; /* 0: none */
	uint32_t error;
} returns[] = {
	{"outward", 0x1234, UCODE, UDATA, 0, 0},
	{"null CS", 0, 0, UDATA, X86_VEC_GP, 0},
	{"CS is data", 0, UDATA, UDATA, X86_VEC_GP, UDATA & ~3},
	{"RPL is not DPL", 0, UCODE & ~3, UDATA, X86_VEC_GP, UCODE & ~3},
	{"CS not present", 0, GONE, 0, X86_VEC_NP, GONE},
	{"null SS", 0, UCODE, 0, X86_VEC_GP, 0},
	{"SS of another ring", 0, UCODE, KDATA | 3, X86_VEC_GP, KDATA},
	{"EIP beyond the limit", 0x1000, SMALL_CODE, 0, X86_VEC_GP, 0},
};

START_TEST(far_returns)
{
	const uint32_t frame[] = {returns[_i].eip, returns[_i].cs, 0x8000, returns[_i].ss};
	put_bytes(STACK, frame, sizeof(frame));
	if (!returns[_i].vector) {
		RETIRES("\xcb");
		ck_assert_uint_eq(regs.rip, returns[_i].eip);
		ck_assert_uint_eq(regs.rsp, 0x8000);
		ck_assert_uint_eq(v.cpl, 3);
		ck_assert(sregs.es.ar & X86_AR_UNUSABLE);
		return;
	}
	check_raised(returns[_i].name, RUN("\xcb", &raised), returns[_i].vector, returns[_i].error);
	ck_assert_uint_eq(regs.rsp, STACK);
}
END_TEST

/* ---- long mode ---- */

START_TEST(between_64_bit_and_compatibility_mode)
{
	EXPECT_RETIRED(go(JMP, 4, KCODE, 0x1234));
	ck_assert_uint_eq(v.bits, 32);
	RETIRES("\xea\x78\x56\x00\x00\x70\x00");
	ck_assert_uint_eq(v.bits, 64);
	ck_assert_uint_eq(regs.rip, 0x5678);
	/* CALL pushes and RET pops words of the operand size. */
	EXPECT_RETIRED(go(CALL, 8, KCODE, 0x1234));
	ck_assert_uint_eq(regs.rsp, STACK - 16);
	ck_assert_uint_eq(get64(STACK - 16), 0x5678 + 3);
	ck_assert_uint_eq(get64(STACK - 8), KCODE64);
	v.s.cs = core_flat_segment(KCODE64, true, true, 0);
	core_vcpu_store(&v);
	RETIRES("\x48\xcb");
	EXPECT_AT(0x5678 + 3, STACK);
}
END_TEST

START_TEST(offsets_are_canonical)
{
	EXPECT_RETIRED(go(JMP, 8, KCODE64, 0xffff800000000000ull));
	ck_assert_uint_eq(regs.rip, 0xffff800000000000ull);
	EXPECT_FAULT(go(JMP, 8, KCODE64, 1ull << 47), X86_VEC_GP, 0);
	EXPECT_FAULT(go(JMP, 8, KCODE, 1ull << 32), X86_VEC_GP, 0);
	/* A code segment with both L and D set is reserved. */
	put64(GDT + SPARE, descriptor_bits(0, 0xfffff, 0x9a, 0xe));
	EXPECT_FAULT(go(JMP, 8, SPARE, 0), X86_VEC_GP, SPARE);
}
END_TEST

START_TEST(gate_of_64_bits)
{
	const uint64_t frame[] = {CODE + 2, UCODE64, STACK, UDATA};

	flat_ring(3);
	call_gate(KCODE64, 0xffff800012345678ull, CALL32 | DPL3, 0);
	EXPECT_RETIRED(go(CALL, 4, GATE | 3, 0));
	EXPECT_AT(0xffff800012345678ull, STACK0 - 32);
	ck_assert_uint_eq(v.cpl, 0);
	ck_assert_uint_eq(sregs.ss.selector, 0);
	ck_assert(sregs.ss.ar & X86_AR_UNUSABLE);
	check_words(STACK0 - 32, 8, frame, 4);
	RETIRES("\x48\xcb");
	ck_assert_uint_eq(v.cpl, 3);
	EXPECT_AT(CODE + 2, STACK);
}
END_TEST

START_TEST(gate_from_compatibility_mode)
{
	EXPECT_RETIRED(go(JMP, 4, KCODE, CODE));
	call_gate(KCODE64, 0x1234, CALL32, 0);
	EXPECT_RETIRED(go(CALL, 4, GATE, 0));
	ck_assert_uint_eq(v.bits, 64);
	ck_assert_uint_eq(regs.rsp, STACK - 16);
	ck_assert_uint_eq(get64(STACK - 16), CODE + 2);
	ck_assert_uint_eq(get64(STACK - 8), KCODE);
}
END_TEST

static const struct {
	const char *name;
	uint16_t selector;
	uint64_t offset;
	uint8_t access;
	uint32_t high; /* the last four bytes of the gate */
	uint32_t error;
} bad_gates64[] = {
	{"to 32-bit code", KCODE, 0, CALL32, 0, KCODE},
	{"a type in the upper half", KCODE64, 0, CALL32, 0x0100, GATE},
	{"16 bits", KCODE64, 0, CALL16, 0, GATE},
	{"a task gate", KCODE64, 0, TASK, 0, GATE},
	{"a TSS", KCODE64, 0, TSS_FREE, 0, GATE},
	{"not canonical", KCODE64, 1ull << 47, CALL32, 0, 0},
};

START_TEST(gate_of_64_bits_that_faults)
{
	call_gate(bad_gates64[_i].selector, bad_gates64[_i].offset, bad_gates64[_i].access, 0);
	put32(GDT + GATE_HIGH + 4, bad_gates64[_i].high);
	check_raised(bad_gates64[_i].name, go(CALL, 4, GATE, 0), X86_VEC_GP, bad_gates64[_i].error);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_NONE);
}
END_TEST

/* The upper half of a 64-bit gate is beyond the limit of the GDT. */
START_TEST(gate_at_the_end_of_the_gdt)
{
	call_gate(KCODE64, 0, CALL32, 0);
	v.s.gdt.limit = GATE + 7;
	EXPECT_FAULT(go(CALL, 4, GATE, 0), X86_VEC_GP, GATE);
}
END_TEST

START_TEST(return_to_a_null_stack)
{
	const uint64_t frame[] = {0x1234, KCODE64 | 1, 0x8000, 1};
	put64(GDT + SPARE, descriptor_bits(0, 0xfffff, 0xba, 0xa)); /* ring 1 */
	put_bytes(STACK, frame, sizeof(frame));
	put64(STACK + 8, SPARE | 1);
	RETIRES("\x48\xcb");
	ck_assert_uint_eq(v.cpl, 1);
	ck_assert_uint_eq(sregs.ss.selector, 1);
	ck_assert(sregs.ss.ar & X86_AR_UNUSABLE);
}
END_TEST

/* Setting the accessed bit in a read-only GDT raises a page fault. */
START_TEST(accessed_bit_that_cannot_be_set)
{
	put64(0x5000, 5 | 0x80);
	EXPECT_FAULT(go(JMP, 4, KCODE, 0), X86_VEC_PF, 3);
	ck_assert_uint_eq(raised.cr2, GDT + KCODE + 5);
	ck_assert_uint_eq(regs.rip, CODE);
	put64(GDT + KCODE, get64(GDT + KCODE) | 1ull << 40);
	EXPECT_RETIRED(go(JMP, 4, KCODE, 0));
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("far");
	TCase *tc = tcase_create("protected");

	tcase_add_checked_fixture(tc, flat_protect, still_destroy);
	TEST_ADD(tc, jmp_direct, call_direct, conforming_code_keeps_the_ring, pointers_are_checked,
		 call_without_room, gate_to_an_inner_ring, gate_within_a_ring,
		 inner_stack_that_faults);
	tcase_add_loop_test(tc, task_switches_stop, 0, 2);
	TEST_ROWS(tc, jmp_that_faults, refused);
	TEST_ROWS(tc, gate_that_faults, bad_gates);
	TEST_ROWS(tc, far_returns, returns);
	suite_add_tcase(suite, tc);

	tc = tcase_create("long");
	tcase_add_checked_fixture(tc, flat_long, still_destroy);
	TEST_ADD(tc, between_64_bit_and_compatibility_mode, offsets_are_canonical, gate_of_64_bits,
		 gate_from_compatibility_mode, gate_at_the_end_of_the_gdt, return_to_a_null_stack,
		 accessed_bit_that_cannot_be_set);
	TEST_ROWS(tc, gate_of_64_bits_that_faults, bad_gates64);
	suite_add_tcase(suite, tc);
	return suite;
}
