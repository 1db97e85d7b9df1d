/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Interfaces between the files of the PT decoder.
 *
 * From the top: packets (pt.c, pt_plain.c), PSB+ (pt_psb.c), TIP.PGD (pt_pgd.c), TIP, FUP and OVF
 * (pt_tip.c) and errata (pt_errata.c). These files use the instructions of packets (pt_bind.c), the
 * state that packets set (pt_state.c) and events that wait (pt_wait.c).
 */
#ifndef VMM_LIBDECODE_PT_INSIDE_H
#define VMM_LIBDECODE_PT_INSIDE_H

#include "libdecode/pt.h"

enum dec_pt_waits {
	W_PSB = 1 << 0,	   /* in a PSB+ */
	W_OVF = 1 << 1,	   /* an overflow, for the address at which tracing resumes */
	W_FUP = 1 << 2,	   /* `fup`, for its TIP or TIP.PGD */
	W_MODE = 1 << 3,   /* `mode_exec` */
	W_PIP = 1 << 4,	   /* `pip_cr3`, `pip_nr` */
	W_ALONE = 1 << 5,  /* `alone`, for a FUP */
	W_PGD = 1 << 6,	   /* a TIP.PGD, for the next packet to show which instruction sent it */
	W_CR3 = 1 << 7,	   /* the last packet was a PIP that a MOV CR3 sent */
	W_TSX = 1 << 8,	   /* `tsx`, of a PSB+ */
	W_VMCS = 1 << 9,   /* `new_vmcs` */
	W_ABORT = 1 << 10, /* an abort of a transaction, whose FUP is that of the branch */
	W_BDM70 = 1 << 11, /* a PSB+ with a FUP, for a TIP.PGE that makes it an error */
	W_APL12 = 1 << 12, /* an overflow with a FUP, likewise */
	W_BOUND = 1 << 13, /* `bound`, for the branch that the events belong to */
	W_MWAIT = 1 << 14, /* `mwait`, for an EXSTOP whose FUP it shares */
	W_TRIG = 1 << 15,  /* `trig`, for a FUP of its own, which execution need not reach */
	W_LATE = 1 << 16,  /* SKD010: outcomes were skipped, so the overflow's FUP is missing */
	W_DOUBT = 1 << 17, /* SKD010: the FUP of the overflow, or an event's whose TIP follows */
};

/* The CFE types that the decoder distinguishes: see cfe.def. */
enum dec_pt_cfe_type {
#define VPT_CFE(name, type, tag, section, meaning) CFE_##name = type,
#include "../../shared/spec/cfe.def"
#undef VPT_CFE
};

/* pt_tip.c and pt_pgd.c: one function for each packet. */
enum vptd_status dec_pt_tip(struct dec_pt *pt, uint64_t ip, bool suppressed);
enum vptd_status dec_pt_pge(struct dec_pt *pt, uint64_t ip, bool suppressed);
enum vptd_status dec_pt_pgd(struct dec_pt *pt, uint64_t ip, bool suppressed);
enum vptd_status dec_pt_fup(struct dec_pt *pt, uint64_t ip, bool suppressed);
enum vptd_status dec_pt_overflow(struct dec_pt *pt);
/* Bind a waiting TIP.PGD. The next packet is of kind @next. */
enum vptd_status dec_pt_pgd_now(struct dec_pt *pt, enum vpt_pkt_kind next);

/* pt_bind.c */
enum vptd_status dec_pt_pip(struct dec_pt *pt, uint64_t cr3, bool nr);
enum vptd_status dec_pt_vmcs(struct dec_pt *pt, uint64_t value);
enum vptd_status dec_pt_ptwrite(struct dec_pt *pt, const struct vpt_packet *p);
/* Resume tracing in the traced region after an overflow (33.3.8). */
enum vptd_status dec_pt_resume(struct dec_pt *pt, uint64_t ip);
/* Run to the instruction that sent a TIP.PGD. */
enum vptd_status dec_pt_seek_sender(const struct dec_pt *pt, struct dec_flow *f, uint64_t ip,
				    bool suppressed);

static inline bool dec_pt_has(const struct dec_pt *pt, enum dec_errata erratum)
{
	return pt->config.errata & erratum;
}

/* Report the CFE and EVD of an event, and the abort of a transaction, before the event. */
void dec_pt_use_event_bound(struct dec_pt *pt);
/*
 * Run to the FUP of an event. @off is true if the event is a TIP.PGD without an address. Sets
 * *flags to those of the event.
 */
enum vptd_status dec_pt_run_to_fup(struct dec_pt *pt, bool off, uint8_t *flags);
/* Report a branch where no flow is decoded, so that only its packets are known. */
enum vptd_status dec_pt_branch_alone(struct dec_pt *pt, struct vptd_event event);

/* Masks of enum dec_end, for dec_flow_seek(). */
#define DEC_END_BIT(end) (1u << DEC_END_##end)
#define DEC_LEADS_AWAY                                                                          \
	(DEC_END_BIT(COND) | DEC_END_BIT(RET) | DEC_END_BIT(JUMP_IND) | DEC_END_BIT(CALL_IND) | \
	 DEC_END_BIT(FAR))

/* pt_plain.c */
/*
 * Decode TNT and TIP packets at the begin of @bytes. Nothing may wait, packets must be enabled, and
 * no block of BBP may be open. Returns the bytes used. Sets *@status, which must be OK before.
 */
size_t dec_pt_plain(struct dec_pt *pt, const uint8_t *bytes, size_t len, enum vptd_status *status);

/* pt_errata.c */
#define W_ERRATA (W_BDM70 | W_APL12 | W_DOUBT)
/*
 * End the wait for an erratum, unless a packet of this kind leaves open whether the last FUP
 * conforms to the manual. Bind the packets that waited, except in a PSB+.
 */
enum vptd_status dec_pt_close_errata(struct dec_pt *pt, enum vpt_pkt_kind kind);
/*
 * Returns true if, after an overflow, the FUP of the waiting events shows that tracing has resumed.
 */
bool dec_pt_shows_where(const struct dec_pt *pt);
/* Use the first FUP after an overflow. */
enum vptd_status dec_pt_resume_at_fup(struct dec_pt *pt, uint64_t ip);
/*
 * End W_DOUBT at a TIP, or at a TIP.PGD if @disables is set. If execution cannot run from the FUP
 * to the sender of this packet, the FUP was that of an event. Otherwise it was that of the
 * overflow.
 */
enum vptd_status dec_pt_end_doubt(struct dec_pt *pt, bool disables, uint64_t ip, bool suppressed);

/* pt_wait.c */
void dec_pt_emit(struct dec_pt *pt, struct vptd_event event);
/* Queue an event that waits for a FUP. */
void dec_pt_alone(struct dec_pt *pt, struct vptd_event event);
/* Report, without an address, the events that wait for a FUP. */
void dec_pt_drop_alone(struct dec_pt *pt);
/*
 * Set the address of the events that wait for a FUP. With @to_branch they also wait for a branch.
 */
void dec_pt_place_alone(struct dec_pt *pt, uint64_t ip, bool to_branch);
/* Queue an EVD or CFE. Without a FUP of its own it belongs to the next branch. */
void dec_pt_cfe(struct dec_pt *pt, struct vptd_event event, bool has_fup);
/* Report the waiting CFE and EVD before their branch, or if there is no branch. */
void dec_pt_use_bound(struct dec_pt *pt);
/* Queue an MWAIT, which shares the address of the following EXSTOP (33.4.2.22). */
void dec_pt_mwait(struct dec_pt *pt, struct vptd_event event);
void dec_pt_exstop(struct dec_pt *pt, struct vptd_event event, bool has_fup);
void dec_pt_drop_mwait(struct dec_pt *pt);
/* Handle a TRIG packet, which waits for its FUP if it has one. */
void dec_pt_trig(struct dec_pt *pt, struct vptd_event event, bool has_fup);
void dec_pt_end_trig(struct dec_pt *pt, const uint64_t *ip);
/* Let a waiting VMCS packet take effect. */
void dec_pt_use_vmcs(struct dec_pt *pt);
/* Report everything that waits, except an overflow, because the awaited packets are missing. */
void dec_pt_drop_waiting(struct dec_pt *pt);
/*
 * End an overflow that waits. The first function reports the overflow at its OVF, before the events
 * that followed. The second function reports those events first, and then the overflow at @ip,
 * where tracing resumes.
 */
void dec_pt_end_overflow(struct dec_pt *pt);
void dec_pt_resume_overflow(struct dec_pt *pt, uint64_t ip);

/* pt_psb.c */
void dec_pt_psb(struct dec_pt *pt);
enum vptd_status dec_pt_psbend(struct dec_pt *pt);

/* pt_state.c */
/* Report an error, and return to the state before the first PSB. */
void dec_pt_desync(struct dec_pt *pt, enum vptd_status status);
/* Use all outcomes. Returns VPTD_E_NO_TARGET if a target is missing before the next packet. */
enum vptd_status dec_pt_use_outcomes(struct dec_pt *pt);
void dec_pt_use_space(struct dec_pt *pt, uint64_t cr3, bool nr, unsigned int flags);
void dec_pt_use_mode(struct dec_pt *pt, unsigned int mode_exec, unsigned int flags);
/* Let waiting PIP, MODE and VMCS packets take effect at the target of the current branch. */
void dec_pt_use_pending(struct dec_pt *pt);
/* Make the packets of a PSB+ the state of the trace. */
void dec_pt_use_status(struct dec_pt *pt);
/*
 * Queue the events of a MODE.Exec that a FUP follows. Returns true if the mode changes.
 * dec_pt_set_mode() must follow.
 */
bool dec_pt_wait_for_iflag(struct dec_pt *pt);
/* Set the mode and MODE.Exec without reporting them. */
void dec_pt_set_mode(struct dec_pt *pt, unsigned int mode_exec);

#endif /* VMM_LIBDECODE_PT_INSIDE_H */
