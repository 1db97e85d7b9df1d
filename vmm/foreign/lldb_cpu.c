// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the CPUs of a bundle: packets, and context switches, which are perf records. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/lldb_state.h"
#include "foreign/perf_abi.h"
#include "foreign/span.h"

#define SWITCHES_MOST (1u << 30)

/* Take a switch record: header, next or previous thread, the thread itself, the time. */
static void take_switch(struct lldb_bundle *b, uint32_t cpu, uint16_t misc, struct span *s)
{
	uint32_t other_pid = span_u32(s), other_tid = span_u32(s);
	uint32_t pid = span_u32(s), tid = span_u32(s);
	uint64_t time = span_u64(s);
	bool out = misc & MISC_SWITCH_OUT;
	struct foreign_event *e;

	if (s->bad)
		return;
	e = lldb_event(b, FOREIGN_RUN, out ? other_pid : pid, out ? other_tid : tid);
	if (!e)
		return;
	e->time = time;
	e->cpu = cpu;
}

static void read_switches(struct lldb_bundle *b, const char *path, uint32_t cpu)
{
	struct trace_source *source = lldb_source(b, path);
	uint8_t *bytes;
	struct span s;

	if (!source || !source->size)
		return;
	bytes = source->size <= SWITCHES_MOST ? malloc((size_t)source->size) : NULL;
	if (!bytes || trace_source_read(source, 0, bytes, (size_t)source->size)) {
		lldb_fail(b, -ENOMEM, NULL);
		free(bytes);
		return;
	}
	s = (struct span){bytes, (size_t)source->size, false};
	while (s.left >= 8 && !b->j.bad) {
		uint32_t type = span_u32(&s);
		uint16_t misc, size;
		struct span body;

		span_copy(&s, &misc, sizeof(misc));
		span_copy(&s, &size, sizeof(size));
		body = (struct span){s.at, size < 8 ? 0 : size - 8u, false};
		if (size < 8 || !span_bytes(&s, body.left)) {
			b->t->report.bad_records++;
			break;
		}
		if (type == REC_SWITCH_CPU_WIDE)
			take_switch(b, cpu, misc, &body);
	}
	free(bytes);
}

void lldb_cpu(struct lldb_bundle *b, uint32_t none)
{
	char key[LLDB_KEY], trace[PATH_MAX] = "", switches[PATH_MAX] = "";
	uint32_t id = none;

	json_open(&b->j, '{');
	while (json_more(&b->j, '}') && json_key(&b->j, key, sizeof(key))) {
		if (!strcmp(key, "id"))
			id = (uint32_t)json_number(&b->j);
		else if (!strcmp(key, "iptTrace"))
			lldb_path(b, trace, sizeof(trace));
		else if (!strcmp(key, "contextSwitchTrace"))
			lldb_path(b, switches, sizeof(switches));
		else
			json_skip(&b->j);
	}
	if (b->j.bad || id == none)
		return;
	b->t->timed = true;
	if (*trace)
		lldb_stream(b, trace, id, 0);
	if (*switches && !b->j.bad)
		read_switches(b, switches, id);
}
