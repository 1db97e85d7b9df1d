// SPDX-License-Identifier: GPL-2.0-or-later
/* The packets that let the machine run: c, s, vCont, bc and bs. */
#include <errno.h>
#include <string.h>

#include "gdb/hex.h"
#include "gdb/state.h"

/* Run on, by one step of the current vCPU or without an end. */
static bool forward(struct gdb_session *s, bool step, uint64_t first, uint64_t last)
{
	struct gdb_shared *h = s->shared;

	h->waits = true;
	if (s->ended) {
		gdb_report(s, &(struct gdb_stop){.reason = GDB_END, .cpu = h->cpu});
		h->waits = false;
		return false;
	}
	h->plan = (struct gdb_plan){
		.goal = GDB_FORWARD,
		.step = {.on = step,
			 .cpu = h->cpu,
			 .count = s->vm->cpu[h->cpu]->ev->retired,
			 .first = first,
			 .last = last},
	};
	return true;
}

static _Noreturn void backward(struct gdb_session *s, bool step)
{
	s->shared->waits = true;
	gdb_search_begin(s, step);
}

/* An action of vCont, up to the next ";": it is for the vCPU @cpu, or for all if @every. */
struct action {
	char what;
	uint64_t first, last; /* r */
	uint64_t cpu;
	bool every;
};

static bool take_action(const char **text, struct action *a)
{
	uint64_t signal;

	*a = (struct action){.what = *(*text)++, .every = true};
	if (a->what == 'C' || a->what == 'S') {
		/* The guest knows no signals of gdb's. */
		if (!gdb_hex_number(text, &signal))
			return false;
		a->what = a->what == 'C' ? 'c' : 's';
	} else if (a->what == 'r') {
		if (!gdb_hex_number(text, &a->first) || *(*text)++ != ',' ||
		    !gdb_hex_number(text, &a->last))
			return false;
	} else if (a->what != 'c' && a->what != 's') {
		return false;
	}
	if (**text == ':') {
		++*text;
		a->every = !strncmp(*text, "-1", 2);
		if (a->every)
			*text += 2;
		else if (!gdb_hex_number(text, &a->cpu))
			return false;
		a->every |= !a->cpu--;
	}
	return !**text || *(*text)++ == ';';
}

/* All vCPUs run. The first action that steps one of them decides. */
static bool vcont(struct gdb_session *s, const char *text)
{
	struct action a;

	while (*text) {
		if (!take_action(&text, &a)) {
			gdb_refuse(s, EINVAL);
			return false;
		}
		if (a.what == 'c')
			continue;
		if (!a.every && a.cpu >= s->vm->cpus) {
			gdb_refuse(s, ESRCH);
			return false;
		}
		if (!a.every)
			s->shared->cpu = (unsigned int)a.cpu;
		return forward(s, true, a.first, a.last);
	}
	return forward(s, false, 0, 0);
}

bool gdb_command_resume(struct gdb_session *s, const char *packet, bool *known)
{
	*known = true;
	if (!strcmp(packet, "vCont?")) {
		gdb_answer(s, "vCont;c;C;s;S;r");
		return false;
	}
	if (!strncmp(packet, "vCont;", 6))
		return vcont(s, packet + 6);
	if (!strcmp(packet, "bc"))
		backward(s, false);
	if (!strcmp(packet, "bs"))
		backward(s, true);
	if (*packet == 'c' || *packet == 's' || *packet == 'C' || *packet == 'S')
		return forward(s, *packet == 's' || *packet == 'S', 0, 0);
	*known = false;
	return false;
}
