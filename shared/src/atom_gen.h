/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Inside of the generator of Atom's RTIT: shared by atom.c, atom_*.c and nothing else. */
#ifndef VPT_SRC_ATOM_GEN_H
#define VPT_SRC_ATOM_GEN_H

#include "vpt/atom.h"

VPT_BEGIN_DECLS

#define VPT_ATOM_TNT_FULL ((uint32_t)1 << VPT_ATOM_TNT_MAX)

static inline bool vpt_atom_erratum(const struct vpt_atom *a, enum vpt_atom_erratum which)
{
	return a->options.errata & which;
}

static inline bool vpt_atom_overflow(const struct vpt_atom *a)
{
	return a->regs.status & VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
}

/* [ATOM-LIP] */
static inline uint64_t vpt_atom_lip(const struct vpt_atom *a, uint64_t ip)
{
	return (ip + a->ip_base) & a->ip_mask;
}

/* atom.c: TriggerEn falls; nothing is sent. */
void vpt_atom_end(struct vpt_atom *a);

/*
 * atom_enable.c
 *
 * What follows from the registers and from the enables: PacketEn, STATUS, what the engine is
 * to report, what events cost. After each change of one of them.
 */
void vpt_atom_update(struct vpt_atom *a);
/* Does CNTP count, but for sleep? */
bool vpt_atom_counts(const struct vpt_atom *a);
/* How `ctx` says that code is addressed, and ContextEn in it. */
void vpt_atom_enter(struct vpt_atom *a, const struct vpt_context *ctx);
/* Is a context traced, whatever Trace_En is? */
bool vpt_atom_in_context(const struct vpt_atom *a, const struct vpt_context *ctx);

/* How execution comes to an instruction. */
enum vpt_atom_way { VPT_ATOM_WALK, VPT_ATOM_ARRIVE };

/* FilterEn for the instruction at `lip`, and the enables that follow. True: a TraceStop. */
bool vpt_atom_reach(struct vpt_atom *a, enum vpt_atom_way way, uint64_t lip);

/* The enables as an operation began. */
struct vpt_atom_before {
	bool trigger_en, context_en, filter_en, packet_en;
};

static inline struct vpt_atom_before vpt_atom_stands(const struct vpt_atom *a)
{
	struct vpt_atom_before before = {a->trigger_en, a->context_en, a->filter_en, a->packet_en};

	return before;
}

/* What an operation sends for an enable that moved, and for TraceStop: LIPs. */
void vpt_atom_cross(struct vpt_atom *a, const struct vpt_atom_before *before, bool stop,
		    uint64_t left, uint64_t to);

/* atom_event.c: a far transfer between two IPs, and what counts as one. */
void vpt_atom_transfer(struct vpt_atom *a, uint64_t from, uint64_t to);
/* Between two instructions, `ip` being next: what was waiting for that. */
void vpt_atom_finish(struct vpt_atom *a, uint64_t ip);

/*
 * atom_put.c: packets. Each is lost while Buffer_Overflow is set.
 */
void vpt_atom_put(struct vpt_atom *a, struct vpt_atom_packet *packet);
void vpt_atom_put_lip(struct vpt_atom *a, enum vpt_atom_pkt_kind kind, uint64_t lip);
/* The outcomes gathered, if there are any. */
void vpt_atom_put_tnt(struct vpt_atom *a);
void vpt_atom_outcome(struct vpt_atom *a, bool taken);
/* A PSB of TriggerEn, which no overflow stops; one of PKT_CNT, if it is due. */
void vpt_atom_put_psb(struct vpt_atom *a);
void vpt_atom_psb_if_due(struct vpt_atom *a);
/* A TraceStop by itself, in an overflow too. False: it did not fit. */
bool vpt_atom_put_stop(struct vpt_atom *a, bool forced);
void vpt_atom_forget_lips(struct vpt_atom *a);

/*
 * atom_time.c
 *
 * Time has passed up to now: CNTP counts, MTCs that are due go out, the buffer drains. For
 * whatever may send a packet, or tell the time, while TriggerEn is set.
 */
void vpt_atom_now(struct vpt_atom *a);
void vpt_atom_time_start(struct vpt_atom *a);
/* RTIT_CTL has changed: MTC's part of it. */
void vpt_atom_time_load(struct vpt_atom *a);
/* CNTP begins or ceases to count, at this moment. */
void vpt_atom_set_counting(struct vpt_atom *a, bool counting);
/* What has passed was a stop of the core. */
void vpt_atom_time_stop(struct vpt_atom *a);
void vpt_atom_sts(struct vpt_atom *a);
void vpt_atom_pcc(struct vpt_atom *a, uint64_t ip);
void vpt_atom_sleep(struct vpt_atom *a, uint8_t cstate);
void vpt_atom_wake(struct vpt_atom *a);

/* atom_buffer.c */
void vpt_atom_buffer_start(struct vpt_atom *a);
void vpt_atom_buffer_pass(struct vpt_atom *a);
void vpt_atom_buffer_empty(struct vpt_atom *a);
/* Is there room for a packet of this size? If not, an overflow begins. */
bool vpt_atom_room(struct vpt_atom *a, size_t len);
/* One that goes in whether there is room or not. */
void vpt_atom_force(struct vpt_atom *a, size_t len);
void vpt_atom_set_overflow(struct vpt_atom *a, bool overflow);
void vpt_atom_resolve(struct vpt_atom *a, uint64_t ip);
/* The IP matched that of TraceStop. */
void vpt_atom_trace_stop(struct vpt_atom *a);

/* atom_output.c: bytes on their way into memory, OFFSET being moved. */
void vpt_atom_out_start(struct vpt_atom *a);
void vpt_atom_out(struct vpt_atom *a, const uint8_t *bytes, size_t len);
void vpt_atom_out_stop(struct vpt_atom *a, uint8_t byte);

/* atom.c */
bool vpt_atom_options_ok(const struct vpt_atom_options *options);

VPT_END_DECLS

#endif /* VPT_SRC_ATOM_GEN_H */
