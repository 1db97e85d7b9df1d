/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the decoder of RTIT, for its own files: atom.c and atom_walk.c. */
#ifndef VMM_DECODE_ATOM_INSIDE_H
#define VMM_DECODE_ATOM_INSIDE_H

#include "atom.h"
#include "atom_stream.h"

/* What was walked to, and waits for the packet behind it. */
enum vpt_atom_wait {
	VPT_ATOM_WAIT_NONE = 0,
	VPT_ATOM_WAIT_FAR,   /* an instruction's FUP.FAR, for its TIP */
	VPT_ATOM_WAIT_EVENT, /* an event's, or INT n's, at `from` */
	VPT_ATOM_WAIT_LEFT,  /* FUP.PGD, for the TIP that it has behind a far transfer */
};

struct vpt_atom_decoder {
	struct vpt_decoder decoder;
	struct vpt_atom_stream stream;
	struct vpt_atom_code *code;
	bool guest;
	uint8_t errata; /* enum vpt_atom_erratum */

	struct vpt_atom_said next; /* read, and not yet used; no packet of time */
	bool has_next;

	bool enabled;		     /* PacketEn */
	uint64_t ip;		     /* of what runs next, while enabled */
	uint8_t outcomes, noutcomes; /* the oldest is at bit noutcomes - 1 */
	uint8_t stale; /* so many of the next TNT are of a trace before [ATOM-STALE-TNT] */
	bool call_known;
	bool call_lost;	    /* a CALL may have retired before decoding joined the trace */
	uint64_t call_next; /* as RTIT_LAST_CALL_NLIP */
	bool paging, paging_known;

	enum vpt_atom_wait wait;
	uint64_t from;	      /* of the event, or of what was left */
	bool by_insn;	      /* LEFT: by the instruction before */
	bool soft_int;	      /* EVENT, LEFT: the instruction at `from`, which retired */
	bool jumped;	      /* the instruction before was a near branch that was taken, */
	uint64_t jumped_next; /* and behind it comes this */
	bool ran;	      /* an instruction did since the last event */
	bool will_run;	      /* FUP.PGE: the instruction there runs, or there would be none */
	bool resumed;	      /* that event was FUP.BuffOvf */
	bool may_leave;	      /* the last one can clear ContextEn or FilterEn, falling through */
	uint8_t did;	      /* the last one, enum vpt_goes */

	uint64_t insns; /* the counter of format.h */
	bool counts;	/* it is exact */
	bool in_tail;	/* the outcomes that were not sent are in use */

	bool lost;   /* where execution is has to be found */
	bool joins;  /* a TIP tells it, since a PSB came by */
	bool no_tip; /* a FUP.PGD came before, whose TIP leads out */
	bool begun;  /* sync() was called */
	bool over;   /* nothing but END */
	unsigned int stall;

	bool no_code; /* was the last ERROR */
	char text[96];
};

/* Tell an ERROR, where execution is; nothing was used up for it. */
void vpt_atomd_fail(struct vpt_atom_decoder *a, struct vpt_item *item, const char *text);

/* An EVENT item. */
void vpt_atomd_event_item(struct vpt_atom_decoder *a, struct vpt_item *item,
			  enum vpt_flow_event event);

/* The packet that was read is used. */
void vpt_atomd_use(struct vpt_atom_decoder *a);

/*
 * Have the next instruction, while enabled, with outcomes or with `next` read. False: no item
 * was made, and the state is another.
 */
bool vpt_atomd_walk(struct vpt_atom_decoder *a, struct vpt_item *item);

/*
 * Returns how many instructions without packets run from a->ip to the range of TraceStop,
 * including the one that leads there. Returns 0 if execution needs a packet before that.
 */
unsigned int vpt_atomd_to_stop(struct vpt_atom_decoder *a);

/*
 * The same up to and including a WRMSR. Returns 0 if execution needs a packet before the first
 * WRMSR, or if there are several and no packet tells which of them ended the session.
 */
unsigned int vpt_atomd_to_wrmsr(struct vpt_atom_decoder *a);

/* atom_flow.c: each true if `item` was made. */

/* The packet that was read, without PacketEn; with it, all outcomes being used up. */
bool vpt_atomd_outside(struct vpt_atom_decoder *a, struct vpt_item *item);
bool vpt_atomd_inside(struct vpt_atom_decoder *a, struct vpt_item *item);
/* What was walked to: the packet behind it has been read. */
bool vpt_atomd_settle(struct vpt_atom_decoder *a, struct vpt_item *item);
/* FUP.PGE, FUP.BuffOvf, PIP, wherever they come. */
bool vpt_atomd_enabled_at(struct vpt_atom_decoder *a, struct vpt_item *item);
bool vpt_atomd_overflow(struct vpt_atom_decoder *a, struct vpt_item *item);
bool vpt_atomd_paging(struct vpt_atom_decoder *a, struct vpt_item *item);
bool vpt_atomd_disabled(struct vpt_atom_decoder *a, struct vpt_item *item, bool has_to,
			uint64_t to);
/* The outcomes of a TNT, without those that a trace before this one left behind. */
void vpt_atomd_take_outcomes(struct vpt_atom_decoder *a, uint64_t bits, unsigned int n);
/* The next flow packet behind the one at hand, or what there is instead. */
void vpt_atomd_behind(const struct vpt_atom_decoder *a, struct vpt_atom_said *said);
bool vpt_atomd_is_packet(const struct vpt_atom_said *said, enum vpt_atom_pkt_kind kind);

/* atom_ends.c */

/* How the session ends, NULL: the file does not say. */
const struct vpt_session *vpt_atomd_end(const struct vpt_atom_decoder *a);
bool vpt_atomd_ends_changed(const struct vpt_atom_decoder *a);
/* Was it said that it ends, and do packets go on being lost then? */
bool vpt_atomd_ends_lost(const struct vpt_atom_decoder *a);
void vpt_atomd_forget_flow(struct vpt_atom_decoder *a);
/* Forget the flow and the last CALL; decoding joins again at the next packet with an IP. */
void vpt_atomd_lose(struct vpt_atom_decoder *a);
/* It does so; what CALLs there were before is not known. */
void vpt_atomd_join(struct vpt_atom_decoder *a);
/* A session that begins with TriggerEn rising tells all that there is to know. */
void vpt_atomd_enter_afresh(struct vpt_atom_decoder *a, size_t session);
/* It was said that the session ends, and all of it is told. */
void vpt_atomd_leave_session(struct vpt_atom_decoder *a);
/* The session is over, or TraceStop is next, and no FUP.PGD came. True: `item` was made. */
bool vpt_atomd_tail(struct vpt_atom_decoder *a, struct vpt_item *item);

static inline bool vpt_atomd_next_is(const struct vpt_atom_decoder *a, enum vpt_atom_pkt_kind kind)
{
	return a->has_next && a->next.what == VPT_ATOM_SAYS_PACKET && a->next.packet.kind == kind;
}

#endif /* VMM_DECODE_ATOM_INSIDE_H */
