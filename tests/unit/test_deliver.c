// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the core does in the processor's place: delivery through the IDT, IRET,
 * SYSCALL and the like, PUSHF and POPF. On an engine that only holds registers.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/still.h"
#include "core/deliver.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/descriptor.h"

enum layout {
	RAM = 4 << 20,
	IDT = 0x1000,
	GDT = 0x2000,
	TSS = 0x3000,
	PML4 = 0x4000,
	PDPT = 0x5000,
	PD = 0x6000,
	HANDLER = 0x10000,
	STACK0 = 0x20000, /* RSP0 */
	STACK_IST = 0x30000,
	STACK = 0x40008, /* of what is interrupted; not aligned to 16 */
	CODE = 0x50000,
	HOLE = 0x200000, /* not mapped */
};

enum selectors {
	KCODE = 0x08,
	KDATA = 0x10,
	UDATA = 0x23,
	UCODE = 0x2b,
	CCODE = 0x33,
	GONE = 0x38
};

#define STAR_VALUE (0x18ull << 48 | 0x08ull << 32)

/* type: 0xe interrupt, 0xf trap gate. */
static void gate(unsigned int vector, uint64_t to, uint16_t selector, uint8_t ist, uint8_t access)
{
	put64(IDT + 16 * vector, (to & 0xffff) | (uint64_t)selector << 16 | (uint64_t)ist << 32 |
					 (uint64_t)access << 40 | (to >> 16 & 0xffff) << 48);
	put64(IDT + 16 * vector + 8, to >> 32);
}

static void ring(uint8_t cpl)
{
	v.s.cs = core_flat_segment(cpl ? UCODE : KCODE, true, true, cpl);
	v.s.ss = core_flat_segment(cpl ? UDATA : KDATA, false, false, cpl);
	core_vcpu_store(&v);
}

static void setup(void)
{
	unsigned int i;

	still_create(RAM, false);
	still.star = STAR_VALUE;
	still.lstar = HANDLER + 0x500;
	still.fmask = X86_FL_TF | X86_FL_IF;
	still.sysenter_cs = KCODE;
	still.sysenter_esp = STACK0;
	still.sysenter_eip = HANDLER;
	put64(PML4, PDPT | 7);
	put64(PDPT, PD | 7);
	put64(PD, 0x87);
	put64(GDT + KCODE, 0x00af9b000000ffffull);
	put64(GDT + KDATA, 0x00cf93000000ffffull);
	put64(GDT + (UDATA & ~7), 0x00cff3000000ffffull);
	put64(GDT + (UCODE & ~7), 0x00affb000000ffffull);
	put64(GDT + (CCODE & ~7), 0x00cffb000000ffffull); /* 32-bit code, DPL 3 */
	put64(GDT + GONE, 0x00af1b000000ffffull);	  /* not present */
	put64(TSS + 4, STACK0);
	put64(TSS + 36, STACK_IST);
	for (i = 0; i < 32; i++)
		gate(i, HANDLER + 16 * i, KCODE, 0, 0x8e);
	sregs.cr0 = X86_CR0_PE | X86_CR0_PG | X86_CR0_WP;
	sregs.cr3 = PML4;
	sregs.cr4 = X86_CR4_PAE;
	sregs.efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE | X86_EFER_SCE;
	sregs.gdt = (struct x86_table){GDT, 0x3f};
	sregs.idt = (struct x86_table){IDT, 0xfff};
	sregs.tr = (struct x86_segment){
		.base = TSS, .limit = 0x67, .selector = 0x40, .ar = X86_AR_TSS};
	regs = (struct x86_regs){.rip = CODE, .rsp = STACK, .rflags = 2 | X86_FL_IF | X86_FL_ZF};
	core_vcpu_load(&v);
	ring(0);
}

static void check_frame(uint64_t at, uint64_t rip, uint64_t cs, uint64_t rflags, uint64_t rsp,
			uint64_t ss)
{
	ck_assert_uint_eq(get64(at), rip);
	ck_assert_uint_eq(get64(at + 8), cs);
	ck_assert_uint_eq(get64(at + 16), rflags);
	ck_assert_uint_eq(get64(at + 24), rsp);
	ck_assert_uint_eq(get64(at + 32), ss);
}

START_TEST(interrupt_in_ring_0)
{
	struct engine_exception e = core_fault_plain(20);
	uint64_t rflags = regs.rflags;

	regs.rflags |= X86_FL_RF;
	ck_assert(core_deliver(&v, &e, CORE_SOURCE_EXTERNAL, CODE));
	ck_assert_uint_eq(regs.rip, HANDLER + 16 * 20);
	/* Aligned first, then five words. */
	ck_assert_uint_eq(regs.rsp, (STACK & ~15) - 40);
	check_frame(regs.rsp, CODE, KCODE, rflags, STACK, KDATA);
	ck_assert_uint_eq(regs.rflags, rflags & ~X86_FL_IF);
	ck_assert_uint_eq(v.cpl, 0);
	ck_assert_uint_eq(v.s.ss.selector, KDATA);
}
END_TEST

START_TEST(fault_from_ring_3)
{
	struct engine_exception e = core_fault_code(X86_VEC_PF, 6);
	uint64_t rflags = regs.rflags;

	e.cr2 = HOLE;
	ring(3);
	ck_assert(core_deliver(&v, &e, CORE_SOURCE_EXCEPTION, CODE));
	ck_assert_uint_eq(regs.rip, HANDLER + 16 * X86_VEC_PF);
	ck_assert_uint_eq(regs.rsp, STACK0 - 48);
	ck_assert_uint_eq(get64(regs.rsp), 6);
	check_frame(regs.rsp + 8, CODE, UCODE, rflags | X86_FL_RF, STACK, UDATA);
	ck_assert_uint_eq(v.cpl, 0);
	ck_assert_uint_eq(sregs.cr2, HOLE);
	ck_assert_uint_eq(sregs.cs.selector, KCODE);
	ck_assert(sregs.cs.ar & X86_AR_L);
	ck_assert_uint_eq(sregs.ss.selector, 0);
}
END_TEST

START_TEST(trap_gate_keeps_if)
{
	struct engine_exception e = core_fault_plain(X86_VEC_BP);

	gate(X86_VEC_BP, HANDLER, KCODE, 0, 0xef);
	regs.rflags |= X86_FL_TF | X86_FL_NT;
	ck_assert(core_deliver(&v, &e, CORE_SOURCE_EXCEPTION, CODE + 1));
	ck_assert_uint_eq(regs.rflags, 2 | X86_FL_IF | X86_FL_ZF);
	ck_assert_uint_eq(get64(regs.rsp + 16), 2 | X86_FL_IF | X86_FL_ZF | X86_FL_TF | X86_FL_NT);
}
END_TEST

START_TEST(ist_stack_also_in_ring_0)
{
	struct engine_exception e = core_fault_plain(2);

	gate(2, HANDLER, KCODE, 1, 0x8e);
	ck_assert(core_deliver(&v, &e, CORE_SOURCE_EXTERNAL, CODE));
	ck_assert_uint_eq(regs.rsp, STACK_IST - 40);
	ck_assert_uint_eq(get64(regs.rsp + 24), STACK);
}
END_TEST

/* One thing wrong with delivering vector 20 as an interrupt; what comes instead. */
static const struct {
	const char *name;
	uint8_t vector;
	uint32_t error;
} broken[] = {
	{"gate beyond the limit", X86_VEC_GP, 20 * 8 + 3},
	{"gate not present", X86_VEC_NP, 20 * 8 + 3},
	{"a call gate", X86_VEC_GP, 20 * 8 + 3},
	{"null selector", X86_VEC_GP, 1},
	{"selector beyond the GDT", X86_VEC_GP, 0x1001},
	{"data selector", X86_VEC_GP, KDATA + 1},
	{"code not present", X86_VEC_NP, GONE + 1},
	{"32-bit code", X86_VEC_GP, (CCODE & ~3) + 1},
	{"handler not canonical", X86_VEC_GP, 1},
	{"IST not canonical", X86_VEC_SS, 1},
	{"IST not mapped", X86_VEC_PF, 2},
	{"TSS too short", X86_VEC_TS, 0x41},
};

static void break_it(int i)
{
	switch (i) {
	case 0:
		v.s.idt.limit = 20 * 16 + 14;
		break;
	case 1:
		gate(20, HANDLER, KCODE, 0, 0x0e);
		break;
	case 2:
		gate(20, HANDLER, KCODE, 0, 0x8c);
		break;
	case 3:
		gate(20, HANDLER, 3, 0, 0x8e);
		break;
	case 4:
		gate(20, HANDLER, 0x1000, 0, 0x8e);
		break;
	case 5:
		gate(20, HANDLER, KDATA, 0, 0x8e);
		break;
	case 6:
		gate(20, HANDLER, GONE, 0, 0x8e);
		break;
	case 7:
		ring(3);
		gate(20, HANDLER, CCODE, 0, 0x8e);
		break;
	case 8:
		gate(20, 1ull << 50, KCODE, 0, 0x8e);
		break;
	case 9:
		put64(TSS + 36, 1ull << 50);
		gate(20, HANDLER, KCODE, 1, 0x8e);
		break;
	case 10:
		put64(TSS + 36, HOLE + 0x1000);
		gate(20, HANDLER, KCODE, 1, 0x8e);
		break;
	default:
		v.s.tr.limit = 40;
		gate(20, HANDLER, KCODE, 1, 0x8e);
		break;
	}
}

START_TEST(delivery_that_faults)
{
	struct engine_exception e = core_fault_plain(20);

	break_it(_i);
	ck_assert_msg(core_deliver(&v, &e, CORE_SOURCE_EXTERNAL, CODE), "%s", broken[_i].name);
	ck_assert_msg(e.vector == broken[_i].vector, "%s: %u", broken[_i].name, e.vector);
	ck_assert_msg(e.error == broken[_i].error, "%s: %#x", broken[_i].name, e.error);
	ck_assert_uint_eq(get64(regs.rsp), broken[_i].error);
	ck_assert_uint_eq(get64(regs.rsp + 8), CODE);
}
END_TEST

static const struct {
	uint8_t first, broken_gate, becomes; /* becomes 0xff: triple fault */
} doubles[] = {
	{X86_VEC_GP, X86_VEC_GP, X86_VEC_DF}, /* the #NP is contributory too */
	{X86_VEC_PF, X86_VEC_PF, X86_VEC_DF}, {X86_VEC_DE, X86_VEC_DE, X86_VEC_DF},
	{X86_VEC_UD, X86_VEC_UD, X86_VEC_NP}, /* benign, then #NP alone */
	{X86_VEC_DB, X86_VEC_DB, X86_VEC_NP}, {X86_VEC_DF, X86_VEC_DF, 0xff},
};

START_TEST(double_faults)
{
	struct engine_exception e = core_fault_plain(doubles[_i].first);
	struct x86_regs before;

	gate(doubles[_i].broken_gate, HANDLER, KCODE, 0, 0x0e);
	before = regs;
	if (doubles[_i].becomes == 0xff) {
		ck_assert(!core_deliver(&v, &e, CORE_SOURCE_EXCEPTION, CODE));
		ck_assert_mem_eq(&before, &regs, sizeof(regs));
		return;
	}
	ck_assert(core_deliver(&v, &e, CORE_SOURCE_EXCEPTION, CODE));
	ck_assert_uint_eq(e.vector, doubles[_i].becomes);
	ck_assert_uint_eq(regs.rip, HANDLER + 16 * doubles[_i].becomes);
}
END_TEST

START_TEST(no_idt_is_a_triple_fault)
{
	struct engine_exception e = core_fault_plain(X86_VEC_UD);

	v.s.idt.limit = 0;
	ck_assert(!core_deliver(&v, &e, CORE_SOURCE_EXCEPTION, CODE));
}
END_TEST

START_TEST(int_n)
{
	struct engine_exception e;

	gate(0x80, HANDLER, KCODE, 0, 0xee);
	ring(3);
	ck_assert_int_eq(RUN("\xcd\x80", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, HANDLER);
	ck_assert_uint_eq(get64(regs.rsp), CODE + 2);
	ck_assert_uint_eq(get64(regs.rsp + 8), UCODE);
}
END_TEST

START_TEST(int_n_needs_a_gate_for_its_ring)
{
	struct engine_exception e;

	gate(0x80, HANDLER, KCODE, 0, 0x8e);
	ring(3);
	ck_assert_int_eq(RUN("\xcd\x80", &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
	ck_assert_uint_eq(e.error, 0x80 * 8 + 2);
	ck_assert_uint_eq(regs.rip, CODE);
	/* INT1 does not. */
	ck_assert_int_eq(RUN("\xf1", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, HANDLER + 16 * X86_VEC_DB);
}
END_TEST

static void push_iret(uint64_t rip, uint64_t cs, uint64_t rflags, uint64_t rsp, uint64_t ss)
{
	put64(STACK, rip);
	put64(STACK + 8, cs);
	put64(STACK + 16, rflags);
	put64(STACK + 24, rsp);
	put64(STACK + 32, ss);
}

#define IRETQ "\x48\xcf"

START_TEST(iret_to_ring_3)
{
	struct engine_exception e;

	push_iret(0x1234, UCODE, 2 | X86_FL_TF | X86_FL_IF | X86_FL_IOPL | X86_FL_VM, 0x5678,
		  UDATA);
	v.s.fs.base = 0x9999;
	v.s.fs.ar |= X86_AR_P;
	v.s.fs.selector = KDATA;
	v.s.es = core_flat_segment(UDATA, false, false, 3);
	ck_assert_int_eq(RUN(IRETQ, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x1234);
	ck_assert_uint_eq(regs.rsp, 0x5678);
	ck_assert_uint_eq(regs.rflags, 2 | X86_FL_TF | X86_FL_IF | X86_FL_IOPL);
	ck_assert_uint_eq(v.cpl, 3);
	ck_assert_uint_eq(v.bits, 64);
	/* What belongs to ring 0 is dropped, what may be seen stays. */
	ck_assert_uint_eq(sregs.fs.selector, 0);
	ck_assert_uint_eq(sregs.fs.base, 0x9999);
	ck_assert_uint_eq(sregs.es.selector, UDATA);
}
END_TEST

START_TEST(iret_to_compatibility_mode)
{
	struct engine_exception e;

	push_iret(0x1234, CCODE, 2, 0x5678, UDATA);
	ck_assert_int_eq(RUN(IRETQ, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(v.bits, 32);
	ck_assert_uint_eq(v.cpl, 3);
}
END_TEST

/* In compatibility mode only a change of rings pops a stack. */
START_TEST(iret_in_compatibility_mode)
{
	const uint32_t same[] = {0x1234, CCODE, 2 | X86_FL_RF};
	const uint32_t outer[] = {0x5678, CCODE, 2, 0x9abc, UDATA};
	struct engine_exception e;

	v.s.cs = core_flat_segment(CCODE, true, false, 3);
	v.s.ss = core_flat_segment(UDATA, false, false, 3);
	core_vcpu_store(&v);
	put_bytes(STACK, same, sizeof(same));
	ck_assert_int_eq(RUN("\xcf", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x1234);
	ck_assert_uint_eq(regs.rsp, STACK + 12);
	ck_assert_uint_eq(regs.rflags, 2 | X86_FL_IF | X86_FL_RF);
	v.s.cs = core_flat_segment(KCODE, true, false, 0);
	v.s.ss = core_flat_segment(KDATA, false, false, 0);
	core_vcpu_store(&v);
	regs.rsp = STACK;
	put_bytes(STACK, outer, sizeof(outer));
	ck_assert_int_eq(RUN("\xcf", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x5678);
	ck_assert_uint_eq(regs.rsp, 0x9abc);
	ck_assert_uint_eq(v.cpl, 3);
	ck_assert_uint_eq(v.bits, 32);
}
END_TEST

START_TEST(iret_of_32_and_16_bits)
{
	const uint32_t frame[] = {0x1234, KCODE, 2, 0x5678, KDATA};
	const uint16_t words[] = {0x4321, KCODE, 2 | X86_FL_CF, 0x8765, KDATA};
	struct engine_exception e;

	put_bytes(STACK, frame, sizeof(frame));
	ck_assert_int_eq(RUN("\xcf", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x1234);
	ck_assert_uint_eq(regs.rsp, 0x5678);
	put_bytes(0x5678, words, sizeof(words));
	regs.rflags |= X86_FL_AC;
	ck_assert_int_eq(RUN("\x66\xcf", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x4321);
	ck_assert_uint_eq(regs.rsp, 0x8765);
	ck_assert_uint_eq(regs.rflags, 2 | X86_FL_CF | X86_FL_AC);
}
END_TEST

/* From there a handler is entered in 64-bit mode. */
START_TEST(int_n_in_compatibility_mode)
{
	struct engine_exception e;

	gate(0x80, HANDLER, KCODE, 0, 0xee);
	v.s.cs = core_flat_segment(CCODE, true, false, 3);
	v.s.ss = core_flat_segment(UDATA, false, false, 3);
	core_vcpu_store(&v);
	ck_assert_int_eq(RUN("\xcd\x80", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(v.bits, 64);
	ck_assert_uint_eq(regs.rsp, STACK0 - 40);
	ck_assert_uint_eq(get64(STACK0 - 40), CODE + 2);
	ck_assert_uint_eq(get64(STACK0 - 32), CCODE);
	/* INTO too, if there was an overflow. */
	v.s.cs = core_flat_segment(CCODE, true, false, 3);
	v.s.ss = core_flat_segment(UDATA, false, false, 3);
	core_vcpu_store(&v);
	regs.rip = CODE;
	ck_assert_int_eq(RUN("\xce", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, CODE + 1);
	ck_assert_uint_eq(v.bits, 32);
}
END_TEST

START_TEST(iret_to_a_null_stack_in_ring_0)
{
	struct engine_exception e;

	push_iret(0x1234, KCODE, 2, STACK, 0);
	ck_assert_int_eq(RUN(IRETQ, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(v.cpl, 0);
}
END_TEST

/* In ring 3 IRET leaves IF and IOPL alone. */
START_TEST(iret_in_ring_3)
{
	struct engine_exception e;

	ring(3);
	push_iret(0x1234, UCODE, 2 | X86_FL_IOPL | X86_FL_CF, STACK, UDATA);
	ck_assert_int_eq(RUN(IRETQ, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rflags, 2 | X86_FL_IF | X86_FL_CF);
}
END_TEST

static const struct {
	const char *name;
	uint64_t rip, cs, ss;
	uint8_t cpl, vector;
	uint32_t error;
} bad_iret[] = {
	{"null CS", 0, 0, KDATA, 0, X86_VEC_GP, 0},
	{"CS beyond the GDT", 0, 0x1000, KDATA, 0, X86_VEC_GP, 0x1000},
	{"CS is data", 0, KDATA, KDATA, 0, X86_VEC_GP, KDATA},
	{"to an inner ring", 0, KCODE, KDATA, 3, X86_VEC_GP, KCODE},
	{"RPL is not DPL", 0, KCODE | 3, UDATA, 0, X86_VEC_GP, KCODE},
	{"CS not present", 0, GONE, KDATA, 0, X86_VEC_NP, GONE},
	{"RIP not canonical", 1ull << 50, KCODE, KDATA, 0, X86_VEC_GP, 0},
	{"null SS for ring 3", 0, UCODE, 0, 0, X86_VEC_GP, 0},
	{"SS of another ring", 0, UCODE, KDATA, 0, X86_VEC_GP, KDATA},
	{"SS is code", 0, UCODE, UCODE, 0, X86_VEC_GP, UCODE & ~3},
};

START_TEST(iret_that_faults)
{
	struct x86_regs before;
	struct engine_exception e;

	ring(bad_iret[_i].cpl);
	push_iret(bad_iret[_i].rip, bad_iret[_i].cs, 2, STACK, bad_iret[_i].ss);
	before = regs;
	ck_assert_msg(RUN(IRETQ, &e) == CORE_DONE_FAULT, "%s", bad_iret[_i].name);
	ck_assert_msg(e.vector == bad_iret[_i].vector, "%s: %u", bad_iret[_i].name, e.vector);
	ck_assert_msg(e.error == bad_iret[_i].error, "%s: %#x", bad_iret[_i].name, e.error);
	ck_assert_mem_eq(&before, &regs, sizeof(regs));
}
END_TEST

START_TEST(iret_with_nt)
{
	struct engine_exception e;

	regs.rflags |= X86_FL_NT;
	push_iret(CODE, KCODE, 2, STACK, KDATA);
	ck_assert_int_eq(RUN(IRETQ, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
}
END_TEST

START_TEST(iret_from_a_stack_that_is_not_there)
{
	struct engine_exception e;

	regs.rsp = HOLE - 16;
	ck_assert_int_eq(RUN(IRETQ, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_PF);
	ck_assert_uint_eq(e.cr2, HOLE);
	regs.rsp = 1ull << 50;
	ck_assert_int_eq(RUN(IRETQ, &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_SS);
}
END_TEST

START_TEST(syscall_and_back)
{
	struct engine_exception e;
	uint64_t rflags;

	ring(3);
	regs.rflags |= X86_FL_TF;
	rflags = regs.rflags;
	ck_assert_int_eq(RUN("\x0f\x05", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, still.lstar);
	ck_assert_uint_eq(regs.rcx, CODE + 2);
	ck_assert_uint_eq(regs.r11, rflags);
	ck_assert_uint_eq(regs.rflags, rflags & ~still.fmask);
	ck_assert_uint_eq(regs.rsp, STACK);
	ck_assert_uint_eq(v.cpl, 0);
	ck_assert_uint_eq(sregs.cs.selector, 0x08);
	ck_assert_uint_eq(sregs.ss.selector, 0x10);
	ck_assert_int_eq(RUN("\x48\x0f\x07", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, CODE + 2);
	ck_assert_uint_eq(regs.rflags, rflags);
	ck_assert_uint_eq(v.cpl, 3);
	ck_assert_uint_eq(v.bits, 64);
	ck_assert_uint_eq(sregs.cs.selector, 0x2b);
	ck_assert_uint_eq(sregs.ss.selector, 0x23);
}
END_TEST

START_TEST(sysret_to_32_bits)
{
	struct engine_exception e;

	regs.rcx = 0x100001234ull;
	regs.r11 = 2;
	ck_assert_int_eq(RUN("\x0f\x07", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x1234);
	ck_assert_uint_eq(v.bits, 32);
	ck_assert_uint_eq(sregs.cs.selector, 0x1b);
}
END_TEST

START_TEST(syscalls_that_fault)
{
	struct engine_exception e;

	regs.rcx = 1ull << 50;
	ck_assert_int_eq(RUN("\x48\x0f\x07", &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
	regs.rdx = 1ull << 50;
	regs.rcx = 0;
	ck_assert_int_eq(RUN("\x48\x0f\x35", &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
	ring(3);
	regs.rdx = 0;
	ck_assert_int_eq(RUN("\x48\x0f\x07", &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
	ck_assert_int_eq(RUN("\x48\x0f\x35", &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_GP);
	v.s.efer &= ~X86_EFER_SCE;
	core_vcpu_store(&v);
	ck_assert_int_eq(RUN("\x0f\x05", &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_UD);
}
END_TEST

START_TEST(sysenter_and_sysexit)
{
	struct engine_exception e;

	ring(3);
	ck_assert_int_eq(RUN("\x0f\x34", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, HANDLER);
	ck_assert_uint_eq(regs.rsp, STACK0);
	ck_assert(!(regs.rflags & X86_FL_IF));
	ck_assert_uint_eq(v.cpl, 0);
	regs.rdx = 0x1234;
	regs.rcx = 0x5678;
	ck_assert_int_eq(RUN("\x48\x0f\x35", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, 0x1234);
	ck_assert_uint_eq(regs.rsp, 0x5678);
	ck_assert_uint_eq(sregs.cs.selector, KCODE + 32 + 3);
	ck_assert_uint_eq(v.cpl, 3);
}
END_TEST

START_TEST(pushf_shows_what_the_guest_has)
{
	struct engine_exception e;

	regs.rflags |= X86_FL_RF | X86_FL_TF;
	ck_assert_int_eq(RUN("\x9c", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(get64(STACK - 8), 2 | X86_FL_IF | X86_FL_ZF | X86_FL_TF);
	ck_assert_uint_eq(regs.rsp, STACK - 8);
	ck_assert_uint_eq(regs.rip, CODE + 1);
	ck_assert(!(regs.rflags & X86_FL_RF));
	regs.rip = CODE;
	ck_assert_int_eq(RUN("\x66\x9c", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rsp, STACK - 10);
	regs.rsp = HOLE + 8;
	ck_assert_int_eq(RUN("\x9c", &e), CORE_DONE_FAULT);
	ck_assert_uint_eq(e.vector, X86_VEC_PF);
	ck_assert_uint_eq(e.error, 2);
}
END_TEST

static const struct {
	uint8_t cpl, iopl;
	uint64_t popped, want;
} popf[] = {
	{0, 0, ~0ull, 2 | 0x247fd5}, /* all but VM, VIF, VIP and RF */
	{0, 0, 0, 2},
	{3, 0, 0, 2 | X86_FL_IF},
	{3, 3, 0, 2 | X86_FL_IOPL},
	{3, 0, X86_FL_IOPL | X86_FL_TF | X86_FL_CF, 2 | X86_FL_IF | X86_FL_TF | X86_FL_CF},
};

START_TEST(popf_changes_what_the_ring_may)
{
	struct engine_exception e;

	ring(popf[_i].cpl);
	regs.rflags = 2 | X86_FL_IF | (uint64_t)popf[_i].iopl << 12;
	put64(STACK, popf[_i].popped);
	ck_assert_int_eq(RUN("\x9d", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rflags, popf[_i].want);
	ck_assert_uint_eq(regs.rsp, STACK + 8);
}
END_TEST

START_TEST(sidt_shows_the_guests_own)
{
	struct engine_exception e;

	regs.rdi = HANDLER;
	ck_assert_int_eq(RUN("\x0f\x01\x0f", &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(get64(HANDLER) & 0xffff, 0xfff);
	ck_assert_uint_eq(get64(HANDLER + 2), IDT);
}
END_TEST

/* Branches: opcode, flags and count before; taken? and the count after. */
static const struct {
	const char *code;
	size_t len;
	uint64_t rflags, rcx;
	bool taken;
	uint64_t rcx_after;
} branches[] = {
	{"\x74\x10", 2, X86_FL_ZF, 5, true, 5},
	{"\x74\x10", 2, 0, 5, false, 5},
	{"\x0f\x82\x10\x00\x00\x00", 6, X86_FL_CF, 5, true, 5},
	{"\x74\x00", 2, X86_FL_ZF, 5, true, 5}, /* to the next instruction */
	{"\xe2\x10", 2, 0, 2, true, 1},
	{"\xe2\x10", 2, 0, 1, false, 0},
	{"\xe2\x10", 2, 0, 0, true, ~0ull},
	{"\x67\xe2\x10", 3, 0, 1ull << 32, true, 0xffffffff},
	{"\xe1\x10", 2, X86_FL_ZF, 2, true, 1},
	{"\xe1\x10", 2, 0, 2, false, 1},
	{"\xe0\x10", 2, X86_FL_ZF, 2, false, 1},
	{"\xe0\x10", 2, 0, 2, true, 1},
	{"\xe3\x10", 2, 0, 0, true, 0},
	{"\xe3\x10", 2, 0, 1ull << 32, false, 1ull << 32},
	{"\x67\xe3\x10", 3, 0, 1ull << 32, true, 1ull << 32},
	{"\xeb\x10", 2, 0, 5, true, 5},
};

START_TEST(branches_without_memory)
{
	struct core_insn insn = decode(branches[_i].code, branches[_i].len);
	uint64_t next = CODE + insn.len, target = next + (uint64_t)insn.disp;
	struct engine_exception e;

	regs.rflags = 2 | branches[_i].rflags;
	regs.rcx = branches[_i].rcx;
	ck_assert_int_eq(core_emulate(&v, &insn, &e), CORE_DONE_RETIRED);
	ck_assert_uint_eq(regs.rip, branches[_i].taken ? target : next);
	ck_assert_uint_eq(regs.rcx, branches[_i].rcx_after);
	if (insn.cls == CORE_INSN_COND)
		ck_assert(!!(v.pending & CORE_VCPU_TAKEN) == branches[_i].taken);
}
END_TEST

/* Where the processor would raise #GP it is asked. */
START_TEST(a_branch_out_of_the_address_space_is_left_to_the_engine)
{
	struct engine_exception e;

	regs.rip = 0x7ffffffffff0ull;
	ck_assert_int_eq(RUN("\xeb\x7f", &e), CORE_DONE_NATIVE);
	regs.rflags |= X86_FL_ZF;
	ck_assert_int_eq(RUN("\x74\x7f", &e), CORE_DONE_NATIVE);
}
END_TEST

TEST_SUITE("deliver", setup, still_destroy)
{
	TEST_ADD(tcase, interrupt_in_ring_0, fault_from_ring_3, trap_gate_keeps_if,
		 ist_stack_also_in_ring_0);
	TEST_ROWS(tcase, delivery_that_faults, broken);
	TEST_ROWS(tcase, double_faults, doubles);
	TEST_ADD(tcase, no_idt_is_a_triple_fault, int_n, int_n_needs_a_gate_for_its_ring,
		 iret_to_ring_3, iret_to_compatibility_mode, iret_in_compatibility_mode,
		 iret_of_32_and_16_bits, int_n_in_compatibility_mode,
		 iret_to_a_null_stack_in_ring_0, iret_in_ring_3);
	TEST_ROWS(tcase, iret_that_faults, bad_iret);
	TEST_ADD(tcase, iret_with_nt, iret_from_a_stack_that_is_not_there, syscall_and_back,
		 sysret_to_32_bits, syscalls_that_fault, sysenter_and_sysexit,
		 pushf_shows_what_the_guest_has);
	TEST_ROWS(tcase, popf_changes_what_the_ring_may, popf);
	TEST_ADD(tcase, sidt_shows_the_guests_own);
	TEST_ROWS(tcase, branches_without_memory, branches);
	TEST_ADD(tcase, a_branch_out_of_the_address_space_is_left_to_the_engine);
}
