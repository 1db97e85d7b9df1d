// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes SPACE blocks. If the kernel is not traced, there are no PIPs, and CR3 blocks name the
 * processes' address spaces. Otherwise each CR3 of a PIP is the address space of the process with
 * most packets in user space under that CR3. If there was no such packet, the space has no code of
 * its own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "foreign/output_state.h"
#include "trace/vec.h"
#include "vpt/msr.h"

/* Because times are estimates, fewer packets than this do not count as a process. */
#define REUSED_LEAST 4

static int add(struct foreign_output *o, const struct trace_space *space)
{
	if (!trace_vec_room(&o->spaces))
		return -ENOMEM;
	o->spaces.at[o->spaces.n++] = *space;
	return 0;
}

static struct trace_space space_of(const struct foreign_output *o, size_t mm)
{
	const struct foreign_mm *m = &o->tasks.mms.at[mm];
	struct trace_space space = {
		.id = foreign_mm_id(mm),
		.cr3 = foreign_mm_id(mm),
		.vmcs = TRACE_SPACE_ANY_VMCS,
		.vm = TRACE_SPACE_NO_VM,
		.pid = m->pid,
	};

	memcpy(space.name, m->comm, sizeof(m->comm));
	space.name[sizeof(m->comm) - 1] = 0;
	return space;
}

/* List the processes, for a trace without PIPs. */
static int list_used(struct foreign_output *o)
{
	struct trace_pairs listed = {0};
	size_t i;
	int err = 0;

	for (i = 0; i < o->used.n && !err; i++) {
		struct trace_space space = space_of(o, (size_t)o->used.at[i].b);
		struct trace_pair *entry = trace_pairs_add(&listed, space.id, 0);

		if (!entry)
			err = -ENOMEM;
		else if (!entry->value++)
			err = add(o, &space);
	}
	trace_pairs_free(&listed);
	return err;
}

/* Returns true if the process counts. Threads of the kernel run in any address space. */
static bool counts(const struct foreign_output *o, const struct trace_pair *vote)
{
	size_t maps;

	(void)foreign_tasks_maps(&o->tasks, (size_t)vote->b, &maps);
	return maps;
}

/* Find the process with most packets under each CR3, and the CR3s that several processes had. */
static int count_votes(struct foreign_output *o)
{
	size_t i;

	for (i = 0; i < o->votes.n; i++) {
		const struct trace_pair *vote = &o->votes.at[i];
		struct trace_pair *entry;

		if (!counts(o, vote))
			continue;
		entry = trace_pairs_add(&o->best, vote->a, 0);
		if (!entry)
			return -ENOMEM;
		if (!entry->value || o->votes.at[entry->value - 1].value < vote->value)
			entry->value = i + 1;
	}
	for (i = 0; i < o->votes.n && o->trace->ctl & VPT_CTL_MASK(USER); i++) {
		const struct trace_pair *vote = &o->votes.at[i];

		if (counts(o, vote) && vote->value >= REUSED_LEAST &&
		    trace_pairs_find(&o->best, vote->a, 0)->value != i + 1 &&
		    !trace_pairs_add(&o->reused, vote->a, 0))
			return -ENOMEM;
	}
	o->trace->report.reused = o->reused.n;
	return 0;
}

/* Add the space for a PIP's CR3 and NR. */
static int list_pip(struct foreign_output *o, const struct trace_pair *pip)
{
	const struct trace_pair *vote = trace_pairs_find(&o->best, pip->a, 0);
	struct trace_pair *entry;
	struct trace_space space = {
		.vmcs = TRACE_SPACE_ANY_VMCS,
		.vm = TRACE_SPACE_NO_VM,
	};

	if (pip->b) {
		space.flags = TRACE_SPACE_NON_ROOT | TRACE_SPACE_NO_CODE;
		o->trace->report.guests++;
	} else if (vote) {
		space = space_of(o, (size_t)o->votes.at[vote->value - 1].b);
	}
	if (!space.id)
		space.id = o->next_id += TRACE_CODE_BYTES;
	space.cr3 = pip->a;
	entry = trace_pairs_add(&o->ids, pip->a, pip->b);
	if (!entry)
		return -ENOMEM;
	entry->value = space.id;
	return add(o, &space);
}

int foreign_write_spaces(struct foreign_output *o)
{
	const struct trace_space kernel = {
		.id = FOREIGN_FIRST_ID,
		.cr3 = FOREIGN_FIRST_ID,
		.vmcs = TRACE_SPACE_ANY_VMCS,
		.flags = TRACE_SPACE_COMMON,
		.vm = TRACE_SPACE_NO_VM,
		.name = "kernel",
	};
	size_t i;
	int err = add(o, &kernel);

	/* Its id follows those of all processes. */
	o->next_id = foreign_mm_id(o->tasks.mms.n);
	if (!err && !o->pips.n)
		err = list_used(o);
	if (!err)
		err = count_votes(o);
	for (i = 0; i < o->pips.n && !err; i++)
		err = list_pip(o, &o->pips.at[i]);
	/* Add the spaces of the other processes with the same CR3. */
	if (!err && o->reused.n)
		err = list_used(o);
	return err ? err : trace_writer_spaces(o->writer, o->spaces.at, o->spaces.n);
}
