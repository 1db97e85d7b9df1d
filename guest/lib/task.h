/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks: programs at CPL 3, each in an address space of its own. They take turns when the timer or
 * they themselves ask for it, and call the kernel by SYSCALL and INT.
 *
 * A task is stopped while its frame is not the current one. A hook that calls task_switch() leaves
 * with another task's frame. So does the caller of tasks_run(), which regains the processor when
 * all tasks are done.
 */
#ifndef GUEST_LIB_TASK_H
#define GUEST_LIB_TASK_H

#include "idt.h"

#define TASKS_MAX 8u

/* SYSCALL of a task comes as this vector, with a frame like any other. */
#define VEC_SYSCALL 0xf0u
/* INT 0x81: the same by a gate. */
#define VEC_TASK_INT   0x81u
#define VEC_TASK_TIMER 0x82u

/* Requests of a task, in RAX; RDI is an argument, RAX the answer. */
enum task_call {
	TASK_EXIT,  /* RDI: its result */
	TASK_YIELD, /* let another one run */
	TASK_SELF,  /* its number */
	TASK_CALLS, /* this and more: the payload's, see tasks_init() */
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
 * After ring3_init(): hooks and SYSCALL. `call` gets calls from TASK_CALLS on, with
 * frame->rax to answer in; NULL if there are none.
 */
void tasks_init(void (*call)(struct task *task, struct trap_frame *frame));

/*
 * A task that runs fn(arg), USER_TEXT, on a stack at the top of `data`, a page at
 * PAGING_FREE_VADDR that is its own. It ends by returning.
 */
struct task *task_create(uint64_t (*fn)(uint64_t), uint64_t arg);

/* Run all until they are done, then forget them. */
void tasks_run(uint32_t slice);

/* From a hook: go on with the next task. */
void task_switch(struct trap_frame *frame);

/* For the tasks themselves. */
uint64_t task_syscall(uint64_t number, uint64_t arg);
uint64_t task_int(uint64_t number, uint64_t arg);

#endif /* GUEST_LIB_TASK_H */
