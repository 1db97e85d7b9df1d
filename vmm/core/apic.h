/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Local APICs that the host executes (engine/apic.h) instead of those of vmm/dev. The I/O APIC and the
 * PCI functions send their messages to them. An interrupt of the 8259s, and of the sources of
 * abi/boot.h, is an ExtINT, which a local APIC takes while its LINT0 has this mode.
 */
#ifndef VMM_CORE_APIC_H
#define VMM_CORE_APIC_H

#include <stdbool.h>
#include <stddef.h>

#include "dev/platform.h"

struct core_vcpu;
struct core_vm;
struct engine_apic;

struct core_apic {
	const struct engine_apic *host; /* NULL: the local APICs are those of vmm/dev */
	/* The messages of level-triggered pins that the host knows. */
	struct dev_apic_message level[DEV_IOAPIC_PINS];
	size_t levels;
};

/* Connect the platform to the host's local APICs, if the VM has them. */
void core_apic_connect(struct core_vm *vm, struct dev_platform_host *host);
/* Pass a pending ExtINT to the vCPU if it takes one. Returns true if it did. */
bool core_apic_inject(struct core_vcpu *v);
/* Let the host halt a vCPU that has executed HLT. */
void core_apic_halt(struct core_vcpu *v);
/* Stop the VM if its only vCPU is halted with interrupts off. */
void core_apic_check(struct core_vcpu *v);

#endif /* VMM_CORE_APIC_H */
