// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets that read and change the machine, and the choice among them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/guest.h"
#include "gdb/hex.h"
#include "gdb/state.h"

static struct core_vcpu *chosen(const struct gdb_session *s)
{
	return s->vm->cpu[s->shared->cpu];
}

/* A change of the machine begins another history. */
static void changed(struct gdb_session *s)
{
	gdb_timeline_changed(&s->timeline, gdb_position(s));
	s->shared->changed = true;
	s->shared->printed = s->printed;
}

static void answer_regs(struct gdb_session *s, unsigned int first, unsigned int count)
{
	uint8_t bytes[GDB_REGS_ROOM];
	bool known[GDB_REGS];
	char *to = s->shared->reply;
	size_t at = 0;
	unsigned int i;

	(void)gdb_guest_regs(chosen(s), bytes, known);
	for (i = 0; i < first; i++)
		at += gdb_guest_reg_bytes(i);
	for (; i < first + count; at += gdb_guest_reg_bytes(i++)) {
		if (known[i]) {
			to = gdb_hex_put(to, bytes + at, gdb_guest_reg_bytes(i));
		} else {
			memset(to, 'x', 2 * gdb_guest_reg_bytes(i));
			to += 2 * gdb_guest_reg_bytes(i);
		}
	}
	*to = 0;
	gdb_answer(s, s->shared->reply);
}

static void read_reg(struct gdb_session *s, const char *text)
{
	uint64_t n;

	if (!gdb_hex_number(&text, &n) || n >= GDB_REGS)
		gdb_refuse(s, EINVAL);
	else
		answer_regs(s, (unsigned int)n, 1);
}

static void write_reg(struct gdb_session *s, const char *text)
{
	uint8_t value[GDB_REG_BYTES];
	uint64_t n;
	size_t bytes;

	if (!gdb_hex_number(&text, &n) || *text++ != '=' || n >= GDB_REGS) {
		gdb_refuse(s, EINVAL);
		return;
	}
	bytes = gdb_guest_reg_bytes((unsigned int)n);
	if (s->ended || strlen(text) != 2 * bytes || !gdb_hex_take(text, value, bytes) ||
	    !gdb_guest_set_reg(chosen(s), (unsigned int)n, value)) {
		gdb_refuse(s, EINVAL);
		return;
	}
	changed(s);
	gdb_answer(s, "OK");
}

static bool take_range(const char **text, uint64_t *lin, uint64_t *len)
{
	return gdb_hex_number(text, lin) && *(*text)++ == ',' && gdb_hex_number(text, len) &&
	       *len <= GDB_PACKET / 2;
}

static void read_memory(struct gdb_session *s, const char *text)
{
	uint8_t bytes[GDB_PACKET / 2];
	uint64_t lin, len;
	size_t n;

	if (!take_range(&text, &lin, &len)) {
		gdb_refuse(s, EINVAL);
		return;
	}
	n = gdb_guest_read(chosen(s), lin, bytes, (size_t)len);
	if (len && !n) {
		gdb_refuse(s, EFAULT);
		return;
	}
	*gdb_hex_put(s->shared->reply, bytes, n) = 0;
	gdb_answer(s, s->shared->reply);
}

static void write_memory(struct gdb_session *s, const char *text)
{
	uint8_t bytes[GDB_PACKET / 2];
	uint64_t lin, len;
	size_t done;

	if (!take_range(&text, &lin, &len) || *text++ != ':' || strlen(text) != 2 * len ||
	    !gdb_hex_take(text, bytes, (size_t)len) || s->ended) {
		gdb_refuse(s, EINVAL);
		return;
	}
	done = gdb_guest_write(chosen(s), lin, bytes, (size_t)len);
	if (done)
		changed(s);
	if (done == len)
		gdb_answer(s, "OK");
	else
		gdb_refuse(s, EFAULT);
}

/* H and T: a vCPU, 0 for any, -1 for all. */
static void choose(struct gdb_session *s, const char *text, bool sets)
{
	uint64_t n = 0;

	if (strncmp(text, "-1", 2) && !gdb_hex_number(&text, &n)) {
		gdb_refuse(s, EINVAL);
	} else if (n > s->vm->cpus) {
		gdb_refuse(s, ESRCH);
	} else {
		if (sets && n)
			s->shared->cpu = (unsigned int)n - 1;
		core_vcpu_load(chosen(s));
		gdb_answer(s, "OK");
	}
}

static void report_again(struct gdb_session *s)
{
	struct gdb_stop stop = s->shared->stop;

	if (stop.reason == GDB_WENT)
		stop.reason = GDB_STEPPED;
	gdb_report(s, &stop);
}

static bool simple(struct gdb_session *s, const char *packet)
{
	switch (*packet) {
	case '?':
		report_again(s);
		return true;
	case 'g':
		answer_regs(s, 0, GDB_REGS);
		return true;
	case 'p':
		read_reg(s, packet + 1);
		return true;
	case 'P':
		write_reg(s, packet + 1);
		return true;
	case 'm':
		read_memory(s, packet + 1);
		return true;
	case 'M':
		write_memory(s, packet + 1);
		return true;
	case 'H':
		choose(s, packet + (packet[1] ? 2 : 1), packet[1] == 'g' || packet[1] == 'c');
		return true;
	case 'T':
		choose(s, packet + 1, false);
		return true;
	case 'Z':
	case 'z':
		gdb_point(s, packet);
		return true;
	default:
		return false;
	}
}

bool gdb_command(struct gdb_session *s, const char *packet)
{
	bool known, runs;

	if (*packet == 'q' || *packet == 'Q')
		return gdb_query(s, packet);
	if (simple(s, packet))
		return false;
	if (*packet == 'D') {
		gdb_answer(s, "OK");
		s->shared->left = true;
		return false;
	}
	if (*packet == 'k' || !strncmp(packet, "vKill;", 6)) {
		if (*packet == 'v')
			gdb_answer(s, "OK");
		s->shared->killed = true;
		return false;
	}
	runs = gdb_command_resume(s, packet, &known);
	if (!known)
		gdb_answer(s, "");
	return runs;
}
