/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Architectural performance monitoring, as much of it as a driver of PT needs: version 4, or 2
 * where the model is older than that; four general counters and the three fixed ones, of 48
 * bits. What they count is instructions, which are the core clocks in which the processor does
 * not halt (docs/adr/0010), where instructions are counted; general counters can count these two
 * events and no other.
 */
#ifndef VMM_CORE_PERFMON_H
#define VMM_CORE_PERFMON_H

#include "dev/platform.h"
#include "engine/engine.h"
#include "vpt/caps.h"

struct vpt_vcpu;

#define VPT_PERFMON_GENERAL 4
#define VPT_PERFMON_FIXED   3
#define VPT_PERFMON_TOPA    (1ull << 55) /* of IA32_PERF_GLOBAL_STATUS */

/* Also what a snapshot has of it. */
struct vpt_perfmon_state {
	uint64_t select[VPT_PERFMON_GENERAL], general[VPT_PERFMON_GENERAL];
	uint64_t fixed[VPT_PERFMON_FIXED], fixed_control;
	uint64_t enabled; /* IA32_PERF_GLOBAL_CTRL */
	uint64_t status;  /* IA32_PERF_GLOBAL_STATUS */
};

struct vpt_perfmon {
	struct vpt_perfmon_state s;
	uint64_t counted; /* instructions that are in it */
	bool on;	  /* some counter may count */
};

void vpt_perfmon_init(struct vpt_perfmon *p);

/* CPUID leaf 0AH. */
void vpt_perfmon_cpuid(const struct vpt_caps *caps, struct vpt_cpuid_entry *e);

/* OTHER: no MSR of these. */
enum vpt_platform_msr vpt_perfmon_rdmsr(struct vpt_vcpu *v, uint32_t index, uint64_t *value);
enum vpt_platform_msr vpt_perfmon_wrmsr(struct vpt_vcpu *v, uint32_t index, uint64_t value);
/* RDPMC of ECX; false: #GP. */
bool vpt_perfmon_rdpmc(struct vpt_vcpu *v, uint32_t counter, uint64_t *value);

/* The PMI of PT: latched in GLOBAL_STATUS, freezing what is to be frozen. It is still to be
 * raised. */
void vpt_perfmon_topa(struct vpt_vcpu *v);

/* Count what has retired. Before CPL changes, too. */
void vpt_perfmon_advance(struct vpt_vcpu *v);
/* Instructions until a counter interrupts, UINT64_MAX if none will. */
uint64_t vpt_perfmon_next(const struct vpt_vcpu *v);

/* A snapshot's, once the engine has its state. False: not a state of these registers. */
void vpt_perfmon_save(struct vpt_vcpu *v, struct vpt_perfmon_state *s);
bool vpt_perfmon_load(struct vpt_vcpu *v, const struct vpt_perfmon_state *s);

#endif /* VMM_CORE_PERFMON_H */
