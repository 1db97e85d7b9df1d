/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Architectural performance monitoring, as far as a driver of PT needs it. The version is 4, or 2
 * for older models. There are four general counters and the three fixed ones, of 48 bits.
 *
 * The counters count instructions if the engine does. Core clocks without HLT are the same number
 * (docs/adr/0010). General counters can count these two events only.
 */
#ifndef VMM_CORE_PERFMON_H
#define VMM_CORE_PERFMON_H

#include "dev/platform.h"
#include "engine/engine.h"
#include "vpt/caps.h"

struct core_vcpu;

#define CORE_PERFMON_GENERAL 4
#define CORE_PERFMON_FIXED   3
#define CORE_PERFMON_TOPA    (1ull << 55) /* of IA32_PERF_GLOBAL_STATUS */

/* Also what a snapshot has of it. */
struct core_perfmon_state {
	uint64_t select[CORE_PERFMON_GENERAL], general[CORE_PERFMON_GENERAL];
	uint64_t fixed[CORE_PERFMON_FIXED], fixed_control;
	uint64_t enabled; /* IA32_PERF_GLOBAL_CTRL */
	uint64_t status;  /* IA32_PERF_GLOBAL_STATUS */
};

struct core_perfmon {
	struct core_perfmon_state s;
	uint64_t counted;  /* instructions that are in it */
	uint32_t counting; /* bits of the counters that may count */
};

void core_perfmon_init(struct core_perfmon *p);

/* CPUID leaf 0AH. */
void core_perfmon_cpuid(const struct vpt_caps *caps, struct engine_cpuid_entry *e);

/* OTHER: no MSR of these. */
enum dev_platform_msr core_perfmon_rdmsr(struct core_vcpu *v, uint32_t index, uint64_t *value);
enum dev_platform_msr core_perfmon_wrmsr(struct core_vcpu *v, uint32_t index, uint64_t value);
/* RDPMC of ECX; false: #GP. */
bool core_perfmon_rdpmc(struct core_vcpu *v, uint32_t counter, uint64_t *value);

/* The PMI of PT: latched in GLOBAL_STATUS, freezing what is to be frozen. It is still to be
 * raised. */
void core_perfmon_topa(struct core_vcpu *v);

/* Count what has retired. Before CPL changes, too. */
void core_perfmon_advance(struct core_vcpu *v);
/* Instructions until a counter interrupts, UINT64_MAX if none will. */
uint64_t core_perfmon_next(const struct core_vcpu *v);

/* A snapshot's, once the engine has its state. False: not a state of these registers. */
void core_perfmon_save(struct core_vcpu *v, struct core_perfmon_state *s);
bool core_perfmon_load(struct core_vcpu *v, const struct core_perfmon_state *s);

#endif /* VMM_CORE_PERFMON_H */
