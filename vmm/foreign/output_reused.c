// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Handles reused CR3s. A CR3 names page tables, and another process can reuse those of an ended
 * process. PIPs then do not identify the process. Instead, on each vCPU with such a PIP, a SWITCH
 * block names the address space at each PIP. The space is that of the process with most packets up
 * to the next PIP, or else the previous space of this CR3.
 */
#include <errno.h>

#include "foreign/output_state.h"

static bool has_reused(const struct foreign_output *o, unsigned int vcpu)
{
	const struct foreign_visits *v = &o->visits[vcpu];
	size_t i;

	for (i = 0; i < v->n; i++) {
		if (trace_pairs_find(&o->reused, v->at[i].cr3, 0))
			return true;
	}
	return false;
}

/* Find the space of a visit. @last has the space of the previous visit of each CR3. */
static int find_space(const struct foreign_output *o, const struct foreign_visit *visit,
		      struct trace_pairs *last, uint64_t *space)
{
	struct trace_pair *entry = trace_pairs_add(last, visit->cr3, 0);

	if (!entry)
		return -ENOMEM;
	if (visit->mm != FOREIGN_NONE && trace_pairs_find(&o->reused, visit->cr3, 0))
		entry->value = foreign_mm_id(visit->mm);
	if (!entry->value)
		entry->value = trace_pairs_find(&o->ids, visit->cr3, 0)->value;
	*space = entry->value;
	return 0;
}

static int write_vcpu(struct foreign_output *o, unsigned int vcpu)
{
	const struct foreign_visits *v = &o->visits[vcpu];
	struct trace_pairs last = {0};
	size_t i;
	int err = 0;

	for (i = 0; i < v->n && !err; i++) {
		struct trace_switch sw = {.offset = v->at[i].offset};

		err = find_space(o, &v->at[i], &last, &sw.space);
		if (!err && v->at[i].mm != FOREIGN_NONE)
			sw.pid = o->tasks.mms.at[v->at[i].mm].pid;
		if (!err)
			err = trace_writer_switches(o->writer, vcpu, &sw, 1);
	}
	trace_pairs_free(&last);
	return err;
}

int foreign_write_reused(struct foreign_output *o)
{
	unsigned int vcpu;
	int err = 0;

	for (vcpu = 0; vcpu < o->trace->streams.n && !err && o->reused.n; vcpu++) {
		if (has_reused(o, vcpu))
			err = write_vcpu(o, vcpu);
	}
	return err;
}
