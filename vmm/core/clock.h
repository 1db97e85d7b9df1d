/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time of a vCPU, as PT and RDTSC read it. */
#ifndef VMM_CORE_CLOCK_H
#define VMM_CORE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct core_vcpu;
struct engine_time;
struct vpt_clock;
struct vpt_caps;
struct core_insn;

/* A change of the core clock's frequency after `at` instructions. */
struct core_cbr_change {
	uint64_t at;
	uint64_t stopped; /* TSC ticks for which the clock is stopped */
	uint8_t cbr;	  /* its ratio to the bus clock */
};

#define CORE_CBR_CHANGES 16

/*
 * The time for PT (clock.c). The TSC's frequency comes from CPUID.15H, or from the ratio at P1. The
 * core's ratio to the bus clock can change during a run (struct core_cbr_change).
 */
void core_clock_init(struct engine_time *t, const struct vpt_caps *caps);
void core_clock_now(struct core_vcpu *v, struct vpt_clock *now, uint64_t *tsc);
uint64_t core_clock_tsc_hz(const struct vpt_caps *caps);
uint8_t core_clock_cbr(const struct core_vcpu *v);
void core_clock_set_cbr(struct core_vcpu *v, uint8_t cbr);
/* Apply the changes of the core clock that are due. */
void core_clock_update(struct core_vcpu *v);
/* Returns the number of instructions until the next change, or UINT64_MAX if there is none. */
uint64_t core_clock_next(const struct core_vcpu *v);
/*
 * Software has read the TSC. Without MTC and CYC a decoder has no other time, and perf sorts its
 * records of mappings and of processes among the packets. So the next packet of the guest's trace
 * follows a TSC packet, if the guest has set TSCEn.
 */
void core_clock_read(struct core_vcpu *v);
/*
 * Send this TSC packet if the trace is or becomes in context. Call before the event is reported, with
 * the new context. @ip: the address from which execution continued.
 */
void core_clock_send(struct core_vcpu *v, uint64_t ip);
/* Update the vCPU's clock after a stepped instruction that reads the time (RDTSC and similar). */
void core_clock_stepped(struct core_vcpu *v, const struct core_insn *insn);
/*
 * Advance the clock by the host's time that passed in a HLT. No effect if instructions are counted.
 */
void core_clock_slept(struct core_vcpu *v, uint64_t ns);
/*
 * Change the clock between the host's TSC (full speed) and virtual time (stepping), if the engine
 * does not count instructions.
 */
void core_clock_release(struct core_vcpu *v);
void core_clock_hold(struct core_vcpu *v);

#endif /* VMM_CORE_CLOCK_H */
