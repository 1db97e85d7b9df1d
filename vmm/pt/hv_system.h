/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The internals of hv*.c: the effects of VM entries and exits on PT, and on Atom's RTIT. */
#ifndef VMM_PT_HV_SYSTEM_H
#define VMM_PT_HV_SYSTEM_H

#include "pt/hv.h"

struct tracer_hv_ops {
	/* Implement tracer_hv_can() and tracer_hv_switch(). The latter queues MSRs. */
	enum vpt_status (*can)(const struct tracer_hv *hv, enum vpt_usage usage, const char **why);
	enum vpt_status (*change)(struct tracer_hv *hv, enum vpt_usage usage, const char **why);
	/*
	 * Check an entry. Returns NULL, or the reason of its failure. failed() may then report the
	 * failure.
	 */
	const char *(*check)(struct tracer_hv *hv);
	void (*failed)(struct tracer_hv *hv, uint64_t next);
	/* The transitions. */
	void (*enter)(struct tracer_hv *hv, const struct tracer_root_insn *insn, uint64_t guest_ip);
	void (*leave)(struct tracer_hv *hv, const struct tracer_hv_exit *e, uint64_t host_ip);
	/* Queue the writes that end a trace. */
	void (*end)(struct tracer_hv *hv);
	/* Optional: implement tracer_hv_passes(). Without it every access exits. */
	bool (*passes)(const struct tracer_hv *hv);
	/* Optional: implement tracer_hv_insert_begin() and tracer_hv_insert_end(). */
	bool (*insert_begin)(struct tracer_hv *hv, uint64_t ip);
	void (*insert_end)(struct tracer_hv *hv, uint64_t next, const struct tracer_hv_exit *e);
};

/*
 * The address of the VMCS, which the trace unit treats like any page. The next page is the host's.
 */
#define TRACER_HV_VMCS (TRACER_ROOT_CR3 + 0x1000)

/* Queue a write of this MSR, which root code executes before the next entry. */
void tracer_hv_queue(struct tracer_hv *hv, uint32_t msr, uint64_t value);

/*
 * Report VMXON, VMCLEAR, VMPTRLD or VMXOFF of root code. Other instructions have no effect. The PT
 * unit keeps the current VMCS for both trace systems (spaces.h).
 */
void tracer_hv_vmx_insn(struct tracer_hv *hv, const struct tracer_root_insn *insn);

extern const struct tracer_hv_ops tracer_hv_pt;	  /* hv_pt.c */
extern const struct tracer_hv_ops tracer_hv_atom; /* hv_atom.c */

#endif /* VMM_PT_HV_SYSTEM_H */
