/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emulation of a hypervisor with VMX, for a usage of PT (vpt/usage.h). It has a VMCS, MSR
 * areas, and root operation, whose code is a model (root.h). The core decides when its vCPU exits
 * and resumes, and libvpt makes the packets.
 */
#ifndef VMM_PT_HV_H
#define VMM_PT_HV_H

#include "pt/root.h"
#include "pt/tracer.h"
#include "vpt/tsc.h"
#include "vpt/usage.h"

/* The VM-exit reasons in use. */
enum tracer_hv_reason {
	TRACER_EXIT_REASON_NMI = 0,
	TRACER_EXIT_REASON_INTERRUPT = 1,
	TRACER_EXIT_REASON_TRIPLE_FAULT = 2,
	TRACER_EXIT_REASON_INTERRUPT_WINDOW = 7,
	TRACER_EXIT_REASON_NMI_WINDOW = 8,
	TRACER_EXIT_REASON_CPUID = 10,
	TRACER_EXIT_REASON_HLT = 12,
	TRACER_EXIT_REASON_INVD = 13,
	TRACER_EXIT_REASON_CR = 28,
	TRACER_EXIT_REASON_IO = 30,
	TRACER_EXIT_REASON_RDMSR = 31,
	TRACER_EXIT_REASON_WRMSR = 32,
	TRACER_EXIT_REASON_EPT = 48,
	TRACER_EXIT_REASON_TIMER = 52, /* the VMX-preemption timer */
	TRACER_EXIT_REASON_XSETBV = 55,
	TRACER_EXIT_REASONS = 64,
};

struct tracer_hv_config {
	struct tracer *tracer;
	enum vpt_usage usage;	   /* the initial usage */
	struct vpt_rtit trace;	   /* the host's settings for SYSTEM, HOST and GUEST */
	struct vpt_atom_regs atom; /* the same with RTIT, except for the bits that enable it */
	uint32_t allowed;	   /* the controls that this processor has */
	uint32_t conceal;
	struct vpt_tsc tsc;
	const struct vpt_caps *guest_caps; /* NULL if the guest has no PT */
};

/*
 * The maximum number of MSRs that root code writes between an exit and an entry. It writes each
 * once, and CTL twice. RTIT has more MSRs.
 */
#define TRACER_HV_MSRS 24

struct tracer_hv_ops; /* hv_system.h */

/* Bits of tracer_hv.state. */
enum tracer_hv_state {
	TRACER_HV_IN_ROOT = 1 << 0,
	TRACER_HV_ENTERING = 1 << 1, /* the checks of VMLAUNCH or VMRESUME have passed */
	TRACER_HV_LAUNCHED = 1 << 2,
	TRACER_HV_ARRIVED = 1 << 3, /* a branch led to the next root instruction */
};

/* The part of PT in a hypervisor's state (hv_pt.c). */
struct tracer_hv_pt {
	struct vpt_usage_plan plan;
	struct vpt_vmx vmx;  /* the fields of the VMCS */
	struct vpt_rtit own; /* OWNED: only .ctl is valid; otherwise all of the guest's registers */
	struct vpt_pt insertion; /* the guest's PT during tracer_hv_insert_begin() */
};

struct tracer_hv {
	struct tracer_hv_config config;
	const struct tracer_hv_ops *ops;
	enum vpt_usage usage;
	struct tracer_hv_pt pt;
	struct tracer_root root;
	uint32_t state; /* enum tracer_hv_state */
	struct vpt_msr_entry msr[TRACER_HV_MSRS];
	uint32_t msrs, written;
	struct tracer_root_input input;
	uint64_t exits[TRACER_EXIT_REASONS];
	uint32_t digest;   /* CRC-32C of the exits' reasons, qualifications and IPs in order */
	const char *error; /* why a VM entry or root code failed, or NULL */
};

/*
 * Initialise the emulation. Returns VPT_OK, or the status of vpt_usage_make_plan() with a reason in
 * *why.
 */
enum vpt_status tracer_hv_init(struct tracer_hv *hv, const struct tracer_hv_config *config,
			       const char **why);

/*
 * Use another usage from the next entry on, in root operation. Returns like tracer_hv_init(). After
 * an error nothing has changed.
 */
enum vpt_status tracer_hv_switch(struct tracer_hv *hv, enum vpt_usage usage, const char **why);

/* Check whether `usage` is possible. Returns like tracer_hv_init(). */
enum vpt_status tracer_hv_can(const struct tracer_hv *hv, enum vpt_usage usage, const char **why);

/* The IP in root operation. */
uint64_t tracer_hv_ip(const struct tracer_hv *hv);

/* The context of root operation. */
void tracer_hv_context(struct vpt_context *ctx);

/*
 * Run root code up to VMRESUME, and enter the guest. With `inject`, the entry injects an event,
 * which must be reported to the tracer next. Returns false if the entry failed, see `error`.
 */
bool tracer_hv_enter(struct tracer_hv *hv, uint64_t guest_ip, bool inject);

struct tracer_hv_exit {
	enum tracer_hv_reason reason;
	uint64_t qualification;
	uint64_t ip;
	uint8_t vector; /* NMI, INTERRUPT */
	uint8_t cpl;
	uint8_t flags;	/* enum trace_oracle_insn_flags of `ip` */
	uint32_t count; /* the bytes of I/O, which determine the time in root code */
};
/* Leave the guest. Root code waits until the core has emulated the exit. */
void tracer_hv_exit(struct tracer_hv *hv, const struct tracer_hv_exit *e);
/* Run root code to its end, because the guest does not resume. */
void tracer_hv_over(struct tracer_hv *hv);

/*
 * Returns true if the guest accesses the RTIT MSRs without a VM exit. That is the case for a guest
 * that owns RTIT. No control and no MSR area changes these MSRs, and RTIT is off in root operation
 * anyway.
 */
bool tracer_hv_passes(const struct tracer_hv *hv);

/* Access the guest's own registers. RDMSR may precede its exit. WRMSR must follow it. */
enum vpt_fault tracer_hv_rdmsr(struct tracer_hv *hv, uint32_t msr, uint64_t *value);
enum vpt_fault tracer_hv_wrmsr(struct tracer_hv *hv, uint32_t msr, uint64_t value);

/*
 * Insert the effects of the emulated instruction at `ip` into the guest's trace (33.5.2.3), in root
 * operation. Call begin() with the guest's context from before the instruction. If begin() returns
 * true, pass the instruction to tracer_report() if tracer_acts() is true. Then call end() with the
 * context from after the instruction.
 */
bool tracer_hv_insert_begin(struct tracer_hv *hv, uint64_t ip);
void tracer_hv_insert_end(struct tracer_hv *hv, uint64_t next, uint8_t cpl);

#endif /* VMM_PT_HV_H */
