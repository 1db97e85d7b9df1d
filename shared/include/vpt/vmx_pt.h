/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * VMX operation as PT sees it: what VMXON, VMPTRLD, VM entries and VM exits do to the
 * trace of a logical processor (33.5, tables 33-52 to 33-54, rows 9 to 12 of 33-56 and
 * 13 to 16 of 33-59).
 *
 * A transition is two calls, with the processor's own work between them:
 *
 *   entry:  vpt_pt_vm_entry()	 the checks have passed, nothing is loaded yet
 *	     ... guest state, VM-entry MSR-load area (vpt_pt_wrmsr())
 *	     vpt_pt_vm_entered()	 before an event is injected
 *   exit:   vpt_pt_vm_exit()	 guest state is still there
 *	     ... VM-exit MSR-store area, host state
 *	     vpt_pt_vm_exit_host()	 host state is loaded
 *	     ... VM-exit MSR-load area
 *	     vpt_pt_vm_exited()
 *
 * TraceEn that falls in between ends the trace there and then; TraceEn that rises does
 * so with the last call, at the first instruction of the other side. MSR accesses are the
 * only other calls in between. What is sent where the manual leaves a choice is in
 * docs/adr/0013.
 *
 * IPs are RIPs; context() is asked in the last call of each transition and tells the
 * side that then counts. Controls that a processor without PT in VMX operation cannot
 * have count as 0.
 */
#ifndef VPT_VMX_PT_H
#define VPT_VMX_PT_H

#include "pt.h"
#include "vmx.h"

VPT_BEGIN_DECLS

/* No VMCS is current: what VMCS packets then carry in all bits of the pointer. */
#define VPT_NO_VMCS (~(uint64_t)0)

/*
 * VMXON and VMXOFF that succeeded. Where TraceEn is not allowed in VMX operation VMXON
 * clears it, and WRMSR to IA32_RTIT_CTL raises #GP from then on (33.2.9.4); a host's
 * access may write it as long as TraceEn stays 0. `ip`: the next instruction. A
 * transition outside of VMX operation enters it, other calls there do nothing.
 */
void vpt_pt_vmxon(struct vpt_pt *pt, uint64_t ip);
void vpt_pt_vmxoff(struct vpt_pt *pt);

/*
 * VMPTRLD that succeeded; VMCLEAR of the current VMCS: VPT_NO_VMCS, sends nothing. Of
 * other pointers bits 51:12 count, here and in transitions.
 */
void vpt_pt_vmptrld(struct vpt_pt *pt, uint64_t vmcs);

enum vpt_vmx_transition_flags {
	VPT_VMXF_SMM = 1 << 0,	      /* SMM VM exit, or VM entry that returns from SMM */
	VPT_VMXF_SMI = 1 << 1,	      /* with SMM: by an SMI, not by VMCALL */
	VPT_VMXF_TO_ROOT = 1 << 2,    /* with SMM: the entry leads to root operation */
	VPT_VMXF_INTR = 1 << 3,	      /* exit by interrupt, exception, NMI or SMI: `vector` */
	VPT_VMXF_ENTRY_FAIL = 1 << 4, /* "exit" of an entry that failed late */
};

struct vpt_vmx_transition {
	uint32_t flags;	    /* enum vpt_vmx_transition_flags */
	uint32_t controls;  /* of the VMCS, set of enum vpt_vmx_control */
	uint64_t vmcs;	    /* current pointer after the transition */
	uint64_t ip;	    /* entry: VMLAUNCH/VMRESUME; exit: guest IP as saved */
	uint64_t next;	    /* entry: IP after it */
	uint64_t guest_ctl; /* entry: field 2814H; not loaded if WRMSR would refuse it */
	uint32_t reason;    /* exit: exit-reason field, all bits */
	uint64_t qualification;
	uint8_t vector;
};

/* An entry that failed early, without other calls: execution goes on at `next`
 * (table 33-54). */
void vpt_pt_vm_entry_failed(struct vpt_pt *pt, uint64_t next);

/* Sends what names the instruction, and loads IA32_RTIT_CTL if the controls say so. */
void vpt_pt_vm_entry(struct vpt_pt *pt, const struct vpt_vmx_transition *entry);
void vpt_pt_vm_entered(struct vpt_pt *pt, uint64_t guest_ip);

/*
 * Returns IA32_RTIT_CTL as it is to be saved in field 2814H.
 *
 * An entry that fails late: after vpt_pt_vm_entry(), in place of vpt_pt_vm_entered(),
 * with VPT_VMXF_ENTRY_FAIL; then the other two, and execution is in root operation.
 */
uint64_t vpt_pt_vm_exit(struct vpt_pt *pt, const struct vpt_vmx_transition *exit);
/* Clears IA32_RTIT_CTL if the exit controls say so. */
void vpt_pt_vm_exit_host(struct vpt_pt *pt);
void vpt_pt_vm_exited(struct vpt_pt *pt, uint64_t host_ip);

/*
 * [VMX-USE-GPA] Returns true if the addresses that the memory callbacks (mem.h) are given
 * are guest-physical: in non-root operation, up to the last packet of a VM exit, with
 * VPT_VMX_EXEC_USE_GPA in the controls. Else they are physical. For callbacks of an engine
 * that has EPT.
 */
static inline bool vpt_pt_output_is_guest_physical(const struct vpt_pt *pt)
{
	return pt->vmx.non_root && (pt->vmx.controls & VPT_VMX_EXEC_USE_GPA);
}

/*
 * VMX abort (33.5.2.6), at any point of an exit: the processor shuts down. What the exit
 * had yet to send is lost, what was sent is in memory; a TraceEn that the exit set never
 * took effect and is clear. Only a reset follows.
 */
void vpt_pt_vmx_abort(struct vpt_pt *pt);

VPT_END_DECLS

#endif /* VPT_VMX_PT_H */
