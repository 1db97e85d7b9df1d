/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start the other processors of the machine. If there is x2APIC, the local APICs are in this mode from
 * then on.
 */
#ifndef GUEST_LIB_START_CPU_H
#define GUEST_LIB_START_CPU_H

#include "vpt/base.h"

#define START_CPU_MAX 64u

enum start_cpu_icr {
	START_CPU_FIXED = 0,
	START_CPU_NMI = 4 << 8,
	START_CPU_INIT = 5 << 8,
	START_CPU_STARTUP = 6 << 8,
	START_CPU_OTHERS = 3 << 18, /* all except the sender */
};

/* Returns the number of processors in CPUID. */
unsigned int start_cpu_count(void);
/*
 * Enable this processor's local APIC, in x2APIC mode if there is one. Otherwise map its page in a new
 * address space.
 */
void start_cpu_apic(void);
/*
 * Send INIT and a start-up IPI, and wait until the processor has arrived. It runs main(id) with
 * interrupts off, on a stack of its own, in the caller's address space.
 */
void start_cpu(unsigned int id, void (*main)(unsigned int id));
/* Send an IPI of this kind and vector to a processor. */
void start_cpu_send(unsigned int id, uint32_t icr);
/* End the interrupt that is in service. */
void start_cpu_eoi(void);

#endif /* GUEST_LIB_START_CPU_H */
