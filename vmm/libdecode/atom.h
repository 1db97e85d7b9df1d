/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Decode the packets of Atom's RTIT into events and into the flow, in one pass.
 *
 * RTIT has packets for branches only. A decoder also needs the registers, the address space and the
 * mode where a trace begins, and how the trace ends. The caller reports them, session by session. A
 * session begins where TriggerEn rises, or where software writes a register while the trace runs.
 * It ends at the next such place.
 *
 * Packets take effect in the order of the stream. A packet whose meaning depends on a later packet
 * is kept as state. The flow moves no further than the packets prove. At the end of a session the
 * flow runs up to the session's last instruction.
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
	uint8_t errata; /* the errata of the processor: enum vpt_atom_erratum */
	bool guest;	/* WRMSRs of the traced code end and change sessions */
	bool at_once;	/* use outcomes at once, so that `led` is exact for all code that runs */
};

struct dec_atom_ops {
	void (*event)(void *context, const struct vptd_event *event);
	/*
	 * Returns the key of the address space that a PIP names. If NULL, the key is the PIP's CR3.
	 */
	uint64_t (*space)(void *context, uint64_t cr3);
	/*
	 * Called when tracing resumes after lost packets. Returns true and sets *insns if the
	 * caller knows how many instructions have retired up to that place. If NULL, the number is
	 * unknown.
	 */
	bool (*resumed)(void *context, uint64_t *insns);
};

/* A packet, its LIP expanded to an address, and the stream offset after the packet. */
struct dec_atom_said {
	struct vpt_atom_packet packet;
	bool has_lip; /* false: the LIP depends on an earlier LIP that is unknown */
	uint64_t lip;
	uint64_t offset;
};

#define DEC_ATOM_HELD 32u /* packets that wait for a later one */

struct dec_atom {
	struct dec_flow *flow;
	const struct dec_atom_ops *ops;
	void *context;
	struct dec_atom_config config;
	struct vpt_atom_regs regs; /* the registers at the begin of the session */
	uint64_t offset;	   /* the stream offset after the last packet */
	uint64_t added; /* the counter minus the instructions that ran: see dec_atom_insns() */
	uint64_t led;	/* the stream offset after the packets that led to the code that runs now */
	uint64_t cr3;	/* see dec_atom_use_space() */
	bool counts;	/* the flow's counter is exact, and callers may read it */
	bool enabled;	/* PacketEn, as far as the decoder knows it */
	bool lost;	/* the decoder searches for the position of execution */
	bool joins;	/* a TIP gives the position, as after a PSB */
	bool no_tip;	/* the last packet is a FUP.PGD, and its TIP leaves the traced region */
	bool call_lost; /* a CALL may have retired before decoding joined the trace */
	bool continues; /* the last session ended with VPTD_ATOM_CHANGED */
	bool was_lossy; /* the last session ended in an overflow */
	bool skips;	/* the decoder searches for the next PSB */
	bool last_known;
	uint32_t last;	/* RTIT_LAST_LIP[31:0] */
	uint8_t stale;	/* the number of outcomes in the next TNT that belong to an earlier trace */
	uint8_t waits;	/* enum dec_atom_waits */
	uint8_t paging; /* CR0.PG, or DEC_ATOM_UNKNOWN */
	uint64_t last_call_nlip; /* the register as the last session ended */

	/* How execution reached the position: see atom_walk.c. */
	uint8_t since;	      /* enum dec_atom_since: the last event */
	uint64_t since_insns; /* the counter at that event */
	uint64_t by_insns;    /* the counter after the instruction that by_kind describes */
	uint64_t by_next;     /* the address after that instruction */
	uint8_t by_kind;      /* enum dec_insn_kind */
	bool by_jump;	      /* the instruction was a taken near branch */

	/* The state of a packet that waits. */
	uint64_t from;		 /* the address of an event or of a far transfer */
	bool by_insn;		 /* an instruction ends tracing */
	bool soft_int;		 /* the event is that of the preceding INT n */
	bool spurious;		 /* OVF: the next packet can be the TIP of E5 */
	bool dropped;		 /* OVF: that TIP was dropped */
	struct vptd_event event; /* ARRIVED */
	uint64_t lip;		 /* OVF, JOIN: the address of execution */
	uint64_t event_offset;	 /* LEFT, OVF, ARRIVED: the offset after the waiting packet */
	struct dec_atom_said held[DEC_ATOM_HELD];
	unsigned int nheld;

	struct dec_carry carry;
};

#define DEC_ATOM_UNKNOWN  0xff
#define DEC_ATOM_NO_COUNT VPTD_ATOM_UNKNOWN

/*
 * Set up the decoder. The position is unknown until dec_atom_begin(), or until a PSB in a stream
 * without sessions.
 */
void dec_atom_init(struct dec_atom *r, struct dec_flow *flow, const struct dec_atom_config *config,
		   const struct dec_atom_ops *ops, void *context);

/*
 * Begin a session at the next byte. @regs are its registers there. @insns is the counter of
 * instructions, which becomes the flow's, or DEC_ATOM_NO_COUNT. The trace begins anew unless the
 * last session ended with VPTD_ATOM_CHANGED.
 */
void dec_atom_begin(struct dec_atom *r, const struct vpt_atom_regs *regs, uint64_t insns);

/*
 * Decode these bytes of the session. A packet that is cut at their end is kept for the next call.
 * Bytes that cannot be decoded are reported as ERROR events. Decoding then resumes at the next
 * FUP.PGE or FUP.BuffOvf, or at a TIP behind a PSB.
 */
void dec_atom_push(struct dec_atom *r, const uint8_t *bytes, size_t len);

/*
 * End the session. @regs are its registers, and @insns is its counter or DEC_ATOM_NO_COUNT. The
 * flow runs up to @insns, with the outcomes that are in RTIT_TNT_BUFF.
 */
void dec_atom_end(struct dec_atom *r, const struct vpt_atom_regs *regs, uint64_t insns,
		  enum vptd_atom_end why);

/* Returns how many instructions ran since dec_atom_init(), independent of the counter's value. */
static inline uint64_t dec_atom_insns(const struct dec_atom *r)
{
	return r->flow->insns - r->added;
}

/*
 * Call dec_atom_catch_up() before a change of code. It uses the outcomes from before the change.
 * Call dec_atom_refetch() after the change, to look up the code of the position again.
 */
void dec_atom_catch_up(struct dec_atom *r);
void dec_atom_refetch(struct dec_atom *r);

/*
 * End the stream, or a part of it that the next bytes do not continue. Uses all remaining packets.
 */
void dec_atom_finish(struct dec_atom *r);

/*
 * Set the address space @key, its @cr3 and the mode (16, 32, 64) of the code from the position on.
 * Call this function before dec_atom_begin(), or from the flow's limit() and hole(). Returns
 * VPTD_OK or VPTD_E_MEMORY.
 */
enum vptd_status dec_atom_use_space(struct dec_atom *r, uint64_t key, uint64_t cr3,
				    unsigned int mode);

#endif /* VMM_LIBDECODE_ATOM_H */
