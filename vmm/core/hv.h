/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU whose VM entries and exits are traced for a usage of PT (pt/hv.h). Every engine steps
 * such a vCPU, and its time is its count of instructions. So a guest makes the same exits on all
 * engines and in every run.
 *
 * VM exits are:
 *  - CPUID, XSETBV, INVD, HLT and triple faults;
 *  - port I/O, and accesses to memory that is not RAM;
 *  - MSRs that the VMM emulates (msr.c), except reads of PT's MSRs by a guest that owns PT;
 *  - MOV to CR3 if requested;
 *  - interrupts when they become pending, and the window for those that the guest delays.
 * An emulated instruction does not retire in the guest. Its exit has the IP of the instruction,
 * and the next entry has the IP of the one after it.
 *
 * The functions are only for vCPUs that have vcpu->hv.
 */
#ifndef VMM_CORE_HV_H
#define VMM_CORE_HV_H

#include "core/deliver.h"
#include "core/vcpu.h"
#include "pt/hv.h"

#define CORE_HV_SWITCHES 16

/* Another usage, once so many instructions have retired. */
struct core_hv_change {
	enum vpt_usage usage;
	uint64_t at;
};

/* Bits of core_vcpu_hv.state. */
enum core_hv_state {
	CORE_HV_TRAP_CR3 = 1 << 0, /* MOV to CR3 exits */
	CORE_HV_RAN = 1 << 1,	   /* the step has entered the guest */
	CORE_HV_BEFORE = 1 << 2,   /* the context is that from before the instruction */
	CORE_HV_NOTED = 1 << 3,	   /* the instruction is an exit if it does not fault */
	CORE_HV_PENDING = 1 << 4,  /* an interrupt was pending at the last core_hv_poll() */
};

struct core_vcpu_hv {
	struct tracer_hv hv;
	struct core_hv_change change[CORE_HV_SWITCHES];
	size_t changes, changed;
	uint32_t state; /* enum core_hv_state */
	struct vpt_tsc tsc;
	uint64_t deadline; /* IA32_TSC_DEADLINE as the guest wrote it */

	/* Of the instruction in progress: */
	uint64_t cr3, rflags;	    /* with CORE_HV_BEFORE */
	struct tracer_hv_exit note; /* with CORE_HV_NOTED */

	uint64_t still; /* steps in which nothing retired: they take time as well */
};

struct core_hv_setup {
	struct tracer_hv_config config; /* but for the tracer */
	struct core_hv_change change[CORE_HV_SWITCHES];
	size_t changes;
	bool trap_cr3;
};

/* After core_vcpu_record(). VPT_OK, or what makes it impossible, with *why; NULL: no memory. */
enum vpt_status core_hv_create(struct core_vcpu *v, const struct core_hv_setup *setup,
			       const char **why);
void core_hv_destroy(struct core_vcpu *v);

/* In place of core_vcpu_step(), and at the end of core_vcpu_loop(). */
void core_hv_step(struct core_vcpu *v);
void core_hv_finish(struct core_vcpu *v);
/* Where the processor is. */
uint64_t core_hv_where(const struct core_vcpu *v);

/* The tracer's context, changed to what it is with VMX. */
void core_hv_adjust(const struct core_vcpu *v, struct vpt_context *ctx);

/* Before anything happens in the guest: enter it. False: that failed, the VM stops. */
bool core_hv_go(struct core_vcpu *v, bool inject);
/* Before interrupts are delivered. */
void core_hv_poll(struct core_vcpu *v);
/* One will be; and an exception, at `rip`. */
bool core_hv_interrupt(struct core_vcpu *v, enum core_event_source source);
bool core_hv_exception(struct core_vcpu *v, uint64_t rip);

/* An instruction begins; it has retired, true: in the VMM, so that it is not traced. */
void core_hv_begin(struct core_vcpu *v);
bool core_hv_retired(struct core_vcpu *v, const struct core_insn *insn,
		     const struct engine_report *r);
/* It does what makes it an exit. */
void core_hv_note_io(struct core_vcpu *v, uint16_t port, uint8_t size, bool in, uint32_t count);
void core_hv_note_mmio(struct core_vcpu *v, uint32_t len, bool write);
void core_hv_note_rdmsr(struct core_vcpu *v);
void core_hv_exit_wrmsr(struct core_vcpu *v, const struct engine_report *r);

/* IA32_TSC_DEADLINE, in the host's time. */
uint64_t core_hv_deadline(struct core_vcpu *v, uint64_t guest);

#endif /* VMM_CORE_HV_H */
