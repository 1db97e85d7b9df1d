// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads BPF programs. Feature 25 of perf.data has the kernel's description of each loaded program,
 * with its machine code. BPF_EVENT records have the time of the load. A program becomes a change of
 * the kernel's code for each of its functions.
 */
#include <errno.h>

#include "foreign/perf_file.h"
#include "trace/vec.h"

/* Offsets of used fields in struct bpf_prog_info, which only grows. */
enum info_field {
	INFO_ID = 4,
	INFO_CODE_LEN = 16,
	INFO_CODE = 24,
	INFO_ADDRESSES_N = 104,
	INFO_LENGTHS_N = 108,
	INFO_ADDRESSES = 112,
	INFO_LENGTHS = 120,
	INFO_MIN = 128,
};

/* Meaning of the second number of a pair in f->programs. */
enum { FUNCTION, FIRST_EVENT, EVENTS };

struct program {
	const uint8_t *info, *data;
	uint32_t data_len;
};

static uint32_t info_u32(const struct program *p, enum info_field at)
{
	uint32_t value;

	memcpy(&value, p->info + at, sizeof(value));
	return value;
}

/* Return bytes of the data, at an offset from a field of the description. */
static struct span part(const struct program *p, enum info_field at, uint64_t len)
{
	struct span s = {.bad = true};
	uint64_t offset;

	memcpy(&offset, p->info + at, sizeof(offset));
	if (offset <= p->data_len && len <= p->data_len - offset)
		s = (struct span){p->data + offset, (size_t)len, false};
	return s;
}

static int note(struct perf_file *f, uint64_t a, uint64_t b, uint64_t value)
{
	struct trace_pair *entry = trace_pairs_add(&f->programs, a, b);

	if (!entry)
		return -ENOMEM;
	entry->value = value;
	return 0;
}

static int add_function(struct perf_file *f, uint64_t addr, const uint8_t *bytes, uint32_t len)
{
	struct foreign_trace *t = f->trace;
	struct foreign_event *e;
	uint32_t i;
	int err = foreign_event(t, &e);

	if (err)
		return err;
	e->kind = FOREIGN_POKE;
	e->poke.addr = addr;
	e->poke.len = len;
	e->poke.bytes = t->pokes.n;
	e->poke.alone = true;
	for (i = 0; i < len; i++) {
		if (!trace_vec_room(&t->pokes))
			return -ENOMEM;
		t->pokes.at[t->pokes.n++] = bytes[i];
	}
	return note(f, addr, FUNCTION, 1);
}

static int add_program(struct perf_file *f, const struct program *p)
{
	uint64_t first = f->trace->events.n, id = info_u32(p, INFO_ID);
	uint32_t n = info_u32(p, INFO_ADDRESSES_N), i;
	struct span addresses = part(p, INFO_ADDRESSES, 8 * (uint64_t)n);
	struct span lengths = part(p, INFO_LENGTHS, 4 * (uint64_t)n);
	struct span code = part(p, INFO_CODE, info_u32(p, INFO_CODE_LEN));
	int err = 0;

	/* A user without permission to read the addresses gets zeros. */
	if (n != info_u32(p, INFO_LENGTHS_N) || addresses.bad || lengths.bad || code.bad)
		n = 0;
	for (i = 0; i < n && !err; i++) {
		uint64_t addr = span_u64(&addresses);
		uint32_t len = span_u32(&lengths);
		const uint8_t *bytes = span_bytes(&code, len);

		if (bytes && addr && addr + len > addr)
			err = add_function(f, addr, bytes, len);
	}
	if (!err)
		err = note(f, id, FIRST_EVENT, first);
	return err ? err : note(f, id, EVENTS, f->trace->events.n - first);
}

int perf_bpf_programs(struct perf_file *f, struct span body)
{
	uint32_t count = span_u32(&body), i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		uint32_t info_len = span_u32(&body);
		struct program p = {.data_len = span_u32(&body)};

		(void)span_u64(&body); /* bit mask of the arrays that are present */
		p.info = span_bytes(&body, info_len);
		p.data = span_bytes(&body, p.data_len);
		if (body.bad || info_len < INFO_MIN)
			return 0;
		err = add_program(f, &p);
	}
	return err;
}

void perf_bpf_loaded(struct perf_file *f, uint32_t id, uint64_t time)
{
	const struct trace_pair *first = trace_pairs_find(&f->programs, id, FIRST_EVENT);
	struct trace_pair *n = trace_pairs_find(&f->programs, id, EVENTS);

	if (!first || !n)
		return;
	/* Each program is loaded once. */
	while (n->value)
		f->trace->events.at[first->value + --n->value].time = time;
}

bool perf_bpf_has(const struct perf_file *f, uint64_t addr)
{
	return trace_pairs_find(&f->programs, addr, FUNCTION);
}
