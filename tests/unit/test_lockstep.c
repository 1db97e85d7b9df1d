// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt lockstep finds differences. It compares the software CPU with itself. In one of the two, a test
 * plants a difference at a known instruction.
 */
#include "lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "cli/lockstep.h"
#include "decode/diverge_print.h"

enum layout { RAM = 4 << 20, CODE = 0x100000, DATA = 0x200000 };

/* Steps of the program below, and the step at which the difference is planted. */
enum steps {
	LOOP_STEPS = 1 + 4 * 16,
	RDTSC = LOOP_STEPS + 1,
	CPUID = RDTSC + 2,
	ALL_STEPS = CPUID + 3,
	BAD = 20,
};

static const uint8_t program[] = {
	0xb9, 0x10, 0,	  0,	0,	       /* mov ecx, 16 */
	0x48, 0xff, 0xc0,		       /* inc rax */
	0x48, 0x89, 0x04, 0x25, 0, 0, 0x20, 0, /* mov [DATA], rax */
	0xff, 0xc9,			       /* dec ecx */
	0x75, 0xf1,			       /* jnz */
	0x0f, 0x31,			       /* rdtsc */
	0xb8, 0x0d, 0,	  0,	0,	       /* mov eax, 0xd */
	0x0f, 0xa2,			       /* cpuid */
	0xba, 0xf4, 0,	  0,	0,	       /* mov edx, the exit port */
	0x31, 0xc0,			       /* xor eax, eax */
	0xef,				       /* out dx, eax */
};

static struct core_lockstep *l;
static struct engine faulty;
static void (*good_step)(struct engine_vcpu *ev, const struct engine_step_hint *hint,
			 struct engine_exit *exit);
static void (*plant)(struct engine_vcpu *ev);
static unsigned int steps, bad;

static void step(struct engine_vcpu *ev, const struct engine_step_hint *hint,
		 struct engine_exit *exit)
{
	good_step(ev, hint, exit);
	if (++steps == bad && plant)
		plant(ev);
}

static void make(uint64_t every, uint64_t every_all, uint64_t exact_from)
{
	const struct engine *soft = engine_find("soft");
	const struct boot_elf elf = {.entry = CODE, .end = CODE + 0x1000};
	const struct boot_config boot = {.seed = 1};
	struct engine_probe probe;
	unsigned int i;

	faulty = *soft;
	good_step = soft->step;
	faulty.step = step;
	steps = 0;
	soft->probe(&probe, false);
	{
		const struct core_lockstep_config config = {
			.engine = {soft, &faulty},
			.probe = {&probe, &probe},
			.caps = vpt_caps_model("skl"),
			.owner = TRACE_OWNER_GUEST,
			.mem_bytes = RAM,
			.every = every,
			.every_all = every_all,
			.exact_from = exact_from,
		};

		ck_assert_int_eq(core_lockstep_create(l, &config), 0);
	}
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(boot_guest(&l->side[i].vm, &elf, &boot), 0);
		ck_assert(x86_mem_write(&l->side[i].vm.mem, CODE, program, sizeof(program)));
	}
}

static void setup(void)
{
	l = malloc(sizeof(*l));
	ck_assert_ptr_nonnull(l);
	plant = NULL;
}

static void teardown(void)
{
	core_lockstep_destroy(l);
	free(l);
}

static bool differs(enum core_lockstep_field field)
{
	return core_lockstep_differs(&l->state[0], &l->state[1], field);
}

static void check_diverged(uint64_t at)
{
	ck_assert_int_eq(l->end, CORE_LOCKSTEP_DIVERGED);
	ck_assert_uint_eq(l->steps, at);
}

/* Plant a difference in step @at, and run. */
static void run_with(void (*what)(struct engine_vcpu *ev), unsigned int at, uint64_t every,
		     uint64_t every_all, uint64_t exact_from)
{
	plant = what;
	bad = at;
	make(every, every_all, exact_from);
	core_lockstep_run(l);
}

START_TEST(the_same_is_the_same)
{
	run_with(NULL, BAD, 1, 16, UINT64_MAX);
	ck_assert_int_eq(l->end, CORE_LOCKSTEP_DONE);
	ck_assert_uint_eq(l->side[0].vm.vcpu->retired, ALL_STEPS);
	ck_assert_uint_eq(l->side[1].vm.vcpu->retired, ALL_STEPS);
	ck_assert_int_eq(l->side[1].vm.stop.kind, TRACE_STOP_EXIT);
}
END_TEST

START_TEST(a_limit_ends_the_run)
{
	make(1, 16, UINT64_MAX);
	l->config.max_insns = 10;
	core_lockstep_run(l);
	ck_assert_int_eq(l->end, CORE_LOCKSTEP_LIMIT);
	ck_assert_uint_eq(l->steps, 10);
}
END_TEST

#define PLANT_REGS(name, change)                 \
	static void name(struct engine_vcpu *ev) \
	{                                        \
		ev->regs->change;                \
		ev->state |= ENGINE_REGS_DIRTY;  \
	}
#define PLANT_SREGS(name, change)                    \
	static void name(struct engine_vcpu *ev)     \
	{                                            \
		struct x86_sregs s;                  \
                                                     \
		(void)ev->engine->get_sregs(ev, &s); \
		s.change;                            \
		(void)ev->engine->set_sregs(ev, &s); \
	}
#define PLANT_MSR(name, index)                                    \
	static void name(struct engine_vcpu *ev)                  \
	{                                                         \
		(void)ev->engine->set_msr(ev, index, 0x7fff0000); \
	}

PLANT_REGS(bad_rax, rax ^= 1ull << 63)
PLANT_REGS(bad_r15, r15 ^= 1)
PLANT_REGS(bad_flag, rflags ^= X86_FL_AF)
PLANT_SREGS(bad_selector, ds.selector = 0)
PLANT_SREGS(bad_base, gs.base = 1)
PLANT_SREGS(bad_limit, ss.limit = 0xffff)
PLANT_SREGS(bad_attribute, es.ar |= X86_AR_AVL)
PLANT_SREGS(bad_idtr, idt.limit = 1)
PLANT_SREGS(bad_cr2, cr2 = 1)
PLANT_MSR(bad_star, 0xc0000081)
PLANT_MSR(bad_kernel_gs, 0xc0000102)

static void bad_dr(struct engine_vcpu *ev)
{
	(void)ev->engine->set_dr(ev, 3, 1);
}

static void bad_byte(struct engine_vcpu *ev)
{
	(void)ev;
	l->side[1].vm.mem.host[RAM - 1] ^= 0x80;
}

static void bad_pt(struct engine_vcpu *ev)
{
	(void)ev;
	l->side[1].vm.vcpu->tracer.recorder.insns++;
}

static const struct {
	void (*plant)(struct engine_vcpu *ev);
	enum core_lockstep_field field; /* CORE_LS_FIELDS: memory */
	bool late;			/* not compared after each instruction */
} planted[] = {
	{bad_rax, CORE_LS_RAX, false},
	{bad_r15, CORE_LS_R15, false},
	{bad_flag, CORE_LS_RFLAGS, false},
	{bad_selector, CORE_LS_DS, false},
	{bad_base, CORE_LS_GS_BASE, false},
	{bad_limit, CORE_LS_SS_LIMIT, false},
	{bad_attribute, CORE_LS_ES_FLAGS, false},
	{bad_idtr, CORE_LS_IDT_LIMIT, false},
	{bad_cr2, CORE_LS_CR2, false},
	{bad_pt, CORE_LS_PT_INSNS, false},
	{bad_star, CORE_LS_STAR, true},
	{bad_kernel_gs, CORE_LS_KERNEL_GS, true},
	{bad_dr, CORE_LS_DR3, true},
	{bad_byte, CORE_LS_FIELDS, true},
};

static void found_at(int row, uint64_t at)
{
	unsigned int i;

	check_diverged(at);
	ck_assert_int_eq(l->memory_differs, planted[row].field == CORE_LS_FIELDS);
	for (i = 0; i < CORE_LS_FIELDS; i++)
		ck_assert_msg(differs((enum core_lockstep_field)i) == (i == planted[row].field),
			      "row %d: %s", row, core_lockstep_name((enum core_lockstep_field)i));
}

/* A run that compares everything finds exactly that difference, at that instruction. */
START_TEST(planted_is_found)
{
	run_with(planted[_i].plant, BAD, 1, 4096, 0);
	found_at(_i, BAD);
	ck_assert_uint_eq(l->all_good, BAD - 1);
	if (planted[_i].field == CORE_LS_FIELDS)
		ck_assert_uint_eq(l->gpa, RAM - 1);
}
END_TEST

/* A run that compares everything only every 16 instructions finds it at the next comparison. */
START_TEST(planted_is_found_in_time)
{
	run_with(planted[_i].plant, BAD, 1, 16, UINT64_MAX);
	check_diverged(planted[_i].late ? 32 : BAD);
	ck_assert_uint_eq(l->all_good, 16);
}
END_TEST

/* Nothing is compared while the program runs, so the difference is found at the end. */
START_TEST(planted_is_found_with_every)
{
	run_with(bad_byte, BAD, 1000, 1000, UINT64_MAX);
	ck_assert_int_eq(l->end, CORE_LOCKSTEP_DIVERGED);
	ck_assert(l->memory_differs);
	ck_assert_uint_eq(l->all_good, 0);
}
END_TEST

START_TEST(cpuid_is_overridden)
{
	run_with(bad_rax, CPUID, 1, 4096, 0);
	ck_assert_int_eq(l->end, CORE_LOCKSTEP_DONE);
	ck_assert_uint_eq(l->overridden[2], 1);
}
END_TEST

START_TEST(cpuid_overrides_no_other_register)
{
	run_with(bad_r15, CPUID, 1, 4096, 0);
	check_diverged(CPUID);
	ck_assert(differs(CORE_LS_R15));
}
END_TEST

/* Both sides have virtual time, so RDTSC is compared. */
START_TEST(rdtsc_is_not_overridden)
{
	run_with(bad_rax, RDTSC, 1, 4096, 0);
	check_diverged(RDTSC);
}
END_TEST

static const struct {
	uint8_t code[6], bits;
	uint64_t ax, cx;
	const char *name; /* NULL: no row */
} matches[] = {
	{{0x0f, 0x31}, 64, 0, 0, NULL},
	{{0x0f, 0x30}, 64, 0, 0, NULL},
	{{0x0f, 0xc7, 0xf0}, 64, 0, 0, "RDRAND"},
	{{0x49, 0x0f, 0xc7, 0xff}, 64, 0, 0, "RDSEED"},
	{{0x0f, 0xc7, 0x0f}, 64, 0, 0, NULL}, /* cmpxchg8b */
	{{0x0f, 0xa2}, 64, 0xd, 0, "CPUID 0DH"},
	{{0x66, 0x48, 0x0f, 0xa2}, 64, 0xd, 0, "CPUID 0DH"},
	{{0x48, 0x66, 0x0f, 0xa2}, 32, 0xd, 0, NULL},
	{{0x0f, 0xa2}, 64, 1, 0, NULL},
	{{0x27}, 32, 0, 0, "DAA"},
	{{0x27}, 64, 0, 0, NULL},
	{{0xf3, 0xa6}, 64, 0, 0, "REP CMPS"},
	{{0xf2, 0x48, 0xaf}, 64, 0, 0, "REP SCAS"},
	{{0xa6}, 64, 0, 0, NULL},
};

START_TEST(rows_match)
{
	const struct x86_regs regs = {.rax = matches[_i].ax, .rcx = matches[_i].cx};
	struct core_insn_bytes bytes = {.count = 6};
	const struct core_lockstep_override *row;

	make(1, 1, 0);
	memcpy(&bytes.low, matches[_i].code, sizeof(matches[_i].code));
	row = core_lockstep_override_for(&bytes, matches[_i].bits, &regs);
	ck_assert_int_eq(!row, !matches[_i].name);
	if (row)
		ck_assert_str_eq(row->name, matches[_i].name);
}
END_TEST

START_TEST(rdrand_overrides_its_register)
{
	struct core_insn_bytes bytes = {.low = 0xf2c70f49, .count = 4}; /* rdrand r10 */
	const struct x86_regs from = {.r10 = 1, .rdx = 2, .rflags = 3};
	struct x86_regs to = {.rdx = 4};
	const struct core_lockstep_override *row = core_lockstep_override_for(&bytes, 64, &from);

	make(1, 1, 0);
	ck_assert(core_lockstep_override(row, &bytes, 64, &from, &to));
	ck_assert_uint_eq(to.r10, 1);
	ck_assert_uint_eq(to.rdx, 4);
	ck_assert_uint_eq(to.rflags, 3);
}
END_TEST

START_TEST(cpuid_is_the_intersection)
{
	struct engine_cpuid_entry a[] = {
		{.leaf = 0, .eax = 0x20},
		{.leaf = 1, .eax = 7, .ecx = 0xf0, .edx = 0xff},
		{.leaf = 2, .eax = 1},
		{.leaf = 0xd, .by_subleaf = true, .eax = 0xe7, .ebx = 0x980, .ecx = 0x980},
		{.leaf = 0xd, .subleaf = 2, .by_subleaf = true, .eax = 0x100, .ebx = 0x240},
		{.leaf = 0xd, .subleaf = 5, .by_subleaf = true, .eax = 0x40, .ebx = 0x340},
	};
	const struct engine_cpuid_entry b[] = {
		{.leaf = 0, .eax = 0xd},
		{.leaf = 1, .eax = 9, .ecx = 0x3c, .edx = 0x0f},
		{.leaf = 0xd, .by_subleaf = true, .eax = 7, .ebx = 0x340, .ecx = 0x340},
		{.leaf = 0xd, .subleaf = 2, .by_subleaf = true, .eax = 0x100, .ebx = 0x240},
	};
	size_t count = sizeof(a) / sizeof(a[0]);

	make(1, 1, 0);
	core_cpuid_common(a, &count, b, sizeof(b) / sizeof(b[0]));
	ck_assert_uint_eq(count, 4);
	ck_assert_uint_eq(a[0].eax, 0xd);
	ck_assert_uint_eq(a[1].eax, 7);
	ck_assert_uint_eq(a[1].ecx, 0x30);
	ck_assert_uint_eq(a[1].edx, 0x0f);
	ck_assert_uint_eq(a[2].eax, 7);
	ck_assert_uint_eq(a[2].ecx, 0x340);
	ck_assert_uint_eq(a[3].subleaf, 2);
}
END_TEST

/* The picture of the difference, as vpt diff prints it. */
static void check_picture(const char *want)
{
	struct decode_divergence *d = malloc(sizeof(*d));
	struct decode_listing listing = {.disasm = decode_disasm_new(NULL)};
	struct decode_listing *const side[2] = {&listing, &listing};
	char *text;
	size_t size;

	ck_assert(d && listing.disasm);
	listing.out = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(listing.out);
	cli_lockstep_divergence(l, d);
	decode_diverge_print(d, 0, side);
	fclose(listing.out);
	ck_assert_str_eq(text, want);
	free(text);
	decode_listing_fini(&listing);
	decode_disasm_free(listing.disasm);
	free(d);
}

/* A line of an instruction without a symbol. */
#define LINE(mark, ip, insn) "  " mark " 0000000000" ip "                               " insn "\n"

/* Both execute the instruction, and a register differs after it. */
START_TEST(picture_of_a_register)
{
	run_with(bad_r15, BAD, 1, 4096, 0);
	check_diverged(BAD);
	check_picture(
		"vCPU 0: equal for 20 instructions, then\n" LINE(" ", "100012", "jnz 0x100005")
			LINE(" ", "100005", "inc rax") LINE(" ", "100008", "mov [0x200000], rax")
				LINE(" ", "100010", "dec ecx") LINE(" ", "100012", "jnz 0x100005")
					LINE(" ", "100005", "inc rax") LINE(" ", "100008",
									    "mov [0x200000], rax")
						LINE(" ", "100010", "dec ecx") LINE("-", "100012",
										    "jnz 0x100005")
							LINE("+", "100012", "jnz 0x100005"));
}
END_TEST

static void fault(struct engine_vcpu *ev, const struct engine_step_hint *hint,
		  struct engine_exit *exit)
{
	if (++steps != bad) {
		good_step(ev, hint, exit);
		return;
	}
	exit->kind = ENGINE_EXIT_FAULT;
	exit->fault = (struct engine_exception){.vector = 6};
}

/* One executes an instruction that ends the guest on the other. */
START_TEST(picture_of_an_end)
{
	bad = 3;
	make(1, 4096, 0);
	faulty.step = fault;
	core_lockstep_run(l);
	check_diverged(3);
	check_picture(
		"vCPU 0: equal for 2 instructions, then\n" LINE(" ", "100000", "mov ecx, 0x10")
			LINE(" ", "100005", "inc rax") LINE("-", "100008", "mov [0x200000], rax")
				LINE("-", "100010", "dec ecx") "  + -- the end\n");
}
END_TEST

/* A step without a retired instruction is a fault or an interrupt, or the vCPU waits. */
START_TEST(picture_of_a_delivery)
{
	run_with(bad_r15, 5, 1, 4096, 0);
	check_diverged(5);
	l->history[2].insns = l->history[1].insns;
	l->history[3].insns = l->history[1].insns;
	l->history[3].ip = l->history[2].ip;
	check_picture("vCPU 0: equal for 5 instructions, then\n" LINE(
		" ", "100000",
		"mov ecx, 0x10") "    -- async branch at 0x100005 to 0x100008\n" LINE(" ", "100008",
										      "dec ecx")
			      LINE(" ", "100012", "jnz 0x100005") LINE("-", "100005", "inc rax")
				      LINE("+", "100005", "inc rax"));
}
END_TEST

/* No step is before the difference. */
START_TEST(picture_of_the_begin)
{
	make(1, 4096, 0);
	bad_r15(l->side[1].vm.vcpu->ev);
	core_lockstep_run(l);
	check_diverged(0);
	check_picture("vCPU 0: equal for 0 instructions, then\n" LINE(
		"-", "100000", "mov ecx, 0x10") LINE("+", "100000", "mov ecx, 0x10"));
}
END_TEST

TEST_SUITE("lockstep", setup, teardown)
{
	TEST_ADD(tcase, the_same_is_the_same, a_limit_ends_the_run, planted_is_found_with_every,
		 cpuid_is_overridden, cpuid_overrides_no_other_register, rdtsc_is_not_overridden,
		 rdrand_overrides_its_register, cpuid_is_the_intersection, picture_of_a_register,
		 picture_of_an_end, picture_of_a_delivery, picture_of_the_begin);
	TEST_ROWS(tcase, planted_is_found, planted);
	TEST_ROWS(tcase, planted_is_found_in_time, planted);
	TEST_ROWS(tcase, rows_match, matches);
}
