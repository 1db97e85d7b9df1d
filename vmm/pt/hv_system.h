/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of hv*.c: what VM entries and exits mean to PT, and to Atom's RTIT. */
#ifndef VMM_PT_HV_SYSTEM_H
#define VMM_PT_HV_SYSTEM_H

#include "pt/hv.h"

struct tracer_hv_ops {
	/* The functions behind tracer_hv_can() and tracer_hv_switch(). The latter queues MSRs. */
	enum vpt_status (*can)(const struct tracer_hv *hv, enum vpt_usage usage, const char **why);
	enum vpt_status (*change)(struct tracer_hv *hv, enum vpt_usage usage, const char **why);
	/* The checks of an entry: NULL, or why it fails. It may then be told that it failed. */
	const char *(*check)(struct tracer_hv *hv);
	void (*failed)(struct tracer_hv *hv, uint64_t next);
	/* The transitions. */
	void (*enter)(struct tracer_hv *hv, const struct tracer_root_insn *insn, uint64_t guest_ip);
	void (*leave)(struct tracer_hv *hv, const struct tracer_hv_exit *e, uint64_t host_ip);
	/* Queue what ends a trace. */
	void (*end)(struct tracer_hv *hv);
	/* Optional: tracer_hv_insert_begin() and its end. */
	bool (*insert_begin)(struct tracer_hv *hv, uint64_t ip);
	void (*insert_end)(struct tracer_hv *hv, uint64_t next, const struct tracer_hv_exit *e);
};

/* A page like any other to the trace unit; the next one is the host's. */
#define TRACER_HV_VMCS (TRACER_ROOT_CR3 + 0x1000)

/* Root code writes this MSR before the next entry. */
void tracer_hv_queue(struct tracer_hv *hv, uint32_t msr, uint64_t value);

/*
 * Report VMXON, VMCLEAR, VMPTRLD or VMXOFF of root code; any other instruction does nothing. The
 * PT unit keeps the current VMCS for both trace systems (spaces.h).
 */
void tracer_hv_vmx_insn(struct tracer_hv *hv, const struct tracer_root_insn *insn);

extern const struct tracer_hv_ops tracer_hv_pt;	  /* hv_pt.c */
extern const struct tracer_hv_ops tracer_hv_atom; /* hv_atom.c */

#endif /* VMM_PT_HV_SYSTEM_H */
