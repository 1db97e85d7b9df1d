// SPDX-License-Identifier: GPL-2.0-or-later
/* Serves the client while the machine stands. */
#include <stdio.h>
#include <string.h>

#include "gdb/state.h"

void gdb_answer(struct gdb_session *s, const char *text)
{
	if (gdb_link_write(&s->shared->link, text, strlen(text)))
		s->shared->left = true;
}

void gdb_refuse(struct gdb_session *s, int error)
{
	char text[8];

	snprintf(text, sizeof(text), "E%02x", (unsigned int)(error < 0 ? -error : error) & 0xff);
	gdb_answer(s, text);
}

static const char *name_of(uint32_t access)
{
	switch (access) {
	case ENGINE_DATA_READ:
		return "rwatch";
	case ENGINE_DATA_WRITE:
		return "watch";
	default:
		return "awatch";
	}
}

/* The kind of the breakpoint at RIP, so that gdb does not look for it before RIP. */
static const char *breakpoint(const struct gdb_session *s, const struct core_vcpu *v)
{
	unsigned int i;

	for (i = 0; i < s->shared->codes; i++)
		if (s->shared->code[i].ip == v->regs->rip && s->shared->code[i].kinds & GDB_HARD)
			return "hwbreak:;";
	return "swbreak:;";
}

void gdb_report(struct gdb_session *s, const struct gdb_stop *why)
{
	const struct core_vcpu *v = s->vm->cpu[why->cpu];
	char text[96], detail[48] = "";

	switch (why->reason) {
	case GDB_WENT:
		gdb_answer(s, "OK");
		return;
	case GDB_BREAKPOINT:
		snprintf(detail, sizeof(detail), "%s", breakpoint(s, v));
		break;
	case GDB_WATCHPOINT:
		snprintf(detail, sizeof(detail), "%s:%llx;", name_of(why->access),
			 (unsigned long long)why->address);
		break;
	case GDB_BEGIN:
	case GDB_END:
		snprintf(detail, sizeof(detail), "replaylog:%s;",
			 why->reason == GDB_BEGIN ? "begin" : "end");
		break;
	default:
		break;
	}
	snprintf(text, sizeof(text), "T%02xthread:%x;%s", why->reason == GDB_INTERRUPTED ? 2u : 5u,
		 why->cpu + 1, detail);
	gdb_answer(s, text);
}

void gdb_serve(struct gdb_session *s, const struct gdb_stop *stop)
{
	struct gdb_shared *h = s->shared;
	bool runs = false;

	core_vcpu_load(s->vm->cpu[stop->cpu]);
	h->stop = *stop;
	h->cpu = stop->cpu;
	/* The client has not asked for the first stop yet. */
	if (h->waits)
		gdb_report(s, stop);
	h->waits = false;
	while (!runs && !h->left && !h->killed) {
		if (gdb_link_read(&h->link, h->packet) < 0)
			h->left = true;
		else
			runs = gdb_command(s, h->packet);
	}
	if (h->left || h->killed)
		gdb_hand_over(s);
	if (h->left) {
		h->codes = h->datas = 0;
		h->plan = (struct gdb_plan){.goal = GDB_FORWARD};
	}
	h->plan.from = gdb_position(s);
	h->plan.from_ip = s->vm->current->regs->rip;
}
