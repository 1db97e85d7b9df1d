/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU whose VM entries and exits are traced for a usage of PT (pt/hv.h). Every engine steps such
 * a vCPU, and its time is its count of instructions. So a guest makes the same exits on all engines
 * and in every run.
 *
 * CPUID, XSETBV, INVD, HLT and triple faults cause VM exits. So do port I/O, accesses to memory
 * that is not RAM, and MOV to CR3 if requested. MSRs that the VMM emulates (msr.c) exit, too,
 * except reads of PT's MSRs by a guest that owns PT. An interrupt exits when it becomes pending,
 * and its window exits if the guest delays it.
 *
 * An emulated instruction does not retire in the guest. Its exit has the IP of the instruction, and
 * the next entry has the IP of the following instruction.
 *
 * All functions except core_hv_create() and core_hv_destroy() require vcpu->hv.
 */
#ifndef VMM_CORE_HV_H
#define VMM_CORE_HV_H

#include "core/deliver.h"
#include "core/vcpu.h"
#include "pt/hv.h"

#define CORE_HV_SWITCHES 16

/* A change of the usage after `at` retired instructions. */
struct core_hv_change {
	enum vpt_usage usage;
	uint64_t at;
};

/* Bits of core_vcpu_hv.state. */
enum core_hv_state {
	CORE_HV_TRAP_CR3 = 1 << 0, /* MOV to CR3 causes an exit */
	CORE_HV_RAN = 1 << 1,	   /* the current step has entered the guest */
	/* core_hv_adjust() returns the context from before the instruction */
	CORE_HV_BEFORE = 1 << 2,
	CORE_HV_NOTED = 1 << 3,	  /* the instruction causes the exit in `note` */
	CORE_HV_PENDING = 1 << 4, /* an interrupt was pending at the last core_hv_poll() */
};

struct core_vcpu_hv {
	struct tracer_hv hv;
	struct core_hv_change change[CORE_HV_SWITCHES];
	size_t changes, changed;
	uint32_t state; /* enum core_hv_state */
	struct vpt_tsc tsc;
	uint64_t deadline; /* IA32_TSC_DEADLINE as the guest wrote it */

	/* State of the instruction in progress. */
	uint64_t cr3, rflags;	    /* values from before the instruction, for CORE_HV_BEFORE */
	struct tracer_hv_exit note; /* valid with CORE_HV_NOTED */

	uint64_t still; /* steps without a retired instruction, which also take time */
};

struct core_hv_setup {
	struct tracer_hv_config config; /* complete except for the tracer */
	struct core_hv_change change[CORE_HV_SWITCHES];
	size_t changes;
	bool trap_cr3;
};

/*
 * Start the tracing of VM entries and exits, after core_vcpu_record(). Returns VPT_OK, or a status
 * with the reason in *why. If *why is NULL, there was no memory.
 */
enum vpt_status core_hv_create(struct core_vcpu *v, const struct core_hv_setup *setup,
			       const char **why);
void core_hv_destroy(struct core_vcpu *v);

/*
 * Use core_hv_step() instead of core_vcpu_step(). Call core_hv_finish() at the end of
 * core_vcpu_loop().
 */
void core_hv_step(struct core_vcpu *v);
void core_hv_finish(struct core_vcpu *v);
/* Returns the processor's RIP, in root operation the hypervisor's. */
uint64_t core_hv_where(const struct core_vcpu *v);

/* Adjust the tracer's context for VMX operation. */
void core_hv_adjust(const struct core_vcpu *v, struct vpt_context *ctx);

/*
 * Enter the guest if it is not running. With @inject, the entry injects an event. Returns false and
 * stops the VM if the entry fails.
 */
bool core_hv_go(struct core_vcpu *v, bool inject);
/*
 * Change the usage if that is due, and exit for a new interrupt. Call before interrupts are
 * delivered.
 */
void core_hv_poll(struct core_vcpu *v);
/*
 * Prepare the delivery of an interrupt, or of an exception at @rip. Returns false if the VM
 * stopped.
 */
bool core_hv_interrupt(struct core_vcpu *v, enum core_event_source source);
bool core_hv_exception(struct core_vcpu *v, uint64_t rip);

/*
 * Call before and after each instruction. core_hv_retired() returns true if the VMM emulated the
 * instruction, which is then not traced.
 */
void core_hv_begin(struct core_vcpu *v);
bool core_hv_retired(struct core_vcpu *v, const struct core_insn *insn,
		     const struct engine_report *r);
/* Note that the instruction in progress causes an exit. core_hv_exit_wrmsr() exits at once. */
void core_hv_note_io(struct core_vcpu *v, uint16_t port, uint8_t size, bool in, uint32_t count);
void core_hv_note_mmio(struct core_vcpu *v, uint32_t len, bool write);
void core_hv_note_rdmsr(struct core_vcpu *v);
void core_hv_exit_wrmsr(struct core_vcpu *v, const struct engine_report *r);

/* Returns the host's TSC value for the guest's IA32_TSC_DEADLINE. */
uint64_t core_hv_deadline(struct core_vcpu *v, uint64_t guest);

#endif /* VMM_CORE_HV_H */
