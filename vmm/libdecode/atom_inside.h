/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Between the files of the RTIT decoder. From the top: sessions (atom_ends.c), bytes (atom_read.c),
 * packets (atom.c), packets that later ones decide (atom_wait.c) and the meaning of packets
 * (atom_bind.c). These need walks to the instructions of packets (atom_walk.c), searches in the
 * code (atom_ahead.c), reports and the position (atom_state.c), outcomes (atom_settle.c) and ranges
 * (atom_ranges.c).
 */
#ifndef VMM_LIBDECODE_ATOM_INSIDE_H
#define VMM_LIBDECODE_ATOM_INSIDE_H

#include "vpt/atom.h"

#include "libdecode/atom.h"

enum dec_atom_waits {
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

enum dec_atom_since {
	SINCE_ENABLED,	/* FUP.PGE: the instruction there runs */
	SINCE_OVERFLOW, /* FUP.BuffOvf */
	SINCE_EVENT,	/* or a place that was found */
};

/* atom_state.c */
void dec_atom_emit_at(struct dec_atom *r, struct vptd_event event, uint64_t offset);
static inline void dec_atom_emit(struct dec_atom *r, struct vptd_event event)
{
	dec_atom_emit_at(r, event, r->offset);
}
/* Report the core:bus ratio of an STS packet. */
void dec_atom_report_sts(struct dec_atom *r, const struct dec_atom_said *sts);
/* Report how tracing ends, with the offset behind the last packet that says so. */
void dec_atom_disabled(struct dec_atom *r, struct vptd_event event, uint64_t offset);
/* Forget the position. */
void dec_atom_forget(struct dec_atom *r);
/* Forget the position, and find it again at the next packet with a LIP. */
void dec_atom_lose(struct dec_atom *r);
/* The position was found. CALLs before it are not known. */
void dec_atom_join(struct dec_atom *r);
/* Set the counter of instructions without a change of the position. */
void dec_atom_set_count(struct dec_atom *r, uint64_t insns);
/* Return to the state before the first session. */
void dec_atom_reset(struct dec_atom *r);
/* Report the error, or an overflow if lost packets explain it, and find the position anew. */
void dec_atom_failed(struct dec_atom *r, enum vptd_status status);
/* Use all outcomes before an STS or a PSB, and report the error if there is one. */
void dec_atom_use_outcomes(struct dec_atom *r);

/* atom.c */
/* Use a packet that was read. */
void dec_atom_packet(struct dec_atom *r, const struct dec_atom_said *said);
/* Report bytes that are no packet. The position is lost. */
void dec_atom_bad(struct dec_atom *r);

/* atom_read.c */
/* The session ends: a packet that is not whole is an error. */
void dec_atom_cut(struct dec_atom *r);

/* atom_bind.c */
/* A packet that is none of time, without anything that waits. */
enum vptd_status dec_atom_bind(struct dec_atom *r, const struct dec_atom_said *said);
/* A TIP that FAR, EVENT or LEFT wait for; NULL: it did not come. */
enum vptd_status dec_atom_tip_came(struct dec_atom *r, const struct dec_atom_said *tip);
/* Report an event that took execution away. */
enum vptd_status dec_atom_deliver(struct dec_atom *r, bool stopped);
/* Append outcomes, without those that a trace before this one left behind. */
enum vptd_status dec_atom_outcomes(struct dec_atom *r, uint64_t bits, unsigned int n);

/* atom_settle.c */
/* An address that no code is at: addresses have 48 bits. */
#define DEC_ATOM_NOWHERE VPT_BIT64(63)
/* Note that execution comes to where it is by an event, and not by an instruction. */
void dec_atom_came(struct dec_atom *r, enum dec_atom_since since);
/* Has an instruction run since the last event? */
static inline bool dec_atom_ran(const struct dec_atom *r)
{
	return r->flow->insns != r->since_insns;
}
/* Did execution come to the position by a near branch that was taken? */
bool dec_atom_jumped(const struct dec_atom *r);
/* The kind of the instruction before the position. */
enum dec_insn_kind dec_atom_did(const struct dec_atom *r);
/* Note the last instruction of @block, which has run. */
void dec_atom_note(struct dec_atom *r, const struct dec_block *block, bool jumped);
/* Use all outcomes, with the last of them so that it is known how execution came. */
enum vptd_status dec_atom_drain(struct dec_atom *r);
/* Use all outcomes where that does not matter. */
enum vptd_status dec_atom_drain_fast(struct dec_atom *r);
/* Run the last instruction of the current block, which needs no packet. */
enum vptd_status dec_atom_pass(struct dec_atom *r);
/* atom_walk.c: to the instruction that a packet belongs to, and through it. */
enum vptd_status dec_atom_to_tip(struct dec_atom *r, uint64_t lip);
/* @leaves: it is a FUP.PGD, and not a FUP.FAR. */
enum vptd_status dec_atom_to_fup(struct dec_atom *r, uint64_t lip, bool leaves);
enum vptd_status dec_atom_to_pip(struct dec_atom *r, const struct vpt_atom_packet *pip);
/* Run until the counter is @insns. */
enum vptd_status dec_atom_to_count(struct dec_atom *r, uint64_t insns);

/* atom_wait.c */
static inline bool dec_atom_holds(const struct dec_atom *r)
{
	return r->waits >= R_OVF;
}
/* Use a packet of the flow, STS or PIP: hold it, or decide by it what waits, and bind it. */
void dec_atom_take(struct dec_atom *r, const struct dec_atom_said *said);
/* Use the packets that were held. */
void dec_atom_release(struct dec_atom *r);
/* Decide as the session ends, or, if @regs is NULL, as the stream does. TraceStop still waits. */
void dec_atom_decide_at_end(struct dec_atom *r, const struct vpt_atom_regs *regs,
			    enum vptd_atom_end why, uint64_t insns);

/* atom_ahead.c: derive the counter at the position from the one at the end of the session. */
enum vptd_status dec_atom_count_back(struct dec_atom *r, uint64_t insns, enum vptd_atom_end why);

/* atom_ranges.c */
/* [ATOM-FILTER-ID] Does a branch that leads there set FilterEn? */
bool dec_atom_in_filter(const struct vpt_atom_regs *regs, uint64_t ip);
/* Does falling through to there clear FilterEn? */
bool dec_atom_ends_filter(const struct vpt_atom_regs *regs, uint64_t ip);
/* [ATOM-STOP-WHEN] Does it stop the trace to branch to there, or to fall through to there? */
bool dec_atom_stops_at(const struct vpt_atom_regs *regs, uint64_t ip, bool branch);
/* How many outcomes RTIT_TNT_BUFF holds: 0 to 6. */
unsigned int dec_atom_gathered(uint32_t tnt_buff);

#endif /* VMM_LIBDECODE_ATOM_INSIDE_H */
