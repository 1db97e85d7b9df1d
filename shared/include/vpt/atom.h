/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The trace unit of one Silvermont or Airmont core: registers, enables, packet generator and
 * output. Its interface is that of pt.h. An engine reports the same events (event.h), and the
 * operations are the same struct.
 *
 *   vpt_atom_init()			At reset.
 *   vpt_atom_rdmsr(), vpt_atom_wrmsr()	On each access to MSRs 760H to 77DH.
 *   vpt_atom_event()			On each change of flow, while `watches`. With `each_insn`
 *					on every other instruction too (VPT_EV_INSN).
 *
 * There is no CPUID and no interrupt: the unit never calls ops->pmi. It calls ops->trigger when
 * TriggerEn rises or falls. Calls for one vpt_atom must not overlap. Sections are those of the RTIT
 * Programming Reference, v1.05.
 */
#ifndef VPT_ATOM_H
#define VPT_ATOM_H

#include "atom_msr.h"
#include "atom_packet.h"
#include "pt.h"

VPT_BEGIN_DECLS

/* Appendix E; bits of vpt_atom_options.errata. */
enum vpt_atom_erratum {
#define VPT_ATOM_ERRATUM(number, tag, section, rule) VPT_ATOM_E##number = 1 << ((number)-1),
#include "../../spec/rtit_rules.def"
	VPT_ATOM_E_ALL = (1 << 8) - 1,
};

/* The properties of a processor that no register enumerates. All zero is the default. */
struct vpt_atom_options {
	uint8_t errata;	   /* enum vpt_atom_erratum: those that it has */
	uint8_t clear_lag; /* packets after a PSB of Pkt_Cnt that still lean on what was before
			    * it, 0 to VPT_ATOM_LAG_MAX [ATOM-LIP-LAG] */
	bool disable_pgd;  /* [ATOM-DISABLE-PGD] */
	/* The internal buffer (4.2.5): its bytes, VPT_ATOM_BUFFER_MIN to VPT_BUFFER_MAX, 0 for
	 * one that never overflows; and how many leave it in 1024 core clocks, 0: 1024. */
	uint32_t buffer_bytes;
	uint32_t buffer_drain;
};

#define VPT_ATOM_LAG_MAX    4u
#define VPT_ATOM_BUFFER_MIN 64u

struct vpt_atom_time {
	struct vpt_clock now; /* at the event at hand */
	uint64_t mtc_last;    /* TSC >> the range's shift, of the last MTC that was due */
	bool counting;	      /* CNTP does, but for sleep; where nothing else wants to know
			       * the time, regs.cntp is brought up to date as it is read */
	bool asleep;	      /* neither CNTP nor MTC counts */
	bool first_mtc;	      /* E7: none was sent since TriggerEn rose */
};

struct vpt_atom_buffer {
	uint64_t drained; /* core clock up to which bytes have left */
	uint32_t fill;
	uint32_t credit;      /* of the next byte that leaves, 1024ths, below 1024 */
	bool stop_held;	      /* a TraceStop waits for FUP.BuffOvf */
	bool branched;	      /* E5: the event at hand would have sent a TIP, */
	uint64_t branched_to; /* to this LIP */
};

struct vpt_atom {
	struct vpt_gate gate; /* first; never open, since outcomes are in regs.tnt_buff */
	bool fast;	      /* vpt_atom_cond() need only gather the outcome */
	bool trigger_en, context_en, filter_en, packet_en;
	/* The engine must report events: Trace_En, even if TraceActive is clear (2.4.3). */
	bool watches;
	/*
	 * The engine must report VPT_EV_INSN too: a range is in use, an enable is to be recomputed,
	 * or packets are being lost.
	 */
	bool each_insn;
	bool slow; /* each event has to do with time, or with the buffer */
	bool in_smm, in_root;
	bool psb_owed;	/* one goes out behind the next packet: E3, or it did not fit */
	bool lose_next; /* E8: the next packet is overwritten */
	uint8_t lag;	/* packets until LAST_LIP and LAST_CALL_NLIP are cleared, 0: not owed */
	uint64_t ip_base, ip_mask; /* an IP's LIP: as of the code that runs */

	struct vpt_atom_regs regs; /* OFFSET is exact after vpt_atom_rdmsr() and drains */
	struct vpt_atom_options options;
	struct vpt_atom_time time;
	struct vpt_atom_buffer buffer;
	struct vpt_output out;
	bool scattered; /* not through `out` but byte by byte: holes in the mask, or in memory */
	const struct vpt_pt_ops *ops;
	void *opaque;
};

/* Reset. `ops` and `opaque` outlive the struct, which is the caller's. */
void vpt_atom_init(struct vpt_atom *a, const struct vpt_pt_ops *ops, void *opaque);

/*
 * Set the options. Returns VPT_E_INVAL with nothing changed if a value is out of range or Trace_En
 * is set.
 */
enum vpt_status vpt_atom_set_options(struct vpt_atom *a,
				     const struct vpt_atom_options *options) VPT_MUST_CHECK;

/*
 * Send bytes to a trace hub, which is `stream`, and not to memory. The registers do not matter then
 * (2.3.1). Like vpt_output_set_stream(). Trace_En must be clear.
 */
void vpt_atom_set_stream(struct vpt_atom *a, void *stage, size_t size,
			 void (*stream)(void *opaque, const void *bytes, size_t len));

/*
 * RDMSR and WRMSR. Return VPT_FAULT_GP with nothing changed if the access faults. `ip` and
 * `next_ip` are RIPs of the WRMSR and of the instruction after it. A host that writes between two
 * instructions passes the RIP of the next one for both, and need not read RTIT_CTL first.
 */
enum vpt_fault vpt_atom_rdmsr(struct vpt_atom *a, uint32_t msr, uint64_t *value) VPT_MUST_CHECK;
enum vpt_fault vpt_atom_wrmsr(struct vpt_atom *a, uint32_t msr, uint64_t value, enum vpt_access who,
			      uint64_t ip, uint64_t next_ip) VPT_MUST_CHECK;

/*
 * An access to one of the registers is not reported as an event. It counts as an instruction by
 * itself.
 */

/*
 * Report a change of flow, or an instruction (VPT_EV_INSN). Kinds without a meaning for RTIT count
 * as instructions. IPs are RIPs.
 */
void vpt_atom_event(struct vpt_atom *a, const struct vpt_event *event);

/* Report VPT_EV_COND by the short path. `next` is the IP after the instruction. */
static inline void vpt_atom_cond(struct vpt_atom *a, uint64_t from, uint64_t to, uint64_t next,
				 bool taken)
{
	uint32_t tnt = a->regs.tnt_buff << 1 | (uint32_t)taken;

	if (vpt_likely(a->fast && tnt < (uint32_t)1 << VPT_ATOM_TNT_MAX)) {
		a->regs.tnt_buff = tnt;
	} else if (a->watches) {
		struct vpt_event event;

		vpt_event_cond(&event, from, to, next, taken);
		vpt_atom_event(a, &event);
	}
}

/* SMI: SMRAM has `ip`. RSM: execution resumes at `ip`, after the state is restored (2.6.1). */
void vpt_atom_smi(struct vpt_atom *a, uint64_t ip);
void vpt_atom_rsm(struct vpt_atom *a, uint64_t ip);

/*
 * VM exit with the guest's RIP `ip`, and VM entry to `ip`, after the state is loaded (2.6.2). VMXON
 * counts as an exit: context() returns the context that execution left. VMXOFF counts as an entry.
 */
void vpt_atom_vm_exit(struct vpt_atom *a, uint64_t ip);
void vpt_atom_vm_entry(struct vpt_atom *a, uint64_t ip);

/* Report that time has passed without an event, like vpt_pt_tick(). */
void vpt_atom_tick(struct vpt_atom *a, uint64_t ip);

/* Make the bytes visible in memory, like a drain. Gathered outcomes stay in TNT_BUFF. */
void vpt_atom_flush(struct vpt_atom *a);

/*
 * The state for snapshots, as plain data without padding. It lacks `ops`, `opaque` and output that
 * is not flushed. vpt_atom_load() needs an initialised `a`. It returns VPT_E_INVAL with `a`
 * unchanged for an invalid state.
 */
struct vpt_atom_state {
	uint32_t version, bytes; /* VPT_ATOM_STATE_VERSION; of this struct */
	struct vpt_atom_regs regs;
	/* While a trace runs: the clocks as last read, and the times that follow from them. */
	uint64_t clock_cycles, clock_tsc, mtc_last, drained;
	uint64_t ip_base;
	uint32_t fill, credit;
	uint32_t buffer_bytes, buffer_drain;
	uint32_t flags;				  /* enum vpt_atom_state_flags */
	uint8_t errata, clear_lag, lag, reserved; /* 0 */
};

VPT_STATIC_ASSERT(sizeof(struct vpt_atom_state) == 176, "a format: a change is a new version");

enum vpt_atom_state_flags {
	VPT_ATOM_STATE_SMM = 1 << 0,
	VPT_ATOM_STATE_ROOT = 1 << 1,
	VPT_ATOM_STATE_PSB_OWED = 1 << 2,
	VPT_ATOM_STATE_LOSE_NEXT = 1 << 3,
	VPT_ATOM_STATE_ASLEEP = 1 << 4,
	VPT_ATOM_STATE_FIRST_MTC = 1 << 5,
	VPT_ATOM_STATE_STOP_HELD = 1 << 6,
	VPT_ATOM_STATE_DISABLE_PGD = 1 << 7,
	VPT_ATOM_STATE_WIDE = 1 << 8, /* 64-bit code: IPs are not cut to 32 bits */
	VPT_ATOM_STATE_FLAGS = (1 << 9) - 1,
};

#define VPT_ATOM_STATE_VERSION 1

void vpt_atom_save(struct vpt_atom *a, struct vpt_atom_state *state);
enum vpt_status vpt_atom_load(struct vpt_atom *a,
			      const struct vpt_atom_state *state) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_ATOM_H */
