/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Architectural performance monitoring (SDM vol. 3, 20.2). The version is 4, or 2 for older models.
 * There are four general counters and the three fixed ones, of 48 bits, and the seven architectural
 * events.
 *
 * The counters run only if instructions are counted. The core clock outside HLT advances by one per
 * instruction (docs/adr/0010), so both events have the same count. Reference cycles are ticks of the
 * TSC outside HLT. No branch is mispredicted and there is no cache, so the other three events do not
 * occur.
 */
#ifndef VMM_CORE_PERFMON_H
#define VMM_CORE_PERFMON_H

#include "dev/platform.h"
#include "engine/engine.h"
#include "vpt/caps.h"

struct core_vcpu;

#define CORE_PERFMON_GENERAL 4
#define CORE_PERFMON_FIXED   3
#define CORE_PERFMON_TOPA    (1ull << 55) /* in IA32_PERF_GLOBAL_STATUS */

/* The registers, which a snapshot also has. */
struct core_perfmon_state {
	uint64_t select[CORE_PERFMON_GENERAL], general[CORE_PERFMON_GENERAL];
	uint64_t fixed[CORE_PERFMON_FIXED], fixed_control;
	uint64_t enabled; /* IA32_PERF_GLOBAL_CTRL */
	uint64_t status;  /* IA32_PERF_GLOBAL_STATUS */
};

/* The events that occur. */
enum core_perfmon_event {
	CORE_PERFMON_NOTHING,
	CORE_PERFMON_INSNS,
	CORE_PERFMON_CLOCKS,
	CORE_PERFMON_REFERENCE,
	CORE_PERFMON_BRANCHES,
	CORE_PERFMON_EVENTS,
};

struct core_perfmon {
	struct core_perfmon_state s;
	/* How often each event had occurred at the last update of the counters. */
	uint64_t seen[CORE_PERFMON_EVENTS];
	uint32_t counting; /* bits of the counters that may count */
};

void core_perfmon_init(struct core_perfmon *p);

/* CPUID leaf 0AH. */
void core_perfmon_cpuid(const struct vpt_caps *caps, struct engine_cpuid_entry *e);

/* Access an MSR of a counter. Return DEV_PLATFORM_OTHER for any other MSR. */
enum dev_platform_msr core_perfmon_rdmsr(struct core_vcpu *v, uint32_t index, uint64_t *value);
enum dev_platform_msr core_perfmon_wrmsr(struct core_vcpu *v, uint32_t index, uint64_t value);
/* Execute RDPMC. @counter is ECX. Returns false for #GP. */
bool core_perfmon_rdpmc(struct core_vcpu *v, uint32_t counter, uint64_t *value);

/*
 * Latch the PMI of PT in GLOBAL_STATUS, and freeze counters and LBRs as DEBUGCTL requests. The
 * caller raises the interrupt.
 */
void core_perfmon_topa(struct core_vcpu *v);

/* Count the events since the last call. Also call before CPL changes. */
void core_perfmon_advance(struct core_vcpu *v);
/*
 * Do not count the time since core_perfmon_advance(), in which the core's clock was stopped and no
 * instruction retired.
 */
void core_perfmon_skip(struct core_vcpu *v);
/*
 * Returns a number of instructions before which no counter interrupts, or UINT64_MAX if none will.
 * The number is exact except for branches, of which there are no more than instructions. So a caller
 * that runs these instructions and asks again stops exactly at the interrupt.
 */
uint64_t core_perfmon_next(const struct core_vcpu *v);

/*
 * Save or load the registers for a snapshot. Load after the engine's state. Returns false if the
 * state is impossible.
 */
void core_perfmon_save(struct core_vcpu *v, struct core_perfmon_state *s);
bool core_perfmon_load(struct core_vcpu *v, const struct core_perfmon_state *s);

#endif /* VMM_CORE_PERFMON_H */
