/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks: programs at CPL 3, each in its own address space. They are switched by the timer or at
 * their own request, and call the kernel by SYSCALL and INT.
 *
 * A task is stopped while its frame is not the current one. A hook that calls task_switch() returns
 * with another task's frame. So does the caller of tasks_run(), which regains the processor when
 * all tasks are done.
 */
#ifndef GUEST_LIB_TASK_H
#define GUEST_LIB_TASK_H

#include "idt.h"

#define TASKS_MAX 8u

/* The vector for a task's SYSCALL, with a frame like any other. */
#define VEC_SYSCALL 0xf0u
/* INT 0x81: the same call through a gate. */
#define VEC_TASK_INT   0x81u
#define VEC_TASK_TIMER 0x82u

/* Requests of a task, in RAX; RDI is an argument, RAX the answer. */
enum task_call {
	TASK_EXIT,  /* RDI: its result */
	TASK_YIELD, /* switch to another task */
	TASK_SELF,  /* return the task's number */
	TASK_CALLS, /* first call for the payload, see tasks_init() */
};

struct task {
	struct trap_frame frame;
	uint64_t cr3;
	uint64_t result;
	uint64_t calls, turns;
	bool done;
};

struct tasks {
	struct task task[TASKS_MAX];
	unsigned int count, current, left;
	struct trap_frame caller;
	uint64_t caller_cr3;
	uint64_t switches, ticks;
	/* Instructions between timer interrupts, 0: none. */
	uint32_t slice;
};

extern struct tasks tasks;

/*
 * Set up hooks and SYSCALL, after ring3_init(). `call` handles calls from TASK_CALLS on, and
 * answers in frame->rax; NULL if there are none.
 */
void tasks_init(void (*call)(struct task *task, struct trap_frame *frame));

/*
 * Create a task that runs fn(arg), which is USER_TEXT. Its stack is at the top of `data`, its own
 * page at PAGING_FREE_VADDR. The task ends when fn returns.
 */
struct task *task_create(uint64_t (*fn)(uint64_t), uint64_t arg);

/* Run all tasks until they are done, then remove them. */
void tasks_run(uint32_t slice);

/* Switch to the next task, from a hook. */
void task_switch(struct trap_frame *frame);

/* Called by tasks. */
uint64_t task_syscall(uint64_t number, uint64_t arg);
uint64_t task_int(uint64_t number, uint64_t arg);

#endif /* GUEST_LIB_TASK_H */
