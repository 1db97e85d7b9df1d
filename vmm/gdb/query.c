// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets that begin with q or Q: features, vCPUs as threads, and commands of "monitor". */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/guest.h"
#include "gdb/hex.h"
#include "gdb/state.h"

#define TARGET "qXfer:features:read:target.xml:"

static const char features[] =
	"PacketSize=4000;QStartNoAckMode+;qXfer:features:read+;swbreak+;hwbreak+;vContSupported+;"
	"ReverseStep+;ReverseContinue+";

static const char help[] =
	"when       print the position, the number of instructions that all vCPUs have retired\n"
	"goto N     go to position N, forwards or backwards; then: maintenance flush "
	"register-cache\n"
	"hash       print a hash of the guest's memory\n";

static void send_target(struct gdb_session *s, const char *text)
{
	char *xml = malloc(GDB_PACKET);
	uint64_t at, len;
	size_t whole;

	if (!xml || !gdb_hex_number(&text, &at) || *text++ != ',' || !gdb_hex_number(&text, &len)) {
		gdb_refuse(s, EINVAL);
		free(xml);
		return;
	}
	whole = gdb_guest_describe(xml, GDB_PACKET);
	if (at > whole)
		at = whole;
	if (len > whole - at)
		len = whole - at;
	if (len > GDB_PACKET - 1)
		len = GDB_PACKET - 1;
	s->shared->reply[0] = at + len < whole ? 'm' : 'l';
	memcpy(s->shared->reply + 1, xml + at, (size_t)len);
	s->shared->reply[1 + len] = 0;
	gdb_answer(s, s->shared->reply);
	free(xml);
}

static void list_cpus(struct gdb_session *s)
{
	char *to = s->shared->reply;
	unsigned int i;

	for (i = 0; i < s->vm->cpus; i++)
		to += sprintf(to, "%s%x", i ? "," : "m", i + 1);
	gdb_answer(s, s->shared->reply);
}

static void describe_cpu(struct gdb_session *s, const char *text)
{
	const struct core_vcpu *v;
	char line[96];
	uint64_t n;

	if (!gdb_hex_number(&text, &n) || !n || n > s->vm->cpus) {
		gdb_refuse(s, ESRCH);
		return;
	}
	v = s->vm->cpu[n - 1];
	snprintf(line, sizeof(line), "vCPU %" PRIu64 ", %s", n - 1,
		 v->pending & CORE_VCPU_WAIT_SIPI ? "waits for SIPI"
		 : v->pending & CORE_VCPU_HALTED  ? "halted"
						  : "runs");
	*gdb_hex_put(s->shared->reply, line, strlen(line)) = 0;
	gdb_answer(s, s->shared->reply);
}

/* Answer a command of "monitor" with a text. */
static void print(struct gdb_session *s, const char *text)
{
	*gdb_hex_put(s->shared->reply, text, strlen(text)) = 0;
	gdb_answer(s, s->shared->reply);
}

static bool go_to(struct gdb_session *s, const char *text)
{
	struct gdb_place to = {.stop = {.reason = GDB_WENT, .cpu = s->shared->cpu}};
	char *end;

	errno = 0;
	to.position = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno || *end) {
		print(s, "goto: the position is not a number\n");
		return false;
	}
	if (to.position < s->timeline.shared->at[0].position) {
		print(s, "goto: that is before the beginning\n");
		return false;
	}
	if (to.position == gdb_position(s)) {
		gdb_answer(s, "OK");
		return false;
	}
	s->shared->waits = true;
	gdb_go_to(s, &to);
	return true;
}

static bool command(struct gdb_session *s, const char *hex)
{
	char text[64] = "", line[64];
	const size_t len = strlen(hex) / 2;

	if (len >= sizeof(text) || strlen(hex) % 2 || !gdb_hex_take(hex, text, len)) {
		gdb_refuse(s, EINVAL);
		return false;
	}
	if (!strncmp(text, "goto ", 5))
		return go_to(s, text + 5);
	if (!strcmp(text, "when")) {
		snprintf(line, sizeof(line), "%" PRIu64 "\n", gdb_position(s));
		print(s, line);
	} else if (!strcmp(text, "hash")) {
		snprintf(line, sizeof(line), "%016" PRIx64 "\n", gdb_guest_hash(&s->vm->mem));
		print(s, line);
	} else {
		print(s, help);
	}
	return false;
}

bool gdb_query(struct gdb_session *s, const char *packet)
{
	if (!strncmp(packet, "qRcmd,", 6))
		return command(s, packet + 6);
	if (!strncmp(packet, "qSupported", 10)) {
		gdb_answer(s, features);
	} else if (!strcmp(packet, "QStartNoAckMode")) {
		gdb_answer(s, "OK");
		s->shared->link.no_acks = true;
	} else if (!strncmp(packet, TARGET, strlen(TARGET))) {
		send_target(s, packet + strlen(TARGET));
	} else if (!strcmp(packet, "qfThreadInfo")) {
		list_cpus(s);
	} else if (!strcmp(packet, "qsThreadInfo")) {
		gdb_answer(s, "l");
	} else if (!strncmp(packet, "qThreadExtraInfo,", 17)) {
		describe_cpu(s, packet + 17);
	} else if (!strcmp(packet, "qC")) {
		sprintf(s->shared->reply, "QC%x", s->shared->cpu + 1);
		gdb_answer(s, s->shared->reply);
	} else if (!strncmp(packet, "qAttached", 9)) {
		gdb_answer(s, "1");
	} else {
		gdb_answer(s, "");
	}
	return false;
}
