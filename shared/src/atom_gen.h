/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Interfaces between the layers of the Atom trace unit's generator: atom.c, atom_*.c and no other
 * file. Each .c file is a layer and has a section here, lowest first. A function calls its own
 * layer or a lower one, which .ci/check-cycles checks.
 */
#ifndef VPTI_SRC_ATOM_GEN_H
#define VPTI_SRC_ATOM_GEN_H

#include "vpt/atom.h"

VPT_BEGIN_DECLS

#define VPTI_ATOM_TNT_FULL ((uint32_t)1 << VPT_ATOM_TNT_MAX)

static inline bool vpti_atom_erratum(const struct vpt_atom *a, enum vpt_atom_erratum which)
{
	return a->options.errata & which;
}

static inline bool vpti_atom_overflow(const struct vpt_atom *a)
{
	return a->regs.status & VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
}

/* [ATOM-LIP] */
static inline uint64_t vpti_atom_lip(const struct vpt_atom *a, uint64_t ip)
{
	return (ip + a->ip_base) & a->ip_mask;
}

/* atom_output.c: bytes to memory. Each byte advances OFFSET. vpti_atom_out_stop() stores TraceStop's byte. */
void vpti_atom_out_start(struct vpt_atom *a);
void vpti_atom_out(struct vpt_atom *a, const uint8_t *bytes, size_t len);
void vpti_atom_out_stop(struct vpt_atom *a, uint8_t byte);

/* atom_clock.c: read the clock, which never goes back. */
void vpti_atom_clock_read(const struct vpt_atom *a, struct vpt_clock *now);
/* Set the core clock to `cycles`. CNTP counts the difference if it counts now. */
void vpti_atom_clock_advance(struct vpt_atom *a, uint64_t cycles);
/* Start or stop CNTP at this moment. */
void vpti_atom_set_counting(struct vpt_atom *a, bool counting);

/*
 * atom_enable.c
 *
 * Recompute PacketEn, STATUS, `watches`, `each_insn`, `slow` and `fast` after a change of a
 * register or of an enable.
 */
void vpti_atom_update(struct vpt_atom *a);
/* Returns true if CNTP counts while the core is awake. */
bool vpti_atom_counts(const struct vpt_atom *a);
/* Load the address width and ContextEn from `ctx`. */
void vpti_atom_enter(struct vpt_atom *a, const struct vpt_context *ctx);
/* Returns true if `ctx` is traced. Ignores Trace_En. */
bool vpti_atom_in_context(const struct vpt_atom *a, const struct vpt_context *ctx);

/* How execution reaches an instruction: by falling through, or by a branch. */
enum vpti_atom_way { VPTI_ATOM_WALK, VPTI_ATOM_ARRIVE };

/* Compute FilterEn for the instruction at `lip`, then update. Returns true for a TraceStop. */
bool vpti_atom_reach(struct vpt_atom *a, enum vpti_atom_way way, uint64_t lip);

/* The enables before an operation. */
struct vpti_atom_before {
	bool trigger_en, context_en, filter_en, packet_en;
};

static inline struct vpti_atom_before vpti_atom_stands(const struct vpt_atom *a)
{
	struct vpti_atom_before before = {a->trigger_en, a->context_en, a->filter_en, a->packet_en};

	return before;
}

/* atom_buffer.c */
void vpti_atom_buffer_start(struct vpt_atom *a);
/* Drain the buffer up to the current time. */
void vpti_atom_buffer_pass(struct vpt_atom *a);
void vpti_atom_buffer_empty(struct vpt_atom *a);
/* Take `len` bytes of the buffer. Returns false and sets Buffer_Overflow if they do not fit. */
bool vpti_atom_room(struct vpt_atom *a, size_t len);
/* Take `len` bytes of the buffer, or the rest of it. */
void vpti_atom_force(struct vpt_atom *a, size_t len);
void vpti_atom_set_overflow(struct vpt_atom *a, bool overflow);

/* atom_put.c: packets. Each is lost while Buffer_Overflow is set. */
void vpti_atom_put(struct vpt_atom *a, struct vpt_atom_packet *packet);
void vpti_atom_put_lip(struct vpt_atom *a, enum vpt_atom_pkt_kind kind, uint64_t lip);
/* Send the outcomes in TNT_BUFF, if there are any. */
void vpti_atom_put_tnt(struct vpt_atom *a);
void vpti_atom_outcome(struct vpt_atom *a, bool taken);
/* Send the PSB of TriggerEn. An overflow does not stop it. */
void vpti_atom_put_psb(struct vpt_atom *a);
/* Send a PSB if PKT_CNT makes one due. */
void vpti_atom_psb_if_due(struct vpt_atom *a);
/* Send TraceStop. Returns false if it did not fit. `forced`: send it during an overflow too. */
bool vpti_atom_put_stop(struct vpt_atom *a, bool forced);
void vpti_atom_forget_lips(struct vpt_atom *a);

/*
 * atom_time.c
 *
 * Update the time: CNTP counts, MTCs that are due are sent, the buffer drains. The caller does so
 * before each operation that may send a packet or read the time while TriggerEn is set.
 */
void vpti_atom_now(struct vpt_atom *a);
void vpti_atom_time_start(struct vpt_atom *a);
/* Restart MTC after a change of RTIT_CTL. */
void vpti_atom_time_load(struct vpt_atom *a);
/* Update the time after an interval in which the core was stopped. */
void vpti_atom_time_stop(struct vpt_atom *a);
void vpti_atom_sts(struct vpt_atom *a);
void vpti_atom_pcc(struct vpt_atom *a, uint64_t ip);
void vpti_atom_sleep(struct vpt_atom *a, uint8_t cstate);
void vpti_atom_wake(struct vpt_atom *a);

/* atom_trigger.c: TriggerEn rises. Sends PSB; the caller sends FUP.PGE. */
void vpti_atom_start(struct vpt_atom *a);
/* TriggerEn falls. Sends nothing, and keeps the outcomes in TNT_BUFF. */
void vpti_atom_end(struct vpt_atom *a);
/* Send TraceStop, whose ID matched, and end the trace. An overflow defers both. */
void vpti_atom_trace_stop(struct vpt_atom *a);

/*
 * atom_cross.c
 *
 * Send the packet of an enable that changed, and TraceStop if `stop` is set. FUP.PGD has the LIP
 * `left`, FUP.PGE has `to`.
 */
void vpti_atom_cross(struct vpt_atom *a, const struct vpti_atom_before *before, bool stop,
		     uint64_t left, uint64_t to);
/* End an overflow between two instructions, if it can end. The next instruction is at `ip`. */
void vpti_atom_resolve(struct vpt_atom *a, uint64_t ip);
/* Send whatever goes out between two instructions. The next instruction is at `ip`. */
void vpti_atom_finish(struct vpt_atom *a, uint64_t ip);

/* atom_event.c: trace a far transfer, or a change that is like one. */
void vpti_atom_transfer(struct vpt_atom *a, uint64_t from, uint64_t to);

/* atom.c */
bool vpti_atom_options_ok(const struct vpt_atom_options *options);

VPT_END_DECLS

#endif /* VPTI_SRC_ATOM_GEN_H */
