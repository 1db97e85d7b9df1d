// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt run --tasks: records which task of a Linux guest runs.
 *
 * The kernel changes the pointer `current_task` of a vCPU at one place, in __switch_to(). The pointer
 * is watched until that place is known. From then on the engine stops there, as at a breakpoint.
 */
#include "cli/run_tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "cli/run_trigger.h"
#include "core/vcpu.h"
#include "linux/tasks.h"
#include "trace/writer.h"

#define KERNEL_TEXT 0xffffffff80000000ull
/* Instructions between two looks at a guest whose kernel is not known yet. */
#define LOOK_EVERY (1ull << 20)
/* A search for BTF reads 128 MiB. Each further one comes after twice as many looks. */
#define SEARCHES_MAX 10

/* A name that the file has for a task and an address space. */
struct named {
	uint64_t cr3;
	uint32_t tid;
	char name[LINUX_TASK_NAME];
};
#define NAMED_MAX 1024u

struct cli_run_tasks {
	enum { SEARCH, WATCH, FOLLOW, GIVEN_UP } state;
	struct linux_tasks_where where;
	uint64_t looks;
	unsigned int searches;
	struct engine_data_watch pointer; /* in WATCH: the pointer of `watched` */
	struct core_vcpu *watched;
	uint64_t old;	  /* in WATCH: the task in the pointer */
	uint64_t address; /* in FOLLOW: the instruction behind the change of the pointer */
	struct {
		uint64_t address;	/* 0: not known */
		struct linux_task task; /* when the vCPU began to run it */
	} running[DEV_PLATFORM_CPUS];
	struct named named[NAMED_MAX]; /* by a hash: each name is written once */
};

int cli_run_tasks_check(const struct cli_run_options *o)
{
	const char *name = o->verify			   ? "--verify"
			   : o->snapshot		   ? "--snapshot"
			   : o->gdb			   ? "--gdb"
			   : o->usage.given		   ? "--usage"
			   : !o->output			   ? "a run without --output"
			   : o->system != TRACER_SYSTEM_PT ? "RTIT"
							   : NULL;

	/* A replay repeats the option, also where nothing is recorded. */
	if (o->tasks && name && !o->replay)
		return cli_fail(CLI_EXIT_USAGE, "%s: --tasks: not with %s", o->verb, name);
	return CLI_EXIT_OK;
}

int cli_run_tasks_open(struct cli_run_machine *m)
{
	if (!m->o.tasks || m->o.gdb || !m->writer)
		return CLI_EXIT_OK;
	if (!cli_run_counts(&m->vm) || m->vm.change.traced)
		return cli_fail(CLI_EXIT_USAGE, "%s: --tasks: requires --engine=soft", m->o.verb);
	m->tasks = calloc(1, sizeof(*m->tasks));
	return m->tasks ? CLI_EXIT_OK
			: cli_fail(CLI_EXIT_HOST, "%s: %s", m->o.verb, strerror(ENOMEM));
}

void cli_run_tasks_close(struct cli_run_machine *m)
{
	free(m->tasks);
	m->tasks = NULL;
}

static struct linux_memory memory_of(struct core_vcpu *v)
{
	struct linux_memory memory;

	core_vcpu_load(v);
	memory = (struct linux_memory){.ram = &v->vm->mem, .paging = v->paging};
	memory.paging.cpl = 0;
	memory.paging.cr4 &= ~(uint64_t)(X86_CR4_SMAP | X86_CR4_SMEP);
	return memory;
}

static uint64_t current_task(const struct cli_run_tasks *t, struct core_vcpu *v)
{
	const struct linux_memory memory = memory_of(v);

	return linux_tasks_current(&t->where, &memory, v->s.gs.base);
}

static void put(struct core_vcpu *v, struct trace_task *task)
{
	struct tracer_recorder *rec = &v->tracer.recorder;

	task->insns = rec->insns;
	if (tracer_recorder_records(rec) && !tracer_recorder_at_limit(rec))
		tracer_recorder_note(rec, trace_writer_task(rec->writer, v->index, task));
}

/* Write the name of a task, unless the file has it. */
static void put_name(struct cli_run_tasks *t, struct core_vcpu *v, const struct linux_task *task)
{
	struct trace_task entry = {.kind = TRACE_TASK_NAMED};
	struct named *named;

	named = &t->named[(task->tid ^ task->cr3 >> 12 ^ task->cr3 >> 22) % NAMED_MAX];
	if (named->tid == task->tid && named->cr3 == task->cr3 &&
	    !memcmp(named->name, task->name, sizeof(named->name)))
		return;
	named->tid = task->tid;
	named->cr3 = task->cr3;
	memcpy(named->name, task->name, sizeof(named->name));
	entry.cr3 = task->cr3;
	entry.pid = task->pid;
	entry.tid = task->tid;
	memcpy(entry.name, task->name, strlen(task->name));
	put(v, &entry);
}

/*
 * Write the name of the task that the vCPU has run, which may be new. An exiting process has left its
 * address space already. If it has executed no program meanwhile, that is the one of its beginning.
 */
static void put_last_name(struct cli_run_tasks *t, struct core_vcpu *v)
{
	const struct linux_memory memory = memory_of(v);
	const struct linux_task *began = &t->running[v->index].task;
	const uint64_t address = t->running[v->index].address;
	struct linux_task task;

	if (!address || !linux_tasks_read(&t->where, &memory, address, &task) ||
	    task.tid != began->tid)
		return;
	if (!task.cr3 && task.executed == began->executed)
		task.cr3 = began->cr3;
	put_name(t, v, &task);
}

/* Write the task that the vCPU runs. */
static void put_running(struct cli_run_tasks *t, struct core_vcpu *v)
{
	const struct linux_task *task = &t->running[v->index].task;
	struct trace_task entry = {
		.kind = TRACE_TASK_RUNS,
		.cr3 = task->cr3,
		.pid = task->pid,
		.tid = task->tid,
	};

	put_name(t, v, task);
	put(v, &entry);
}

/* Note the task that the vCPU runs from here on. */
static void switched(struct cli_run_tasks *t, struct core_vcpu *v)
{
	const struct linux_memory memory = memory_of(v);
	const uint64_t address = current_task(t, v);
	struct linux_task task;

	put_last_name(t, v);
	t->running[v->index].address = 0;
	if (!address || !linux_tasks_read(&t->where, &memory, address, &task))
		return;
	t->running[v->index].address = address;
	t->running[v->index].task = task;
	put_running(t, v);
}

static void search(struct cli_run_tasks *t, struct core_vcpu *v)
{
	const struct linux_memory memory = memory_of(v);
	uint64_t gpa;
	size_t len;
	void *btf;
	int err;

	if (!linux_memory_gpa(&memory, v->regs->rip, &gpa))
		return;
	t->searches++;
	err = linux_memory_btf(memory.ram, gpa, &btf, &len);
	if (!err) {
		err = linux_tasks_layout(btf, len, &t->where);
		free(btf);
		t->state = err ? GIVEN_UP : WATCH;
	}
	if (t->searches == SEARCHES_MAX && t->state == SEARCH)
		t->state = GIVEN_UP;
}

/*
 * Watch the pointer of this vCPU once it points to a task. The kernel moves its per-CPU variables
 * once, early in its boot.
 */
static void begin_watch(struct cli_run_tasks *t, struct core_vcpu *v)
{
	const struct linux_memory memory = memory_of(v);
	const uint64_t address = current_task(t, v);
	struct linux_task task;

	if (!address || t->pointer.lin == v->s.gs.base + t->where.current ||
	    !linux_tasks_read(&t->where, &memory, address, &task))
		return;
	t->pointer = (struct engine_data_watch){
		.lin = v->s.gs.base + t->where.current,
		.len = sizeof(uint64_t),
		.access = ENGINE_DATA_WRITE,
	};
	t->old = address;
	if (core_vcpu_watch_data(v, &t->pointer, 1))
		t->state = GIVEN_UP;
	else
		t->watched = v;
}

uint64_t cli_run_tasks_visit(struct cli_run_machine *m, struct core_vcpu *v)
{
	struct cli_run_tasks *t = m->tasks;

	if (t->state == FOLLOW || t->state == GIVEN_UP || (t->watched && t->watched != v))
		return UINT64_MAX;
	if (core_vcpu_long_mode(v) && !v->cpl && v->regs->rip >= KERNEL_TEXT) {
		t->looks++;
		if (t->state == SEARCH && !(t->looks & (t->looks - 1)))
			search(t, v);
		if (t->state == WATCH)
			begin_watch(t, v);
	}
	return v->ev->retired + LOOK_EVERY;
}

void cli_run_tasks_touched(struct cli_run_machine *m, struct core_vcpu *v)
{
	struct cli_run_tasks *t = m->tasks;
	unsigned int i;

	if (t->state != WATCH || current_task(t, v) == t->old)
		return;
	(void)core_vcpu_watch_data(v, NULL, 0);
	t->watched = NULL;
	t->address = v->regs->rip;
	t->state = v->cpl || t->address < KERNEL_TEXT ? GIVEN_UP : FOLLOW;
	for (i = 0; t->state == FOLLOW && i < m->vm.cpus; i++)
		if (cli_run_window_watch(m, m->vm.cpu[i]))
			t->state = GIVEN_UP;
}

uint64_t cli_run_tasks_address(const struct cli_run_machine *m)
{
	return m->tasks && m->tasks->state == FOLLOW ? m->tasks->address : 0;
}

bool cli_run_tasks_reached(struct cli_run_machine *m, uint64_t ip)
{
	if (!m->tasks || m->tasks->state != FOLLOW || ip != m->tasks->address)
		return false;
	switched(m->tasks, m->vm.current);
	return true;
}

void cli_run_tasks_reset(struct cli_run_machine *m)
{
	unsigned int i;

	if (!m->tasks)
		return;
	if (m->tasks->watched)
		(void)core_vcpu_watch_data(m->tasks->watched, NULL, 0);
	memset(m->tasks, 0, sizeof(*m->tasks));
	for (i = 0; i < m->vm.cpus; i++) {
		(void)cli_run_window_watch(m, m->vm.cpu[i]);
		m->vm.cpu[i]->visit_at = m->vm.cpu[i]->ev->retired + LOOK_EVERY;
	}
}

void cli_run_tasks_again(struct cli_run_machine *m)
{
	unsigned int i;

	if (!m->tasks)
		return;
	memset(m->tasks->named, 0, sizeof(m->tasks->named));
	for (i = 0; i < m->vm.cpus; i++)
		if (m->tasks->running[i].address)
			put_running(m->tasks, m->vm.cpu[i]);
}

void cli_run_tasks_end(struct cli_run_machine *m)
{
	unsigned int i;

	for (i = 0; m->tasks && i < m->vm.cpus; i++)
		put_last_name(m->tasks, m->vm.cpu[i]);
}
