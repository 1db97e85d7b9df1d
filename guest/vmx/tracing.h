/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The four usages of 33.5.2 on the hypervisor of vmx.h. PT is set up for one of them, the machine
 * of machine.S runs through all its exits, and the trace is read back.
 */
#ifndef GUEST_VMX_TRACING_H
#define GUEST_VMX_TRACING_H

#include "pt/drv.h"
#include "seen.h"
#include "vmx.h"
#include "vpt/usage.h"

/* machine.S */
extern const uint8_t vm_entry_ip[], vm_cpuid_ip[], vm_cpuid_next[], vm_cr3_ip[];
extern const uint8_t vm_call_ip[], vm_call_next[], vm_hlt_ip[], vm_wrmsr_ip[];

#define TRACING_BUFFER (64ull << 10)

struct tracing {
	struct vmx vm;
	struct guest_drv drv;
	uint8_t *buffer;
	uint64_t ctl; /* what traces, beside TraceEn */
	struct seen_list seen;
	uint64_t end_ctl; /* IA32_RTIT_CTL after the last exit, */
	uint64_t saved;	  /* and field 2814H */
	uint64_t bytes;
	enum vmx_result result; /* of the last entry, and its exit reason or error */
	uint64_t reason;
};

/* False, with a SKIP line, without VMX or PT or PT in VMX operation. */
bool tracing_init(struct tracing *t);

/*
 * One turn of the machine from its beginning, with VMLAUNCH first and VMRESUME after.
 * `controls`: set of enum vpt_vmx_control. `lists`: TraceEn is moved by the MSR areas
 * instead. `jumps`: see machine.S.
 */
void tracing_turn(struct tracing *t, enum vpt_usage usage, uint32_t controls, bool lists,
		  uint64_t jumps);

#endif /* GUEST_VMX_TRACING_H */
