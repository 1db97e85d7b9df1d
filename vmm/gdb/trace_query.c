// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets of a session with a trace that begin with q or Q. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/guest.h"
#include "gdb/hex.h"
#include "gdb/trace_state.h"

#define TARGET "qXfer:features:read:target.xml:"

static const char features[] =
	"PacketSize=4000;QStartNoAckMode+;qXfer:features:read+;swbreak+;hwbreak+;vContSupported+;"
	"ReverseStep+;ReverseContinue+;Qbtrace:bts+;Qbtrace:off+;Qbtrace-conf:bts:size+;"
	"qXfer:btrace:read+;qXfer:btrace-conf:read+";

static const char help[] =
	"when       print the position of this vCPU, the number of its next instruction\n"
	"goto N     go to position N, forwards or backwards; then: maintenance flush "
	"register-cache\n";

void gdb_trace_part(struct gdb_trace *t, const char *text, size_t whole, const char *range)
{
	uint64_t at, len;

	if (!gdb_hex_number(&range, &at) || *range++ != ',' || !gdb_hex_number(&range, &len)) {
		gdb_trace_answer(t, "E16");
		return;
	}
	if (at > whole)
		at = whole;
	if (len > whole - at)
		len = whole - at;
	if (len > GDB_PACKET - 1)
		len = GDB_PACKET - 1;
	t->reply[0] = at + len < whole ? 'm' : 'l';
	memcpy(t->reply + 1, text + at, (size_t)len);
	t->reply[1 + len] = 0;
	gdb_trace_answer(t, t->reply);
}

static void send_target(struct gdb_trace *t, const char *range)
{
	char *xml = malloc(GDB_PACKET);

	if (xml)
		gdb_trace_part(t, xml, gdb_guest_describe(xml, GDB_PACKET), range);
	else
		gdb_trace_answer(t, "E0c");
	free(xml);
}

static void list_cpus(struct gdb_trace *t)
{
	char *to = t->reply;
	unsigned int i;

	for (i = 0; i < t->cpus; i++)
		to += sprintf(to, "%s%x", i ? "," : "m", i + 1);
	gdb_trace_answer(t, t->reply);
}

/* Answer with a text that the client shows, in hexadecimal digits. */
static void print(struct gdb_trace *t, const char *text)
{
	*gdb_hex_put(t->reply, text, strlen(text)) = 0;
	gdb_trace_answer(t, t->reply);
}

static void describe_cpu(struct gdb_trace *t, const char *text)
{
	char line[64];
	uint64_t n;

	if (!gdb_hex_number(&text, &n) || !n || n > t->cpus) {
		gdb_trace_answer(t, "E03");
		return;
	}
	snprintf(line, sizeof(line), "vCPU %" PRIu64 ", instruction %" PRIu64, n - 1,
		 t->cpu[n - 1].n);
	print(t, line);
}

static void go_to(struct gdb_trace *t, const char *text)
{
	struct gdb_trace_cpu *c = &t->cpu[t->now];
	const uint64_t before = c->n;
	struct gdb_walk_insn insn;
	char *end;

	errno = 0;
	c->n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno || *end) {
		c->n = before;
		print(t, "goto: the position is not a number\n");
	} else if (!gdb_trace_insn(t, t->now, &insn)) {
		c->n = before;
		print(t, "goto: that is behind the end of the trace\n");
	} else {
		gdb_trace_answer(t, "OK");
	}
}

static void command(struct gdb_trace *t, const char *hex)
{
	char text[64] = "", line[64];
	const size_t len = strlen(hex) / 2;

	if (len >= sizeof(text) || strlen(hex) % 2 || !gdb_hex_take(hex, text, len)) {
		gdb_trace_answer(t, "E16");
	} else if (!strncmp(text, "goto ", 5)) {
		go_to(t, text + 5);
	} else if (!strcmp(text, "when")) {
		snprintf(line, sizeof(line), "%" PRIu64 "\n", t->cpu[t->now].n);
		print(t, line);
	} else {
		print(t, help);
	}
}

void gdb_trace_query(struct gdb_trace *t, const char *packet)
{
	if (gdb_trace_branches(t, packet))
		return;
	if (!strncmp(packet, "qRcmd,", 6)) {
		command(t, packet + 6);
	} else if (!strncmp(packet, "qSupported", 10)) {
		gdb_trace_answer(t, features);
	} else if (!strcmp(packet, "QStartNoAckMode")) {
		gdb_trace_answer(t, "OK");
		t->link->no_acks = true;
	} else if (!strncmp(packet, TARGET, strlen(TARGET))) {
		send_target(t, packet + strlen(TARGET));
	} else if (!strcmp(packet, "qfThreadInfo")) {
		list_cpus(t);
	} else if (!strcmp(packet, "qsThreadInfo")) {
		gdb_trace_answer(t, "l");
	} else if (!strncmp(packet, "qThreadExtraInfo,", 17)) {
		describe_cpu(t, packet + 17);
	} else if (!strcmp(packet, "qC")) {
		sprintf(t->reply, "QC%x", t->now + 1);
		gdb_trace_answer(t, t->reply);
	} else if (!strncmp(packet, "qAttached", 9)) {
		gdb_trace_answer(t, "1");
	} else {
		gdb_trace_answer(t, "");
	}
}
