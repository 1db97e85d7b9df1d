/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Local APICs that the host executes, as KVM does with a split irqchip. The host then delivers
 * interrupts, NMIs, INIT and start-up IPIs, and halts vCPUs in run(). The caller has the I/O APIC and
 * the 8259s.
 */
#ifndef VMM_ENGINE_APIC_H
#define VMM_ENGINE_APIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_vcpu;
struct engine_vm;

/* A message to local APICs: that of an MSI. `mode` has the encoding of a delivery mode. */
struct engine_apic_message {
	uint8_t dest, vector, mode;
	uint8_t logical, level; /* 0 or 1 */
};

/* Functions return 0 or -errno unless stated otherwise. */
struct engine_apic {
	/*
	 * Give the VM local APICs of the host. Call it before vm_trap_msrs() and the first vCPU.
	 * @pins is the number of pins of the I/O APIC.
	 */
	int (*create)(struct engine_vm *vm, unsigned int pins);
	/* Send a message. Returns true if a local APIC accepted it. */
	bool (*send)(struct engine_vm *vm, const struct engine_apic_message *message);
	/*
	 * Set the messages of the level-triggered pins. The end of such an interrupt is
	 * ENGINE_EXIT_EOI.
	 */
	int (*set_levels)(struct engine_vm *vm, const struct engine_apic_message *messages,
			  size_t count);
	/*
	 * Returns true if the vCPU would have accepted an interrupt of the 8259s when run() returned,
	 * and extint() was not called since.
	 */
	bool (*takes_extint)(const struct engine_vcpu *vcpu);
	/* Deliver the vector of the 8259s in the next run(). */
	void (*extint)(struct engine_vcpu *vcpu, uint8_t vector);
	/* Halt a vCPU whose HLT the caller has executed. */
	int (*halt)(struct engine_vcpu *vcpu);
	/* Returns true if the vCPU is halted, and only an NMI or an INIT can wake it. */
	bool (*sleeps)(const struct engine_vcpu *vcpu);
};

#endif /* VMM_ENGINE_APIC_H */
