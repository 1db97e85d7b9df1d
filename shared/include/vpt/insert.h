/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Packets for what a VMM does in the guest's stead (33.5.2.3): an instruction that it
 * emulates, an event that it delivers by hand, a CR3 write that it trapped.
 *
 * The guest's registers are in memory and its trace rests between a VM exit and the next
 * entry. An insertion runs it on for as long as the emulated operation takes, as though
 * the processor had entered the guest, executed that one operation and left again, so
 * the packets are those that hardware would have sent, and all rules of filters, of full
 * buffers and of errors hold without being told again:
 *
 *   vpt_insert_begin(pt, &guest_rtit, ..., ip)	 the operation is at ip
 *   vpt_pt_event(pt, ...)				 none, or what it did
 *   vpt_insert_end(pt, next_ip, &guest_rtit)
 *
 * vpt_insert_pip() is the least that a decoder needs: the missing PIP alone.
 */
#ifndef VPT_INSERT_H
#define VPT_INSERT_H

#include "vmx_pt.h"

VPT_BEGIN_DECLS

/*
 * `pt` is scratch of the caller's, its content does not matter. `ops` reaches the guest's
 * memory and context; pmi() and trigger() are called as by hardware. `controls`: of the
 * guest's VMCS. False, and nothing is to be done, if the guest's trace is not running
 * (TraceEn or TriggerEn are 0). Where CPL, CR3 or IP keep the operation out of the trace
 * there are no packets but a PSB+ that is due.
 */
bool vpt_insert_begin(struct vpt_pt *pt, const struct vpt_rtit *guest, const struct vpt_caps *caps,
		      const struct vpt_pt_ops *ops, void *opaque, uint32_t controls, uint64_t vmcs,
		      uint64_t ip);

/* The registers as the operation leaves them, CTL included, to *guest. STATUS.TriggerEn is
 * 0, as after a VM exit that clears IA32_RTIT_CTL. */
void vpt_insert_end(struct vpt_pt *pt, uint64_t next_ip, struct vpt_rtit *guest);

/*
 * A CR3 write that was trapped, task switches too: context() tells the new CR3. Sends
 * PIP if it would have been sent, brings STATUS.ContextEn, PacketByteCnt and the output
 * registers up to date, nothing else.
 */
void vpt_insert_pip(struct vpt_pt *pt, struct vpt_rtit *guest, const struct vpt_caps *caps,
		    const struct vpt_pt_ops *ops, void *opaque, uint32_t controls, uint64_t vmcs);

/*
 * [VMX-CR3-MATCH] IA32_RTIT_CR3_MATCH for the hardware of a guest whose CR3 is not the
 * one it believes to have: `shadow` if `guest_cr3` is what the guest's register lets
 * through, else a value that `shadow` does not match. `pae`: the guest uses PAE paging.
 */
uint64_t vpt_insert_cr3_match(uint64_t match, uint64_t guest_cr3, uint64_t shadow, bool pae);

VPT_END_DECLS

#endif /* VPT_INSERT_H */
