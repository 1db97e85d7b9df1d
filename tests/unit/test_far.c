// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Far JMP, CALL and RET: to code, through call gates, within a ring and between rings,
 * in 32-bit protected mode and between the two kinds of code of long mode.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/flat.h"
#include "core/emulate.h"
#include "core/descriptor.h"

#define ROW_COUNT(rows) ((int)(sizeof(rows) / sizeof((rows)[0])))

/* Gates in the GDT's spare room, and what a far pointer to one is. */
enum gates { GATE = 0x88, GATE_HIGH = 0x90 /* its second half in long mode */ };
enum access { CALL32 = 0x8c, CALL16 = 0x84, TASK = 0x85, TSS_FREE = 0x89, DPL3 = 0x60 };

enum kind { JMP, CALL };

/* JMP or CALL to a far pointer at ESI: 16:32, 16:16 or 16:64. */
static enum core_done go(enum kind kind, unsigned int size, uint16_t selector, uint64_t offset,
			 struct engine_exception *e)
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
	return run((const char *)insn, n, e);
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
	struct engine_exception e;

	ck_assert_int_eq(RUN("\xea\x34\x12\x00\x00\x08\x00", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x1234);
	ck_assert_uint_eq(regs.rsp, STACK);
	ck_assert_uint_eq(sregs.cs.selector, KCODE);
	ck_assert_uint_eq(get64(GDT + KCODE) >> 40 & 0xff, 0x9b);
}
END_TEST

START_TEST(call_direct)
{
	struct engine_exception e;

	ck_assert_int_eq(RUN("\x9a\x34\x12\x00\x00\x30\x00", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x1234);
	ck_assert_uint_eq(v.bits, 16);
	ck_assert_uint_eq(regs.rsp, STACK - 8);
	ck_assert_uint_eq(get32(STACK - 8), CODE + 7);
	ck_assert_uint_eq(get32(STACK - 4), KCODE);
	/* And back, from code of 16 bits with operands of 32. */
	ck_assert_int_eq(RUN("\x66\xcb", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, CODE + 7);
	ck_assert_uint_eq(regs.rsp, STACK);
	ck_assert_uint_eq(v.bits, 32);
}
END_TEST

START_TEST(conforming_code_keeps_the_ring)
{
	struct engine_exception e;

	flat_ring(3);
	ck_assert_int_eq(go(CALL, 4, CONFORMING | 3, 0x1234, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(v.cpl, 3);
	ck_assert_uint_eq(sregs.cs.selector, CONFORMING | 3);
	ck_assert_uint_eq(x86_segment_dpl(&sregs.cs), 3);
}
END_TEST

START_TEST(task_switches_stop)
{
	struct engine_exception e;

	put64(GDT + GATE, gate_bits(0xf8, 0, _i ? TSS_FREE : TASK, 0));
	ck_assert_int_eq(go(JMP, 4, GATE, 0, &e), CORE_DONE_STOPPED);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_UNABLE);
}
END_TEST

/* To a selector that is refused, from ring `cpl`. */
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
	struct engine_exception e;
	struct x86_sregs before;

	flat_ring(refused[_i].cpl);
	before = sregs;
	ck_assert_msg(go(JMP, 4, refused[_i].selector, refused[_i].offset, &e) == CORE_DONE_FAULT,
		      "%s", refused[_i].name);
	ck_assert_msg(e.vector == refused[_i].vector, "%s: %u", refused[_i].name, e.vector);
	ck_assert_msg(e.error == refused[_i].error, "%s: %#x", refused[_i].name, e.error);
	ck_assert_mem_eq(&before, &sregs, sizeof(sregs));
	ck_assert_uint_eq(regs.rip, CODE);
}
END_TEST

/* The segment of a pointer in memory. */
START_TEST(pointers_are_checked)
{
	struct engine_exception e;

	v.s.ds.limit = HANDLER + 4;
	ck_assert_int_eq(go(JMP, 4, KCODE, 0, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
	v.s.ds.limit++;
	ck_assert_int_eq(go(JMP, 4, KCODE, CODE, &e), CORE_DONE_RETIRED);
	v.s.ds.ar |= X86_AR_UNUSABLE;
	ck_assert_int_eq(go(JMP, 4, KCODE, 0, &e), CORE_DONE_FAULT);
	/* jmp far [esp]: the stack's own exception. */
	v.s.ss.limit = STACK + 4;
	ck_assert_int_eq(RUN("\xff\x2c\x24", &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_SS);
	/* jmp far cs:[esi], of code that may only run */
	v.s.cs.ar &= ~X86_AR_RW;
	ck_assert_int_eq(RUN("\x2e\xff\x2e", &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
}
END_TEST

START_TEST(call_without_room)
{
	struct engine_exception e;

	v.s.ss.ar |= X86_AR_DC; /* down to the limit */
	v.s.ss.limit = STACK - 8;
	ck_assert_int_eq(go(CALL, 4, KCODE, 0, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_SS);
	ck_assert_uint_eq(e.error, 0);
	v.s.ss.limit--;
	ck_assert_int_eq(go(CALL, 4, KCODE, 0, &e), CORE_DONE_RETIRED);
}
END_TEST

START_TEST(gate_to_an_inner_ring)
{
	struct engine_exception e;

	flat_ring(3);
	put32(STACK, 0x11111111);
	put32(STACK + 4, 0x22222222);
	call_gate(KCODE, 0x12345678, CALL32 | DPL3, 2);
	/* The offset of the pointer counts for nothing. */
	ck_assert_int_eq(go(CALL, 4, GATE | 3, 0xffffffff, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x12345678);
	ck_assert_uint_eq(v.cpl, 0);
	ck_assert_uint_eq(sregs.cs.selector, KCODE);
	ck_assert_uint_eq(sregs.ss.selector, KDATA);
	ck_assert_uint_eq(regs.rsp, STACK0 - 24);
	ck_assert_uint_eq(get32(STACK0 - 24), CODE + 2);
	ck_assert_uint_eq(get32(STACK0 - 20), UCODE);
	ck_assert_uint_eq(get32(STACK0 - 16), 0x11111111);
	ck_assert_uint_eq(get32(STACK0 - 12), 0x22222222);
	ck_assert_uint_eq(get32(STACK0 - 8), STACK);
	ck_assert_uint_eq(get32(STACK0 - 4), UDATA);
	/* RET 8 gives up the parameters on both stacks. */
	ck_assert_int_eq(RUN("\xca\x08\x00", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, CODE + 2);
	ck_assert_uint_eq(v.cpl, 3);
	ck_assert_uint_eq(regs.rsp, STACK + 8);
	ck_assert_uint_eq(sregs.ss.selector, UDATA);
}
END_TEST

START_TEST(gate_within_a_ring)
{
	struct engine_exception e;

	call_gate(KCODE, 0x1234, CALL32, 2);
	ck_assert_int_eq(go(CALL, 4, GATE, 0, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x1234);
	ck_assert_uint_eq(regs.rsp, STACK - 8);
	ck_assert_uint_eq(get32(STACK - 8), CODE + 2);
	/* A JMP pushes nothing. */
	ck_assert_int_eq(go(JMP, 4, GATE, 0, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rsp, STACK - 8);
	/* 16 bits: words, and half of the offset. */
	regs.rsp = STACK;
	regs.rip = CODE;
	call_gate(KCODE, 0x12345678, CALL16, 0);
	ck_assert_int_eq(go(CALL, 4, GATE, 0, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x5678);
	ck_assert_uint_eq(regs.rsp, STACK - 4);
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
	{"inward by JMP", JMP, GATE, KCODE, 0, CALL32 | DPL3, X86_VEC_GP, KCODE},
	{"beyond the limit", CALL, GATE, SMALL_CODE, 0x1000, CALL32 | DPL3, X86_VEC_GP, 0},
};

START_TEST(gate_that_faults)
{
	struct engine_exception e;

	flat_ring(3);
	call_gate(bad_gates[_i].selector, bad_gates[_i].offset, bad_gates[_i].access, 0);
	ck_assert_msg(go(bad_gates[_i].kind, 4, bad_gates[_i].pointer, 0, &e) == CORE_DONE_FAULT,
		      "%s", bad_gates[_i].name);
	ck_assert_msg(e.vector == bad_gates[_i].vector, "%s: %u", bad_gates[_i].name, e.vector);
	ck_assert_msg(e.error == bad_gates[_i].error, "%s: %#x", bad_gates[_i].name, e.error);
	ck_assert_uint_eq(v.cpl, 3);
}
END_TEST

/* Of the inner stack; without EXT, since nothing came from outside. */
START_TEST(inner_stack_that_faults)
{
	struct engine_exception e;

	flat_ring(3);
	call_gate(KCODE, 0, CALL32 | DPL3, 0);
	put16(TSS + 8, UDATA);
	ck_assert_int_eq(go(CALL, 4, GATE, 0, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_TS);
	ck_assert_uint_eq(e.error, UDATA & ~3);
	put16(TSS + 8, SMALL_DATA);
	ck_assert_int_eq(go(CALL, 4, GATE, 0, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_SS);
	ck_assert_uint_eq(e.error, SMALL_DATA);
	sregs.tr.limit = 8;
	core_vcpu_load(&v);
	ck_assert_int_eq(go(CALL, 4, GATE, 0, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_TS);
	ck_assert_uint_eq(e.error, sregs.tr.selector);
}
END_TEST

/* RET to ring 3 and wrong ways to do so: words at the stack's top. */
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
	struct engine_exception e;

	put_bytes(STACK, frame, sizeof(frame));
	if (!returns[_i].vector) {
		ck_assert_int_eq(RUN("\xcb", &e), CORE_DONE_RETIRED);
		ck_assert_uint_eq(regs.rip, returns[_i].eip);
		ck_assert_uint_eq(regs.rsp, 0x8000);
		ck_assert_uint_eq(v.cpl, 3);
		ck_assert(sregs.es.ar & X86_AR_UNUSABLE);
		return;
	}
	ck_assert_msg(RUN("\xcb", &e) == CORE_DONE_FAULT, "%s", returns[_i].name);
	ck_assert_msg(e.vector == returns[_i].vector, "%s: %u", returns[_i].name, e.vector);
	ck_assert_msg(e.error == returns[_i].error, "%s: %#x", returns[_i].name, e.error);
	ck_assert_uint_eq(regs.rsp, STACK);
}
END_TEST

/* ---- long mode ---- */

START_TEST(between_64_bit_and_compatibility_mode)
{
	struct engine_exception e;

	ck_assert_int_eq(go(JMP, 4, KCODE, 0x1234, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(v.bits, 32);
	ck_assert_int_eq(RUN("\xea\x78\x56\x00\x00\x70\x00", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(v.bits, 64);
	ck_assert_uint_eq(regs.rip, 0x5678);
	/* CALL pushes by operand size, RET takes it back so. */
	ck_assert_int_eq(go(CALL, 8, KCODE, 0x1234, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rsp, STACK - 16);
	ck_assert_uint_eq(get64(STACK - 16), 0x5678 + 3);
	ck_assert_uint_eq(get64(STACK - 8), KCODE64);
	v.s.cs = core_flat_segment(KCODE64, true, true, 0);
	core_vcpu_store(&v);
	ck_assert_int_eq(RUN("\x48\xcb", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x5678 + 3);
	ck_assert_uint_eq(regs.rsp, STACK);
}
END_TEST

START_TEST(offsets_are_canonical)
{
	struct engine_exception e;

	ck_assert_int_eq(go(JMP, 8, KCODE64, 0xffff800000000000ull, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0xffff800000000000ull);
	ck_assert_int_eq(go(JMP, 8, KCODE64, 1ull << 47, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
	ck_assert_uint_eq(e.error, 0);
	ck_assert_int_eq(go(JMP, 8, KCODE, 1ull << 32, &e), CORE_DONE_FAULT);
	/* L and D together are no code. */
	put64(GDT + SPARE, descriptor_bits(0, 0xfffff, 0x9a, 0xe));
	ck_assert_int_eq(go(JMP, 8, SPARE, 0, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.error, SPARE);
}
END_TEST

START_TEST(gate_of_64_bits)
{
	struct engine_exception e;

	flat_ring(3);
	call_gate(KCODE64, 0xffff800012345678ull, CALL32 | DPL3, 0);
	ck_assert_int_eq(go(CALL, 4, GATE | 3, 0, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0xffff800012345678ull);
	ck_assert_uint_eq(v.cpl, 0);
	ck_assert_uint_eq(sregs.ss.selector, 0);
	ck_assert(sregs.ss.ar & X86_AR_UNUSABLE);
	ck_assert_uint_eq(regs.rsp, STACK0 - 32);
	ck_assert_uint_eq(get64(STACK0 - 32), CODE + 2);
	ck_assert_uint_eq(get64(STACK0 - 24), UCODE64);
	ck_assert_uint_eq(get64(STACK0 - 16), STACK);
	ck_assert_uint_eq(get64(STACK0 - 8), UDATA);
	ck_assert_int_eq(RUN("\x48\xcb", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(v.cpl, 3);
	ck_assert_uint_eq(regs.rsp, STACK);
	ck_assert_uint_eq(regs.rip, CODE + 2);
}
END_TEST

START_TEST(gate_from_compatibility_mode)
{
	struct engine_exception e;

	ck_assert_int_eq(go(JMP, 4, KCODE, CODE, &e), CORE_DONE_RETIRED);
	call_gate(KCODE64, 0x1234, CALL32, 0);
	ck_assert_int_eq(go(CALL, 4, GATE, 0, &e), CORE_DONE_RETIRED);
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
	uint32_t high; /* the gate's last word */
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
	struct engine_exception e;

	call_gate(bad_gates64[_i].selector, bad_gates64[_i].offset, bad_gates64[_i].access, 0);
	put32(GDT + GATE_HIGH + 4, bad_gates64[_i].high);
	ck_assert_msg(go(CALL, 4, GATE, 0, &e) == CORE_DONE_FAULT, "%s", bad_gates64[_i].name);
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
	ck_assert_msg(e.error == bad_gates64[_i].error, "%s: %#x", bad_gates64[_i].name, e.error);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_NONE);
}
END_TEST

/* The second half of a gate may not be there. */
START_TEST(gate_at_the_end_of_the_gdt)
{
	struct engine_exception e;

	call_gate(KCODE64, 0, CALL32, 0);
	v.s.gdt.limit = GATE + 7;
	ck_assert_int_eq(go(CALL, 4, GATE, 0, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.error, GATE);
}
END_TEST

START_TEST(return_to_a_null_stack)
{
	const uint64_t frame[] = {0x1234, KCODE64 | 1, 0x8000, 1};
	struct engine_exception e;

	put64(GDT + SPARE, descriptor_bits(0, 0xfffff, 0xba, 0xa)); /* ring 1 */
	put_bytes(STACK, frame, sizeof(frame));
	put64(STACK + 8, SPARE | 1);
	ck_assert_int_eq(RUN("\x48\xcb", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(v.cpl, 1);
	ck_assert_uint_eq(sregs.ss.selector, 1);
	ck_assert(sregs.ss.ar & X86_AR_UNUSABLE);
}
END_TEST

/* A GDT that is read-only cannot be marked: the page fault of that write. */
START_TEST(accessed_bit_that_cannot_be_set)
{
	struct engine_exception e;

	put64(0x5000, 5 | 0x80);
	ck_assert_int_eq(go(JMP, 4, KCODE, 0, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_PF);
	ck_assert_uint_eq(e.error, 3);
	ck_assert_uint_eq(e.cr2, GDT + KCODE + 5);
	ck_assert_uint_eq(regs.rip, CODE);
	put64(GDT + KCODE, get64(GDT + KCODE) | 1ull << 40);
	ck_assert_int_eq(go(JMP, 4, KCODE, 0, &e), CORE_DONE_RETIRED);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("far");
	TCase *tc = tcase_create("protected");

	tcase_add_checked_fixture(tc, flat_protect, still_destroy);
	tcase_add_test(tc, jmp_direct);
	tcase_add_test(tc, call_direct);
	tcase_add_test(tc, conforming_code_keeps_the_ring);
	tcase_add_loop_test(tc, task_switches_stop, 0, 2);
	tcase_add_loop_test(tc, jmp_that_faults, 0, ROW_COUNT(refused));
	tcase_add_test(tc, pointers_are_checked);
	tcase_add_test(tc, call_without_room);
	tcase_add_test(tc, gate_to_an_inner_ring);
	tcase_add_test(tc, gate_within_a_ring);
	tcase_add_loop_test(tc, gate_that_faults, 0, ROW_COUNT(bad_gates));
	tcase_add_test(tc, inner_stack_that_faults);
	tcase_add_loop_test(tc, far_returns, 0, ROW_COUNT(returns));
	suite_add_tcase(suite, tc);

	tc = tcase_create("long");
	tcase_add_checked_fixture(tc, flat_long, still_destroy);
	tcase_add_test(tc, between_64_bit_and_compatibility_mode);
	tcase_add_test(tc, offsets_are_canonical);
	tcase_add_test(tc, gate_of_64_bits);
	tcase_add_test(tc, gate_from_compatibility_mode);
	tcase_add_loop_test(tc, gate_of_64_bits_that_faults, 0, ROW_COUNT(bad_gates64));
	tcase_add_test(tc, gate_at_the_end_of_the_gdt);
	tcase_add_test(tc, return_to_a_null_stack);
	tcase_add_test(tc, accessed_bit_that_cannot_be_set);
	suite_add_tcase(suite, tc);
	return suite;
}
