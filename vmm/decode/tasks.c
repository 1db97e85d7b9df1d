// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the task that executed an item. */
#include "decode/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/code.h"
#include "decode/spaces.h"
#include "trace/pairs.h"
#include "trace/vec.h"
#include "vpt/msr.h"

#define PAGE_BITS 0xfffull
/* A recorder keeps at most so many bytes of trace before it writes them. */
#define BUFFERED (1u << 16)
/* Linux executes user code on a CR3 with this bit, if page-table isolation is on. */
#define PTI_USER 0x1000ull

struct decode_tasks {
	const struct trace_reader *reader;
	struct trace_pairs spaces; /* maps (CR3, thread) to the index of its space, plus 1 */
	struct {
		struct trace_space **at;
		size_t n, room;
	} all;

	uint64_t user; /* the bit that is not part of the CR3, or 0 */

	/* The state of the current vCPU. */
	unsigned int vcpu;
	const struct trace_task *at; /* the next entry */
	size_t left;
	const struct trace_task *runs; /* the task that runs, or NULL */
	uint64_t began;		       /* the CR3 when it began to run */
	uint64_t clock;		       /* the counter */
	uint32_t session;	       /* of the last segment; ~0: none */
	bool has_kernel;	       /* the session traces CPL 0 */
	/* The last result of space_of(), and of what it was. */
	struct {
		const struct trace_task *runs;
		uint64_t cr3;
		const struct trace_space *space;
	} last;
	const struct decode_part *rest;
	uint32_t nrest;
};

/* Find or make the space of a pair. Returns NULL if there is no memory. */
static struct trace_space *make(struct decode_tasks *t, uint64_t cr3, uint32_t tid)
{
	struct trace_pair *pair = trace_pairs_add(&t->spaces, cr3, tid);
	struct trace_space *space = NULL;

	if (pair && pair->value)
		return t->all.at[pair->value - 1];
	if (pair && trace_vec_room(&t->all))
		space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	*space = (struct trace_space){
		.id = UINT64_MAX - 1 - t->all.n,
		.cr3 = cr3,
		.vmcs = TRACE_SPACE_ANY_VMCS,
		.flags = DECODE_SPACE_ALONE | DECODE_SPACE_TASK,
		.vm = TRACE_SPACE_NO_VM,
		.vcpu = tid,
	};
	t->all.at[t->all.n++] = space;
	pair->value = t->all.n;
	return space;
}

/* Add all names. A later name of the same task and address space replaces an earlier one. */
static int add_names(struct decode_tasks *t)
{
	size_t count, i;
	const struct trace_task *task = trace_reader_names(t->reader, &count);

	for (i = 0; i < count; i++, task++) {
		struct trace_space *space;

		t->user &= ~task->cr3;
		space = make(t, task->cr3 & ~PAGE_BITS, task->tid);
		if (!space)
			return -ENOMEM;
		space->pid = task->pid;
		if (task->tid == task->pid || !task->pid)
			snprintf(space->name, sizeof(space->name), "%s", task->name);
		else
			snprintf(space->name, sizeof(space->name), "%s/%u", task->name, task->tid);
	}
	return 0;
}

int decode_tasks_open(const struct trace_reader *reader, struct decode_tasks **tasks)
{
	const unsigned int vcpus = trace_reader_info(reader)->vcpus;
	size_t total = 0, count;
	struct decode_tasks *t;
	unsigned int i;
	int err;

	*tasks = NULL;
	for (i = 0; i < vcpus; i++) {
		(void)trace_reader_tasks(reader, i, &count);
		total += count;
	}
	if (!total)
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->reader = reader;
	/* With page-table isolation no top page table has this bit. */
	t->user = PTI_USER;
	err = add_names(t);
	if (err)
		decode_tasks_close(t);
	else
		*tasks = t;
	return err;
}

void decode_tasks_close(struct decode_tasks *t)
{
	size_t i;

	if (!t)
		return;
	trace_pairs_free(&t->spaces);
	for (i = 0; i < t->all.n; i++)
		free(t->all.at[i]);
	free(t->all.at);
	free(t);
}

void decode_tasks_begin(struct decode_tasks *t, unsigned int vcpu)
{
	t->vcpu = vcpu;
	t->at = trace_reader_tasks(t->reader, vcpu, &t->left);
	t->runs = t->last.runs = NULL;
	t->clock = 0;
	t->session = UINT32_MAX;
	t->began = DECODE_CR3_UNKNOWN;
	t->nrest = 0;
}

/* Skip entries that are names. Returns the next change of the task, or NULL. */
static const struct trace_task *next_change(struct decode_tasks *t)
{
	while (t->left && t->at->kind != TRACE_TASK_RUNS) {
		t->at++;
		t->left--;
	}
	return t->left ? t->at : NULL;
}

/* Take the changes before @clock. */
static void advance(struct decode_tasks *t, uint64_t clock)
{
	const struct trace_task *next;

	while ((next = next_change(t)) != NULL && next->insns < clock) {
		t->runs = next;
		t->began = DECODE_CR3_UNKNOWN;
		t->at++;
		t->left--;
	}
}

/*
 * Set the counter at a segment. The file has it where a session begins. Elsewhere the segment comes
 * behind a gap of unknown length: the tasks whose packets are before the segment have run.
 */
static void resume(struct decode_tasks *t, const struct decode_item *item)
{
	const struct trace_period *sessions;
	const struct trace_task *next;
	size_t count;

	sessions = trace_reader_sessions(t->reader, t->vcpu, &count);
	if (item->session != t->session && item->session < count) {
		t->session = item->session;
		t->has_kernel = sessions[item->session].start->ctl & VPT_CTL_MASK(OS);
		if (sessions[item->session].start->insns > t->clock)
			t->clock = sessions[item->session].start->insns;
		return;
	}
	while ((next = next_change(t)) != NULL && item->offset > BUFFERED &&
	       next->offset <= item->offset - BUFFERED) {
		t->runs = next;
		if (t->clock < next->insns)
			t->clock = next->insns;
		t->at++;
		t->left--;
	}
}

static struct trace_space *find_of(const struct decode_tasks *t, uint64_t cr3, uint32_t tid)
{
	const struct trace_pair *pair = trace_pairs_find(&t->spaces, cr3, tid);

	return pair && pair->value ? t->all.at[pair->value - 1] : NULL;
}

static struct trace_space *find(const struct decode_tasks *t, uint64_t cr3)
{
	return find_of(t, cr3, t->runs->tid);
}

/* Make a space with the name of the end of its thread. Returns NULL if there is no memory. */
static struct trace_space *make_named(struct decode_tasks *t, uint64_t cr3, uint32_t tid,
				      const struct trace_space *end)
{
	struct trace_space *space = make(t, cr3, tid);

	if (space) {
		space->pid = end->pid;
		memcpy(space->name, end->name, sizeof(space->name));
	}
	return space;
}

const struct trace_space *decode_tasks_space(struct decode_tasks *t, uint64_t cr3, uint32_t tid)
{
	const struct trace_space *space = find_of(t, cr3, tid), *end = find_of(t, 0, tid);

	if (space)
		return space;
	return end ? make_named(t, cr3, tid, end) : make(t, cr3, tid);
}

/*
 * A process has executed a program, and the file has the name of its end only. A kernel thread runs
 * in the address spaces of others.
 */
static const struct trace_space *unnamed(struct decode_tasks *t, uint64_t cr3)
{
	const struct trace_space *end = find(t, 0);
	struct trace_space *space = NULL;

	if (!t->runs->cr3 && cr3 == t->began && t->has_kernel)
		return end;
	if (end)
		space = make_named(t, cr3, t->runs->tid, end);
	return space ? space : find(t, t->runs->cr3 & ~PAGE_BITS);
}

static const struct trace_space *search(struct decode_tasks *t, uint64_t cr3)
{
	const struct trace_space *space;

	cr3 = (cr3 == DECODE_CR3_UNKNOWN ? t->runs->cr3 : cr3) & ~PAGE_BITS & ~t->user;
	if (t->began == DECODE_CR3_UNKNOWN)
		t->began = cr3;
	space = find(t, cr3);
	return space ? space : unnamed(t, cr3);
}

static const struct trace_space *space_of(struct decode_tasks *t, uint64_t cr3)
{
	if (t->last.runs != t->runs || t->last.cr3 != cr3) {
		t->last.space = search(t, cr3);
		t->last.runs = t->runs;
		t->last.cr3 = cr3;
	}
	return t->last.space;
}

void decode_tasks_begin_at(struct decode_tasks *t, unsigned int vcpu, uint64_t insns,
			   uint32_t session, uint64_t cr3)
{
	const struct trace_period *sessions;
	size_t count;

	decode_tasks_begin(t, vcpu);
	t->clock = insns;
	advance(t, insns);
	t->session = session;
	sessions = trace_reader_sessions(t->reader, vcpu, &count);
	t->has_kernel = session < count && sessions[session].start->ctl & VPT_CTL_MASK(OS);
	if (t->runs)
		t->began = (cr3 == DECODE_CR3_UNKNOWN ? t->runs->cr3 : cr3) & ~PAGE_BITS & ~t->user;
}

void decode_tasks_words(const struct decode_tasks *t, uint64_t words[DECODE_TASKS_WORDS])
{
	size_t count;
	const struct trace_task *first = trace_reader_tasks(t->reader, t->vcpu, &count);
	/* Of other tasks, the CR3 at the begin does not matter. */
	const bool kernel = t->runs && !t->runs->cr3 && t->has_kernel;

	words[0] = t->clock;
	words[1] = t->runs ? (uint64_t)(t->runs - first) + 1 : 0;
	words[2] = kernel ? t->began : 0;
	words[3] = t->session | (uint64_t)t->has_kernel << 32;
}

/* Cut PARTS before the first part of another task. */
static void cut(struct decode_tasks *t, struct decode_item *item)
{
	uint32_t i;

	for (i = 0; i < item->insns; i++) {
		const struct trace_task *next = next_change(t);
		const uint64_t end = t->clock + item->parts[i].insns;

		if (next && next->insns < end && i) {
			t->rest = item->parts + i;
			t->nrest = item->insns - i;
			item->insns = i;
			return;
		}
		advance(t, end);
		t->clock = end;
	}
}

void decode_tasks_item(struct decode_tasks *t, struct decode_item *item)
{
	const struct trace_space *space;

	t->nrest = 0;
	if (item->kind == DECODE_ITEM_SEGMENT)
		resume(t, item);
	else if (item->kind == DECODE_ITEM_PARTS)
		cut(t, item);
	else if (item->kind == DECODE_ITEM_BLOCK || item->kind == DECODE_ITEM_INSN) {
		t->clock += item->insns;
		advance(t, t->clock);
	}
	space = t->runs ? space_of(t, item->cr3) : NULL;
	if (space)
		item->space = space;
}

bool decode_tasks_more(struct decode_tasks *t, struct decode_item *item)
{
	if (!t->nrest)
		return false;
	item->parts = t->rest;
	item->insns = t->nrest;
	decode_tasks_item(t, item);
	return true;
}
