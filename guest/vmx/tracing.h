/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The four usages of 33.5.2 on the hypervisor of vmx.h. PT is set up for one of them, the machine
 * of machine.S makes all its exits, and the trace is read back.
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
	uint64_t ctl; /* the bits of IA32_RTIT_CTL other than TraceEn */
	struct seen_list seen;
	uint64_t end_ctl; /* IA32_RTIT_CTL after the last exit */
	uint64_t saved;	  /* field 2814H after the last exit */
	uint64_t bytes;
	enum vmx_result result; /* the result of the last entry */
	uint64_t reason;
};

/* Returns false and prints a SKIP line if the processor lacks VMX, PT, or PT in VMX operation. */
bool tracing_init(struct tracing *t);

/*
 * Run one iteration of the machine from its beginning, with VMLAUNCH first and VMRESUME afterwards.
 * @controls is a set of enum vpt_vmx_control. With @lists, the MSR areas change TraceEn instead.
 * @jumps is described in machine.S.
 */
void tracing_turn(struct tracing *t, enum vpt_usage usage, uint32_t controls, bool lists,
		  uint64_t jumps);

#endif /* GUEST_VMX_TRACING_H */
