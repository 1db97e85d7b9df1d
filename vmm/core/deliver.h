/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delivery of events through the guest's IDT. */
#ifndef VMM_CORE_DELIVER_H
#define VMM_CORE_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;
struct engine_exception;

/*
 * Source of an event that idt.c delivers, in real, protected and long mode. A task gate stops the
 * VM as UNABLE.
 */
enum core_event_source {
	CORE_SOURCE_EXTERNAL, /* an interrupt */
	CORE_SOURCE_NMI,      /* blocks further NMIs until IRET (CORE_VCPU_NMI_BLOCKED) */
	CORE_SOURCE_EXCEPTION,
	CORE_SOURCE_SOFTWARE, /* INT n, INT3, INTO */
	CORE_SOURCE_INT1,
};
/*
 * Deliver @e, with @rip in its frame. Returns true with the vCPU at the handler's RIP; *e is the
 * event that was delivered in the end, for example #DF. Returns false for a triple fault, or if the
 * VM stopped.
 */
bool core_deliver(struct core_vcpu *v, struct engine_exception *e, enum core_event_source source,
		  uint64_t rip);
/*
 * Deliver the event of INT n, INT3, INTO or INT1. Returns false if delivery faults: *e is the
 * exception, and nothing else changed. Also returns false if the VM stopped.
 */
bool core_deliver_software(struct core_vcpu *v, const struct engine_exception *event,
			   enum core_event_source source, uint64_t rip, struct engine_exception *e);

#endif /* VMM_CORE_DELIVER_H */
