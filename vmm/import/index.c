// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the sessions, streams and address spaces in oracle logs. */
#include "import/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

#define FIRST_SLOTS 256u

/* Marks trace in guest-physical memory (oracle_log.h). */
#define GUEST_PHYSICAL (1ull << 63)

/* The first id. No machine has memory at this address, and no CR3 has it. */
#define FIRST_ID 0x000f000000000000ull

static struct trace_space key_of(const struct import_log_record *r)
{
	bool guest = r->flags & VPT_LOG_NON_ROOT;
	uint64_t low = r->flags & VPT_LOG_PAE ? 0x1f : 0xfff;

	return (struct trace_space){
		.cr3 = r->cr3 & 0x000fffffffffffffull & ~low,
		/* A host's address spaces do not depend on the current VMCS. */
		.vmcs = guest ? r->vmcs : TRACE_SPACE_ANY_VMCS,
		.flags = guest ? TRACE_SPACE_NON_ROOT : 0,
		.vm = TRACE_SPACE_NO_VM,
	};
}

static bool same_space(const struct trace_space *a, const struct trace_space *b)
{
	return a->cr3 == b->cr3 && a->vmcs == b->vmcs && a->flags == b->flags;
}

static size_t *slot(const struct import_index *x, const struct trace_space *key)
{
	uint64_t hash = (key->cr3 ^ key->vmcs << 7 ^ key->flags) * 0x9e3779b97f4a7c15ull;
	size_t i = (size_t)(hash >> 32) & (x->nslots - 1);

	while (x->slots[i] && !same_space(&x->spaces.at[x->slots[i] - 1], key))
		i = (i + 1) & (x->nslots - 1);
	return &x->slots[i];
}

static bool grow(struct import_index *x)
{
	size_t i, n = x->nslots ? 2 * x->nslots : FIRST_SLOTS;
	size_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	free(x->slots);
	x->slots = slots;
	x->nslots = n;
	for (i = 0; i < x->spaces.n; i++)
		*slot(x, &x->spaces.at[i]) = i + 1;
	return true;
}

struct trace_space *import_index_space(struct import_index *x, const struct import_log_record *r)
{
	struct trace_space key = key_of(r);
	size_t *at;

	if (x->spaces.n * 2 >= x->nslots && !grow(x))
		return NULL;
	at = slot(x, &key);
	if (!*at) {
		if (!trace_vec_room(&x->spaces))
			return NULL;
		x->spaces.at[x->spaces.n++] = key;
		*at = x->spaces.n;
	}
	return &x->spaces.at[*at - 1];
}

struct import_vmcs *import_index_vmcs(struct import_index *x, const struct import_log_record *r)
{
	struct import_vmcs *v;
	size_t i;

	for (i = 0; i < x->vmcs.n && x->vmcs.at[i].vmcs.vmcs != r->vmcs; i++)
		;
	if (i == x->vmcs.n) {
		if (!trace_vec_room(&x->vmcs))
			return NULL;
		x->vmcs.n++;
		x->vmcs.at[i] = (struct import_vmcs){
			.vmcs = {.vmcs = r->vmcs, .vm = (uint32_t)i},
		};
	}
	v = &x->vmcs.at[i];
	if (!v->generation || v->vmcs.tsc_offset != r->tsc_offset ||
	    v->vmcs.tsc_multiplier != r->tsc_multiplier)
		v->generation++;
	v->vmcs.tsc_offset = r->tsc_offset;
	v->vmcs.tsc_multiplier = r->tsc_multiplier;
	return v;
}

static int rise(struct import_index *x, const struct import_log_record *r, size_t log, uint64_t at,
		const struct import_log_record *context)
{
	struct import_session *s;

	if (!trace_vec_room(&x->sessions))
		return -ENOMEM;
	s = &x->sessions.at[x->sessions.n++];
	*s = (struct import_session){
		.log = log,
		.at = at,
		/* This is valid until the first bytes show the side. */
		.side = context->flags & VPT_LOG_NON_ROOT ? IMPORT_GUEST : IMPORT_HOST,
		.vmcs = context->vmcs,
		.ip = r->ip,
		.stream = IMPORT_NO_STREAM,
	};
	memcpy(&s->ctl, r->data, sizeof(s->ctl));
	memcpy(&s->output_base, r->data + 2 * 8, sizeof(s->output_base));
	return 0;
}

static struct import_session *open_session(struct import_index *x, size_t log)
{
	struct import_session *s = x->sessions.n ? &x->sessions.at[x->sessions.n - 1] : NULL;

	return s && s->log == log && !s->ended ? s : NULL;
}

/*
 * Handle a TRIGGER record. A log that was off for a while repeats that TriggerEn is set when it
 * resumes. The session before has then lost its end.
 */
static int trigger(struct import_index *x, struct import_log *log,
		   const struct import_log_record *r, size_t number, uint64_t at,
		   const struct import_log_record *context)
{
	struct import_session *s = open_session(x, number);

	if (r->flags)
		return rise(x, r, number, at, context);
	if (!s) {
		log->why = "TriggerEn falls twice";
		return 0;
	}
	s->ended = true;
	s->end = r->end;
	return 0;
}

static void trace(struct import_index *x, const struct import_log_record *r, size_t number)
{
	struct import_session *s = open_session(x, number);

	if (!s) {
		x->stray += r->bytes;
		return;
	}
	if (r->bytes)
		s->side = r->address & GUEST_PHYSICAL ? IMPORT_GUEST : IMPORT_HOST;
	s->trace += r->bytes;
}

/*
 * If a VM entry loads TraceEn, the context follows the edge. It may also follow the instruction's
 * record and the first packets.
 */
static void context_came(struct import_index *x, const struct import_log_record *r, size_t number)
{
	struct import_session *s = open_session(x, number);

	if (!s || s->insns > 1)
		return;
	s->vmcs = r->vmcs;
	if (!s->trace)
		s->side = r->flags & VPT_LOG_NON_ROOT ? IMPORT_GUEST : IMPORT_HOST;
}

int import_index_log(struct import_index *x, struct import_log *log, size_t number)
{
	struct import_log_record r, context = {.vmcs = TRACE_SPACE_ANY_VMCS};
	uint64_t at = log->at;
	struct import_session *s;
	int err = 0;

	for (; !err && import_log_next(log, &r); at = log->at) {
		switch (r.kind) {
		case VPT_LOG_INSN_MAX:
		case VPT_LOG_INSN_AT:
			s = open_session(x, number);
			if (s)
				s->insns++;
			break;
		case VPT_LOG_CONTEXT:
			context = r;
			context_came(x, &r, number);
			if (!import_index_space(x, &r))
				err = -ENOMEM;
			break;
		case VPT_LOG_TRIGGER:
			err = trigger(x, log, &r, number, at, &context);
			break;
		case VPT_LOG_TRACE:
			trace(x, &r, number);
			break;
		case VPT_LOG_VMX:
			if (!import_index_vmcs(x, &r))
				err = -ENOMEM;
			break;
		default:
			break;
		}
	}
	return err;
}

static bool wanted(const struct import_config *c, const struct import_session *s, size_t number)
{
	if (number < c->first || number > c->last || (c->one_vmcs && c->vmcs != s->vmcs))
		return false;
	return s->side == IMPORT_HOST ? c->host : c->guest;
}

/* Assign sessions without a byte to the stream of others with the same output base. */
static int resolve_sides(struct import_index *x)
{
	struct {
		const struct import_session **at;
		size_t n, room;
	} known = {0};
	size_t i, k;

	for (i = 0; i < x->sessions.n; i++) {
		struct import_session *s = &x->sessions.at[i];

		for (k = 0; k < known.n && known.at[k]->output_base != s->output_base; k++)
			;
		if (k < known.n && !s->trace) {
			s->side = known.at[k]->side;
			continue;
		}
		if (k < known.n || !s->trace)
			continue;
		if (!trace_vec_room(&known)) {
			free(known.at);
			return -ENOMEM;
		}
		known.at[known.n++] = s;
	}
	free(known.at);
	return 0;
}

static int join_stream(struct import_index *x, struct import_session *s)
{
	uint64_t vmcs = s->side == IMPORT_GUEST ? s->vmcs : TRACE_SPACE_ANY_VMCS;
	struct import_stream *stream;
	size_t i;

	for (i = 0; i < x->streams.n; i++) {
		stream = &x->streams.at[i];
		if (stream->log == s->log && stream->side == s->side && stream->vmcs == vmcs)
			break;
	}
	if (i == x->streams.n) {
		if (!trace_vec_room(&x->streams))
			return -ENOMEM;
		x->streams.n++;
		x->streams.at[i] =
			(struct import_stream){.log = s->log, .side = s->side, .vmcs = vmcs};
	}
	x->streams.at[i].trace += s->trace;
	s->stream = i;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Choose ids that are no CR3 in the logs. */
static int number_spaces(struct import_index *x)
{
	uint64_t *cr3s = calloc(x->spaces.n + 1, sizeof(*cr3s));
	uint64_t id = FIRST_ID;
	size_t i, k;

	if (!cr3s)
		return -ENOMEM;
	for (i = 0; i < x->spaces.n; i++)
		cr3s[i] = x->spaces.at[i].cr3 & TRACE_SPACE_ID_MASK;
	qsort(cr3s, x->spaces.n, sizeof(*cr3s), by_value);
	for (i = 0; i < x->spaces.n; i++, id += 4096) {
		struct trace_space *s = &x->spaces.at[i];

		while (bsearch(&id, cr3s, x->spaces.n, sizeof(*cr3s), by_value))
			id += 4096;
		s->id = id & TRACE_SPACE_ID_MASK;
		for (k = 0; k < x->vmcs.n && s->flags; k++) {
			if (x->vmcs.at[k].vmcs.vmcs == s->vmcs)
				s->vm = x->vmcs.at[k].vmcs.vm;
		}
	}
	free(cr3s);
	return 0;
}

int import_index_finish(struct import_index *x, const struct import_config *config)
{
	int err = resolve_sides(x);
	size_t i;

	for (i = 0; i < x->sessions.n && !err; i++) {
		if (wanted(config, &x->sessions.at[i], i))
			err = join_stream(x, &x->sessions.at[i]);
	}
	for (i = 0; i < x->vmcs.n && !err; i++) {
		x->vmcs.at[i].generation = 0;
		x->vmcs.at[i].written = calloc(x->streams.n + 1, sizeof(uint64_t));
		err = x->vmcs.at[i].written ? 0 : -ENOMEM;
	}
	return err ? err : number_spaces(x);
}

void import_index_free(struct import_index *x)
{
	size_t i;

	for (i = 0; i < x->vmcs.n; i++)
		free(x->vmcs.at[i].written);
	free(x->sessions.at);
	free(x->streams.at);
	free(x->spaces.at);
	free(x->slots);
	free(x->vmcs.at);
	memset(x, 0, sizeof(*x));
}
