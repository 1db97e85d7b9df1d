/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expected contents of a trace, computed from the engine's log and the registers.
 *
 * This is the reference for the generator. It is written from the manuals and shares no code with
 * the library. It has a second implementation of enables, filters and TraceStop for each trace
 * system (expect_system.h).
 */
#ifndef VMM_ORACLE_EXPECT_H
#define VMM_ORACLE_EXPECT_H

#include <stdbool.h>

#include "trace/reader.h"

enum oracle_step_kind {
	ORACLE_STEP_END = 0,   /* end of the records */
	ORACLE_STEP_INSN,      /* ip */
	ORACLE_STEP_ENABLED,   /* ip: the trace begins or resumes here */
	ORACLE_STEP_DISABLED,  /* caused by the previous instruction */
	ORACLE_STEP_ASYNC,     /* an event or VM exit at ip leads to `to` */
	ORACLE_STEP_ASYNC_OFF, /* an event at ip ends the trace, or a WRMSR at ip does */
	ORACLE_STEP_STOP,      /* TraceStop */
	ORACLE_STEP_HELD,      /* an event that can only be late, because packets are being lost */
	ORACLE_STEP_WRONG,     /* the records contradict each other, see text */
};

struct oracle_step {
	enum oracle_step_kind kind;
	size_t session; /* index into trace_reader_sessions() */
	uint64_t ip;
	uint64_t to;
	uint64_t cr3;
	bool told;	  /* INSN: the following event implies it too (tells_all) */
	const char *text; /* WRONG: the reason */
};

struct oracle_expect_system;

struct oracle_expect {
	const struct trace_reader *reader;
	const struct oracle_expect_system *system;
	unsigned int vcpu;
	struct trace_oracle_cursor cursor;
	const struct trace_period *periods;
	size_t nperiods;
	size_t session;			  /* the current session, or the next one */
	const struct trace_session *regs; /* NULL if there is no current session */
	bool over;
	/*
	 * The decoder shows INT n, and instructions that clear TraceEn, as instructions before
	 * their events.
	 */
	bool tells_all;

	uint64_t cr3;	 /* CR3 in records: the id of a space, in files that have spaces */
	uint64_t hw_cr3; /* the processor's CR3 */
	const struct trace_space *spaces;
	size_t nspaces;
	bool pae;
	bool root; /* in VMX root operation, as far as records and spaces show */
	bool context, filter, packet_en;
	bool first;   /* no instruction has run in the session yet */
	bool changed; /* the session before ended with TRACE_END_CHANGED */
	bool held;    /* HELD was reported, and no STOP since */
	bool stands;  /* the written FilterEn holds at the first instruction */
	bool after_event, after_cr3;
	uint64_t last_ip;
	/*
	 * The previous instruction changed nothing. The next one at the same CPL, with the same
	 * paging, is in the trace without changes. There must be no ranges, or the instruction must
	 * fall through without entering or leaving one.
	 */
	bool steady, ranges, walks;
	uint8_t cpl;

	/* Reported when its successor is known; END if there is none. */
	struct oracle_step pending;
	bool pending_soft;  /* INT n, whose EVENT may follow */
	bool pending_entry; /* VMLAUNCH or VMRESUME that entered its guest */
	struct oracle_step queue[4];
	unsigned int queued, taken;
};

/* The struct belongs to the caller, who can copy it to read ahead. */
void oracle_expect_init(struct oracle_expect *e, const struct trace_reader *reader,
			unsigned int vcpu);

/* Store the next step. After END or WRONG, each call stores that step again. */
void oracle_expect_next(struct oracle_expect *e, struct oracle_step *step);

/*
 * @step is the last step from oracle_expect_next(). Returns true if @step and the next step are
 * instructions, and further INSN records are one step each. Such records have the same CPL and
 * paging, and any IPs.
 */
static inline bool oracle_expect_is_steady(const struct oracle_expect *e,
					   const struct oracle_step *step)
{
	return e->steady && e->packet_en && !e->ranges && !e->over && e->taken == e->queued &&
	       e->pending.kind == ORACLE_STEP_INSN && step->kind == ORACLE_STEP_INSN &&
	       e->pending.session == step->session && e->pending.cr3 == step->cr3;
}

/*
 * Skip steps after the caller has advanced e->cursor over such records, at least one of them. @ip
 * has the IPs of the last two steps: @step becomes the first, and the other one is next.
 */
void oracle_expect_pass(struct oracle_expect *e, struct oracle_step *step, const uint64_t ip[2]);

#endif /* VMM_ORACLE_EXPECT_H */
