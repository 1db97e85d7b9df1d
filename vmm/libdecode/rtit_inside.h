/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Between the files of the RTIT decoder: bytes (rtit_read.c), packets (rtit.c), their meaning
 * (rtit_bind.c), outcomes
 * (rtit_settle.c), walks to packets (rtit_walk.c), what later packets decide (rtit_wait.c), sessions
 * (rtit_ends.c), what comes next in the code (rtit_ahead.c) and ranges (rtit_ranges.c).
 */
#ifndef VMM_LIBDECODE_RTIT_INSIDE_H
#define VMM_LIBDECODE_RTIT_INSIDE_H

#include "vpt/atom.h"

#include "libdecode/rtit.h"

enum dec_rtit_waits {
	R_NONE,
	/* For the next packet of the flow or PIP, which is the TIP or is not: */
	R_FAR,	 /* the TIP of an instruction's FUP.FAR */
	R_EVENT, /* the TIP of an event's FUP.FAR, or INT n's */
	R_LEFT,	 /* the TIP behind a FUP.PGD */
	/* For the next packet of the flow. PIP and STS are held: */
	R_OVF,	   /* whether FilterEn is set behind a FUP.BuffOvf */
	R_OVF_PGD, /* whether the FUP.PGD behind it is spurious (E2) */
	R_JOIN,	   /* whether a TIP leads out of what is traced */
	R_ARRIVED, /* whether an event led into the range of TraceStop */
	R_STOP,	   /* whether TraceStop ended the session */
};

enum dec_rtit_since {
	SINCE_ENABLED,	/* FUP.PGE: the instruction there runs */
	SINCE_OVERFLOW, /* FUP.BuffOvf */
	SINCE_EVENT,	/* or a place that was found */
};

/* rtit.c */
void dec_rtit_emit_at(struct dec_rtit *r, struct vptd_event event, uint64_t offset);
static inline void dec_rtit_emit(struct dec_rtit *r, struct vptd_event event)
{
	dec_rtit_emit_at(r, event, r->offset);
}
void dec_rtit_reset(struct dec_rtit *r);
/* Use a packet that was read. */
void dec_rtit_packet(struct dec_rtit *r, const struct dec_rtit_said *said);
/* Bytes are no packet: the flow is lost. */
void dec_rtit_bad(struct dec_rtit *r);
/* Report the error, unless packets were lost, and find the flow anew. */
void dec_rtit_failed(struct dec_rtit *r, enum vptd_status status);
/* Report the ratio that it has. */
void dec_rtit_report_sts(struct dec_rtit *r, const struct dec_rtit_said *sts);
/* Use one packet. */
void dec_rtit_take(struct dec_rtit *r, const struct dec_rtit_said *said);

/* rtit_read.c */
/* The session ends: a packet that is not whole is an error. */
void dec_rtit_cut(struct dec_rtit *r);

/* rtit_bind.c */
/* A packet that is none of time, without anything that waits. */
enum vptd_status dec_rtit_bind(struct dec_rtit *r, const struct dec_rtit_said *said);
/* A TIP that FAR, EVENT or LEFT wait for; NULL: it did not come. */
enum vptd_status dec_rtit_tip_came(struct dec_rtit *r, const struct dec_rtit_said *tip);
/* Report an event that took execution away. */
enum vptd_status dec_rtit_arrive(struct dec_rtit *r, bool stopped);
/* Report how tracing ends, with the offset behind the last packet of that. */
void dec_rtit_disabled(struct dec_rtit *r, struct vptd_event event, uint64_t offset);
/* Append outcomes, without those that a trace before this one left behind. */
enum vptd_status dec_rtit_outcomes(struct dec_rtit *r, uint64_t bits, unsigned int n);

/* rtit_settle.c */
/* An address that no code is at: addresses have 48 bits. */
#define DEC_RTIT_NOWHERE VPT_BIT64(63)
/* Note that execution comes to where it is by an event, and not by an instruction. */
void dec_rtit_came(struct dec_rtit *r, enum dec_rtit_since since);
/* Has an instruction run since the last event? */
static inline bool dec_rtit_ran(const struct dec_rtit *r)
{
	return r->flow->insns != r->since_insns;
}
/* Did execution come to the position by a near branch that was taken? */
bool dec_rtit_jumped(const struct dec_rtit *r);
/* The kind of the instruction before the position. */
enum dec_insn_kind dec_rtit_did(const struct dec_rtit *r);
/* Note the last instruction of @block, which has run. */
void dec_rtit_note(struct dec_rtit *r, const struct dec_block *block, bool jumped);
/* Use all outcomes, with the last of them so that it is known how execution came. */
enum vptd_status dec_rtit_settle(struct dec_rtit *r);
/* Use all outcomes where that does not matter. */
enum vptd_status dec_rtit_settle_fast(struct dec_rtit *r);
/* Run the last instruction of the current block, which needs no packet. */
enum vptd_status dec_rtit_pass(struct dec_rtit *r);
/* rtit_walk.c: to the instruction that a packet belongs to, and through it. */
enum vptd_status dec_rtit_to_tip(struct dec_rtit *r, uint64_t lip);
/* @leaves: it is a FUP.PGD, and not a FUP.FAR. */
enum vptd_status dec_rtit_to_fup(struct dec_rtit *r, uint64_t lip, bool leaves);
enum vptd_status dec_rtit_to_pip(struct dec_rtit *r, const struct vpt_atom_packet *pip);
/* Run until the counter is @insns. */
enum vptd_status dec_rtit_to_count(struct dec_rtit *r, uint64_t insns);

/* rtit_wait.c */
static inline bool dec_rtit_holds(const struct dec_rtit *r)
{
	return r->waits >= R_OVF;
}
/* FUP.BuffOvf, which later packets decide. */
enum vptd_status dec_rtit_overflow(struct dec_rtit *r, const struct dec_rtit_said *said);
/* Hold this packet, or decide by it what waits. Returns true if it is used up. */
bool dec_rtit_decide(struct dec_rtit *r, const struct dec_rtit_said *said);
/* Use the packets that were held. */
void dec_rtit_release(struct dec_rtit *r);
/* Decide as the session ends, or, if @regs is NULL, as the stream does. TraceStop still waits. */
void dec_rtit_decide_at_end(struct dec_rtit *r, const struct vpt_atom_regs *regs,
			    enum vptd_rtit_end why, uint64_t insns);

/* rtit_ends.c */
/* Forget where execution is. */
void dec_rtit_forget(struct dec_rtit *r);
/* The same, and find it again at the next packet with a LIP. */
void dec_rtit_lose(struct dec_rtit *r);
/* It was found; what CALLs there were before is not known. */
void dec_rtit_join(struct dec_rtit *r);

/* The counter is another one at the same instruction. */
void dec_rtit_set_count(struct dec_rtit *r, uint64_t insns);

/* rtit_ahead.c: derive the counter at the position from the one at the end of the session. */
enum vptd_status dec_rtit_count_back(struct dec_rtit *r, uint64_t insns, enum vptd_rtit_end why);

/* rtit_ranges.c */
/* [ATOM-FILTER-ID] Does a branch that leads there set FilterEn? */
bool dec_rtit_in_filter(const struct vpt_atom_regs *regs, uint64_t ip);
/* Does falling through to there clear FilterEn? */
bool dec_rtit_ends_filter(const struct vpt_atom_regs *regs, uint64_t ip);
/* [ATOM-STOP-WHEN] Does it stop the trace to branch to there, or to fall through to there? */
bool dec_rtit_stops_at(const struct vpt_atom_regs *regs, uint64_t ip, bool branch);
/* How many outcomes RTIT_TNT_BUFF holds: 0 to 6. */
unsigned int dec_rtit_gathered(uint32_t tnt_buff);

#endif /* VMM_LIBDECODE_RTIT_INSIDE_H */
