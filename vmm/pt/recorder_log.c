// SPDX-License-Identifier: GPL-2.0-or-later
/* The oracle of an engine that runs code in blocks: its words become RUN and STRETCH blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pt/recorder.h"

#define WORDS 1024u

_Static_assert(ENGINE_LOG_CUT == TRACE_RUN_CUT, "words of the log are words of the file");

int tracer_recorder_log_init(struct tracer_recorder *rec)
{
	struct engine_log *log = &rec->log;

	log->first = malloc(WORDS * sizeof(*log->first));
	if (!log->first)
		return -ENOMEM;
	log->at = log->first;
	log->end = log->first + WORDS;
	return 0;
}

void tracer_recorder_log_free(struct tracer_recorder *rec)
{
	free(rec->log.first);
	rec->log = (struct engine_log){0};
}

static void put(struct tracer_recorder *rec, const uint32_t *words, size_t count)
{
	if (count && !(rec->state & TRACER_RECORDER_LOST))
		tracer_recorder_note(rec, trace_writer_run(rec->writer, rec->vcpu, words, count));
}

void tracer_recorder_log_flush(struct tracer_recorder *rec)
{
	struct engine_log *log = &rec->log;

	put(rec, log->first, (size_t)(log->at - log->first));
	log->at = log->first;
}

void tracer_recorder_log_record(struct tracer_recorder *rec,
				const struct trace_oracle_record *record)
{
	uint32_t words[1 + TRACE_RECORD_WORDS] = {TRACE_RUN_RECORD};
	struct trace_oracle_record copy = *record;

	/* The caller has not seen the instructions before the event. The reader has. */
	if (record->kind != TRACE_ORACLE_INSN)
		copy.aux &= (uint16_t)~TRACE_ORACLE_AUX(0, TRACE_ORACLE_ARRIVED);
	memcpy(words + 1, &copy, sizeof(copy));
	tracer_recorder_log_flush(rec);
	put(rec, words, 1 + TRACE_RECORD_WORDS);
}

uint32_t tracer_recorder_log_stretch(struct tracer_recorder *rec, const struct engine_stretch *s,
				     uint64_t base)
{
	struct trace_stretch_insn insns[ENGINE_STRETCH_INSNS];
	const struct trace_stretch head = {
		.id = trace_writer_stretches(rec->writer),
		.ip = base ? (uint32_t)(s->ip + base) : s->ip,
		.cpl = s->cpl,
		.flags = s->jump ? TRACE_STRETCH_JUMP : 0,
		.insns = s->insns,
	};
	unsigned int i;

	for (i = 0; i < s->insns; i++)
		insns[i] = (struct trace_stretch_insn){
			.len = s->insn[i].len,
			.flags = s->insn[i].cond ? TRACE_ORACLE_COND : 0,
		};
	tracer_recorder_note(rec, trace_writer_stretch(rec->writer, &head, insns));
	return head.id;
}
