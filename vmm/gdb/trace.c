// SPDX-License-Identifier: GPL-2.0-or-later
/* Serves gdb a trace: registers, code, breakpoints, and motion both ways. */
#include "gdb/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/guest.h"
#include "gdb/hex.h"
#include "gdb/state.h"
#include "gdb/trace_state.h"

/* The number of RIP among the registers. */
#define RIP 16u

void gdb_trace_answer(struct gdb_trace *t, const char *text)
{
	if (gdb_link_write(t->link, text, strlen(text)))
		t->left = true;
}

void gdb_trace_refuse(struct gdb_trace *t, const char *text)
{
	char line[96];

	snprintf(line, sizeof(line), "E.%s", text);
	gdb_trace_answer(t, line);
}

static struct gdb_walk *walk_of(struct gdb_trace *t, unsigned int cpu)
{
	struct gdb_trace_cpu *c = &t->cpu[cpu];
	int err = c->walk ? 0 : gdb_walk_open(t->reader, cpu, &c->walk);

	if (err && !t->error)
		t->error = err;
	return err ? NULL : c->walk;
}

bool gdb_trace_insn(struct gdb_trace *t, unsigned int cpu, struct gdb_walk_insn *insn)
{
	struct gdb_walk *walk = walk_of(t, cpu);
	int got = walk ? gdb_walk_get(walk, t->cpu[cpu].n, insn) : 0;

	if (got < 0 && !t->error)
		t->error = got;
	return got == 1;
}

static void answer_regs(struct gdb_trace *t, unsigned int first, unsigned int count)
{
	struct gdb_walk_insn insn;
	const bool known = gdb_trace_insn(t, t->now, &insn);
	char *to = t->reply;
	unsigned int i;

	for (i = first; i < first + count; i++) {
		const size_t len = gdb_guest_reg_bytes(i);

		if (known && i == RIP) {
			to = gdb_hex_put(to, &insn.ip, sizeof(insn.ip));
		} else {
			memset(to, 'x', 2 * len);
			to += 2 * len;
		}
	}
	*to = 0;
	gdb_trace_answer(t, t->reply);
}

static void read_reg(struct gdb_trace *t, const char *text)
{
	uint64_t n;

	if (!gdb_hex_number(&text, &n) || n >= GDB_REGS)
		gdb_trace_answer(t, "E16");
	else
		answer_regs(t, (unsigned int)n, 1);
}

static void read_memory(struct gdb_trace *t, const char *text)
{
	uint8_t bytes[GDB_PACKET / 2];
	struct gdb_walk *walk = walk_of(t, t->now);
	uint64_t ip, len;
	size_t n;

	if (!walk || !gdb_hex_number(&text, &ip) || *text++ != ',' ||
	    !gdb_hex_number(&text, &len) || len > sizeof(bytes)) {
		gdb_trace_answer(t, "E16");
		return;
	}
	n = gdb_walk_code(walk, t->cpu[t->now].n, ip, bytes, (size_t)len);
	if (len && !n) {
		gdb_trace_answer(t, "E0e");
		return;
	}
	*gdb_hex_put(t->reply, bytes, n) = 0;
	gdb_trace_answer(t, t->reply);
}

static void set_break(struct gdb_trace *t, const char *packet)
{
	const bool set = *packet == 'Z';
	const char *text = packet + 3;
	uint64_t ip;
	size_t i;

	/* There is no data to watch. */
	if (packet[1] != '0' && packet[1] != '1') {
		gdb_trace_answer(t, "");
		return;
	}
	if (packet[2] != ',' || !gdb_hex_number(&text, &ip)) {
		gdb_trace_answer(t, "E16");
		return;
	}
	for (i = 0; i < t->breaks && t->ip[i] != ip; i++)
		;
	if (set && i == GDB_TRACE_BREAKS) {
		gdb_trace_refuse(t, "too many breakpoints");
		return;
	}
	if (set && i == t->breaks)
		t->ip[t->breaks++] = ip;
	if (!set && i < t->breaks)
		t->ip[i] = t->ip[--t->breaks];
	gdb_trace_answer(t, "OK");
}

static bool interrupted(void *context)
{
	return gdb_link_interrupts(((struct gdb_trace *)context)->link);
}

static void report(struct gdb_trace *t, const char *detail, unsigned int signal)
{
	char text[64];

	snprintf(text, sizeof(text), "T%02xthread:%x;%s", signal, t->now + 1, detail);
	gdb_trace_answer(t, text);
}

/* Move, and tell the client where. One instruction needs no breakpoint. */
static void move(struct gdb_trace *t, bool back, bool step)
{
	const struct gdb_walk_goal goal = {t->ip, t->breaks, interrupted, t};
	struct gdb_trace_cpu *c = &t->cpu[t->now];
	struct gdb_walk_insn insn;
	uint64_t n = c->n;
	int found;

	if (!gdb_trace_insn(t, t->now, &insn)) {
		report(t, "replaylog:end;", 5);
		return;
	}
	if (!step)
		found = back ? gdb_walk_back(c->walk, &goal, &n)
			     : gdb_walk_forward(c->walk, &goal, &n);
	else if (back && n)
		found = gdb_walk_get(c->walk, --n, &insn) == 1 ? GDB_WALK_FOUND : GDB_WALK_EDGE;
	else
		found = !back && gdb_walk_get(c->walk, n + 1, &insn) == 1 ? GDB_WALK_FOUND
									  : GDB_WALK_EDGE;
	if (step && !back && found == GDB_WALK_FOUND)
		n++;
	if (found < 0) {
		t->error = found;
		t->left = true;
		return;
	}
	if (found != GDB_WALK_STOPPED || !back)
		c->n = n;
	if (found == GDB_WALK_STOPPED)
		report(t, "", 2);
	else if (found == GDB_WALK_EDGE)
		report(t, back ? "replaylog:begin;" : "replaylog:end;", 5);
	else
		report(t, step ? "" : "swbreak:;", 5);
}

/* H and T: a vCPU, 0 for any, -1 for all. */
static void choose(struct gdb_trace *t, const char *text, bool sets)
{
	uint64_t n = 0;

	if (strncmp(text, "-1", 2) && !gdb_hex_number(&text, &n)) {
		gdb_trace_answer(t, "E16");
	} else if (n > t->cpus) {
		gdb_trace_answer(t, "E03");
	} else {
		if (sets && n)
			t->now = (unsigned int)n - 1;
		gdb_trace_answer(t, "OK");
	}
}

/* vCont: the first action. The other vCPUs stay where they are. */
static void resume(struct gdb_trace *t, const char *text)
{
	const char *thread = strchr(text, ':');
	uint64_t n;

	if (*text == '?') {
		gdb_trace_answer(t, "vCont;c;C;s;S");
		return;
	}
	if (*text != ';' || !strchr("cCsS", text[1])) {
		gdb_trace_answer(t, "E16");
		return;
	}
	if (thread && thread < text + strcspn(text + 1, ";") + 1) {
		thread++;
		if (gdb_hex_number(&thread, &n) && n && n <= t->cpus)
			t->now = (unsigned int)n - 1;
	}
	move(t, false, (text[1] | 32) == 's');
}

static void serve_packet(struct gdb_trace *t, const char *packet)
{
	switch (*packet) {
	case 'q':
	case 'Q':
		gdb_trace_query(t, packet);
		break;
	case '?':
		report(t, "", 5);
		break;
	case 'g':
		answer_regs(t, 0, GDB_REGS);
		break;
	case 'p':
		read_reg(t, packet + 1);
		break;
	case 'm':
		read_memory(t, packet + 1);
		break;
	case 'P':
	case 'M':
	case 'G':
		gdb_trace_refuse(t, "a trace cannot be changed");
		break;
	case 'H':
		choose(t, packet + (packet[1] ? 2 : 1), packet[1] == 'g' || packet[1] == 'c');
		break;
	case 'T':
		choose(t, packet + 1, false);
		break;
	case 'Z':
	case 'z':
		set_break(t, packet);
		break;
	case 's':
	case 'c':
		move(t, false, *packet == 's');
		break;
	case 'b':
		if (packet[1] == 's' || packet[1] == 'c')
			move(t, true, packet[1] == 's');
		else
			gdb_trace_answer(t, "");
		break;
	case 'D':
		gdb_trace_answer(t, "OK");
		t->left = true;
		break;
	case 'k':
		t->left = true;
		break;
	default:
		if (!strncmp(packet, "vCont", 5))
			resume(t, packet + 5);
		else
			gdb_trace_answer(t, "");
	}
}

int gdb_trace_serve(struct gdb_session *session, struct trace_reader *reader)
{
	struct gdb_trace *t = calloc(1, sizeof(*t));
	unsigned int i;
	int error;

	if (!t)
		return -ENOMEM;
	t->link = &session->shared->link;
	t->reader = reader;
	t->cpus = trace_reader_info(reader)->vcpus;
	t->cpu = calloc(t->cpus, sizeof(*t->cpu));
	if (!t->cpu)
		t->error = -ENOMEM;
	while (!t->left && !t->error) {
		if (gdb_link_read(t->link, t->packet) < 0)
			break;
		serve_packet(t, t->packet);
	}
	for (i = 0; t->cpu && i < t->cpus; i++)
		gdb_walk_close(t->cpu[i].walk);
	error = t->error;
	free(t->branches);
	free(t->cpu);
	free(t);
	return error;
}
