/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deliver events through the IDT of the guest. */
#ifndef VMM_CORE_DELIVER_H
#define VMM_CORE_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;
struct engine_exception;

/*
 * idt.c: deliver an event through the guest's IDT, in real, protected and long mode.
 * Where it names a task the VM stops as UNABLE, and the result is false.
 */
enum core_event_source {
	CORE_SOURCE_EXTERNAL, /* an interrupt */
	CORE_SOURCE_NMI,      /* blocks the next until IRET: CORE_VCPU_NMI_BLOCKED */
	CORE_SOURCE_EXCEPTION,
	CORE_SOURCE_SOFTWARE, /* INT n, INT3, INTO */
	CORE_SOURCE_INT1,
};
/*
 * `rip` is what the frame gets. True: *e is what was delivered in the end (#DF,
 * say) and RIP is its handler's. False: triple fault.
 */
bool core_deliver(struct core_vcpu *v, struct engine_exception *e, enum core_event_source source,
		  uint64_t rip);
/*
 * For SOFTWARE and INT1. False: *e is what the instruction raises instead, and
 * nothing changed.
 */
bool core_deliver_software(struct core_vcpu *v, const struct engine_exception *event,
			   enum core_event_source source, uint64_t rip, struct engine_exception *e);

#endif /* VMM_CORE_DELIVER_H */
