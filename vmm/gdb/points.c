// SPDX-License-Identifier: GPL-2.0-or-later
/* Breakpoints and watchpoints. Guest memory stays as it is: the engine stops before and after. */
#include <errno.h>
#include <string.h>

#include "gdb/hex.h"
#include "gdb/state.h"

/* The longest watchpoint. */
#define LENGTH_MAX 4096u

static int put_code(struct gdb_shared *h, uint64_t ip, uint32_t kind, bool set)
{
	unsigned int i;

	for (i = 0; i < h->codes && h->code[i].ip != ip; i++)
		;
	if (set && i == CORE_MAX_WATCHES)
		return -ENOSPC;
	if (set && i == h->codes)
		h->code[h->codes++] = (struct gdb_break){.ip = ip};
	if (set)
		h->code[i].kinds |= kind;
	else if (i < h->codes)
		h->code[i].kinds &= ~kind;
	if (i < h->codes && !h->code[i].kinds)
		h->code[i] = h->code[--h->codes];
	return 0;
}

static int put_data(struct gdb_shared *h, const struct engine_data_watch *w, bool set)
{
	unsigned int i;

	for (i = 0; i < h->datas && memcmp(&h->data[i], w, sizeof(*w)); i++)
		;
	if (set && i == ENGINE_DATA_WATCHES)
		return -ENOSPC;
	if (set && i == h->datas)
		h->data[h->datas++] = *w;
	if (!set && i < h->datas)
		h->data[i] = h->data[--h->datas];
	return 0;
}

/* The packet is Z or z, the type, the address and the length. */
void gdb_point(struct gdb_session *s, const char *packet)
{
	static const uint32_t accesses[] = {ENGINE_DATA_WRITE, ENGINE_DATA_READ,
					    ENGINE_DATA_READ | ENGINE_DATA_WRITE};
	const bool set = *packet++ == 'Z';
	const unsigned int type = gdb_hex_digit(*packet++);
	struct engine_data_watch w = {0};
	uint64_t len;
	int error;

	if (type > 4) {
		gdb_answer(s, "");
		return;
	}
	if (*packet++ != ',' || !gdb_hex_number(&packet, &w.lin) || *packet++ != ',' ||
	    !gdb_hex_number(&packet, &len)) {
		gdb_refuse(s, EINVAL);
		return;
	}
	if (type < 2) {
		error = put_code(s->shared, w.lin, type ? GDB_HARD : GDB_SOFT, set);
	} else if (!s->vm->engine->watch_data || !len || len > LENGTH_MAX || w.lin + len < w.lin) {
		error = -EINVAL;
	} else {
		w.len = (uint32_t)len;
		w.access = accesses[type - 2];
		error = put_data(s->shared, &w, set);
	}
	if (error)
		gdb_refuse(s, error);
	else
		gdb_answer(s, "OK");
}

/* Copy the breakpoints that the plan needs. The guest stops at each of them, however short the stop is. */
static unsigned int needed_code(const struct gdb_shared *h, uint64_t code[CORE_MAX_WATCHES])
{
	const struct gdb_plan *p = &h->plan;
	unsigned int i, n = 0;

	for (i = 0; i < h->codes; i++)
		if (p->goal == GDB_FORWARD || p->goal == GDB_SCAN ||
		    (p->goal == GDB_ARRIVE && p->to.at_breakpoint && p->to.ip == h->code[i].ip))
			code[n++] = h->code[i].ip;
	return n;
}

/* A watchpoint makes each access to its page slow. */
static unsigned int needed_data(const struct gdb_shared *h)
{
	return h->plan.goal == GDB_FORWARD || h->plan.goal == GDB_SCAN ? h->datas : 0;
}

/* The engine drops translated code for new breakpoints, so they are set only if they differ. */
void gdb_points_apply(struct gdb_session *s)
{
	const struct gdb_shared *h = s->shared;
	const unsigned int datas = needed_data(h);
	uint64_t code[CORE_MAX_WATCHES];
	const unsigned int codes = needed_code(h, code);
	unsigned int i;

	if (s->codes != codes || memcmp(s->code, code, codes * sizeof(code[0]))) {
		s->codes = codes;
		memcpy(s->code, code, codes * sizeof(code[0]));
		for (i = 0; i < s->vm->cpus; i++)
			(void)core_vcpu_watch(s->vm->cpu[i], s->code, s->codes);
	}
	if (s->datas != datas || memcmp(s->data, h->data, datas * sizeof(s->data[0]))) {
		s->datas = datas;
		memcpy(s->data, h->data, datas * sizeof(s->data[0]));
		for (i = 0; i < s->vm->cpus; i++)
			(void)core_vcpu_watch_data(s->vm->cpu[i], s->data, s->datas);
	}
}
