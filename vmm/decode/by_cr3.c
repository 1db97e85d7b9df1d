// SPDX-License-Identifier: GPL-2.0-or-later
/* Number address spaces by CR3 and by task. */
#include "decode/by_cr3.h"

#include <stdlib.h>

#include "decode/code.h"
#include "decode/spaces.h"
#include "decode/tasks.h"
#include "trace/pairs.h"

#define PTI_USER 0x1000ull

/* The number of a space in trace/code_source.h has the guest and the CR3. */
#define GUEST_BITS 0xfff0000000000000ull
#define CR3_BITS   (~GUEST_BITS)

struct decode_by_cr3 {
	struct trace_pairs all; /* maps (number, 0) to the pointer of its space */
	struct trace_space *last;
	struct decode_tasks *tasks; /* NULL if the file has none */
	bool pti;
};

struct decode_by_cr3 *decode_by_cr3_new(bool pti)
{
	struct decode_by_cr3 *all = calloc(1, sizeof(*all));

	if (all)
		all->pti = pti;
	return all;
}

void decode_by_cr3_free(struct decode_by_cr3 *all)
{
	size_t i;

	if (!all)
		return;
	for (i = 0; i < all->all.n; i++)
		free((void *)(uintptr_t)all->all.at[i].value);
	trace_pairs_free(&all->all);
	decode_tasks_close(all->tasks);
	free(all);
}

static struct trace_space *find(struct decode_by_cr3 *all, uint64_t cr3)
{
	struct trace_pair *entry;
	struct trace_space *space;

	if (all->last && all->last->id == cr3)
		return all->last;
	entry = trace_pairs_add(&all->all, cr3, 0);
	if (entry && !entry->value) {
		space = malloc(sizeof(*space));
		if (!space)
			return NULL;
		*space = (struct trace_space){
			.id = cr3,
			.cr3 = cr3 & CR3_BITS,
			.vmcs = TRACE_SPACE_ANY_VMCS,
			.flags = DECODE_SPACE_ALONE | (cr3 & GUEST_BITS ? TRACE_SPACE_NON_ROOT : 0),
			.vm = TRACE_SPACE_NO_VM,
		};
		entry->value = (uintptr_t)space;
	}
	all->last = entry ? (struct trace_space *)(uintptr_t)entry->value : NULL;
	return all->last;
}

int decode_by_cr3_tasks(struct decode_by_cr3 *all, const struct trace_reader *reader)
{
	return decode_tasks_open(reader, &all->tasks);
}

void decode_by_cr3_begin(struct decode_by_cr3 *all, unsigned int vcpu)
{
	if (all->tasks)
		decode_tasks_begin(all->tasks, vcpu);
}

void decode_by_cr3_begin_at(struct decode_by_cr3 *all, unsigned int vcpu, uint64_t insns,
			    uint32_t session, uint64_t cr3)
{
	if (all->tasks)
		decode_tasks_begin_at(all->tasks, vcpu, insns, session, cr3);
}

void decode_by_cr3_words(const struct decode_by_cr3 *all, uint64_t words[DECODE_TASKS_WORDS])
{
	if (all->tasks)
		decode_tasks_words(all->tasks, words);
}

bool decode_by_cr3_find(struct decode_by_cr3 *all, uint64_t id, uint64_t task,
			const struct trace_space **space)
{
	const bool known = task ? all->tasks && task - 1 <= UINT32_MAX : id != DECODE_CR3_UNKNOWN;

	*space = NULL;
	if (known && task)
		*space = decode_tasks_space(all->tasks, id, (uint32_t)(task - 1));
	else if (known)
		*space = find(all, id);
	return *space || !known;
}

bool decode_by_cr3_item(struct decode_by_cr3 *all, struct decode_item *item)
{
	const bool known = item->cr3 != DECODE_CR3_UNKNOWN;

	if (known)
		item->space = find(all, all->pti ? item->cr3 & ~PTI_USER : item->cr3);
	if (known && !item->space)
		return false;
	if (all->tasks)
		decode_tasks_item(all->tasks, item);
	return true;
}

bool decode_by_cr3_more(struct decode_by_cr3 *all, struct decode_item *item)
{
	return all && all->tasks && decode_tasks_more(all->tasks, item);
}
