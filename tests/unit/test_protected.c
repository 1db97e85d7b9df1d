// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * 32-bit protected mode: delivery through gates of both sizes, IRET, SYSENTER and SYSEXIT. The core
 * has no task switches and stops the machine instead.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/flat.h"
#include "core/deliver.h"
#include "core/emulate.h"
#include "core/fault.h"

#define FLAGS (X86_FL_FIXED | X86_FL_IF | X86_FL_ZF)

enum gates { INT16 = 0x86, TRAP16 = 0x87, INT32 = 0x8e, TRAP32 = 0x8f, TASK = 0x85 };

static bool deliver(uint8_t vector, bool has_error, enum core_event_source source)
{
	struct engine_exception e = {.vector = vector, .has_error = has_error, .error = 0x1234};

	return core_deliver(&v, &e, source, CODE);
}

START_TEST(fault_in_ring_0)
{
	const uint64_t frame[] = {0x1234, CODE, KCODE, FLAGS | X86_FL_RF};

	set_gate(X86_VEC_GP, KCODE, HANDLER, INT32);
	ck_assert(deliver(X86_VEC_GP, true, CORE_SOURCE_EXCEPTION));
	/* The stack is not aligned in protected mode. */
	EXPECT_AT(HANDLER, STACK - 16);
	check_words(regs.rsp, 4, frame, 4);
	ck_assert_uint_eq(regs.rflags, FLAGS & ~X86_FL_IF);
	ck_assert_uint_eq(sregs.ss.selector, KDATA);
}
END_TEST

START_TEST(fault_from_ring_3)
{
	const uint64_t frame[] = {0x1234, CODE, UCODE, FLAGS | X86_FL_RF, STACK, UDATA};

	flat_ring(3);
	set_gate(X86_VEC_GP, KCODE, HANDLER, TRAP32);
	ck_assert(deliver(X86_VEC_GP, true, CORE_SOURCE_EXCEPTION));
	ck_assert_uint_eq(regs.rsp, STACK0 - 24);
	check_words(regs.rsp, 4, frame, 6);
	ck_assert_uint_eq(regs.rflags, FLAGS);
	ck_assert_uint_eq(v.cpl, 0);
	ck_assert_uint_eq(sregs.ss.selector, KDATA);
	ck_assert_uint_eq(sregs.cs.selector, KCODE);
	/* The accessed bits in the GDT are set. */
	ck_assert_uint_eq(get64(GDT + KDATA) >> 40 & 0xff, 0x93);
	ck_assert_uint_eq(get64(GDT + KCODE) >> 40 & 0xff, 0x9b);
}
END_TEST

START_TEST(gate_of_16_bits)
{
	const uint64_t frame[] = {0x1234, CODE & 0xffff, UCODE, FLAGS, STACK & 0xffff, UDATA};

	flat_ring(3);
	set_gate(X86_VEC_GP, KCODE16, 0x56789, INT16);
	regs.rip = CODE;
	ck_assert(deliver(X86_VEC_GP, true, CORE_SOURCE_EXTERNAL));
	EXPECT_AT(0x6789, STACK0 - 12);
	check_words(regs.rsp, 2, frame, 6);
	ck_assert_uint_eq(v.bits, 16);
}
END_TEST

START_TEST(stack_in_a_tss_of_16_bits)
{
	sregs.tr.ar = X86_AR_P | 3;
	core_vcpu_load(&v);
	flat_ring(3);
	put16(TSS + 2, 0x8000);
	put16(TSS + 4, KDATA);
	set_gate(20, KCODE, HANDLER, INT32);
	ck_assert(deliver(20, false, CORE_SOURCE_EXTERNAL));
	ck_assert_uint_eq(regs.rsp, 0x8000 - 20);
}
END_TEST

START_TEST(conforming_handler_stays_in_ring_3)
{
	flat_ring(3);
	set_gate(20, CONFORMING, HANDLER, INT32);
	ck_assert(deliver(20, false, CORE_SOURCE_EXTERNAL));
	ck_assert_uint_eq(v.cpl, 3);
	ck_assert_uint_eq(sregs.cs.selector, CONFORMING | 3);
	ck_assert_uint_eq(regs.rsp, STACK - 12);
}
END_TEST

/* Delivery of interrupt 20 from ring 3 with one invalid selector, gate or stack. */
static const struct {
	const char *name;
	uint16_t selector;
	uint8_t access;
	uint16_t ss0;
	uint32_t esp0, offset;
	uint8_t vector;
	uint32_t error;
} broken[] = {
	{"a call gate", KCODE, 0x8c, KDATA, STACK0, HANDLER, X86_VEC_GP, 20 * 8 + 3},
	{"a 64-bit type", KCODE, 0x81, KDATA, STACK0, HANDLER, X86_VEC_GP, 20 * 8 + 3},
	{"not present", KCODE, 0x0e, KDATA, STACK0, HANDLER, X86_VEC_NP, 20 * 8 + 3},
	{"null CS", 2, INT32, KDATA, STACK0, HANDLER, X86_VEC_GP, 1},
	{"CS beyond the GDT", 0x100, INT32, KDATA, STACK0, HANDLER, X86_VEC_GP, 0x101},
	{"CS is data", KDATA, INT32, KDATA, STACK0, HANDLER, X86_VEC_GP, KDATA + 1},
	{"CS not present", GONE, INT32, KDATA, STACK0, HANDLER, X86_VEC_NP, GONE + 1},
	{"CS in an LDT that does not exist", KCODE | 4, INT32, KDATA, STACK0, HANDLER, X86_VEC_GP,
	 (KCODE | 4) + 1},
	{"null SS", KCODE, INT32, 0, STACK0, HANDLER, X86_VEC_TS, 1},
	{"SS beyond the GDT", KCODE, INT32, 0x100, STACK0, HANDLER, X86_VEC_TS, 0x101},
	{"SS of another RPL", KCODE, INT32, KDATA | 1, STACK0, HANDLER, X86_VEC_TS, KDATA + 1},
	{"SS of another DPL", KCODE, INT32, UDATA & ~3, STACK0, HANDLER, X86_VEC_TS,
	 (UDATA & ~3) + 1},
	{"SS read-only", KCODE, INT32, READ_ONLY, STACK0, HANDLER, X86_VEC_TS, READ_ONLY + 1},
	{"SS is code", KCODE, INT32, KCODE, STACK0, HANDLER, X86_VEC_TS, KCODE + 1},
	{"SS not present", KCODE, INT32, GONE_DATA, STACK0, HANDLER, X86_VEC_SS, GONE_DATA + 1},
	{"no room", KCODE, INT32, SMALL_DATA, 0x1010, HANDLER, X86_VEC_SS, SMALL_DATA + 1},
	{"EIP beyond the limit", SMALL_CODE, INT32, KDATA, STACK0, 0x1000, X86_VEC_GP, 1},
};

START_TEST(delivery_that_faults)
{
	struct engine_exception e = core_fault_plain(20);
	unsigned int i;

	for (i = 0; i < 20; i++)
		set_gate((uint8_t)i, CONFORMING, HANDLER + 16 * i, INT32);
	flat_ring(3);
	set_gate(20, broken[_i].selector, broken[_i].offset, broken[_i].access);
	put32(TSS + 4, broken[_i].esp0);
	put16(TSS + 8, broken[_i].ss0);
	ck_assert_msg(core_deliver(&v, &e, CORE_SOURCE_EXTERNAL, CODE), "%s", broken[_i].name);
	ck_assert_msg(e.vector == broken[_i].vector, "%s: %u", broken[_i].name, e.vector);
	ck_assert_msg(e.error == broken[_i].error, "%s: %#x", broken[_i].name, e.error);
	ck_assert_uint_eq(regs.rip, HANDLER + 16 * e.vector);
	ck_assert_uint_eq(get32(regs.rsp), broken[_i].error);
}
END_TEST

START_TEST(tss_that_is_too_short)
{
	struct engine_exception e = core_fault_plain(20);

	sregs.tr.limit = 8;
	core_vcpu_load(&v);
	flat_ring(3);
	set_gate(20, KCODE, HANDLER, INT32);
	set_gate(X86_VEC_TS, CONFORMING, HANDLER, INT32);
	ck_assert(core_deliver(&v, &e, CORE_SOURCE_EXTERNAL, CODE));
	ck_assert_uint_eq(e.vector, X86_VEC_TS);
	ck_assert_uint_eq(e.error, sregs.tr.selector + 1u);
}
END_TEST

START_TEST(nothing_changes_when_all_fails)
{
	struct engine_exception e = core_fault_plain(20);
	struct x86_regs before = regs;
	struct x86_sregs sbefore = sregs;

	ck_assert(!core_deliver(&v, &e, CORE_SOURCE_EXTERNAL, CODE));
	ck_assert_mem_eq(&before, &regs, sizeof(regs));
	ck_assert_mem_eq(&sbefore, &sregs, sizeof(sregs));
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_NONE);
}
END_TEST

START_TEST(task_gate_stops)
{
	set_gate(X86_VEC_DF, 0xf8, 0, TASK);
	ck_assert(!deliver(X86_VEC_DF, true, CORE_SOURCE_EXCEPTION));
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_UNABLE);
	memset(&vm.stop, 0, sizeof(vm.stop));
	set_gate(0x80, 0xf8, 0, TASK | 0x60);
	ck_assert_int_eq(RUN("\xcd\x80", &raised), CORE_DONE_STOPPED);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_UNABLE);
}
END_TEST

/* The frame of an interrupt has the RF of the interrupted code. */
START_TEST(rf_in_frames)
{
	set_gate(20, KCODE, HANDLER, INT32);
	regs.rflags |= X86_FL_RF;
	ck_assert(deliver(20, false, CORE_SOURCE_EXTERNAL));
	ck_assert_uint_eq(get32(regs.rsp + 8), FLAGS | X86_FL_RF);
	ck_assert(!(regs.rflags & X86_FL_RF));
}
END_TEST

START_TEST(nmi_blocks_until_iret)
{
	set_gate(2, KCODE, HANDLER, INT32);
	ck_assert(deliver(2, false, CORE_SOURCE_NMI));
	ck_assert(v.shadowed & CORE_VCPU_NMI_BLOCKED);
	RETIRES("\xcf");
	ck_assert(!(v.shadowed & CORE_VCPU_NMI_BLOCKED));
	ck_assert_uint_eq(regs.rip, CODE);
	/* An external interrupt with vector 2 is no NMI, and even an IRET that faults unblocks NMIs. */
	ck_assert(deliver(2, false, CORE_SOURCE_EXTERNAL));
	ck_assert(!(v.shadowed & CORE_VCPU_NMI_BLOCKED));
	v.shadowed |= CORE_VCPU_NMI_BLOCKED;
	put32(regs.rsp + 4, 0);
	RAISES("\xcf", X86_VEC_GP, 0);
	ck_assert(!(v.shadowed & CORE_VCPU_NMI_BLOCKED));
}
START_TEST(iret_of_the_same_ring)
{
	const uint32_t frame[] = {0x1234, KCODE, X86_FL_IF | X86_FL_RF | X86_FL_IOPL | X86_FL_AC};
	put_bytes(STACK, frame, sizeof(frame));
	RETIRES("\xcf");
	EXPECT_AT(0x1234, STACK + 12);
	ck_assert_uint_eq(regs.rflags, frame[2] | X86_FL_FIXED);
}
END_TEST

START_TEST(iret_to_ring_3)
{
	const uint32_t frame[] = {0x1234, UCODE, X86_FL_IF, 0x15678, UDATA};
	put_bytes(STACK, frame, sizeof(frame));
	RETIRES("\xcf");
	ck_assert_uint_eq(v.cpl, 3);
	ck_assert_uint_eq(regs.rsp, 0x15678);
	ck_assert_uint_eq(sregs.ss.selector, UDATA);
	ck_assert_uint_eq(sregs.ds.selector, 0);
	ck_assert(sregs.ds.ar & X86_AR_UNUSABLE);
	ck_assert_uint_eq(get64(GDT + (UDATA & ~7)) >> 40 & 0xff, 0xf3);
}
END_TEST

/* IRET loads only SP: bits 31:16 of ESP keep their value. */
START_TEST(iret_to_a_stack_of_16_bits)
{
	const uint32_t frame[] = {0x1234, UCODE, X86_FL_IF, 0x95678, UDATA16};
	put_bytes(STACK, frame, sizeof(frame));
	RETIRES("\xcf");
	ck_assert_uint_eq(regs.rsp, (STACK & 0xffff0000) | 0x5678);
}
END_TEST

START_TEST(iret_of_16_bits)
{
	const uint16_t frame[] = {0x1234, KCODE, X86_FL_CF | X86_FL_IF};
	regs.rflags |= X86_FL_AC;
	put_bytes(STACK, frame, sizeof(frame));
	RETIRES("\x66\xcf");
	EXPECT_AT(0x1234, STACK + 6);
	ck_assert_uint_eq(regs.rflags, X86_FL_FIXED | X86_FL_CF | X86_FL_IF | X86_FL_AC);
}
END_TEST

static const struct {
	const char *name;
	uint32_t eip, cs, ss;
	uint8_t vector;
	uint32_t error;
} bad_iret[] = {
	{"null CS", 0, 3, UDATA, X86_VEC_GP, 0},
	{"CS beyond the GDT", 0, 0x103, UDATA, X86_VEC_GP, 0x100},
	{"CS is data", 0, UDATA, UDATA, X86_VEC_GP, UDATA & ~3},
	{"RPL is not DPL", 0, KCODE | 3, UDATA, X86_VEC_GP, KCODE},
	{"CS not present", 0, GONE, KDATA, X86_VEC_NP, GONE},
	{"EIP beyond the limit", 0x1000, SMALL_CODE, KDATA, X86_VEC_GP, 0},
	{"null SS", 0, UCODE, 3, X86_VEC_GP, 0},
	{"SS of another ring", 0, UCODE, KDATA, X86_VEC_GP, KDATA},
	{"SS of another DPL", 0, UCODE, KDATA | 3, X86_VEC_GP, KDATA},
	{"SS is code", 0, UCODE, UCODE, X86_VEC_GP, UCODE & ~3},
};

START_TEST(iret_that_faults)
{
	const uint32_t frame[] = {bad_iret[_i].eip, bad_iret[_i].cs, 2, STACK, bad_iret[_i].ss};
	struct x86_regs before = regs;
	put_bytes(STACK, frame, sizeof(frame));
	check_raised(bad_iret[_i].name, RUN("\xcf", &raised), bad_iret[_i].vector,
		     bad_iret[_i].error);
	ck_assert_mem_eq(&before, &regs, sizeof(regs));
}
END_TEST

START_TEST(iret_beyond_the_stack)
{
	v.s.ss.limit = STACK + 10;
	RAISES("\xcf", X86_VEC_SS, 0);
	/* The limit of an expand-down segment is its lower bound. */
	v.s.ss.limit = STACK;
	v.s.ss.ar |= X86_AR_DC;
	RAISES("\xcf", X86_VEC_SS, 0);
}
END_TEST

START_TEST(iret_that_the_core_does_not_do)
{
	const uint32_t frame[] = {0, UCODE, X86_FL_VM, STACK, UDATA};
	put_bytes(STACK, frame, sizeof(frame));
	ck_assert_int_eq(RUN("\xcf", &raised), CORE_DONE_STOPPED);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_UNABLE);
	memset(&vm.stop, 0, sizeof(vm.stop));
	regs.rflags |= X86_FL_NT;
	ck_assert_int_eq(RUN("\xcf", &raised), CORE_DONE_STOPPED);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_UNABLE);
}
END_TEST

START_TEST(into)
{
	set_gate(X86_VEC_OF, KCODE, HANDLER, TRAP32 | 0x60);
	RETIRES("\xce");
	ck_assert_uint_eq(regs.rip, CODE + 1);
	regs.rip = CODE;
	regs.rflags |= X86_FL_OF;
	RETIRES("\xce");
	ck_assert_uint_eq(regs.rip, HANDLER);
	ck_assert_uint_eq(get32(regs.rsp), CODE + 1);
}
END_TEST

START_TEST(sysenter_and_sysexit)
{
	still.sysenter_cs = KCODE;
	still.sysenter_esp = 0xffffffff00000000ull | STACK0;
	still.sysenter_eip = 0xffffffff00000000ull | HANDLER;
	flat_ring(3);
	RETIRES("\x0f\x34");
	EXPECT_AT(HANDLER, STACK0);
	ck_assert_uint_eq(v.cpl, 0);
	ck_assert_uint_eq(v.bits, 32);
	ck_assert_uint_eq(sregs.cs.ar & (X86_AR_L | X86_AR_DB), X86_AR_DB);
	regs.rdx = 0x1234;
	regs.rcx = 0x5678;
	RETIRES("\x0f\x35");
	EXPECT_AT(0x1234, 0x5678);
	ck_assert_uint_eq(sregs.cs.selector, UCODE);
	ck_assert_uint_eq(sregs.ss.selector, UDATA);
	ck_assert_uint_eq(v.bits, 32);
	/* SYSEXIT faults in ring 3, and SYSENTER without a code segment. */
	RAISES("\x0f\x35", X86_VEC_GP, 0);
	still.sysenter_cs = 3;
	RAISES("\x0f\x34", X86_VEC_GP, 0);
}
END_TEST

/* SYSCALL exists in 64-bit mode only. */
START_TEST(no_syscall)
{
	v.s.efer |= X86_EFER_SCE;
	core_vcpu_store(&v);
	RAISES("\x0f\x05", X86_VEC_UD, 0);
}
END_TEST

/* The core reports each byte of RAM that it writes to the engine. */
START_TEST(writes_are_reported)
{
	set_gate(20, KCODE, HANDLER, INT32);
	v.s.ss.base = 0x100;
	ck_assert(deliver(20, false, CORE_SOURCE_EXTERNAL));
	ck_assert_uint_eq(still.wrote, 2);
	ck_assert_uint_eq(still.wrote_first, GDT + KCODE + 5);
	ck_assert_uint_eq(still.wrote_end, STACK + 0x100);
	still.wrote = 0;
	ck_assert(deliver(20, false, CORE_SOURCE_EXTERNAL));
	/* The accessed bit is set already. */
	ck_assert_uint_eq(still.wrote, 1);
	ck_assert_uint_eq(still.wrote_first, STACK + 0x100 - 24);
}
END_TEST

TEST_SUITE("protected", flat_protect, still_destroy)
{
	TEST_ADD(tcase, fault_in_ring_0, fault_from_ring_3, gate_of_16_bits,
		 stack_in_a_tss_of_16_bits, conforming_handler_stays_in_ring_3,
		 tss_that_is_too_short, nothing_changes_when_all_fails, task_gate_stops,
		 rf_in_frames, nmi_blocks_until_iret, iret_of_the_same_ring, iret_to_ring_3,
		 iret_to_a_stack_of_16_bits, iret_of_16_bits, iret_beyond_the_stack,
		 iret_that_the_core_does_not_do, into, sysenter_and_sysexit, no_syscall,
		 writes_are_reported);
	TEST_ROWS(tcase, delivery_that_faults, broken);
	TEST_ROWS(tcase, iret_that_faults, bad_iret);
}
