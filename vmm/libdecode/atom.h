/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Atom's RTIT: packets to events and to the flow, in one pass.
 *
 * RTIT has packets for branches only. A decoder also needs the registers, the address space and the
 * mode where a trace begins, and how the trace ends. The caller reports them, session by session. A
 * session begins where TriggerEn rises, or where software writes a register while the trace runs.
 * It ends at the next such place.
 *
 * Packets take effect as they come. A packet that only a later one decides waits as state. The flow
 * moves no further than the packets prove, and at the end of a session up to its last instruction.
 *
 * Sections are those of the "Real Time Instruction Trace Programming Reference", v1.05.
 */
#ifndef VMM_LIBDECODE_ATOM_H
#define VMM_LIBDECODE_ATOM_H

#include "vpt/atom_msr.h"
#include "vpt/atom_packet.h"

#include "libdecode/carry.h"
#include "libdecode/flow.h"

struct dec_atom_config {
	uint8_t errata; /* enum vpt_atom_erratum: those that the processor has */
	bool guest;	/* sessions end and change by WRMSRs of the traced code */
	bool at_once;	/* use outcomes as they come: `led` is exact for all that runs */
};

struct dec_atom_ops {
	void (*event)(void *context, const struct vptd_event *event);
	/* The key of the address space that a PIP names; NULL: its CR3. */
	uint64_t (*space)(void *context, uint64_t cr3);
	/*
	 * Packets were lost, and the trace resumes. Returns true and sets *insns if the caller knows
	 * how many instructions have retired up to there. NULL: it does not.
	 */
	bool (*resumed)(void *context, uint64_t *insns);
};

/* A packet, with its LIP as an address and the offset behind it. */
struct dec_atom_said {
	struct vpt_atom_packet packet;
	bool has_lip; /* false: the LIP depends on one that is not known */
	uint64_t lip;
	uint64_t offset;
};

#define DEC_ATOM_HELD 32u /* packets that wait for a later one */

struct dec_atom {
	struct dec_flow *flow;
	const struct dec_atom_ops *ops;
	void *context;
	struct dec_atom_config config;
	struct vpt_atom_regs regs; /* as the session began */
	uint64_t offset;	   /* in the stream, behind the last packet */
	uint64_t added;		   /* to the counter, beside what ran: see dec_atom_insns() */
	uint64_t led;		   /* the same of the packets that led to what runs now */
	uint64_t cr3;		   /* see dec_atom_use_space() */
	bool counts;		   /* the flow's counter is exact; callers may read it */
	bool enabled;		   /* PacketEn, as far as it is known */
	bool lost;		   /* where execution is must be found */
	bool joins;		   /* a TIP tells it, since there was a PSB */
	bool no_tip;		   /* a FUP.PGD came just before, whose TIP leads out */
	bool call_lost;		   /* a CALL may have retired before decoding joined the trace */
	bool continues;		   /* the last session ended with VPTD_ATOM_CHANGED */
	bool was_lossy;		   /* and in an overflow */
	bool skips;		   /* look for the next PSB */
	bool last_known;
	uint32_t last;	/* RTIT_LAST_LIP[31:0] */
	uint8_t stale;	/* outcomes of the next TNT that belong to a trace before this one */
	uint8_t waits;	/* enum dec_atom_waits */
	uint8_t paging; /* CR0.PG, or DEC_ATOM_UNKNOWN */
	uint64_t last_call_nlip; /* the register as the session before ended */

	/* How execution has come to the position: see atom_walk.c. */
	uint8_t since;	      /* enum dec_atom_since: the event before, */
	uint64_t since_insns; /* and the counter there */
	uint64_t by_insns;    /* the counter behind the instruction that is described here: */
	uint64_t by_next;     /* the address behind it */
	uint8_t by_kind;      /* enum dec_insn_kind */
	bool by_jump;	      /* it was a near branch that was taken */

	/* The state of a packet that waits. */
	uint64_t from;		 /* the address of an event or of a far transfer */
	bool by_insn;		 /* tracing ends by an instruction */
	bool soft_int;		 /* the event is the INT n before */
	bool spurious;		 /* OVF: the next packet can be the TIP of E5, */
	bool dropped;		 /* which has come */
	struct vptd_event event; /* ARRIVED */
	uint64_t lip;		 /* OVF, JOIN: where execution is */
	uint64_t event_offset;	 /* LEFT, OVF, ARRIVED: behind the packet that waits */
	struct dec_atom_said held[DEC_ATOM_HELD];
	unsigned int nheld;

	struct dec_carry carry;
};

#define DEC_ATOM_UNKNOWN  0xff
#define DEC_ATOM_NO_COUNT VPTD_ATOM_UNKNOWN

/* Nothing is known until dec_atom_begin(), or until a PSB in a stream without sessions. */
void dec_atom_init(struct dec_atom *r, struct dec_flow *flow, const struct dec_atom_config *config,
		   const struct dec_atom_ops *ops, void *context);

/*
 * A session begins with the next byte. @regs are its registers there, and @insns is the counter of
 * instructions, which becomes the flow's, or DEC_ATOM_NO_COUNT. Without dec_atom_end() before it the
 * trace begins anew.
 */
void dec_atom_begin(struct dec_atom *r, const struct vpt_atom_regs *regs, uint64_t insns);

/*
 * Decode these bytes of the session. A packet that is cut at their end is kept for the next call.
 * Bytes that cannot be decoded are reported as ERROR events. Decoding then resumes at the next
 * FUP.PGE or FUP.BuffOvf, or at a TIP behind a PSB.
 */
void dec_atom_push(struct dec_atom *r, const uint8_t *bytes, size_t len);

/*
 * The session ends here: its registers and counter, or DEC_ATOM_NO_COUNT, are these. The flow runs up to @insns, with the
 * outcomes that are in RTIT_TNT_BUFF.
 */
void dec_atom_end(struct dec_atom *r, const struct vpt_atom_regs *regs, uint64_t insns,
		  enum vptd_atom_end why);

/* How many instructions ran since dec_atom_init(), whatever the counter is set to. */
static inline uint64_t dec_atom_insns(const struct dec_atom *r)
{
	return r->flow->insns - r->added;
}

/*
 * Before code changes: use the outcomes that came before. And after that: look at the code of the
 * position again.
 */
void dec_atom_catch_up(struct dec_atom *r);
void dec_atom_refetch(struct dec_atom *r);

/* The stream ends, or what comes next does not continue it. Uses what is left. */
void dec_atom_finish(struct dec_atom *r);

/*
 * From the position on, code is of the address space @key, whose CR3 is @cr3, and of this mode (16,
 * 32, 64). Call it before dec_atom_begin(), or from the flow's limit() and hole(). Returns VPTD_OK or
 * VPTD_E_MEMORY.
 */
enum vptd_status dec_atom_use_space(struct dec_atom *r, uint64_t key, uint64_t cr3,
				    unsigned int mode);

#endif /* VMM_LIBDECODE_ATOM_H */
