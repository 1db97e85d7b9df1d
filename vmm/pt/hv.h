/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emulation of a hypervisor with VMX, for a usage of PT (vpt/usage.h). It has a VMCS, MSR
 * areas, and root operation, whose code is a model (root.h). The core decides when its vCPU
 * exits and resumes, and libvpt makes the packets.
 *
 *   vpt_hv_enter()	   run root code up to VMRESUME, and enter the guest
 *   vpt_hv_exit()	   leave the guest; root code waits until the core has emulated
 *   vpt_hv_over()	   run root code to its end, as the guest does not resume
 */
#ifndef VMM_PT_HV_H
#define VMM_PT_HV_H

#include "pt/root.h"
#include "pt/tracer.h"
#include "vpt/tsc.h"
#include "vpt/usage.h"

/* VM-exit reasons that there are here. */
enum vpt_hv_reason {
	VPT_EXIT_REASON_NMI = 0,
	VPT_EXIT_REASON_INTERRUPT = 1,
	VPT_EXIT_REASON_TRIPLE_FAULT = 2,
	VPT_EXIT_REASON_INTERRUPT_WINDOW = 7,
	VPT_EXIT_REASON_NMI_WINDOW = 8,
	VPT_EXIT_REASON_CPUID = 10,
	VPT_EXIT_REASON_HLT = 12,
	VPT_EXIT_REASON_INVD = 13,
	VPT_EXIT_REASON_CR = 28,
	VPT_EXIT_REASON_IO = 30,
	VPT_EXIT_REASON_RDMSR = 31,
	VPT_EXIT_REASON_WRMSR = 32,
	VPT_EXIT_REASON_EPT = 48,
	VPT_EXIT_REASON_TIMER = 52, /* of VMX preemption */
	VPT_EXIT_REASON_XSETBV = 55,
	VPT_EXIT_REASONS = 64,
};

struct vpt_hv_config {
	struct vpt_tracer *tracer;
	enum vpt_usage usage;	   /* at the beginning */
	struct vpt_rtit trace;	   /* as a host programs it, for SYSTEM, HOST and GUEST */
	struct vpt_atom_regs atom; /* the same with RTIT, but for what turns it on */
	uint32_t allowed;	   /* controls that this processor has */
	uint32_t conceal;
	struct vpt_tsc tsc;
	const struct vpt_caps *guest_caps; /* NULL: the guest has no PT */
};

/* MSRs that root code may have to write between an exit and an entry: all of them once,
 * and CTL twice. RTIT has more. */
#define VPT_HV_MSRS 24

struct vpt_hv_ops; /* hv_system.h */

/* The part of PT in a hypervisor's state (hv_pt.c). */
struct vpt_hv_pt {
	struct vpt_usage_plan plan;
	struct vpt_vmx vmx;	 /* the fields of the VMCS */
	struct vpt_rtit own;	 /* OWNED: .ctl is valid; else all of the guest's registers */
	struct vpt_pt insertion; /* the guest's PT during vpt_hv_insert_begin() */
};

struct vpt_hv {
	struct vpt_hv_config config;
	const struct vpt_hv_ops *ops;
	enum vpt_usage usage;
	struct vpt_hv_pt pt;
	struct vpt_root root;
	bool in_root;
	bool entering; /* what VMLAUNCH or VMRESUME came to */
	bool launched;
	bool arrived; /* root code, by a branch */
	struct vpt_msr_entry msr[VPT_HV_MSRS];
	uint32_t msrs, written;
	struct vpt_root_input input;
	uint64_t exits[VPT_EXIT_REASONS];
	uint32_t digest;   /* CRC-32C of the exits' reasons, qualifications and IPs in order */
	const char *error; /* why an entry failed, or something else that cannot be */
};

/* VPT_OK, or as vpt_usage_make_plan() has it. */
enum vpt_status vpt_hv_init(struct vpt_hv *hv, const struct vpt_hv_config *config,
			    const char **why);

/* Another usage from the next entry on, in root operation. As above; then nothing changed. */
enum vpt_status vpt_hv_switch(struct vpt_hv *hv, enum vpt_usage usage, const char **why);

/* Would `usage` be possible? */
enum vpt_status vpt_hv_can(const struct vpt_hv *hv, enum vpt_usage usage, const char **why);

/* The IP in root operation. */
uint64_t vpt_hv_ip(const struct vpt_hv *hv);

/* The context of root operation. */
void vpt_hv_context(struct vpt_context *ctx);

/* `inject`: an event comes with it, of which the tracer is to be told next. False: the
 * entry failed, see `error`. */
bool vpt_hv_enter(struct vpt_hv *hv, uint64_t guest_ip, bool inject);

struct vpt_hv_exit {
	enum vpt_hv_reason reason;
	uint64_t qualification;
	uint64_t ip;
	uint8_t vector; /* NMI, INTERRUPT */
	uint8_t cpl;
	uint8_t flags;	/* enum vpt_oracle_insn_flags, of ip */
	uint32_t count; /* bytes of I/O: how long it takes the root code */
};
void vpt_hv_exit(struct vpt_hv *hv, const struct vpt_hv_exit *e);
void vpt_hv_over(struct vpt_hv *hv);

/* Returns true if the guest accesses the RTIT MSRs without a VM exit. A guest that owns RTIT does:
 * no control and no MSR area changes them, as RTIT is off in root operation anyway. */
bool vpt_hv_passes(const struct vpt_hv *hv);

/* The guest's own registers. RDMSR may come before its exit, WRMSR after it. */
enum vpt_fault vpt_hv_rdmsr(struct vpt_hv *hv, uint32_t msr, uint64_t *value);
enum vpt_fault vpt_hv_wrmsr(struct vpt_hv *hv, uint32_t msr, uint64_t value);

/*
 * Insert in the guest's trace what the emulated instruction at `ip` does to it (33.5.2.3), in
 * root operation. Call begin() with the guest's context from before the instruction. If it
 * returns true the trace runs: call vpt_tracer_retired(), report the event, and call end() with
 * the context from after the instruction.
 */
bool vpt_hv_insert_begin(struct vpt_hv *hv, uint64_t ip);
void vpt_hv_insert_end(struct vpt_hv *hv, uint64_t next, uint8_t cpl);

#endif /* VMM_PT_HV_H */
