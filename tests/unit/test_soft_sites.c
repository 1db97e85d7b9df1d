// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sites of compiled memory operands against rights. A page is accessed by compiled code until its
 * translation is in a site. Then compiled code of other rights, or of another address space, accesses it by
 * a site of the same number.
 */
#include "lib/plain_path.h"
#include "lib/suite.h"

#include <string.h>

#include "soft/compile.h"
#include "soft/compile/compiler.h"
#include "soft/engine.h"
#include "soft/soft.h"
#include "soft/system.h"

enum {
	USER = 4,
	PML4 = 0x1000,	 /* with the next two tables: plain_machine.c */
	OTHER = 0x50000, /* the PML4, and the next three tables, of another address space */
	SYSTEM_CODE = PLAIN_CODE,
	USER_CODE = PLAIN_CODE + X86_PAGE_SIZE,
	SYSTEM_PAGE = PLAIN_DATA,
	USER_PAGE = PLAIN_DATA + X86_PAGE_SIZE,
	OTHER_FRAME = 0x58000,
	AT = 0x100, /* of the operand in the page */
	ROUNDS = 100
};

#define NO_FLUSH (1ull << 63)

/* The rights and the address space of an access. */
struct who {
	unsigned int cpl, pcid; /* the other address space has PCID 1 */
	uint64_t ac;
};

#define SYSTEM          \
	{               \
		0, 0, 0 \
	}
#define SYSTEM_AC               \
	{                       \
		0, 0, X86_FL_AC \
	}
#define USER0           \
	{               \
		3, 0, 0 \
	}
#define USER_AC                 \
	{                       \
		3, 0, X86_FL_AC \
	}
#define OTHER0                  \
	{                       \
		0, 1, X86_FL_AC \
	}
#define OTHER3          \
	{               \
		3, 1, 0 \
	}

static const struct row {
	const char *name;
	struct who first, then;
	uint64_t page, offset;
	int vector; /* of the fault; -1: none */
	bool other; /* the other frame is accessed */
} rows[] = {
	{"user after supervisor, supervisor page", SYSTEM, USER0, SYSTEM_PAGE, 0, X86_VEC_PF,
	 false},
	{"user after supervisor, user page", SYSTEM_AC, USER0, USER_PAGE, 0, -1, false},
	{"supervisor after user, SMAP", USER0, SYSTEM, USER_PAGE, 0, X86_VEC_PF, false},
	{"supervisor after user, AC", USER0, SYSTEM_AC, USER_PAGE, 0, -1, false},
	{"supervisor without AC after AC", SYSTEM_AC, SYSTEM, USER_PAGE, 0, X86_VEC_PF, false},
	{"supervisor with AC after none", SYSTEM, SYSTEM_AC, SYSTEM_PAGE, 0, -1, false},
	{"alignment checks after none", USER0, USER_AC, USER_PAGE, 1, X86_VEC_AC, false},
	{"supervisor of another space", SYSTEM_AC, OTHER0, USER_PAGE, 0, -1, true},
	{"user of another space", USER0, OTHER3, USER_PAGE, 0, -1, true},
};

/* 1: mov rax, [base] or mov [base], rax; add rcx, rax; dec r9; jnz 1b. The base is RSP or RBX. */
static const uint8_t codes[][14] = {
	{0x48, 0x8b, 0x04, 0x24, 0x48, 0x01, 0xc1, 0x49, 0xff, 0xc9, 0x75, 0xf4},
	{0x48, 0x8b, 0x03, 0x48, 0x01, 0xc1, 0x49, 0xff, 0xc9, 0x75, 0xf5},
	{0x48, 0x89, 0x04, 0x24, 0x48, 0x01, 0xc1, 0x49, 0xff, 0xc9, 0x75, 0xf4},
	{0x48, 0x89, 0x03, 0x48, 0x01, 0xc1, 0x49, 0xff, 0xc9, 0x75, 0xf5},
};

static struct plain_machine machine;

static void put64(uint64_t gpa, uint64_t value)
{
	ck_assert(x86_mem_write(&machine.mem, gpa, &value, sizeof(value)));
}

static void share(unsigned int page)
{
	plain_put_entry(&machine, page, plain_entry(&machine, page) | USER);
}

/* Make two address spaces. In the other one the user's page has another frame. */
static void fill_tables(void)
{
	uint8_t *ram = machine.mem.host;
	unsigned int i;

	plain_use_pages(&machine);
	share(USER_CODE / X86_PAGE_SIZE);
	share(USER_PAGE / X86_PAGE_SIZE);
	for (i = 0; i < 3; i++) {
		put64(PML4 + i * X86_PAGE_SIZE, (PML4 + (i + 1) * X86_PAGE_SIZE) | 7 | PLAIN_USED);
		put64(OTHER + i * X86_PAGE_SIZE,
		      (OTHER + (i + 1) * X86_PAGE_SIZE) | 7 | PLAIN_USED);
	}
	memcpy(ram + OTHER + 3 * X86_PAGE_SIZE, ram + PML4 + 3 * X86_PAGE_SIZE, X86_PAGE_SIZE);
	put64(OTHER + 3 * X86_PAGE_SIZE + 8 * (USER_PAGE / X86_PAGE_SIZE),
	      OTHER_FRAME | 7 | PLAIN_USED);
	memset(ram + SYSTEM_PAGE, 1, X86_PAGE_SIZE);
	memset(ram + USER_PAGE, 2, X86_PAGE_SIZE);
	memset(ram + OTHER_FRAME, 3, X86_PAGE_SIZE);
}

static void set_cpl(unsigned int cpl)
{
	struct x86_sregs s;

	ck_assert_int_eq(soft_engine.get_sregs(machine.vcpu, &s), 0);
	x86_segment_set(&s.cs, X86_AR_DPL, cpl);
	x86_segment_set(&s.ss, X86_AR_DPL, cpl);
	s.cs.selector = s.ss.selector = (uint16_t)(8 | cpl);
	s.cr0 |= X86_CR0_AM;
	s.cr4 |= X86_CR4_SMAP | SOFT_CR4_PCIDE;
	ck_assert_int_eq(soft_engine.set_sregs(machine.vcpu, &s), 0);
}

static void setup(void)
{
	plain_create(&machine);
	plain_set_mode(&machine, 64);
	fill_tables();
	set_cpl(0);
	if (soft(machine.vcpu)->compiler)
		soft_compile_after(soft(machine.vcpu), 2);
}

static void teardown(void)
{
	plain_destroy(&machine);
}

/* Execute a MOV to CR3. */
static void enter_space(unsigned int pcid, uint64_t no_flush)
{
	static const uint8_t mov_cr3[] = {0x0f, 0x22, 0xd8};
	const struct engine_step_hint hint = {0};
	const uint64_t at = SYSTEM_CODE + 0x80;
	struct engine_exit exit = {.kind = ENGINE_EXIT_NONE};

	set_cpl(0);
	ck_assert(x86_mem_write(&machine.mem, at, mov_cr3, sizeof(mov_cr3)));
	*machine.vcpu->regs = (struct x86_regs){
		.rip = at, .rax = (pcid ? OTHER | 1 : PML4) | no_flush, .rflags = X86_FL_FIXED};
	machine.vcpu->state |= ENGINE_REGS_DIRTY;
	soft_engine.step(machine.vcpu, &hint, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
}

/* Run the loop on an operand. */
static struct engine_exit run(const struct who *who, uint64_t operand)
{
	struct engine_exit exit = {.kind = ENGINE_EXIT_NONE};

	enter_space(who->pcid, NO_FLUSH);
	set_cpl(who->cpl);
	*machine.vcpu->regs = (struct x86_regs){.rip = who->cpl ? USER_CODE : SYSTEM_CODE,
						.rax = 0x0404040404040404,
						.rbx = operand,
						.rsp = operand,
						.r9 = 10 * ROUNDS,
						.rflags = X86_FL_FIXED | who->ac};
	machine.vcpu->state |= ENGINE_REGS_DIRTY;
	machine.vcpu->budget = 4 * ROUNDS;
	soft_engine.run(machine.vcpu, false, &exit);
	return exit;
}

/* Run the loop on an operand that it may access, until its code is compiled with the first site. */
static void compile(const struct who *who)
{
	const bool user = who->cpl || who->ac;
	struct soft *c = soft(machine.vcpu);

	if (c->compiler)
		c->compiler->sites = 0;
	ck_assert_int_eq(run(who, (user ? USER_PAGE : SYSTEM_PAGE) + 0x800).kind, ENGINE_EXIT_KICK);
	if (!c->compiler)
		return;
	ck_assert(soft_compiler_made(c->compiler, soft_block(c, c->mode)->uop[0].fn));
}

static void put_code(const uint8_t *code)
{
	ck_assert(x86_mem_write(&machine.mem, SYSTEM_CODE, code, sizeof(codes[0])));
	ck_assert(x86_mem_write(&machine.mem, USER_CODE, code, sizeof(codes[0])));
}

/* Run the loop on an operand in this frame, which must be the one that is accessed. */
static void check_frame(const struct who *who, uint64_t operand, uint64_t frame, bool write,
			const char *name)
{
	const uint64_t at = frame + operand % X86_PAGE_SIZE, mark = 0x0707070707070707;
	uint64_t found;

	put64(at, mark);
	ck_assert_int_eq(run(who, operand).kind, ENGINE_EXIT_KICK);
	memcpy(&found, machine.mem.host + at, sizeof(found));
	ck_assert_msg(write ? found != mark : machine.vcpu->regs->rax == mark, "%s: another frame",
		      name);
}

static void check_row(const struct row *row, const uint8_t *code, bool write)
{
	const uint64_t operand = row->page + AT + row->offset;
	struct engine_exit exit;

	put_code(code);
	compile(&row->then);
	compile(&row->first);
	check_frame(&row->first, operand, row->page, write, row->name);
	if (row->vector < 0) {
		check_frame(&row->then, operand, row->other ? OTHER_FRAME : row->page, write,
			    row->name);
		return;
	}
	exit = run(&row->then, operand);
	ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT && exit.fault.vector == row->vector,
		      "%s: no fault", row->name);
	ck_assert_uint_eq(machine.vcpu->regs->rip, row->then.cpl ? USER_CODE : SYSTEM_CODE);
}

START_TEST(rights)
{
	const unsigned int count = sizeof(codes) / sizeof(codes[0]);

	check_row(&rows[(unsigned int)_i / count], codes[(unsigned int)_i % count],
		  (unsigned int)_i % count >= 2);
}
END_TEST

/* The supervisor's flush reaches the sites of both. */
START_TEST(flush)
{
	static const struct who both[] = {USER0, SYSTEM_AC};
	const struct who *who = &both[_i & 1];
	const bool write = _i >> 1 >= 2;

	put_code(codes[_i >> 1]);
	compile(who);
	check_frame(who, USER_PAGE, USER_PAGE, write, "before");
	plain_put_entry(&machine, USER_PAGE / X86_PAGE_SIZE, OTHER_FRAME | 7 | PLAIN_USED);
	check_frame(who, USER_PAGE, USER_PAGE, write, "without a flush");
	enter_space(0, 0);
	check_frame(who, USER_PAGE, OTHER_FRAME, write, "after a flush");
}
END_TEST

TEST_SUITE("soft_sites", setup, teardown)
{
	tcase_add_loop_test(tcase, rights, 0,
			    sizeof(rows) / sizeof(rows[0]) * sizeof(codes) / sizeof(codes[0]));
	tcase_add_loop_test(tcase, flush, 0, 2 * sizeof(codes) / sizeof(codes[0]));
}
