/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The words of a trace unit that an engine's hot path reads and writes. They are one struct, the
 * first member of each unit: of struct vpt_pt (pt.h) and of struct vpt_atom (atom.h). An engine
 * needs nothing else of the unit.
 *
 * An open gate takes near branches directly, through the functions below and in pt.h. Each of
 * them either does all that the branch requires and returns true, or does nothing and returns
 * false. The engine must then report the branch as an event. A closed gate takes nothing.
 * The Atom unit's gate is always closed.
 *
 * With MTC or CYC packets the gate opens only for an engine that keeps due times
 * (vpt_pt_ops.keeps_due). VPT_GATE_TIMED is then set. The engine calls vpt_gate_expire() before the
 * first near branch at which a clock has reached its due time, or earlier. The branch is then
 * reported, the unit sends the packets that are due, and opens the gate again.
 */
#ifndef VPT_GATE_H
#define VPT_GATE_H

#include "base.h"

/* Bits of vpt_gate.state. The unit writes them; its caller only reads them, and expires TIMED. */
enum vpt_gate_state {
	VPT_GATE_OPEN = 1 << 0,	      /* near branches may use the functions of the gate */
	VPT_GATE_ARMED = 1 << 1,      /* events must be reported */
	VPT_GATE_TRIGGER_EN = 1 << 2, /* TriggerEn is set */
	VPT_GATE_PACKET_EN = 1 << 3,  /* PacketEn is set */
	VPT_GATE_EACH_INSN = 1 << 4,  /* VPT_EV_INSN must be reported, too */
	VPT_GATE_INTR_FLAG = 1 << 5,  /* VPT_EV_INTR_FLAG must be reported, too */
	VPT_GATE_MAY_LOSE = 1 << 6,   /* the internal buffer may overflow */
	VPT_GATE_TIMED = 1 << 7,      /* @due_cycles and @due_tsc are valid */
	VPT_GATE_BRANCH = 1 << 8,     /* near branches may use vpt_gate_branch() (pt.h) */
	VPT_GATE_TIP = 1 << 9,	      /* open, and a TIP needs no CYC and may be sent at once */
	VPT_GATE_EXPIRED = 1 << 10,   /* vpt_gate_expire() has closed it since the last event */
};

struct vpt_gate {
	uint64_t tnt;	   /* outcomes that are not sent yet, below a leading 1 */
	uint64_t tnt_full; /* the unit has work to do if @tnt is not below this */
	uint32_t state;	   /* enum vpt_gate_state */
	uint32_t reserved; /* 0 */
	/* The clocks of struct vpt_clock at which a timing packet may be due; ~0: never. */
	uint64_t due_cycles;
	uint64_t due_tsc;
};

/* Close the gate until the unit has seen an event. Does nothing unless VPT_GATE_TIMED is set. */
static inline void vpt_gate_expire(struct vpt_gate *gate)
{
	if (!(gate->state & VPT_GATE_TIMED))
		return;
	gate->state &= ~(uint32_t)(VPT_GATE_TIMED | VPT_GATE_OPEN | VPT_GATE_BRANCH | VPT_GATE_TIP);
	gate->state |= VPT_GATE_EXPIRED;
}

static inline bool vpt_gate_is_open(const struct vpt_gate *gate)
{
	return vpt_likely(gate->state & VPT_GATE_OPEN);
}

/*
 * A conditional branch. Returns false for the outcome that makes a TNT packet due, and with CYC
 * packets for the first outcome of a TNT packet.
 */
static inline bool vpt_gate_cond(struct vpt_gate *gate, bool taken)
{
	uint64_t tnt = gate->tnt * 2 + (uint64_t)taken;

	if (vpt_unlikely(!vpt_gate_is_open(gate) || tnt >= gate->tnt_full))
		return false;
	gate->tnt = tnt;
	return true;
}

/* A direct JMP, of which an open gate has nothing to record. */
static inline bool vpt_gate_jmp(const struct vpt_gate *gate)
{
	return vpt_gate_is_open(gate);
}

#endif /* VPT_GATE_H */
