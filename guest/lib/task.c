// SPDX-License-Identifier: GPL-2.0-or-later
/* Switches between tasks. */
#include "task.h"

#include "cpu.h"
#include "guest.h"
#include "mem.h"
#include "page_alloc.h"
#include "paging.h"
#include "ring3.h"

#define VEC_TASK_START 0x83u

struct tasks tasks;

/* Symbols of task_entry.S. */
extern uint64_t task_kernel_stack;
void task_syscall_entry(void);
void task_start(void);

static void (*extra_call)(struct task *task, struct trap_frame *frame);

static void arm_timer(void)
{
	if (tasks.slice)
		outl(VPT_PORT_TIMER, VEC_TASK_TIMER << 24 | tasks.slice);
}

static void enter(struct trap_frame *frame)
{
	struct task *task = &tasks.task[tasks.current];

	*frame = task->frame;
	task->turns++;
	if (task->cr3 != read_cr3())
		write_cr3(task->cr3);
	arm_timer();
}

/* All tasks are done: return to the caller of tasks_run(). */
static void leave(struct trap_frame *frame)
{
	outl(VPT_PORT_TIMER, 0);
	*frame = tasks.caller;
	write_cr3(tasks.caller_cr3);
}

static void next(struct trap_frame *frame)
{
	if (!tasks.left) {
		leave(frame);
		return;
	}
	do {
		tasks.current = (tasks.current + 1) % tasks.count;
	} while (tasks.task[tasks.current].done);
	enter(frame);
}

void task_switch(struct trap_frame *frame)
{
	tasks.task[tasks.current].frame = *frame;
	tasks.switches++;
	next(frame);
}

static void on_call(struct trap_frame *f)
{
	struct task *task = &tasks.task[tasks.current];

	task->calls++;
	switch (f->rax) {
	case TASK_EXIT:
		task->result = f->rdi;
		task->done = true;
		tasks.left--;
		next(f);
		break;
	case TASK_YIELD:
		f->rax = 0;
		task_switch(f);
		break;
	case TASK_SELF:
		f->rax = tasks.current;
		break;
	default:
		if (extra_call)
			extra_call(task, f);
		break;
	}
}

static void on_timer(struct trap_frame *f)
{
	tasks.ticks++;
	/* The last timer interrupt may be late, after all tasks are done. */
	if (f->cs & 3)
		task_switch(f);
}

static void on_start(struct trap_frame *f)
{
	tasks.caller = *f;
	tasks.caller_cr3 = read_cr3();
	tasks.current = 0;
	enter(f);
}

void tasks_init(void (*call)(struct task *task, struct trap_frame *frame))
{
	extra_call = call;
	task_kernel_stack = ring3_kernel_stack();
	idt_hook(VEC_SYSCALL, on_call);
	idt_hook(VEC_TASK_INT, on_call);
	idt_allow_user(VEC_TASK_INT);
	idt_hook(VEC_TASK_TIMER, on_timer);
	idt_hook(VEC_TASK_START, on_start);
}

/* Pages are never freed: a slot keeps its page. */
static void make_space(struct task *task)
{
	void *data = page_alloc(PAGE_SIZE);

	task->cr3 = paging_new_space();
	paging_map(task->cr3, PAGING_FREE_VADDR, data, PTE_WRITE | PTE_USER | PTE_NX);
}

struct task *task_create(uint64_t (*fn)(uint64_t), uint64_t arg)
{
	struct task *task = &tasks.task[tasks.count++];

	if (!task->cr3)
		make_space(task);
	memset(&task->frame, 0, sizeof(task->frame));
	task->frame.rip = (uintptr_t)task_start;
	task->frame.rax = (uintptr_t)fn;
	task->frame.rdi = arg;
	task->frame.cs = USER_CS;
	task->frame.ss = USER_DS;
	task->frame.rsp = PAGING_FREE_VADDR + PAGE_SIZE;
	task->frame.rflags = RFLAGS_IF | 2;
	task->calls = task->turns = task->result = 0;
	task->done = false;
	return task;
}

void tasks_run(uint32_t slice)
{
	tasks.left = tasks.count;
	tasks.slice = slice;
	ring3_set_syscall(task_syscall_entry);
	__asm__ volatile("int $0x83" : : : "memory");
	ring3_set_syscall(ring3_syscall_entry);
	tasks.count = 0;
}
