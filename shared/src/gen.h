/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Inside of the packet generator: shared by pt.c, gen_*.c and nothing else. */
#ifndef VPTI_SRC_GEN_H
#define VPTI_SRC_GEN_H

#include "vpt/encode.h"
#include "vpt/pt.h"
#include "vpt/vmx.h"

VPT_BEGIN_DECLS

/* What of a VMCS pointer is sent (table 33-34). */
#define VPTI_VMCS_POINTER VPT_MASK64(51, 12)

/* Act on what the output says of bytes just put: STOP, INT, error. */
void vpti_gen_output_events(struct vpt_pt *pt, unsigned int events) VPT_COLD;

/* put_slow: may a packet of this size be put? The packet before it of the same event may have
 * ended the trace, or filled the internal buffer, which is kept account of here. */
bool vpti_gen_room(struct vpt_pt *pt, size_t len);

/* Append a packet to the trace. */
static inline void vpti_gen_put(struct vpt_pt *pt, const uint8_t *bytes, size_t len)
{
	unsigned int events;

	if (vpt_unlikely(pt->put_slow) && !vpti_gen_room(pt, len))
		return;
	pt->psb_bytes += (uint32_t)len;
	events = vpt_output_put(&pt->out, bytes, len);
	if (vpt_unlikely(events != VPT_OUT_OK))
		vpti_gen_output_events(pt, events);
}

/* Send gathered branch outcomes, if any. Every other packet does so first. */
void vpti_gen_flush_tnt(struct vpt_pt *pt);

/* Send a packet that is not hot, after its CYC if it is to have one. */
void vpti_gen_write(struct vpt_pt *pt, const struct vpt_packet *packet);
void vpti_gen_packet(struct vpt_pt *pt, enum vpt_pkt_kind kind, uint64_t value, bool flag);

/* Send an IP packet; `ip` is a RIP. */
void vpti_gen_ip(struct vpt_pt *pt, enum vpt_ip_opcode op, uint64_t ip);
/* Defer a TIP, or send it where none may be deferred. */
void vpti_gen_defer_tip(struct vpt_pt *pt, uint64_t to);
/* Send an IP packet without a payload, since the IP is out of context. */
void vpti_gen_ip_suppressed(struct vpt_pt *pt, enum vpt_ip_opcode op);

void vpti_gen_pip(struct vpt_pt *pt, const struct vpt_context *ctx);
/* The same with NR as the caller has it, for VM entries. */
void vpti_gen_pip_nr(struct vpt_pt *pt, const struct vpt_context *ctx, bool nr);
/* The current VMCS pointer, if ContextEn. */
void vpti_gen_vmcs(struct vpt_pt *pt);
/* MODE.Exec, if the decoder does not know the mode yet (33.4.2.8). */
void vpti_gen_mode_exec(struct vpt_pt *pt, const struct vpt_context *ctx);
/* Without BranchEn, once FilterEn and ContextEn are as they are at `ip`: the same for event
 * trace, with a FUP there. */
void vpti_gen_mode_alone(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip);

/* Send TSC, TMA and CBR, as on enabling without a PSB+ (33.2.8.3). The clock was read. */
void vpti_gen_timing(struct vpt_pt *pt, const struct vpt_context *ctx);

/* gen_time.c: what CTL says of time; TriggerEn rises, the counters begin. */
void vpti_gen_time_load(struct vpt_pt *pt);
void vpti_gen_time_start(struct vpt_pt *pt);
/* Read the clock and send the MTC and CYC packets that are due. */
void vpti_gen_time_pass(struct vpt_pt *pt);
/*
 * A CYC-eligible packet comes next: send its CYC, if it is to have one (33.3.6). With
 * `elapses` the engine may say that time has passed within the event.
 */
void vpti_gen_cyc(struct vpt_pt *pt, bool elapses);
static inline void vpti_gen_eligible(struct vpt_pt *pt)
{
	if (vpt_unlikely(pt->time.cyc_en))
		vpti_gen_cyc(pt, true);
}
/* A trace is gone on with that was saved: where MTCs stand at `now`. */
void vpti_gen_time_loaded(struct vpt_pt *pt);
/* Neither counter counts from here on, or both do again; `now` is right. */
void vpti_gen_time_sleep(struct vpt_pt *pt);
void vpti_gen_time_wake(struct vpt_pt *pt);
/* In place of vpti_gen_now(): the time since `now` was a stop, which a TSC will report. */
void vpti_gen_time_stop(struct vpt_pt *pt);

/* gen_buffer.c: the buffer of a trace that begins; what has left it by `now`; an overflow
 * that is over by the end of an event, `ip` being next. */
void vpti_gen_buffer_start(struct vpt_pt *pt);
void vpti_gen_buffer_drain(struct vpt_pt *pt);
void vpti_gen_buffer_resolve(struct vpt_pt *pt, uint64_t ip);
/* [TIME-ONE-MOMENT] Begin a call that sends packets: the one reading of the clock. */
static inline void vpti_gen_now(struct vpt_pt *pt)
{
	if (vpt_likely(!pt->slow) || !pt->trigger_en)
		return;
	vpti_gen_time_pass(pt);
	if (pt->options.buffer_bytes)
		vpti_gen_buffer_drain(pt);
}
/* Nothing is traced from here on, so that the buffer empties: OVF if packets were lost. */
void vpti_gen_buffer_end(struct vpt_pt *pt);
/* A PIP comes, and what follows it up to its TIP: is there room for all of it? */
void vpti_gen_reserve(struct vpt_pt *pt) VPT_COLD;
/* A packet of this kind is lost: what will have to be told when the overflow is over. */
void vpti_gen_note_lost(struct vpt_pt *pt, enum vpt_pkt_kind kind) VPT_COLD;
/* OVF and what follows it, at `ip` (33.3.8). */
void vpti_gen_overflow(struct vpt_pt *pt, uint64_t ip);

/* gen_defer.c: deferred TIPs (33.4.2.3): move all to `buf`, which has VPT_DEFER_BYTES, behind
 * their TNT; drop all. */
size_t vpti_gen_take_tips(struct vpt_pt *pt, uint8_t *buf);
void vpti_gen_drop_tips(struct vpt_pt *pt);

/* A TIP of a near JMP or CALL. */
static inline void vpti_gen_tip(struct vpt_pt *pt, uint64_t to)
{
	if (vpt_unlikely(pt->options.defer_tips))
		vpti_gen_defer_tip(pt, to);
	else
		vpti_gen_ip(pt, VPT_OP_TIP, to);
}

/* gen_software.c, gen_power.c, gen_tsx.c, gen_system.c, gen_enclave.c, gen_event_trace.c: an
 * event of these kinds. */
void vpti_gen_ptwrite(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_sleep(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_wake(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_cbr(struct vpt_pt *pt, const struct vpt_event *event);
/* A C-state (event.h) is entered at `ip` without an MWAIT: by HLT, shutdown, the hardware. */
void vpti_gen_power_enter(struct vpt_pt *pt, uint8_t cstate, uint64_t ip, bool hw);
void vpti_gen_tsx(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_init(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_sipi(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_shutdown(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_enclave(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_uintr(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_intr_flag(struct vpt_pt *pt, const struct vpt_event *event);

/* PSB+ at `ip`, the next instruction's (33.3.7). */
void vpti_gen_psb_plus(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip);
void vpti_gen_psb_due(struct vpt_pt *pt, uint64_t ip);

/* [GEN-PSB-PERIOD] The same if PSBFreq's worth of bytes went out since the last one. */
static inline void vpti_gen_psb_if_due(struct vpt_pt *pt, uint64_t ip)
{
	if (vpt_unlikely(pt->psb_bytes >= pt->psb_period))
		vpti_gen_psb_due(pt, ip);
}

/*
 * [GEN-RETC-LIP] Returns a RIP as payloads show IPs: a LIP where payloads are LIPs. The range
 * comparators and the stack of CALLs hold such IPs too (33.3.1.1).
 */
static inline uint64_t vpti_gen_payload_ip(const struct vpt_pt *pt, uint64_t ip)
{
	return (ip + pt->ip_base) & pt->ip_mask;
}

/* Does the decoder know the mode that `ctx` is in? */
bool vpti_gen_mode_known(const struct vpt_pt *pt, const struct vpt_context *ctx);

/*
 * Begin a trace, TraceEn being set, in three steps: start the output, asking for the
 * context; describe the state by PSB+, or by timing packets if `timing`; and begin at
 * `ip`: TraceStop, FilterEn, TIP.PGE. The first two return TriggerEn, without which
 * there is nothing more to be done.
 */
bool vpti_gen_start(struct vpt_pt *pt, struct vpt_context *ctx);
bool vpti_gen_announce(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip, bool timing);
void vpti_gen_trace_from(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip);

/* TraceEn is set once more after an ACM: the trace goes on as if nothing had been between.
 * Returns TriggerEn. */
bool vpti_gen_resume(struct vpt_pt *pt);

/* A far transfer as a whole: [FUP,] what event trace adds, PIP, MODE.Exec, TIP. */
void vpti_gen_far(struct vpt_pt *pt, const struct vpt_event *event, bool fup);

/*
 * Arrive at `to` by a far transfer whose FUP and PIP are out, with ContextEn as it is
 * there and PacketEn (`was`) as it was before: TIP, TIP.PGE, TIP.PGD, TraceStop.
 */
void vpti_gen_enter_target(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t to, bool was);

/* Set IA32_RTIT_CTL to `ctl`, which was checked, as WRMSR does after its checks. If the trace may
 * end the caller has called vpti_gen_now(). */
void vpti_gen_set_ctl(struct vpt_pt *pt, uint64_t ctl, uint64_t ip, uint64_t next_ip);

/* [VMX-NO-PT SMM-NOT-VMX] Returns true if VMX operation keeps software from IA32_RTIT_CTL. */
static inline bool vpti_gen_ctl_is_locked(const struct vpt_pt *pt)
{
	return pt->vmx.on && !pt->in_smm && !pt->caps->vmx_pt;
}

/* TriggerEn is about to fall: a PSB that is due then is owed, if software wants that. */
void vpti_gen_note_pending_psb(struct vpt_pt *pt);

/* Output and STATUS end; STATUS and the output registers are exact. */
void vpti_gen_end(struct vpt_pt *pt);

/* Take over CPL-independent parts of a context: how IPs are to be formed. */
void vpti_gen_ip_form(struct vpt_pt *pt, const struct vpt_context *ctx);

/* Take what CTL says, and PacketByteCnt, into the form the generator looks at. */
void vpti_gen_load_config(struct vpt_pt *pt);

/* Is there such a processor? */
bool vpti_gen_options_ok(const struct vpt_pt_options *options);

/* Compute PacketEn and the state of the fast path from the single enables. */
void vpti_gen_update(struct vpt_pt *pt);

/* Change TriggerEn, update STATUS and report the change to the engine. */
void vpti_gen_set_trigger(struct vpt_pt *pt, bool trigger_en);

/* Update STATUS, if TraceEn is set. */
void vpti_gen_sync_status(struct vpt_pt *pt);

/* Flush the output and update the output registers. */
void vpti_gen_sync_output(struct vpt_pt *pt);

/* TriggerEn falls by `status_bit`, VPT_STATUS_MASK(STOPPED) or (ERROR). */
void vpti_gen_halt(struct vpt_pt *pt, uint64_t status_bit);

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_H */
