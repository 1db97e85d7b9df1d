/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The PT of one logical processor: registers, enables, packet generator and
 * output, joined. This is what an engine, a hypervisor or an emulator embeds:
 *
 *   vpt_pt_init()			at reset
 *   vpt_pt_rdmsr(), vpt_pt_wrmsr()	on each access to an IA32_RTIT_* MSR
 *   vpt_pt_event(), or the inline	on each change of flow
 *     vpt_pt_cond() for Jcc
 *
 * Calls for one vpt_pt must not overlap; different ones are independent.
 */
#ifndef VPT_PT_H
#define VPT_PT_H

#include "clock.h"
#include "enable.h"
#include "event.h"
#include "gate.h"
#include "output.h"
#include "retstack.h"
#include "rtit.h"

VPT_BEGIN_DECLS

struct vpt_pt_ops {
	struct vpt_mem_ops mem;
	/* Fill in the context of the next instruction. */
	void (*context)(void *opaque, struct vpt_context *ctx);
	/*
	 * Optional. A ToPA INT region is full: latch GLOBAL_STATUS[55] and raise
	 * the LVT performance interrupt. Called once per region, from inside an
	 * event or MSR write; it must not call back into this vpt_pt.
	 */
	void (*pmi)(void *opaque);
	/*
	 * Optional. TriggerEn rose or fell: an engine that runs faster when
	 * nothing is traced switches here. Same restriction.
	 */
	void (*trigger)(void *opaque, bool trigger_en);
	/*
	 * Optional. Fill in the clocks. All packets of one event have the same time. The library
	 * therefore reads the clocks once in each call that reports an event or accesses an MSR,
	 * before it requests the context. It reads them twice if a host's write restarts a trace.
	 * It reads them only while MTC or CYC packets or the model of the internal buffer are on.
	 *
	 * context() shall report the TSC of the same time, or TSC and TMA packets disagree. An
	 * engine whose TSC runs by itself therefore keeps its first reading for the rest of the
	 * call. Without this callback the TSC of the first context() of a call is used for both
	 * clocks.
	 */
	void (*clock)(void *opaque, struct vpt_clock *now);
	/*
	 * Optional. For engines that know the duration of each part of an operation (33.3.6.2).
	 * Fill in the clocks at the next CYC-eligible packet of the current event. From then on
	 * context() shall report the TSC of that time. The library calls this only while CYC
	 * packets are on, and not for TSC packets.
	 */
	void (*elapse)(void *opaque, struct vpt_clock *now);
	/*
	 * Optional. Returns true if the engine closes the gate in time while MTC or CYC packets are
	 * on (VPT_GATE_TIMED in gate.h). The library then reads no clock for a near branch that the
	 * gate takes. If @whole is set, return true only if each core clock is the same whole number
	 * of TSC ticks. The answer is valid until the next due time or VPT_EV_CBR, after which the
	 * library asks again. Do not implement this with elapse().
	 */
	bool (*keeps_due)(void *opaque, bool whole);
};

/* Properties of a processor that CPUID does not enumerate. All zero is the default. */
struct vpt_pt_options {
	/* Bits of the cycle counter (33.3.6.1), 8 to 32; 0 stands for 14. A CYC without another
	 * packet is sent when a quarter of the counter's range has passed. */
	uint8_t cyc_bits;
	/* TIPs wait for a TNT packet until it is full or another packet is sent (33.4.2.3). */
	bool defer_tips;
	/*
	 * The internal buffer (33.3.8). @buffer_bytes is its size, VPT_BUFFER_MIN to
	 * VPT_BUFFER_MAX; 0 is a buffer that never overflows. @buffer_drain is the number of bytes
	 * that leave it in 1024 core clocks; 0 stands for 1024.
	 */
	uint32_t buffer_bytes;
	uint32_t buffer_drain;
};

/* The packets after an overflow fit in this buffer (33.3.8): OVF, FUP and a PSB+, with their CYCs. */
#define VPT_BUFFER_MIN 128u
#define VPT_BUFFER_MAX (1u << 20)

/* Timing packets (gen_time.c). */
struct vpt_pt_time {
	struct vpt_clock now; /* at the event at hand, or at the last one that read the clock */
	uint64_t cyc_last;    /* core clock of the last CYC, or where it began to count */
	uint64_t mtc_last;    /* ART >> MTCFreq, of the last MTC that was due */
	uint64_t mtc_told;    /* the same, as of what was sent last */
	uint64_t mtc_due;     /* TSC of the next one; 0: not worked out */
	uint32_t cyc_thresh;  /* least clocks between two CYCs */
	uint32_t cyc_alone;   /* clocks after which one goes out on its own */
	uint8_t mtc_freq;
	bool cyc_en;
	bool mtc_en;
	bool asleep; /* in a state in which neither counts */
};

/* The internal buffer's model (gen_buffer.c). */
struct vpt_pt_buffer {
	uint64_t drained; /* core clock up to which bytes have left */
	uint32_t fill;
	uint32_t credit;  /* of the next byte that leaves, 1024ths, below 1024 */
	bool overflow;	  /* packets are being lost, */
	bool state_lost;  /* PIP, VMCS, MODE or a part of a PSB+ among them, or was and no
			   * PSB+ in context has come since, */
	bool timing_lost; /* or TSC or CBR */
};

/* TIPs that wait (gen_defer.c), as they will be sent: with a TNT, fewer than VPT_BUFFER_MIN. */
#define VPT_DEFER_BYTES 64
struct vpt_pt_defer {
	uint16_t len;
	uint8_t bytes[VPT_DEFER_BYTES];
};

/* VMX operation, see vmx_pt.h. */
struct vpt_pt_vmx {
	uint64_t vmcs;	   /* current pointer, ~0: none */
	uint64_t next;	   /* moving: IP after the instruction that enters */
	uint32_t controls; /* of the VMCS whose guest runs, or of the transition */
	uint32_t flags;	   /* of the transition, enum vpt_vmx_transition_flags */
	bool on;	   /* in VMX operation */
	bool non_root;
	bool moving;	  /* inside of a transition: a rising TraceEn waits for its end */
	bool leaving;	  /* ... that is a VM exit whose source is in the trace already */
	bool rising;	  /* moving: TraceEn is set, its trace has yet to begin */
	bool was_context; /* moving: ContextEn, as the transition began */
};

struct vpt_pt {
	struct vpt_gate gate; /* first; open: an IP needs no CS base */
	bool packet_en;	      /* PacketEn (33.2.6.1) */
	bool put_slow;	      /* a packet that is put may be lost, or is counted */
	bool slow;	      /* timing packets or the buffer's model need work at each event */
	bool tips_wait;	      /* there are deferred TIPs */

	bool trigger_en;
	bool context_en;
	bool filter_en;
	bool branch_en;
	bool has_ranges;   /* some ADDRn_CFG is set: branches are compared */
	bool ret_compress; /* DisRETC is clear */
	bool dis_tnt;

	bool last_ip_valid; /* else the next IP goes out in full */
	uint64_t last_ip;
	uint64_t ip_base;   /* CS base where payloads are LIP, else 0 */
	uint64_t ip_mask;   /* width of an IP in the current mode */
	uint32_t mode_exec; /* last MODE.Exec sent, VPT_MODE_UNKNOWN if none */
	uint32_t psb_bytes; /* bytes since the last PSB */
	uint32_t psb_period;
	struct vpt_retstack retstack;
	struct vpt_pt_vmx vmx;
	struct vpt_pt_time time;
	struct vpt_pt_buffer buffer;
	struct vpt_pt_options options;
	bool smm_trace_en; /* TraceEn that an SMI saved (33.2.9.3) */
	bool acm_trace_en; /* TraceEn while an ACM runs (33.2.9.6) */
	bool in_smm;

	struct vpt_rtit rtit;
	struct vpt_output out;
	const struct vpt_caps *caps;
	const struct vpt_pt_ops *ops;
	void *opaque;
	struct vpt_pt_defer defer; /* last: it is large and seldom used */
};

#define VPT_MODE_UNKNOWN (~(uint32_t)0)

/* How many branch outcomes are gathered before a TNT packet is due. */
#define VPT_TNT_GATHER VPT_TNT64_MAX

/*
 * Power-on reset. `caps`, `ops` and `opaque` must outlive the struct, which is
 * the caller's; there is nothing to release. With NULL for `caps`, as vpt_caps_model()
 * returns it for an unknown name, the processor has no PT: each MSR access raises #GP.
 */
void vpt_pt_init(struct vpt_pt *pt, const struct vpt_caps *caps, const struct vpt_pt_ops *ops,
		 void *opaque);

/*
 * Set the options of the modelled processor. TraceEn must be clear, as after vpt_pt_init().
 * Returns VPT_E_INVAL, and changes nothing, if a value is out of range or TraceEn is set.
 */
enum vpt_status vpt_pt_set_options(struct vpt_pt *pt,
				   const struct vpt_pt_options *options) VPT_MUST_CHECK;

/* Warm reset (33.3.4). A trace that runs ends without further packets. */
void vpt_pt_warm_reset(struct vpt_pt *pt);

/*
 * RDMSR and WRMSR, or a host's access to the same registers. The packets for a change of TraceEn
 * have IPs. A guest's WRMSR therefore gives its own IP and the next one. A host that starts or stops
 * the trace between two instructions gives the IP of the next one for both. For the MSR areas of a
 * VM entry or exit the IPs are ignored (vmx_pt.h). After VPT_FAULT_GP nothing has changed.
 *
 * A host that restores a saved state writes CTL last, as for XRSTORS.
 */
enum vpt_fault vpt_pt_rdmsr(struct vpt_pt *pt, uint32_t msr, uint64_t *value) VPT_MUST_CHECK;
enum vpt_fault vpt_pt_wrmsr(struct vpt_pt *pt, uint32_t msr, uint64_t value, enum vpt_access who,
			    uint64_t ip, uint64_t next_ip) VPT_MUST_CHECK;

/*
 * Report a change of flow; IPs are RIPs, offsets from the CS base. An unknown
 * kind is ignored.
 */
void vpt_pt_event(struct vpt_pt *pt, const struct vpt_event *event);

/* Not for callers: the ends of the inline paths below. */
void vpt_pt_tnt_due(struct vpt_pt *pt, uint64_t ip);

/* Report a conditional branch, as vpt_pt_event() does with VPT_EV_COND. */
static inline void vpt_pt_cond(struct vpt_pt *pt, uint64_t from, uint64_t to, bool taken)
{
	if (vpt_gate_is_open(&pt->gate)) {
		uint64_t tnt = pt->gate.tnt * 2 + (uint64_t)taken;

		pt->gate.tnt = tnt;
		if (vpt_unlikely(tnt >= pt->gate.tnt_full))
			vpt_pt_tnt_due(pt, to);
	} else if (pt->trigger_en) {
		struct vpt_event event;

		vpt_event_cond(&event, from, to, 0, taken);
		vpt_pt_event(pt, &event);
	}
}

/*
 * The quick paths, for engines that have work to do after an event which sends packets. Each
 * function either does all that the branch requires and returns true, or does nothing and returns
 * false. The engine must then call vpt_pt_event().
 */
static inline bool vpt_pt_quick_cond(struct vpt_pt *pt, bool taken)
{
	return vpt_gate_cond(&pt->gate, taken);
}

/* @next is the return address. Report a CALL to that address by vpt_pt_event() instead. */
static inline bool vpt_pt_quick_call(struct vpt_pt *pt, uint64_t next)
{
	if (vpt_unlikely(!vpt_gate_is_open(&pt->gate)))
		return false;
	if (pt->ret_compress)
		vpt_retstack_push(&pt->retstack, next);
	return true;
}

/* A RET that becomes a TNT bit. */
static inline bool vpt_pt_quick_ret(struct vpt_pt *pt, uint64_t to)
{
	uint64_t tnt = pt->gate.tnt << 1 | 1;

	if (vpt_unlikely(!vpt_gate_is_open(&pt->gate) || !pt->ret_compress ||
			 tnt >= pt->gate.tnt_full || !pt->retstack.depth ||
			 pt->retstack.ip[(pt->retstack.top - 1) % VPT_RETSTACK_SIZE] != to))
		return false;
	pt->gate.tnt = tnt;
	pt->retstack.top--;
	pt->retstack.depth--;
	return true;
}

/*
 * Branches that send a TIP. They also return false if the output has no room for it, or if a PSB
 * is due. Call the last one for a RET for which vpt_pt_quick_ret() returned false.
 *
 * While VPT_GATE_TIP is set, generated code of an engine may do the same for n bytes of packets, a
 * short TNT and a TIP. @last_ip_valid must be set. More than n bytes must be left up to @out.end, and
 * @psb_bytes plus n must be below @psb_period.
 */
bool vpt_pt_quick_jmp_indirect(struct vpt_pt *pt, uint64_t to);
bool vpt_pt_quick_call_indirect(struct vpt_pt *pt, uint64_t to, uint64_t next);
bool vpt_pt_quick_ret_tip(struct vpt_pt *pt, uint64_t to);

/*
 * A second chance for a near branch that the functions above have not taken, at the time *@now. This
 * function compares targets with the ranges, too, and sends TNT and CYC packets. It calls nothing of
 * struct vpt_pt_ops. @kind is VPT_EV_COND to VPT_EV_RET, and @to the next IP. @taken counts for
 * COND, and @next, the return address, for CALL and CALL_INDIRECT.
 */
bool vpt_pt_quick_branch(struct vpt_pt *pt, uint8_t kind, bool taken, uint64_t to, uint64_t next,
			 const struct vpt_clock *now);

/*
 * A near branch at the time *@now is the first event since vpt_gate_expire(). If one MTC is due and nothing
 * else, send it and open the gate again, so that the functions above can take the branch. Returns false,
 * and does nothing, otherwise.
 */
bool vpt_pt_quick_due(struct vpt_pt *pt, const struct vpt_clock *now);

/* A direct JMP sends nothing. */
static inline bool vpt_pt_quick_jmp(const struct vpt_pt *pt)
{
	return vpt_gate_jmp(&pt->gate);
}

/*
 * The same through the gate. It must be the gate of a struct vpt_pt, or one that is closed: the
 * members behind it are used only if it is open.
 */
static inline struct vpt_pt *vpt_gate_pt(struct vpt_gate *gate)
{
	return (struct vpt_pt *)(void *)gate;
}

static inline bool vpt_gate_call(struct vpt_gate *gate, uint64_t next)
{
	return vpt_gate_is_open(gate) && vpt_pt_quick_call(vpt_gate_pt(gate), next);
}

static inline bool vpt_gate_ret(struct vpt_gate *gate, uint64_t to)
{
	return vpt_gate_is_open(gate) && vpt_pt_quick_ret(vpt_gate_pt(gate), to);
}

static inline bool vpt_gate_jmp_indirect(struct vpt_gate *gate, uint64_t to)
{
	return vpt_gate_is_open(gate) && vpt_pt_quick_jmp_indirect(vpt_gate_pt(gate), to);
}

static inline bool vpt_gate_call_indirect(struct vpt_gate *gate, uint64_t to, uint64_t next)
{
	return vpt_gate_is_open(gate) && vpt_pt_quick_call_indirect(vpt_gate_pt(gate), to, next);
}

static inline bool vpt_gate_ret_tip(struct vpt_gate *gate, uint64_t to)
{
	return vpt_gate_is_open(gate) && vpt_pt_quick_ret_tip(vpt_gate_pt(gate), to);
}

static inline bool vpt_gate_branch(struct vpt_gate *gate, uint8_t kind, bool taken, uint64_t to,
				   uint64_t next, const struct vpt_clock *now)
{
	return gate->state & VPT_GATE_BRANCH &&
	       vpt_pt_quick_branch(vpt_gate_pt(gate), kind, taken, to, next, now);
}

static inline bool vpt_gate_due(struct vpt_gate *gate, const struct vpt_clock *now)
{
	return gate->state & VPT_GATE_EXPIRED && vpt_pt_quick_due(vpt_gate_pt(gate), now);
}

/*
 * Say what time it is, after a completed instruction: TSC and CBR. For an engine whose
 * decoders have no other clock in between, where software is about to use the time.
 */
void vpt_pt_timing(struct vpt_pt *pt);

/*
 * Time has passed and nothing happened, `ip` is next: MTC packets that are due, a CYC on its
 * own, an overflow that is over. An engine that stands still for long calls it now and
 * then; others need not, since each event does the same first. Where it is called shows in
 * the trace: traces are equal if it is called at equal points.
 */
void vpt_pt_tick(struct vpt_pt *pt, uint64_t ip);

/*
 * Make everything that belongs to completed instructions visible in the output
 * (a partial TNT too) without changing what is traced. For a host that reads a
 * live buffer; hardware gives guests no such thing.
 */
void vpt_pt_flush(struct vpt_pt *pt);

/* Make every whole packet visible in the output. The trace does not change. */
void vpt_pt_commit(struct vpt_pt *pt);

VPT_END_DECLS

#endif /* VPT_PT_H */
