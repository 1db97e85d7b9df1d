// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The branches before the present position, for gdb's "record btrace". gdb knows two formats. BTS is
 * the one without packets and without a processor: a list of blocks, the newest first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/trace_state.h"

#define READ	  "qXfer:btrace:read:"
#define READ_CONF "qXfer:btrace-conf:read::"
/* Instructions in a document, and the longest line of one. */
#define MOST 1000000u
#define LINE 64u

static const char head[] = "<!DOCTYPE btrace SYSTEM \"btrace.dtd\">\n<btrace version=\"1.0\">\n";
static const char foot[] = "</btrace>\n";
static const char conf[] = "<!DOCTYPE btrace-conf SYSTEM \"btrace-conf.dtd\">\n"
			   "<btrace-conf version=\"1.0\"><bts size=\"0x1000000\"/></btrace-conf>\n";

/* A block ends where the next instruction does not follow. */
static bool follows(const struct gdb_walk_insn *a, const struct gdb_walk_insn *b)
{
	return b->ip == a->ip + a->size;
}

/*
 * Write the blocks from @from to the next instruction, the newest first. The oldest block of a @delta
 * begins where the client's last one ended, which 0 stands for.
 */
static bool write_blocks(struct gdb_trace *t, uint64_t from, bool delta, char **to)
{
	struct gdb_trace_cpu *c = &t->cpu[t->now];
	struct gdb_walk_insn insn, before;
	uint64_t n = c->n, end;

	if (gdb_walk_get(c->walk, n, &insn) != 1)
		return false;
	end = insn.ip;
	for (; n > from; n--, insn = before) {
		if (gdb_walk_get(c->walk, n - 1, &before) != 1)
			return false;
		if (follows(&before, &insn))
			continue;
		*to += sprintf(*to, "<block begin=\"0x%llx\" end=\"0x%llx\"/>\n",
			       (unsigned long long)insn.ip, (unsigned long long)end);
		end = before.ip;
	}
	*to += sprintf(*to, "<block begin=\"0x%llx\" end=\"0x%llx\"/>\n",
		       delta ? 0ull : (unsigned long long)insn.ip, (unsigned long long)end);
	return true;
}

static bool make(struct gdb_trace *t, bool delta)
{
	struct gdb_trace_cpu *c = &t->cpu[t->now];
	struct gdb_walk_insn insn;
	uint64_t count;
	char *to;

	free(t->branches);
	t->branches = NULL;
	if (!gdb_trace_insn(t, t->now, &insn))
		return false;
	count = gdb_walk_kept(c->walk, c->n);
	if (count > MOST)
		count = MOST;
	if (delta) {
		if (!c->told || c->told - 1 > c->n || c->n - (c->told - 1) > count)
			return false;
		count = c->n - (c->told - 1);
	}
	t->branches = malloc(sizeof(head) + sizeof(foot) + (size_t)(count + 1) * LINE);
	if (!t->branches)
		return false;
	to = t->branches + sprintf(t->branches, "%s", head);
	if (!write_blocks(t, c->n - count, delta, &to))
		return false;
	c->told = c->n + 1;
	to += sprintf(to, "%s", foot);
	t->branches_len = (size_t)(to - t->branches);
	return true;
}

/* The client reads all branches, those since the last time, or what it can connect to them. */
static void read_branches(struct gdb_trace *t, const char *text)
{
	const char *range = strchr(text, ':');
	const bool delta = !strncmp(text, "delta:", 6);

	/* gdb asks for new branches only where it could not connect those of a delta. */
	if (!range || !t->records)
		gdb_trace_refuse(t, "the record of branches is off");
	else if ((!strncmp(range, ":0,", 3) || !t->branches) && !make(t, delta))
		gdb_trace_refuse(t, "there are no branches here");
	else
		gdb_trace_part(t, t->branches, t->branches_len, range + 1);
}

bool gdb_trace_branches(struct gdb_trace *t, const char *packet)
{
	if (!strcmp(packet, "Qbtrace:bts") || !strcmp(packet, "Qbtrace:off")) {
		const bool on = packet[8] == 'b';

		if (on == t->records) {
			gdb_trace_refuse(t, on ? "the record of branches is on" : "it is off");
			return true;
		}
		t->records = on;
		t->cpu[t->now].told = 0;
		gdb_trace_answer(t, "OK");
	} else if (!strncmp(packet, "Qbtrace-conf:bts:size=", 22)) {
		gdb_trace_answer(t, "OK");
	} else if (!strncmp(packet, READ, strlen(READ))) {
		read_branches(t, packet + strlen(READ));
	} else if (!strncmp(packet, READ_CONF, strlen(READ_CONF))) {
		if (t->records)
			gdb_trace_part(t, conf, strlen(conf), packet + strlen(READ_CONF));
		else
			gdb_trace_refuse(t, "the record of branches is off");
	} else {
		return false;
	}
	return true;
}
