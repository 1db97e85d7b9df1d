// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A mix of all kinds of work of a kernel, for as long as --arg says. There are computations,
 * recursion and jumps out of it, generated code, page faults, exceptions and software interrupts.
 * There are address spaces, ring 3 by calls and by processes with a timer, idling, and random
 * programs. Interrupts arrive all the time, sometimes inside interrupts. The seed determines how
 * often each kind occurs.
 *
 * --arg: rounds, 10,000 to 60,000 instructions each; a second --arg that is not 0: vector code too.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "lib/setjmp.h"
#include "lib/simd.h"
#include "lib/task.h"
#include "pt/trace.h"
#include "random/program.h"
#include "tasks/work.h"

PAYLOAD("everything at once: a kernel's work in a random mix");

#define ROUNDS	     8
#define STACK	     (1ull << 20)
#define VEC_TIMER    0x64u
#define VEC_ADD	     0x65u
#define NESTED_MAX   2u
#define REGION	     (PAGING_FREE_VADDR + (3ull << 30))
#define REGION_PAGES 8u
#define BAD_ADDRESS  0x9000000000ull

static uint64_t cr3, ticks;
static struct twin twin;
static struct rng timer_rng;
static uint32_t timer_distance;
static unsigned int nested;

static void arm(void)
{
	outl(VPT_PORT_TIMER, VEC_TIMER << 24 | (1 + rng_below(&timer_rng, timer_distance)));
}

/* Sometimes do work, with interrupts enabled for the next one meanwhile. */
static uint64_t wrong_in_handler;

static void on_timer(struct trap_frame *f)
{
	(void)f;
	ticks++;
	arm();
	if (nested >= NESTED_MAX || !rng_chance(&timer_rng, 5))
		return;
	nested++;
	sti();
	wrong_in_handler += !(rng_chance(&timer_rng, 80) ? work_sort : work_recursion)(&timer_rng);
	cli();
	nested--;
}

/* Exceptions and software interrupts; handlers continue at RCX. */

static uint64_t exceptions;

static void on_exception(struct trap_frame *f)
{
	exceptions++;
	f->rip = f->rcx;
}

static void on_add(struct trap_frame *f)
{
	f->rax += f->rcx;
}

#define RAISE(insn)                                                                \
	__asm__ volatile("lea 1f(%%rip), %%rcx\n" insn "\n"                        \
			 "1:"                                                      \
			 :                                                         \
			 : "a"(1ull << 63), "d"(0ull), "S"(0ull), "D"(BAD_ADDRESS) \
			 : "rcx", "memory", "cc")

static bool job_exceptions(struct rng *rng)
{
	uint64_t before = exceptions, n = 1 + rng_below(rng, 24), sum = 0, i;

	for (i = 0; i < n; i++) {
		switch (rng_below(rng, 6)) {
		case 0:
			RAISE("ud2");
			break;
		case 1:
			RAISE("div %%rsi");
			break;
		case 2:
			RAISE("mov (%%rax), %%rsi");
			break;
		case 3:
			RAISE("int3");
			break;
		case 4:
			RAISE("mov (%%rdi), %%rsi");
			break;
		default:
			RAISE("jmp *%%rdi");
			break;
		}
		__asm__ volatile("int $0x65" : "+a"(sum) : "c"(i) : "memory");
	}
	return exceptions == before + n && sum == n * (n - 1) / 2;
}

/* Pages that are mapped at the first access. */

static uint8_t *region_page[REGION_PAGES];
static uint64_t region_faults;

static void on_region_pf(struct trap_frame *f)
{
	uint64_t at = read_cr2(), page = (at - REGION) / PAGE_SIZE;

	if (page >= REGION_PAGES) {
		report(false, "#PF at %#lx, error %#lx, rip %#lx", at, f->error, f->rip);
		guest_exit(report_summary());
	}
	region_faults++;
	paging_map(cr3, at & ~(PAGE_SIZE - 1), region_page[page], f->error & 2 ? PTE_WRITE : 0);
}

static bool job_paging(struct rng *rng)
{
	uint64_t before = region_faults, n = 4 + rng_below(rng, 24), i;
	bool ok = true;

	idt_hook(VEC_PF, on_region_pf);
	for (i = 0; i < REGION_PAGES; i++)
		paging_unmap(cr3, REGION + i * PAGE_SIZE);
	for (i = 0; i < n; i++) {
		uint32_t at = rng_below(rng, REGION_PAGES * (uint32_t)PAGE_SIZE - 8);
		volatile uint64_t *p = (volatile uint64_t *)(REGION + at);
		uint64_t value = rng_next(rng);

		ok &= *(volatile uint8_t *)p ==
		      ((volatile uint8_t *)region_page[at / PAGE_SIZE])[at % PAGE_SIZE];
		*p = value;
		ok &= *p == value;
		if (rng_chance(rng, 20))
			paging_unmap(cr3, REGION + (at & ~(PAGE_SIZE - 1)));
	}
	idt_hook(VEC_PF, on_exception);
	return ok && region_faults > before;
}

/* Two address spaces with different code at one address. */
static bool job_spaces(struct rng *rng)
{
	uint64_t n = 1 + rng_below(rng, 12), i;
	bool ok = true;

	for (i = 0; i < n; i++) {
		unsigned int which = rng_below(rng, 2);

		write_cr3(twin.cr3[which]);
		ok &= TWIN_FUNCTION(i) == twin_result(which, i);
	}
	write_cr3(cr3);
	return ok;
}

/* Ring 3: calls, and processes. */

USER_TEXT static uint64_t chunk(uint64_t v)
{
	uint64_t i, n = v % 23;

	for (i = 0; i < n; i++)
		v = v & 1 ? 3 * v + i : (v >> 1) ^ (v << 17);
	return v + 1;
}

static uint64_t answer(uint64_t v)
{
	return 5 * v + 1;
}

static uint64_t on_syscall(uint64_t a, uint64_t b)
{
	return answer(a) + b;
}

USER_TEXT static uint64_t user_calls(uint64_t n)
{
	uint64_t v = n, i;

	for (i = 0; i < n; i++)
		v = chunk(v) ^ user_syscall(v, i);
	return v;
}

static bool job_ring3(struct rng *rng)
{
	uint64_t n = 1 + rng_below(rng, 16), v = n, i;

	for (i = 0; i < n; i++)
		v = chunk(v) ^ on_syscall(v, i);
	return ring3_call(user_calls, n) == v;
}

enum call { CALL_ANSWER = TASK_CALLS };

static void on_call(struct task *task, struct trap_frame *f)
{
	(void)task;
	f->rax = answer(f->rdi);
}

USER_TEXT static uint64_t process(uint64_t n)
{
	volatile uint64_t *cell = (volatile uint64_t *)PAGING_FREE_VADDR;
	uint64_t v = n, i;

	*cell = n;
	for (i = 0; i < n; i++) {
		v = chunk(v);
		switch (v % 4) {
		case 0:
			v += task_syscall(CALL_ANSWER, v & 0xff);
			break;
		case 1:
			v += task_int(CALL_ANSWER, v & 0xff);
			break;
		case 2:
			task_syscall(TASK_YIELD, 0);
			break;
		default:
			*cell += v;
			break;
		}
	}
	return v ^ *cell;
}

static uint64_t process_result(uint64_t n)
{
	uint64_t cell = n, v = n, i;

	for (i = 0; i < n; i++) {
		v = chunk(v);
		if (v % 4 < 2)
			v += answer(v & 0xff);
		else if (v % 4 == 3)
			cell += v;
	}
	return v ^ cell;
}

static bool job_processes(struct rng *rng)
{
	unsigned int n = 1 + rng_below(rng, 4), i;
	uint64_t want[4];
	bool ok = true;

	for (i = 0; i < n; i++) {
		uint64_t length = 1 + rng_below(rng, 24);

		want[i] = process_result(length);
		task_create(process, length);
	}
	/* The processes use the timer until they are done. */
	cli();
	tasks_run(40 + rng_below(rng, 400));
	sti();
	arm();
	for (i = 0; i < n; i++)
		ok &= tasks.task[i].result == want[i];
	return ok;
}

static bool job_idle(struct rng *rng)
{
	uint64_t until = ticks + 1 + rng_below(rng, 4);

	cli();
	while (ticks < until) {
		sti_hlt();
		cli();
	}
	sti();
	return true;
}

/* A function of a random program, twice from the same state. */

static struct program program;
static uint8_t saved[DATA_BYTES], after[DATA_BYTES];

static void on_program_fault(struct trap_frame *f)
{
	f->rip = f->r12;
}

static void on_program_int(struct trap_frame *f)
{
	f->rax ^= f->vector * 0x0101010101010101ull;
}

/* The program's own timer item, which has replaced the payload's. */
static void on_program_timer(struct trap_frame *f)
{
	(void)f;
	ticks++;
	arm();
}

static const uint8_t program_faults[] = {VEC_DE, VEC_UD, VEC_GP, VEC_PF};

static void hook_faults(idt_hook_fn *fn)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(program_faults); i++)
		idt_hook(program_faults[i], fn);
}

static void run_program(const void *function, struct program_state *state)
{
	write_cr3(twin.cr3[0]);
	program_call(function, program.data, state);
	write_cr3(cr3);
}

static bool job_program(struct rng *rng)
{
	const void *function = program.function[rng_below(rng, PROGRAM_FUNCTIONS)];
	struct program_state first = {.fuel = 10 + rng_below(rng, 80), .random = rng_next(rng)};
	struct program_state second = first;

	hook_faults(on_program_fault);
	idt_hook(VEC_BP, on_program_int);
	memcpy(saved, program.data, DATA_BYTES);
	run_program(function, &first);
	memcpy(after, program.data, DATA_BYTES);
	memcpy(program.data, saved, DATA_BYTES);
	run_program(function, &second);
	hook_faults(on_exception);
	idt_hook(VEC_BP, on_exception);
	arm();
	return first.sum == second.sum && first.random == second.random &&
	       first.fuel == second.fuel && !memcmp(after, program.data, 512);
}

/* The mix. */

static const struct {
	work_fn *fn;
	const char *name;
	bool vectors; /* only with the second --arg */
	bool user;
} jobs[] = {
	{work_recursion, "recursion", false, false},
	{work_retpoline, "retpolines", false, false},
	{work_unwind, "longjmp", false, false},
	{work_jit, "code made on the fly", false, false},
	{work_sort, "sorting", false, false},
	{work_sha256, "SHA-256", false, false},
	{work_digest, "digests", false, false},
	{job_exceptions, "exceptions", false, false},
	{job_paging, "paging", false, false},
	{job_spaces, "address spaces", false, false},
	{job_ring3, "calls of ring 3", false, true},
	{job_processes, "processes", false, true},
	{job_idle, "idling", false, false},
	{job_program, "random programs", false, false},
	{work_simd, "vectors", true, false},
};

static uint8_t wheel[8 * ARRAY_SIZE(jobs)];
static unsigned int wheel_size;
static uint64_t rounds, done[ARRAY_SIZE(jobs)], wrong[ARRAY_SIZE(jobs)];
static struct rng mix_rng;

static void make_wheel(void)
{
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		if (jobs[i].vectors && !boot->arg[1])
			continue;
		if (jobs[i].user && !(boot->flags & VPT_BOOT_RING3))
			continue;
		for (n = 1 + rng_below(&mix_rng, 8); n; n--)
			wheel[wheel_size++] = (uint8_t)i;
	}
}

static uint64_t run_mix(uint64_t count)
{
	uint64_t i;

	sti();
	arm();
	for (i = 0; i < count; i++) {
		unsigned int job = wheel[rng_below(&mix_rng, wheel_size)];

		done[job]++;
		wrong[job] += !jobs[job].fn(&mix_rng);
	}
	cli();
	outl(VPT_PORT_TIMER, 0);
	return 0;
}

static uint8_t *stack;

static void work(void)
{
	call_on_stack(run_mix, rounds, stack + STACK);
}

static void set_up(void)
{
	unsigned int i;

	ring3_init(on_syscall);
	cr3 = read_cr3();
	tasks_init(on_call);
	twin_init(&twin);
	if (boot->arg[1])
		simd_init();
	hook_faults(on_exception);
	idt_hook(VEC_BP, on_exception);
	idt_hook(VEC_ADD, on_add);
	idt_hook(VEC_TIMER, on_timer);
	for (i = 0; i < 4; i++)
		idt_hook((uint8_t)(PROGRAM_VEC_SOFT + i), on_program_int);
	idt_hook(PROGRAM_VEC_TIMER, on_program_timer);
	for (i = 0; i < REGION_PAGES; i++)
		region_page[i] = page_alloc(PAGE_SIZE);
	stack = page_alloc(STACK);
	idt_hook(PROGRAM_VEC_USER, on_add);
	idt_allow_user(PROGRAM_VEC_USER);
	program.user = boot->flags & VPT_BOOT_RING3;
	program_make(&program, boot->seed, &twin);
	rng_seed(&mix_rng, boot->seed);
	rng_seed(&timer_rng, ~boot->seed);
	/* Dense or sparse, depending on the seed. */
	timer_distance = 400u << rng_below(&mix_rng, 5);
	make_wheel();
}

void payload(void)
{
	struct trace t;
	unsigned int i;

	rounds = boot->arg[0] ? boot->arg[0] : ROUNDS;
	set_up();
	trace_long(&t, work);
	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		if (done[i])
			report_equal(wrong[i], 0, jobs[i].name);
	report_equal(wrong_in_handler, 0, "work in interrupt handlers");
	report(ticks > rounds / 100, "interrupted all the time");
}
