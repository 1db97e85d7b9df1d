// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SPACE blocks. If the kernel is not traced there are no PIPs, and CR3 blocks name the processes'
 * address spaces. Else each CR3 of a PIP is the address space of the process that had most
 * packets in user space under it, and an address space without code of its own if none had.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "foreign/output_state.h"
#include "trace/vec.h"
#include "vpt/msr.h"

/* As few packets of a process may be there because times are estimates. */
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

/* Without PIPs: the processes. */
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

/* The votes of processes: threads of the kernel run in any address space. */
static bool counts(const struct foreign_output *o, const struct trace_pair *vote)
{
	size_t maps;

	(void)foreign_tasks_maps(&o->tasks, (size_t)vote->b, &maps);
	return maps;
}

/* Who had most packets under each CR3, and which CR3s more than one process had. */
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

/* The space of a PIP's CR3, and of NR. */
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

	/* Behind those of all processes. */
	o->next_id = foreign_mm_id(o->tasks.mms.n);
	if (!err && !o->pips.n)
		err = list_used(o);
	if (!err)
		err = count_votes(o);
	for (i = 0; i < o->pips.n && !err; i++)
		err = list_pip(o, &o->pips.at[i]);
	/* Those that are not the one of their CR3. */
	if (!err && o->reused.n)
		err = list_used(o);
	return err ? err : trace_writer_spaces(o->writer, o->spaces.at, o->spaces.n);
}
