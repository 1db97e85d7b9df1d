/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Packets for operations that a VMM performs in place of the guest (33.5.2.3). These are an
 * instruction that it emulates, an event that it injects by hand, a CR3 write that it intercepted.
 *
 * The registers of the guest are in memory, and its trace is suspended between a VM exit and the
 * next entry. An insertion resumes the trace for the emulated operation. The packets are those of a
 * processor that entered the guest, executed that operation and exited again. All rules of filters,
 * of full buffers and of errors apply.
 *
 *   vpt_insert_begin(pt, &guest_rtit, ..., ip)	 The operation is at ip.
 *   vpt_pt_event(pt, ...)				 One event, or none.
 *   vpt_insert_end(pt, next_ip, &guest_rtit)
 *
 *
 * vpt_insert_pip() sends the least that a decoder needs: the missing PIP.
 */
#ifndef VPT_INSERT_H
#define VPT_INSERT_H

#include "vmx_pt.h"

VPT_BEGIN_DECLS

/*
 * Begin an insertion at `ip`. `pt` is scratch memory of the caller, in any state. `ops` reaches the
 * memory and the context of the guest. The library calls pmi() and trigger() as hardware would.
 * `controls` are those of the guest's VMCS.
 *
 * Returns false if the trace of the guest does not run (TraceEn or TriggerEn is 0). Then there is
 * nothing to do. If CPL, CR3 or IP keep the operation out of the trace, the only packet is a PSB+
 * that is due.
 */
bool vpt_insert_begin(struct vpt_pt *pt, const struct vpt_rtit *guest, const struct vpt_caps *caps,
		      const struct vpt_pt_ops *ops, void *opaque, uint32_t controls, uint64_t vmcs,
		      uint64_t ip);

/*
 * End an insertion. Writes the registers after the operation, CTL included, to *guest.
 * STATUS.TriggerEn is 0, as after a VM exit that clears IA32_RTIT_CTL.
 */
void vpt_insert_end(struct vpt_pt *pt, uint64_t next_ip, struct vpt_rtit *guest);

/*
 * Insert a CR3 write that was intercepted, or the one of a task switch. context() returns the new
 * CR3. Sends PIP if hardware would have sent it, and updates STATUS.ContextEn, PacketByteCnt and
 * the output registers.
 */
void vpt_insert_pip(struct vpt_pt *pt, struct vpt_rtit *guest, const struct vpt_caps *caps,
		    const struct vpt_pt_ops *ops, void *opaque, uint32_t controls, uint64_t vmcs);

/*
 * [VMX-CR3-MATCH] Returns IA32_RTIT_CR3_MATCH for the hardware of a guest that runs with a CR3
 * other than the one that it loaded. That is `shadow` if the register of the guest matches
 * `guest_cr3`, else a value that `shadow` does not match. `pae`: the guest uses PAE paging.
 */
uint64_t vpt_insert_cr3_match(uint64_t match, uint64_t guest_cr3, uint64_t shadow, bool pae);

VPT_END_DECLS

#endif /* VPT_INSERT_H */
