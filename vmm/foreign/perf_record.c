// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes one record of perf.data, for each type that describes the trace. */
#include <errno.h>
#include <stdio.h>

#include "foreign/perf_file.h"
#include "trace/vec.h"

enum { MISC_CPUMODE = 7, MODE_KERNEL = 1, MODE_USER = 2 };
enum { KSYMBOL_UNREGISTER = 1 };
enum { BPF_LOADED = 1 };

/* Count a damaged record, and skip it. */
static int bad(struct perf_file *f)
{
	f->trace->report.bad_records++;
	return 0;
}

static int new_event(struct perf_file *f, enum foreign_kind kind, const struct perf_sample_id *id,
		     struct foreign_event **e)
{
	int err = foreign_event(f->trace, e);

	if (err)
		return err;
	(*e)->kind = kind;
	(*e)->time = id->time;
	(*e)->cpu = id->cpu;
	(*e)->pid = id->pid;
	(*e)->tid = id->tid;
	return 0;
}

static int take_map(struct perf_file *f, struct perf_record *r)
{
	struct span *s = &r->body;
	unsigned int mode = r->misc & MISC_CPUMODE;
	uint32_t prot = PROT_EXECUTE;
	struct perf_sample_id id;
	struct foreign_event *e;
	uint8_t inode[24];
	uint64_t place[3];
	const char *name;
	uint32_t pid;
	size_t file;
	int err;

	perf_sample_id(f, s, &id);
	pid = span_u32(s);
	id.tid = span_u32(s);
	span_copy(s, place, sizeof(place));
	if (r->type == REC_MMAP2) {
		span_copy(s, inode, sizeof(inode));
		prot = span_u32(s);
		(void)span_u32(s);
	}
	name = span_text(s);
	if (!name || s->bad || place[0] + place[1] < place[0])
		return bad(f);
	if (r->misc & MISC_MMAP_DATA || !(prot & PROT_EXECUTE) ||
	    (mode != MODE_KERNEL && mode != MODE_USER))
		return 0;
	err = foreign_names_add(&f->trace->files, name, &file);
	if (!err && r->type == REC_MMAP2 && r->misc & MISC_BUILD_ID)
		err = foreign_build_id(f->trace, file, inode + 4, inode[0]);
	if (!err)
		err = new_event(f, FOREIGN_MAP, &id, &e);
	if (err)
		return err;
	e->pid = mode == MODE_KERNEL ? FOREIGN_KERNEL : pid;
	e->map.addr = place[0];
	e->map.len = place[1];
	e->map.offset = place[2];
	e->map.file = (uint32_t)file;
	return 0;
}

static int take_comm(struct perf_file *f, struct perf_record *r)
{
	struct perf_sample_id id;
	struct foreign_event *e;
	const char *comm;
	int err;

	perf_sample_id(f, &r->body, &id);
	id.pid = span_u32(&r->body);
	id.tid = span_u32(&r->body);
	comm = span_text(&r->body);
	if (!comm)
		return bad(f);
	err = new_event(f, r->misc & MISC_COMM_EXEC && id.time ? FOREIGN_EXEC : FOREIGN_COMM_SET,
			&id, &e);
	if (!err)
		snprintf(e->comm, sizeof(e->comm), "%s", comm);
	return err;
}

static int take_fork(struct perf_file *f, struct perf_record *r)
{
	struct perf_sample_id id;
	struct foreign_event *e;
	uint32_t parent;
	int err;

	perf_sample_id(f, &r->body, &id);
	id.pid = span_u32(&r->body);
	parent = span_u32(&r->body);
	id.tid = span_u32(&r->body);
	if (r->body.bad)
		return bad(f);
	err = new_event(f, FOREIGN_FORK, &id, &e);
	if (!err)
		e->parent = parent;
	return err;
}

/*
 * Note the thread that runs from here on: the record's thread, or the next thread for a switch out.
 */
static int take_switch(struct perf_file *f, struct perf_record *r)
{
	bool out = r->misc & MISC_SWITCH_OUT;
	struct perf_sample_id id;
	struct foreign_event *e;

	perf_sample_id(f, &r->body, &id);
	if (out && r->type == REC_SWITCH)
		return 0;
	if (out) {
		id.pid = span_u32(&r->body);
		id.tid = span_u32(&r->body);
	}
	return r->body.bad ? bad(f) : new_event(f, FOREIGN_RUN, &id, &e);
}

static int take_start(struct perf_file *f, struct perf_record *r)
{
	struct perf_sample_id id;
	struct foreign_event *e;

	perf_sample_id(f, &r->body, &id);
	id.pid = span_u32(&r->body);
	id.tid = span_u32(&r->body);
	return r->body.bad ? bad(f) : new_event(f, FOREIGN_RUN, &id, &e);
}

static int take_aux(struct perf_file *f, struct perf_record *r)
{
	struct perf_sample_id id;
	uint64_t offset, size, flags;

	perf_sample_id(f, &r->body, &id);
	offset = span_u64(&r->body);
	size = span_u64(&r->body);
	flags = span_u64(&r->body);
	if (r->body.bad)
		return bad(f);
	if (!(flags & AUX_TRUNCATED) || flags & AUX_OVERWRITE)
		return 0;
	if (!trace_vec_room(&f->trace->losses))
		return -ENOMEM;
	f->trace->losses.at[f->trace->losses.n++] =
		(struct foreign_loss){offset + size, id.cpu, id.tid};
	return 0;
}

static int take_trace(struct perf_file *f, struct perf_record *r)
{
	struct foreign_piece piece = {.source = r->source, .at = r->behind};
	struct foreign_stream key = {0};
	int err;

	piece.len = span_u64(&r->body);
	piece.offset = span_u64(&r->body);
	(void)span_u64(&r->body); /* a reference that perf uses itself */
	key.idx = span_u32(&r->body);
	key.tid = span_u32(&r->body);
	key.cpu = span_u32(&r->body);
	piece.order = r->behind;
	if (r->body.bad || r->packed)
		return bad(f);
	if (!piece.len)
		return 0;
	err = foreign_piece(f->trace, &key, &piece);
	if (err == -E2BIG)
		snprintf(f->why, f->size, "it has more streams than a .vpt file can have");
	return err;
}

static int take_poke(struct perf_file *f, struct perf_record *r)
{
	struct perf_sample_id id;
	struct foreign_event *e;
	uint16_t old_len, new_len, i;
	const uint8_t *bytes;
	uint64_t addr;
	int err;

	perf_sample_id(f, &r->body, &id);
	addr = span_u64(&r->body);
	span_copy(&r->body, &old_len, sizeof(old_len));
	span_copy(&r->body, &new_len, sizeof(new_len));
	(void)span_bytes(&r->body, old_len);
	bytes = span_bytes(&r->body, new_len);
	if (!bytes)
		return bad(f);
	err = new_event(f, FOREIGN_POKE, &id, &e);
	if (err)
		return err;
	e->poke.addr = addr;
	e->poke.len = new_len;
	e->poke.bytes = f->trace->pokes.n;
	for (i = 0; i < new_len; i++) {
		if (!trace_vec_room(&f->trace->pokes))
			return -ENOMEM;
		f->trace->pokes.at[f->trace->pokes.n++] = bytes[i];
	}
	return 0;
}

static int take_ksymbol(struct perf_file *f, struct perf_record *r)
{
	uint16_t type, flags;
	uint64_t addr = span_u64(&r->body);

	(void)span_u32(&r->body);
	span_copy(&r->body, &type, sizeof(type));
	span_copy(&r->body, &flags, sizeof(flags));
	f->trace->report.generated +=
		!r->body.bad && !(flags & KSYMBOL_UNREGISTER) && !perf_bpf_has(f, addr);
	return 0;
}

static int take_bpf(struct perf_file *f, struct perf_record *r)
{
	struct perf_sample_id id;
	uint16_t type, flags;
	uint32_t program;

	perf_sample_id(f, &r->body, &id);
	span_copy(&r->body, &type, sizeof(type));
	span_copy(&r->body, &flags, sizeof(flags));
	program = span_u32(&r->body);
	if (!r->body.bad && type == BPF_LOADED)
		perf_bpf_loaded(f, program, id.time);
	return 0;
}

static int take_lost(struct perf_file *f, struct perf_record *r)
{
	uint64_t lost;

	if (r->type == REC_LOST)
		(void)span_u64(&r->body);
	lost = span_u64(&r->body);
	f->trace->report.lost_records += lost ? lost : 1;
	return 0;
}

/* Process HEADER_ATTR of a pipe: an event, then its ids. */
static int take_attr(struct perf_file *f, struct perf_record *r)
{
	struct span head = r->body, attr = r->body;
	uint32_t size;
	int err;

	(void)span_u32(&head);
	size = span_u32(&head);
	if (!span_bytes(&r->body, size))
		return bad(f);
	attr.left = size;
	err = perf_attr_add(f, attr, r->body);
	return err == -EINVAL ? bad(f) : err;
}

static int take_feature(struct perf_file *f, struct perf_record *r)
{
	uint64_t number = span_u64(&r->body);

	return r->body.bad || number > FEAT_BITS ? bad(f)
						 : perf_feature(f, (unsigned int)number, r->body);
}

int perf_record_take(struct perf_file *f, struct perf_record *r)
{
	switch (r->type) {
	case REC_MMAP:
	case REC_MMAP2:
		return take_map(f, r);
	case REC_COMM:
		return take_comm(f, r);
	case REC_FORK:
		return take_fork(f, r);
	case REC_SWITCH:
	case REC_SWITCH_CPU_WIDE:
		return take_switch(f, r);
	case REC_ITRACE_START:
		return take_start(f, r);
	case REC_AUX:
		return take_aux(f, r);
	case REC_AUXTRACE:
		return take_trace(f, r);
	case REC_AUXTRACE_INFO:
		return perf_info(f, r->body);
	case REC_TEXT_POKE:
		return take_poke(f, r);
	case REC_KSYMBOL:
		return take_ksymbol(f, r);
	case REC_LOST:
	case REC_LOST_SAMPLES:
		return take_lost(f, r);
	case REC_COMPRESSED:
	case REC_COMPRESSED2:
		return perf_packed(f, r);
	case REC_SAMPLE:
		return perf_sample(f, r);
	case REC_HEADER_ATTR:
		return f->pipe ? take_attr(f, r) : 0;
	case REC_BUILD_ID:
		return perf_build_id(f, r->misc, r->body);
	case REC_FEATURE:
		return take_feature(f, r);
	case REC_BPF_EVENT:
		return take_bpf(f, r);
	/* The other types are not needed, or other records have the same facts. */
	case REC_EXIT:
	case REC_EVENT_TYPE:
	case REC_TRACING_DATA:
	case REC_FINISHED_ROUND:
	case REC_ID_INDEX:
	case REC_AUXTRACE_ERROR:
	case REC_THREAD_MAP:
	case REC_CPU_MAP:
	case REC_TIME_CONV:
	case REC_FINISHED_INIT:
		return 0;
	default:
		f->trace->report.unknown_records++;
		return 0;
	}
}
