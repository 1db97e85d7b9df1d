// SPDX-License-Identifier: GPL-2.0-or-later
/* The record of a guest that stopped: the faults behind a triple fault, its callers. */
#include "lib/suite.h"

#include <string.h>

#include "lib/still.h"
#include "core/deliver.h"
#include "core/fault.h"
#include "core/post_mortem.h"
#include "core/descriptor.h"

enum layout {
	RAM = 4 << 20,
	IDT = 0x1000,
	GDT = 0x2000,
	PML4 = 0x4000,
	PDPT = 0x5000,
	PD = 0x6000,
	HANDLER = 0x10000,
	STACK = 0x40000,
	CODE = 0x50000,
	END = 0x200000, /* of what is mapped */
	HOLE = 0x300000,
};

#define KCODE 0x08
#define KDATA 0x10

static void gate(unsigned int vector, uint8_t access)
{
	put64(IDT + 16 * vector, HANDLER | (uint64_t)KCODE << 16 | (uint64_t)access << 40);
	put64(IDT + 16 * vector + 8, 0);
}

static void setup(void)
{
	still_create(RAM, false);
	put64(PML4, PDPT | 7);
	put64(PDPT, PD | 7);
	put64(PD, 0x87);
	put64(GDT + KCODE, 0x00af9b000000ffffull);
	put64(GDT + KDATA, 0x00cf93000000ffffull);
	sregs.cr0 = X86_CR0_PE | X86_CR0_PG | X86_CR0_WP;
	sregs.cr3 = PML4;
	sregs.cr4 = X86_CR4_PAE;
	sregs.efer = X86_EFER_LME | X86_EFER_LMA;
	sregs.gdt = (struct x86_table){GDT, 0x17};
	sregs.idt = (struct x86_table){IDT, 0xfff};
	sregs.cs = core_flat_segment(KCODE, true, true, 0);
	sregs.ss = core_flat_segment(KDATA, false, false, 0);
	regs = (struct x86_regs){.rip = CODE, .rsp = STACK, .rflags = 2};
	core_vcpu_load(&v);
}

static void teardown(void)
{
	still_destroy();
}

static struct trace_post_mortem stop(enum trace_stop_kind kind)
{
	struct trace_post_mortem pm;

	core_vm_stop(&vm, kind, "at %#llx", (unsigned long long)regs.rip);
	core_vcpu_post_mortem(&v, &pm);
	ck_assert_uint_eq(pm.stop.kind, kind);
	return pm;
}

static void check_fault(const struct trace_post_mortem *pm, unsigned int i, uint8_t vector,
			uint8_t flags, uint32_t error)
{
	ck_assert_uint_lt(i, pm->stop.faults);
	ck_assert_uint_eq(pm->fault[i].vector, vector);
	ck_assert_uint_eq(pm->fault[i].flags, flags);
	ck_assert_uint_eq(pm->fault[i].error, error);
	ck_assert_uint_eq(pm->fault[i].rip, CODE);
}

/* Each exception on an IDT without entries: what most bare-metal guests die of. */
START_TEST(no_idt)
{
	struct engine_exception e = core_fault_code(X86_VEC_PF, 2);
	struct trace_post_mortem pm;

	e.cr2 = HOLE;
	v.s.idt.limit = 0;
	ck_assert(!core_deliver(&v, &e, CORE_SOURCE_EXCEPTION, CODE));
	pm = stop(TRACE_STOP_TRIPLE_FAULT);
	ck_assert_uint_eq(pm.stop.faults, 4);
	check_fault(&pm, 0, X86_VEC_PF, TRACE_GUEST_FAULT_HAS_ERROR, 2);
	ck_assert_uint_eq(pm.fault[0].cr2, HOLE);
	ck_assert_uint_eq(pm.stop.cr2, HOLE);
	check_fault(&pm, 1, X86_VEC_GP, TRACE_GUEST_FAULT_HAS_ERROR, X86_VEC_PF * 8 + 3);
	check_fault(&pm, 2, X86_VEC_DF, TRACE_GUEST_FAULT_HAS_ERROR, 0);
	check_fault(&pm, 3, X86_VEC_GP, TRACE_GUEST_FAULT_HAS_ERROR, X86_VEC_DF * 8 + 3);
	ck_assert_uint_eq(pm.stop.idt_base, IDT);
	ck_assert_uint_eq(pm.stop.idt_limit, 0);
	ck_assert_str_eq(pm.stop.text, "at 0x50000");
}
END_TEST

/* A stack that cannot be pushed to. */
START_TEST(bad_stack)
{
	struct engine_exception e = core_fault_plain(32);
	struct trace_post_mortem pm;

	gate(32, 0x8e);
	gate(X86_VEC_PF, 0x8e);
	gate(X86_VEC_DF, 0x8e);
	regs.rsp = HOLE + 0x100;
	ck_assert(!core_deliver(&v, &e, CORE_SOURCE_EXTERNAL, CODE));
	pm = stop(TRACE_STOP_TRIPLE_FAULT);
	ck_assert_uint_eq(pm.stop.faults, 5);
	check_fault(&pm, 0, 32, TRACE_GUEST_FAULT_INTERRUPT, 0);
	check_fault(&pm, 1, X86_VEC_PF, TRACE_GUEST_FAULT_HAS_ERROR, 2);
	check_fault(&pm, 2, X86_VEC_PF, TRACE_GUEST_FAULT_HAS_ERROR, 2);
	check_fault(&pm, 3, X86_VEC_DF, TRACE_GUEST_FAULT_HAS_ERROR, 0);
	check_fault(&pm, 4, X86_VEC_PF, TRACE_GUEST_FAULT_HAS_ERROR, 2);
	ck_assert_uint_ge(pm.fault[4].cr2, HOLE + 0x100 - 6 * 8);
	ck_assert_uint_lt(pm.fault[4].cr2, HOLE + 0x100);
	ck_assert_uint_eq(pm.stop.cr2, pm.fault[4].cr2);
	ck_assert_uint_eq(pm.stop.calls, 0);
}
END_TEST

/* A fault that was delivered is not the reason for a later triple fault elsewhere. */
START_TEST(delivered_is_forgotten)
{
	struct engine_exception e = core_fault_plain(X86_VEC_UD);
	struct trace_post_mortem pm;

	gate(X86_VEC_UD, 0x8e);
	ck_assert(core_deliver(&v, &e, CORE_SOURCE_EXCEPTION, CODE));
	pm = stop(TRACE_STOP_TRIPLE_FAULT);
	ck_assert_uint_eq(pm.stop.faults, 0);
}
END_TEST

/* Return addresses behind CALLs of every length, among words that are none. */
START_TEST(callers)
{
	static const struct {
		const char *code;
		unsigned int len;
	} calls[] = {
		{"\xe8\x00\x10\x00\x00", 5},		     /* call rel32 */
		{"\xff\xd0", 2},			     /* call *%rax */
		{"\x41\xff\xd3", 3},			     /* call *%r11 */
		{"\xff\x15\x00\x01\x00\x00", 6},	     /* call *0x100(%rip) */
		{"\x41\xff\x94\xcc\x00\x01\x00\x00", 8},     /* call *0x100(%r12,%rcx,8) */
		{"\x65\x41\xff\x94\xcc\x00\x01\x00\x00", 9}, /* the same in GS */
	};
	uint64_t sp = STACK, want[6];
	struct trace_post_mortem pm;
	unsigned int i;

	memset(vm.mem.host + CODE, 0x90, 0x1000);
	for (i = 0; i < 6; i++) {
		uint64_t at = CODE + 0x40 * (i + 1);

		put_bytes(at, calls[i].code, calls[i].len);
		want[i] = at + calls[i].len;
		put64(sp, CODE + 0x20);	    /* code, but no CALL before it */
		put64(sp + 8, HOLE + 0x20); /* not mapped */
		put64(sp + 16, 1ull << 60); /* not canonical */
		put64(sp + 24, i);
		put64(sp + 32, want[i]);
		sp += 40;
	}
	pm = stop(TRACE_STOP_TIMEOUT);
	ck_assert_uint_eq(pm.stop.calls, 6);
	ck_assert_mem_eq(pm.call, want, sizeof(want));
}
END_TEST

/* Recursion fills the list and no more. */
START_TEST(deep)
{
	struct trace_post_mortem pm;
	unsigned int i;

	put_bytes(CODE, "\xe8\xfb\xff\xff\xff", 5);
	for (i = 0; i < 1000; i++)
		put64(STACK + 8 * i, CODE + 5);
	pm = stop(TRACE_STOP_INTERRUPTED);
	ck_assert_uint_eq(pm.stop.calls, TRACE_STOP_CALLS);
	ck_assert_uint_eq(pm.call[TRACE_STOP_CALLS - 1], CODE + 5);
}
END_TEST

/* A guest that ended itself has no callers that are of interest. */
START_TEST(exits)
{
	struct trace_post_mortem pm;

	put_bytes(CODE, "\xe8\xfb\xff\xff\xff", 5);
	put64(STACK, CODE + 5);
	vm.stop.exit_status = 3;
	pm = stop(TRACE_STOP_EXIT);
	ck_assert_uint_eq(pm.stop.exit_status, 3);
	ck_assert_uint_eq(pm.stop.calls, 0);
}
END_TEST

START_TEST(code_at_the_end)
{
	struct trace_post_mortem pm;

	regs.rip = END - 2;
	put_bytes(END - 2, "\x0f\x0b", 2);
	pm = stop(TRACE_STOP_UNABLE);
	ck_assert_uint_eq(pm.stop.insn_len, 2);
	ck_assert_mem_eq(pm.stop.insn, "\x0f\x0b\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}
END_TEST

START_TEST(no_code)
{
	struct trace_post_mortem pm;

	regs.rip = HOLE;
	pm = stop(TRACE_STOP_TRIPLE_FAULT);
	ck_assert_uint_eq(pm.stop.insn_len, 0);
	ck_assert_uint_eq(pm.stop.rip, HOLE);
}
END_TEST

/* 32-bit code, whose segments have bases. */
START_TEST(protected_mode)
{
	struct trace_post_mortem pm;

	v.s.cr0 = X86_CR0_PE;
	v.s.efer = 0;
	v.s.cs = core_flat_segment(KCODE, true, false, 0);
	v.s.cs.base = CODE;
	v.s.ss = core_flat_segment(KDATA, false, false, 0);
	v.s.ss.base = 0x1000;
	core_vcpu_store(&v);
	core_vcpu_load(&v);
	regs.rip = 0x10;
	regs.rsp = STACK;
	put_bytes(CODE + 0x10, "\xe8\x00\x00\x00\x00", 5);
	put32(STACK + 0x1000, 0x15);
	pm = stop(TRACE_STOP_HALTED);
	ck_assert_uint_eq(pm.stop.mode, 32);
	ck_assert_uint_eq(pm.stop.cs_base, CODE);
	ck_assert_uint_eq(pm.stop.insn[0], 0xe8);
	ck_assert_uint_eq(pm.stop.calls, 1);
	ck_assert_uint_eq(pm.call[0], 0x15);
}
END_TEST

TEST_SUITE("crash", setup, teardown)
{
	TEST_ADD(tcase, no_idt, bad_stack, delivered_is_forgotten, callers, deep, exits,
		 code_at_the_end, no_code, protected_mode);
}
