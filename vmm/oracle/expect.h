/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expected contents of a trace, worked out from the engine's log and the registers.
 *
 * This is the reference for the generator. It is written from the manuals' words and shares no code
 * with the library. Enables, filters and TraceStop are implemented here once more, for each trace
 * system (expect_system.h).
 */
#ifndef VMM_ORACLE_EXPECT_H
#define VMM_ORACLE_EXPECT_H

#include <stdbool.h>

#include "trace/reader.h"

enum oracle_step_kind {
	ORACLE_STEP_END = 0,   /* of the records */
	ORACLE_STEP_INSN,      /* ip */
	ORACLE_STEP_ENABLED,   /* ip: the trace begins or goes on here */
	ORACLE_STEP_DISABLED,  /* by the instruction before */
	ORACLE_STEP_ASYNC,     /* an event or VM exit at ip leads to `to` */
	ORACLE_STEP_ASYNC_OFF, /* one at ip ends the trace, or WRMSR there */
	ORACLE_STEP_STOP,      /* TraceStop */
	ORACLE_STEP_HELD,      /* one that can only be late: packets are being lost here */
	ORACLE_STEP_WRONG,     /* the records cannot be as they are, see text */
};

struct oracle_step {
	enum oracle_step_kind kind;
	size_t session; /* index into trace_reader_sessions() */
	uint64_t ip;
	uint64_t to;
	uint64_t cr3;
	bool told;	  /* INSN: the event that follows stands for it too (tells_all) */
	const char *text; /* WRONG: why */
};

struct oracle_expect_system;

struct oracle_expect {
	const struct trace_reader *reader;
	const struct oracle_expect_system *system;
	unsigned int vcpu;
	struct trace_oracle_cursor cursor;
	const struct trace_period *periods;
	size_t nperiods;
	size_t session;			  /* the one that runs, or the next */
	const struct trace_session *regs; /* NULL: no session runs */
	bool over;
	/* The decoder shows INT n, and what clears TraceEn, as instructions before their events. */
	bool tells_all;

	uint64_t cr3;	 /* of records: the id of a space, in files that have those */
	uint64_t hw_cr3; /* what the processor had in CR3 */
	const struct trace_space *spaces;
	size_t nspaces;
	bool pae;
	bool root; /* in VMX root operation, as far as records and spaces tell */
	bool context, filter, packet_en;
	bool first;   /* nothing has run in the session yet */
	bool changed; /* the session before it ended with TRACE_END_CHANGED */
	bool held;    /* HELD was told, and no STOP since */
	bool stands;  /* FilterEn was written, and is so at the first instruction */
	bool after_event, after_cr3;
	uint64_t last_ip;
	/*
	 * The instruction before changed nothing. The next one at the same CPL, with the same
	 * paging, is in the trace as it is. There must be no ranges, or it falls through and does
	 * not enter or leave one.
	 */
	bool steady, ranges, walks;
	uint8_t cpl;

	/* Told when it is known what follows it; END: nothing. */
	struct oracle_step pending;
	bool pending_soft;  /* INT n, whose EVENT may follow */
	bool pending_entry; /* VMLAUNCH or VMRESUME that entered its guest */
	struct oracle_step queue[4];
	unsigned int queued, taken;
};

/* The struct is the caller's, and can be copied to look ahead. */
void oracle_expect_init(struct oracle_expect *e, const struct trace_reader *reader,
			unsigned int vcpu);

/* The next step. After END or WRONG always that. */
void oracle_expect_next(struct oracle_expect *e, struct oracle_step *step);

/*
 * Returns true if INSN records of the same CPL and paging make a step each, whatever their IPs are,
 * and if @step and the step after it are instructions. @step is the last step that
 * oracle_expect_next() stored.
 */
static inline bool oracle_expect_is_steady(const struct oracle_expect *e,
					   const struct oracle_step *step)
{
	return e->steady && e->packet_en && !e->ranges && !e->over && e->taken == e->queued &&
	       e->pending.kind == ORACLE_STEP_INSN && step->kind == ORACLE_STEP_INSN &&
	       e->pending.session == step->session && e->pending.cr3 == step->cr3;
}

/*
 * Leave out steps after the caller has moved e->cursor over such records, at least one of them. @ip
 * has the IPs of the last two steps: @step becomes the first, and the other one is next.
 */
void oracle_expect_pass(struct oracle_expect *e, struct oracle_step *step, const uint64_t ip[2]);

#endif /* VMM_ORACLE_EXPECT_H */
