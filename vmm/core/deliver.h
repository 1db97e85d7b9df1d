/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deliver events through the IDT of the guest. */
#ifndef VMM_CORE_DELIVER_H
#define VMM_CORE_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

struct vpt_vcpu;
struct vpt_exception;

/*
 * idt.c: deliver an event through the guest's IDT, in real, protected and long mode.
 * Where it names a task the VM stops as UNABLE, and the result is false.
 */
enum vpt_event_source {
	VPT_SOURCE_EXTERNAL, /* an interrupt */
	VPT_SOURCE_NMI,	     /* blocks the next until IRET: VPT_VCPU_NMI_BLOCKED */
	VPT_SOURCE_EXCEPTION,
	VPT_SOURCE_SOFTWARE, /* INT n, INT3, INTO */
	VPT_SOURCE_INT1,
};
/*
 * `rip` is what the frame gets. True: *e is what was delivered in the end (#DF,
 * say) and RIP is its handler's. False: triple fault.
 */
bool vpt_deliver(struct vpt_vcpu *v, struct vpt_exception *e, enum vpt_event_source source,
		 uint64_t rip);
/*
 * For SOFTWARE and INT1. False: *e is what the instruction raises instead, and
 * nothing changed.
 */
bool vpt_deliver_software(struct vpt_vcpu *v, const struct vpt_exception *event,
			  enum vpt_event_source source, uint64_t rip, struct vpt_exception *e);

#endif /* VMM_CORE_DELIVER_H */
