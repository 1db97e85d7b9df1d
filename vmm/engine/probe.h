/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The features that an engine found on this machine. Each row was found by a test run. */
#ifndef VMM_ENGINE_PROBE_H
#define VMM_ENGINE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "vpt/caps.h"

/* How single steps of one privilege level come back. */
enum engine_step_way {
	ENGINE_STEP_NONE = 0,
	ENGINE_STEP_EXIT,     /* the step ends in an exit */
	ENGINE_STEP_SHUTDOWN, /* TF with an empty IDT: a triple fault, state intact */
};

/* How the vector of an exception that a step raised is learnt. */
enum engine_fault_way {
	ENGINE_FAULT_WAY_NONE = 0,
	ENGINE_FAULT_WAY_EVENT,	 /* the host keeps it across the triple fault */
	ENGINE_FAULT_WAY_REPLAY, /* the instruction is run again on an IDT of our own */
};

struct engine_probe {
	bool device; /* can be opened */
	int error;   /* errno if not */
	int api_version;
	bool msr_exits; /* accesses to chosen MSRs come to user space */
	bool cpuid_pt;	/* CPUID with PT in it is accepted and seen */
	bool sync_regs;
	bool host_pt;	      /* this machine's CPUID has PT */
	const char *hardware; /* "VMX", "SVM" or "none" by this machine's CPUID */

	enum engine_step_way step[2]; /* ring 0, ring 3 */
	enum engine_fault_way fault;
	bool shutdown_resets; /* a triple fault loses registers */
	bool syscall;	      /* untraced SYSCALL from ring 3 arrives in ring 0 */
	bool soft_int;	      /* untraced INT n from ring 3 arrives */
	uint32_t step_ns[2];  /* what a step costs, 0: not measured */

	/*
	 * For an engine with the processor's own PT: the capabilities of a host's trace and of
	 * guests. The texts are NULL, or what is missing for each.
	 */
	struct vpt_caps pt_host, pt_guest;
	const char *no_pt_host, *no_pt_guest;

	bool no_memory; /* a try failed for want of memory, so its result is unknown */

	/* NULL if `vpt run` can work, else what is missing and what to do. */
	const char *problem;
};

#endif /* VMM_ENGINE_PROBE_H */
