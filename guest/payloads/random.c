// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program from --seed runs twice from the same state: first without PT, if the guest controls PT,
 * and then traced. Both runs must have the same result.
 *
 * --arg: the number of programs, which run one after the other in the same place, all traced. Each
 * has about 1,200,000 instructions.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "pt/trace.h"
#include "random/program.h"

PAYLOAD("a random program");

/* Units of fuel (random/program.h), in total 10,000 instructions or more. */
#define FUEL_TOTAL     1400
#define FUEL_SLICE_MIN 30
#define FUEL_SLICE_VAR 60
#define CALLS_MAX      2000
/* Factor for the programs of a long run. */
#define FUEL_LONG 10

static struct program program;
static struct twin twin;
static struct program_state state;
static uint64_t seed;
static int64_t fuel = FUEL_TOTAL;
static unsigned int calls, calls_max = CALLS_MAX, ticks, soft_ints;
static uint64_t faults[VEC_EXCEPTIONS];

static void on_fault(struct trap_frame *f)
{
	faults[f->vector]++;
	f->rip = f->r12;
}

static void on_soft_int(struct trap_frame *f)
{
	soft_ints++;
	f->rax ^= f->vector * 0x0101010101010101ull;
}

static void on_timer(struct trap_frame *f)
{
	(void)f;
	ticks++;
}

static void reset(void)
{
	struct rng rng;
	unsigned int i;

	rng_seed(&rng, ~seed);
	for (i = 0; i < DATA_CR3; i += 8) {
		*(uint64_t *)(program.data + i) = rng_next(&rng);
	}
	memset(&state, 0, sizeof(state));
	state.random = seed;
	calls = soft_ints = 0;
	memset(faults, 0, sizeof(faults));
	write_cr3(twin.cr3[0]);
}

/* Run the functions, from the last to the first, until the fuel is used. */
static void run(void)
{
	int64_t left = fuel;
	unsigned int i = PROGRAM_FUNCTIONS;

	sti();
	while (left > 0 && calls < calls_max) {
		int64_t slice = FUEL_SLICE_MIN + (int64_t)((state.random >> 20) % FUEL_SLICE_VAR);

		i = i ? i - 1 : PROGRAM_FUNCTIONS - 1;
		state.fuel = (uint64_t)slice;
		program_call(program.function[i], program.data, &state);
		left -= slice - ((int64_t)state.fuel > 0 ? (int64_t)state.fuel : 0);
		calls++;
	}
	outl(VPT_PORT_TIMER, 0);
	cli();
}

struct outcome {
	struct program_state state;
	uint64_t data;
	uint64_t faults;
	unsigned int calls, soft_ints;
};

static struct outcome inspect(void)
{
	struct outcome o;
	unsigned int i;

	/* Clear the padding, because the structs are compared as bytes. */
	memset(&o, 0, sizeof(o));
	o.state = state;
	o.calls = calls;
	o.soft_ints = soft_ints;

	for (i = 0; i < DATA_CR3; i += 8)
		o.data = o.data * 31 + *(const uint64_t *)(program.data + i);
	for (i = 0; i < VEC_EXCEPTIONS; i++)
		o.faults = o.faults * 1009 + faults[i];
	return o;
}

static uint64_t on_syscall(uint64_t a, uint64_t b)
{
	return 2 * a + b;
}

static void on_user_int(struct trap_frame *f)
{
	f->rax += 0x1234567;
}

static void set_up(void)
{
	unsigned int i;

	program.user = boot->flags & VPT_BOOT_RING3;
	if (program.user)
		ring3_init(on_syscall);
	idt_hook(PROGRAM_VEC_USER, on_user_int);
	idt_allow_user(PROGRAM_VEC_USER);
	twin_init(&twin);
	idt_hook(VEC_DE, on_fault);
	idt_hook(VEC_UD, on_fault);
	idt_hook(VEC_GP, on_fault);
	idt_hook(VEC_PF, on_fault);
	idt_hook(VEC_BP, on_soft_int);
	for (i = 0; i < 4; i++)
		idt_hook((uint8_t)(PROGRAM_VEC_SOFT + i), on_soft_int);
	idt_hook(PROGRAM_VEC_TIMER, on_timer);
}

static uint64_t rounds, wrong, used_up;

static void many_programs(void)
{
	struct outcome first, second;
	uint64_t i;

	fuel *= FUEL_LONG;
	calls_max *= FUEL_LONG;
	for (i = 0; i < rounds; i++) {
		seed = boot->seed + i * 0x10001;
		program_make(&program, seed, &twin);
		reset();
		run();
		first = inspect();
		reset();
		run();
		second = inspect();
		wrong += memcmp(&first, &second, sizeof(first)) != 0;
		used_up += calls < calls_max;
	}
}

static void report_many(void)
{
	struct trace t;

	trace_long(&t, many_programs);
	report_equal(wrong, 0, "each program came to the same result twice");
	report_equal(used_up, rounds, "the fuel was used");
}

void payload(void)
{
	struct outcome plain, traced;
	struct trace t;

	set_up();
	rounds = boot->arg[0];
	if (rounds) {
		report_many();
		return;
	}
	seed = boot->seed;
	program_make(&program, seed, &twin);
	reset();
	run();
	plain = inspect();
	reset();
	trace_simple(&t, run);
	traced = inspect();

	report_equal(traced.state.sum, plain.state.sum, "registers");
	report_equal(traced.state.random, plain.state.random, "the program's random numbers");
	report_equal(traced.data, plain.data, "memory");
	report_equal(traced.faults, plain.faults, "exceptions");
	report_equal(traced.calls, plain.calls, "calls");
	report_equal(traced.soft_ints, plain.soft_ints, "software interrupts");
	report(plain.calls < calls_max, "the fuel was used");
}
