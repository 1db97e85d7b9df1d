/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The state of a trace unit as plain data, for snapshots and migration. A processor can be saved
 * while it is traced. The trace then resumes with the same bytes as if it had not been interrupted.
 *
 * The struct has no pointer and no padding, and equal units make equal bytes. A loaded state is not
 * trusted. The library checks each field, and refuses a state that a unit with these capabilities
 * cannot have.
 */
#ifndef VPT_STATE_H
#define VPT_STATE_H

#include "pt.h"

VPT_BEGIN_DECLS

#define VPT_PT_STATE_VERSION 3

enum vpt_pt_state_flags {
	VPT_STATE_TRIGGER_EN = 1 << 0,
	VPT_STATE_CONTEXT_EN = 1 << 1,
	VPT_STATE_FILTER_EN = 1 << 2,
	VPT_STATE_LAST_IP = 1 << 3,  /* last_ip is what a decoder has */
	VPT_STATE_OUTPUT = 1 << 4,   /* output was started and TraceEn is still set */
	VPT_STATE_STOPPED = 1 << 5,  /* it takes no more: ToPA STOP, or an error */
	VPT_STATE_INT_OWED = 1 << 6, /* the region's INT has yet to come */
	VPT_STATE_VMX = 1 << 7,	     /* in VMX operation */
	VPT_STATE_NON_ROOT = 1 << 8, /* ... non-root */
	VPT_STATE_SMM = 1 << 9,
	VPT_STATE_SMM_TRACE = 1 << 10,	 /* RSM sets TraceEn */
	VPT_STATE_ACM_TRACE = 1 << 11,	 /* so does the end of an ACM */
	VPT_STATE_ASLEEP = 1 << 12,	 /* neither cycles nor MTCs are counted */
	VPT_STATE_OVERFLOW = 1 << 13,	 /* packets are being lost, */
	VPT_STATE_STATE_LOST = 1 << 14,	 /* PIP, VMCS, MODE or PSB among them, */
	VPT_STATE_TIMING_LOST = 1 << 15, /* or TSC or CBR */
	VPT_STATE_DEFER_TIPS = 1 << 16,	 /* vpt_pt_options.defer_tips */
	VPT_STATE_FLAGS = (1 << 17) - 1,
};

struct vpt_pt_state {
	uint32_t version; /* VPT_PT_STATE_VERSION */
	uint32_t bytes;	  /* of this struct */
	uint32_t flags;	  /* enum vpt_pt_state_flags */
	uint32_t error;	  /* enum vpt_output_error */

	/* The registers, as reads would have them. They also say where output is. */
	uint64_t ctl, status, output_base, output_mask_ptrs, cr3_match;
	uint64_t addr[2 * VPT_MAX_RANGES];

	uint64_t topa_entry; /* the current one as it was fetched, else 0 */
	/*
	 * Bytes before the cursor that were put but not reported (committed()), or, of
	 * the trace transport, that are at the beginning of the stage. They are in
	 * guest memory, or else the caller's to save and to have there before it loads.
	 * 0 after vpt_output_flush().
	 */
	uint64_t unreported;

	uint64_t tnt; /* outcomes to be sent, below a leading 1 */
	uint64_t last_ip;
	uint64_t ip_base, ip_mask;
	uint32_t mode_exec;
	uint32_t psb_bytes;
	uint32_t vmx_controls; /* in non-root operation, enum vpt_vmx_control */
	uint32_t calls;
	uint64_t call[VPT_RETSTACK_SIZE]; /* as vpt_retstack holds them, oldest first, then 0 */

	uint64_t vmcs; /* current pointer, ~0: none */

	/*
	 * These are 0 unless the trace has CYC, MTC or a model of the internal buffer. They are
	 * the clocks at the last reading, from which the engine's clocks must continue, and the
	 * distances from them.
	 */
	uint64_t clock_cycles, clock_tsc;
	uint64_t cyc_count;  /* cycles since the last CYC */
	uint64_t mtc_missed; /* MTCs that were due since a decoder knows the time */
	uint64_t buffer_lag; /* cycles for which the buffer has yet to be drained */
	uint32_t buffer_fill, buffer_credit;

	uint32_t cyc_bits, buffer_bytes, buffer_drain; /* as in vpt_pt_options */
	uint32_t tips;				       /* bytes of deferred TIPs */
	uint8_t tip[VPT_DEFER_BYTES];		       /* those, then 0 */
};

VPT_STATIC_ASSERT(sizeof(struct vpt_pt_state) == 832, "a format: a change is a new version");

/*
 * Save the state. The trace does not change, but registers are updated as by a read. Do not call
 * this from a callback of `pt`, nor between the calls of a VM entry or exit.
 */
void vpt_pt_save(struct vpt_pt *pt, struct vpt_pt_state *state);

/*
 * Load a saved state. The caller has initialised `pt` with the capabilities that the guest sees. If
 * the trace transport is in use, the caller has set its stage. The rest of the earlier state is
 * lost. The library calls no callback except map(). The options (pt.h) become those of the state.
 *
 * Returns VPT_E_INVAL if this is no state of VPT_PT_STATE_VERSION. Returns VPT_E_CAPS if a processor
 * with these capabilities cannot have it. Returns VPT_E_NOSPC if the stage has no room for the
 * unreported bytes. After an error `pt` is unchanged.
 */
enum vpt_status vpt_pt_load(struct vpt_pt *pt, const struct vpt_pt_state *state) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_STATE_H */
