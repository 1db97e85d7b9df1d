// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes: programs in ring 3 with their own address spaces, preempted by the timer round robin.
 * They yield, and call the kernel by SYSCALL and by INT. No process may see data that another wrote
 * at the same address.
 */
#include "lib/guest.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "lib/task.h"
#include "pt/trace.h"

PAYLOAD("processes in ring 3: round robin by the timer, SYSCALL, INT, own spaces");

#define COUNT 4u
#define TURNS 60 /* --arg: another number */
#define SLICE 211

enum call { CALL_ADD = TASK_CALLS, CALL_TOTAL };

static uint64_t total[COUNT], turns;

static void on_call(struct task *task, struct trap_frame *f)
{
	uint64_t *mine = &total[task - tasks.task];

	if (f->rax == CALL_ADD)
		*mine += f->rdi;
	f->rax = *mine;
}

/* All use the same addresses, each in its own page. */
#define CELLS ((volatile uint64_t *)PAGING_FREE_VADDR)

USER_TEXT static uint64_t mix(uint64_t v)
{
	v ^= v >> 12;
	v ^= v << 25;
	v ^= v >> 27;
	return v;
}

USER_TEXT static uint64_t program(uint64_t n)
{
	uint64_t self = task_syscall(TASK_SELF, 0), v = self + 1, i, k;

	for (i = 0; i < 16; i++)
		CELLS[i] = v << i;
	for (i = 0; i < n; i++) {
		v = mix(v);
		CELLS[i % 16] += v;
		for (k = 0; k < v % 8; k++)
			v += CELLS[k] ^ i;
		switch (v % 5) {
		case 0:
			v += task_syscall(CALL_ADD, i);
			break;
		case 1:
			v += task_int(CALL_ADD, i);
			break;
		case 2:
			task_syscall(TASK_YIELD, 0);
			break;
		case 3:
			v ^= task_int(CALL_TOTAL, 0);
			break;
		default:
			break;
		}
	}
	for (i = 0; i < 16; i++)
		v = mix(v + CELLS[i]);
	return v + self;
}

static uint64_t result[COUNT];
static uint64_t switches, ticks, calls;

/* Create the tasks before a run, so that the creation is not traced. */
static void make(void)
{
	unsigned int i;

	for (i = 0; i < COUNT; i++) {
		total[i] = 0;
		task_create(program, turns + i);
	}
	tasks.switches = tasks.ticks = 0;
}

static void take(void)
{
	unsigned int i;

	calls = 0;
	for (i = 0; i < COUNT; i++) {
		result[i] = tasks.task[i].result;
		calls += tasks.task[i].calls;
	}
	switches = tasks.switches;
	ticks = tasks.ticks;
}

static void run(void)
{
	tasks_run(SLICE);
}

void payload(void)
{
	uint64_t alone[COUNT], alone_calls = 0, wrong = 0;
	struct trace t;
	unsigned int i;

	if (!(boot->flags & VPT_BOOT_RING3)) {
		report_skip("this engine cannot trace ring 3");
		return;
	}
	turns = boot->arg[0] ? boot->arg[0] : TURNS;
	ring3_init(NULL);
	tasks_init(on_call);
	/* Run without a timer first: the schedule must not affect the result. */
	make();
	tasks_run(0);
	take();
	for (i = 0; i < COUNT; i++)
		alone[i] = result[i];
	alone_calls = calls;
	make();
	trace_long(&t, run);
	take();
	for (i = 0; i < COUNT; i++)
		wrong += result[i] != alone[i];
	report_equal(wrong, 0, "each came to its result as without preemption");
	report_equal(calls, alone_calls, "calls of the kernel");
	report(ticks > COUNT && switches > 2 * COUNT, "they were preempted");
	report(result[0] != result[1] && result[1] != result[2], "and had data of their own");
}
