/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Interfaces between the files of the RTIT decoder.
 *
 * From the top: sessions (atom_ends.c), bytes (atom_read.c), packets (atom.c), packets that depend
 * on later ones (atom_wait.c) and the meaning of packets (atom_bind.c). These files use walks to
 * the instructions of packets (atom_walk.c), searches in the code (atom_ahead.c), reports and the
 * position (atom_state.c), outcomes (atom_settle.c) and ranges (atom_ranges.c).
 */
#ifndef VMM_LIBDECODE_ATOM_INSIDE_H
#define VMM_LIBDECODE_ATOM_INSIDE_H

#include "vpt/atom.h"

#include "libdecode/atom.h"

enum dec_atom_waits {
	R_NONE,
	/* Waits that the next packet of the flow or PIP ends, whether or not it is the TIP: */
	R_FAR,	 /* the TIP of an instruction's FUP.FAR */
	R_EVENT, /* the TIP of an event's FUP.FAR, or of an INT n's */
	R_LEFT,	 /* the TIP after a FUP.PGD */
	/* Waits that the next packet of the flow ends. PIP and STS are held: */
	R_OVF,	   /* whether FilterEn is set after a FUP.BuffOvf */
	R_OVF_PGD, /* whether the FUP.PGD after it is spurious (E2) */
	R_JOIN,	   /* whether a TIP leaves the traced region */
	R_ARRIVED, /* whether an event entered the range of TraceStop */
	R_STOP,	   /* whether TraceStop ended the session */
};

enum dec_atom_since {
	SINCE_ENABLED,	/* FUP.PGE: the instruction at its address runs */
	SINCE_OVERFLOW, /* FUP.BuffOvf */
	SINCE_EVENT,	/* an event, or a position that was found */
};

/* atom_state.c */
void dec_atom_emit_at(struct dec_atom *r, struct vptd_event event, uint64_t offset);
static inline void dec_atom_emit(struct dec_atom *r, struct vptd_event event)
{
	dec_atom_emit_at(r, event, r->offset);
}
/* Report the core:bus ratio of an STS packet. */
void dec_atom_report_sts(struct dec_atom *r, const struct dec_atom_said *sts);
/* Report how tracing ends, with the offset after the last packet that shows it. */
void dec_atom_disabled(struct dec_atom *r, struct vptd_event event, uint64_t offset);
/* Forget the position. */
void dec_atom_forget(struct dec_atom *r);
/* Forget the position. The next packet with a LIP gives a new one. */
void dec_atom_lose(struct dec_atom *r);
/* Note that the position was found. Earlier CALLs are unknown. */
void dec_atom_join(struct dec_atom *r);
/* Set the counter of instructions. The position stays. */
void dec_atom_set_count(struct dec_atom *r, uint64_t insns);
/* Return to the state before the first session. */
void dec_atom_reset(struct dec_atom *r);
/* Report the error, or an overflow if lost packets explain it, and forget the position. */
void dec_atom_failed(struct dec_atom *r, enum vptd_status status);
/* Use all outcomes before an STS or a PSB, and report an error. */
void dec_atom_use_outcomes(struct dec_atom *r);

/* atom.c */
/* Use a packet that was read. */
void dec_atom_packet(struct dec_atom *r, const struct dec_atom_said *said);
/* Report bytes that are not a packet, and forget the position. */
void dec_atom_bad(struct dec_atom *r);

/* atom_read.c */
/* End the session's bytes: an incomplete packet is an error. */
void dec_atom_cut(struct dec_atom *r);

/* atom_bind.c */
/* Bind a packet that is not a timing packet while no packet waits. */
enum vptd_status dec_atom_bind(struct dec_atom *r, const struct dec_atom_said *said);
/* Use the TIP for which FAR, EVENT or LEFT wait. NULL: the TIP is missing. */
enum vptd_status dec_atom_tip_came(struct dec_atom *r, const struct dec_atom_said *tip);
/* Report an event that interrupted execution. */
enum vptd_status dec_atom_deliver(struct dec_atom *r, bool stopped);
/* Append outcomes, except those of an earlier trace. */
enum vptd_status dec_atom_outcomes(struct dec_atom *r, uint64_t bits, unsigned int n);

/* atom_settle.c */
/* An address without code, since addresses have 48 bits. */
#define DEC_ATOM_NOWHERE VPT_BIT64(63)
/* Note that an event, and not an instruction, led to the position. */
void dec_atom_came(struct dec_atom *r, enum dec_atom_since since);
/* Returns true if an instruction has run since the last event. */
static inline bool dec_atom_ran(const struct dec_atom *r)
{
	return r->flow->insns != r->since_insns;
}
/* Returns true if a taken near branch led to the position. */
bool dec_atom_jumped(const struct dec_atom *r);
/* Returns the kind of the instruction before the position. */
enum dec_insn_kind dec_atom_did(const struct dec_atom *r);
/* Note the last instruction of @block, which has run. */
void dec_atom_note(struct dec_atom *r, const struct dec_block *block, bool jumped);
/* Use all outcomes, and record how execution reached the position. */
enum vptd_status dec_atom_drain(struct dec_atom *r);
/* Use all outcomes without recording how execution reached the position. */
enum vptd_status dec_atom_drain_fast(struct dec_atom *r);
/* Run the last instruction of the current block, which needs no packet. */
enum vptd_status dec_atom_pass(struct dec_atom *r);
/* atom_walk.c: run to the instruction that sent a packet, and execute it. */
enum vptd_status dec_atom_to_tip(struct dec_atom *r, uint64_t lip);
/* @leaves: the packet is a FUP.PGD, and not a FUP.FAR. */
enum vptd_status dec_atom_to_fup(struct dec_atom *r, uint64_t lip, bool leaves);
enum vptd_status dec_atom_to_pip(struct dec_atom *r, const struct vpt_atom_packet *pip);
/* Run until the counter is @insns. */
enum vptd_status dec_atom_to_count(struct dec_atom *r, uint64_t insns);

/* atom_wait.c */
static inline bool dec_atom_holds(const struct dec_atom *r)
{
	return r->waits >= R_OVF;
}
/* Use a packet of the flow, STS or PIP. The packet is held, or it ends a wait and is bound. */
void dec_atom_take(struct dec_atom *r, const struct dec_atom_said *said);
/* Use the held packets. */
void dec_atom_release(struct dec_atom *r);
/*
 * End the waits at the end of the session or, if @regs is NULL, of the stream. The wait for
 * TraceStop stays.
 */
void dec_atom_decide_at_end(struct dec_atom *r, const struct vpt_atom_regs *regs,
			    enum vptd_atom_end why, uint64_t insns);

/* atom_ahead.c: derive the counter at the position from the one at the end of the session. */
enum vptd_status dec_atom_count_back(struct dec_atom *r, uint64_t insns, enum vptd_atom_end why);

/* atom_ranges.c */
/* [ATOM-FILTER-ID] Returns true if a branch to @ip sets FilterEn. */
bool dec_atom_in_filter(const struct vpt_atom_regs *regs, uint64_t ip);
/* Returns true if falling through to @ip clears FilterEn. */
bool dec_atom_ends_filter(const struct vpt_atom_regs *regs, uint64_t ip);
/* [ATOM-STOP-WHEN] Returns true if a branch to @ip, or falling through to it, stops the trace. */
bool dec_atom_stops_at(const struct vpt_atom_regs *regs, uint64_t ip, bool branch);
/* Returns the number of outcomes in RTIT_TNT_BUFF: 0 to 6. */
unsigned int dec_atom_gathered(uint32_t tnt_buff);

#endif /* VMM_LIBDECODE_ATOM_INSIDE_H */
