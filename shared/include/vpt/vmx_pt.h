/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * VMX operation as PT sees it: the effect of VMXON, VMPTRLD, VM entries and VM exits on the trace
 * of a logical processor. Sections are 33.5, tables 33-52 to 33-54, rows 9 to 12 of 33-56 and 13 to
 * 16 of 33-59.
 *
 * A transition is two or three calls. The processor does its own work between them.
 *
 *   Entry:  vpt_pt_vm_entry()	 The checks have passed, nothing is loaded yet.
 *	     Guest state and the VM-entry MSR-load area (vpt_pt_wrmsr()).
 *	     vpt_pt_vm_entered()	 Before an event is injected.
 *   Exit:   vpt_pt_vm_exit()	 Guest state is still there.
 *	     VM-exit MSR-store area, host state.
 *	     vpt_pt_vm_exit_host()	 Host state is loaded.
 *	     VM-exit MSR-load area.
 *	     vpt_pt_vm_exited()
 *
 * If TraceEn falls in between, the trace ends at once. If TraceEn rises, tracing begins with the
 * last call, at the first instruction of the other side. MSR accesses are the only other calls in
 * between. docs/adr/0013 lists the packets where the manual leaves a choice.
 *
 * IPs are RIPs. The last call of each transition calls context(), which returns the context of the
 * new side. On a processor without PT in VMX operation, controls that it cannot have count as 0.
 */
#ifndef VPT_VMX_PT_H
#define VPT_VMX_PT_H

#include "pt.h"
#include "vmx.h"

VPT_BEGIN_DECLS

/* The pointer while no VMCS is current. VMCS packets then have all bits of the pointer set. */
#define VPT_NO_VMCS (~(uint64_t)0)

/*
 * VMXON and VMXOFF that succeeded. `ip` is the next instruction. If TraceEn is not allowed in VMX
 * operation, VMXON clears it. From then on a WRMSR to IA32_RTIT_CTL raises #GP (33.2.9.4), and a
 * host may write it as long as TraceEn stays 0.
 *
 * A transition outside of VMX operation enters VMX operation. Other calls there do nothing.
 */
void vpt_pt_vmxon(struct vpt_pt *pt, uint64_t ip);
void vpt_pt_vmxoff(struct vpt_pt *pt);

/*
 * VMPTRLD that succeeded. For VMCLEAR of the current VMCS `vmcs` is VPT_NO_VMCS, which sends
 * nothing. Of other pointers only bits 51:12 count, here and in transitions.
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

/*
 * Report an entry that failed early, without other calls. Execution resumes at `next` (table
 * 33-54).
 */
void vpt_pt_vm_entry_failed(struct vpt_pt *pt, uint64_t next);

/*
 * Begin an entry: send the packets of the instruction, and load IA32_RTIT_CTL if the controls say
 * so.
 */
void vpt_pt_vm_entry(struct vpt_pt *pt, const struct vpt_vmx_transition *entry);
void vpt_pt_vm_entered(struct vpt_pt *pt, uint64_t guest_ip);

/*
 * Begin an exit. Returns the IA32_RTIT_CTL to save in field 2814H.
 *
 * For an entry that fails late, call this after vpt_pt_vm_entry() in place of vpt_pt_vm_entered(),
 * with VPT_VMXF_ENTRY_FAIL. The other two calls follow, and execution is in root operation.
 */
uint64_t vpt_pt_vm_exit(struct vpt_pt *pt, const struct vpt_vmx_transition *exit);
/* Clear IA32_RTIT_CTL if the exit controls say so. */
void vpt_pt_vm_exit_host(struct vpt_pt *pt);
void vpt_pt_vm_exited(struct vpt_pt *pt, uint64_t host_ip);

/*
 * [VMX-USE-GPA] Returns true if the addresses of the memory callbacks (mem.h) are guest-physical.
 * They are in non-root operation with VPT_VMX_EXEC_USE_GPA, up to the last packet of a VM exit.
 * Else they are physical. For callbacks of an engine that has EPT.
 */
static inline bool vpt_pt_output_is_guest_physical(const struct vpt_pt *pt)
{
	return pt->vmx.non_root && (pt->vmx.controls & VPT_VMX_EXEC_USE_GPA);
}

/*
 * VMX abort (33.5.2.6) at any point of an exit: the processor shuts down. Packets that the exit did
 * not send yet are lost, and sent ones are in memory. A TraceEn that the exit set has no effect and
 * is clear. Only a reset follows.
 */
void vpt_pt_vmx_abort(struct vpt_pt *pt);

VPT_END_DECLS

#endif /* VPT_VMX_PT_H */
