/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The features that an engine found on this machine. Each field is the result of a test run. */
#ifndef VMM_ENGINE_PROBE_H
#define VMM_ENGINE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "vpt/caps.h"

/* The end of single steps at one privilege level. */
enum engine_step_way {
	ENGINE_STEP_NONE = 0,
	ENGINE_STEP_EXIT,     /* the step ends in an exit */
	ENGINE_STEP_SHUTDOWN, /* TF with an empty IDT: a triple fault with the state intact */
};

/* The source of the vector of an exception that a step raised. */
enum engine_fault_way {
	ENGINE_FAULT_WAY_NONE = 0,
	ENGINE_FAULT_WAY_EVENT,	 /* the host keeps the vector across the triple fault */
	ENGINE_FAULT_WAY_REPLAY, /* the instruction is repeated with another IDT */
};

struct engine_probe {
	bool device; /* the device can be opened */
	int error;   /* errno if the device cannot be opened */
	int api_version;
	bool msr_exits; /* accesses to chosen MSRs exit to user space */
	bool cpuid_pt;	/* the guest sees CPUID with PT */
	bool sync_regs;
	bool host_pt;	      /* the CPUID of this machine has PT */
	const char *hardware; /* "VMX", "SVM" or "none" by the CPUID of this machine */

	enum engine_step_way step[2]; /* ring 0, ring 3 */
	enum engine_fault_way fault;
	bool shutdown_resets; /* a triple fault loses registers */
	bool syscall;	      /* untraced SYSCALL from ring 3 enters ring 0 */
	bool soft_int;	      /* untraced INT n from ring 3 enters ring 0 */
	uint32_t step_ns[2];  /* the cost of a step, 0 if not measured */

	/*
	 * For an engine with the processor's own PT: the capabilities of a host's trace and of
	 * guests. Each text is NULL or names the missing feature.
	 */
	struct vpt_caps pt_host, pt_guest;
	const char *no_pt_host, *no_pt_guest;

	/* NULL if the host can execute the local APICs (engine/apic.h), or the reason. */
	const char *no_apic;

	bool no_memory; /* a test failed for lack of memory, so its result is unknown */

	/* NULL if `vpt run` can work, else the missing feature and the remedy. */
	const char *problem;
};

#endif /* VMM_ENGINE_PROBE_H */
