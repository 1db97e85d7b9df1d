/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time of a vCPU, as PT and RDTSC read it. */
#ifndef VMM_CORE_CLOCK_H
#define VMM_CORE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct vpt_vcpu;
struct vpt_clock;
struct vpt_caps;
struct vpt_insn;

/* After `at` instructions the core clock is another. */
struct vpt_cbr_change {
	uint64_t at;
	uint64_t stopped; /* ticks of the TSC in which it stands still */
	uint8_t cbr;	  /* its ratio to the bus clock */
};

#define VPT_CBR_CHANGES 16

/*
 * clock.c: what time it is, for PT; the TSC's frequency, by CPUID.15H or by the ratio at P1;
 * the core's ratio to the bus clock, as vpt_cbr_change has it, from the start and later.
 */
void vpt_clock_init(struct vpt_vcpu *v);
void vpt_clock_now(struct vpt_vcpu *v, struct vpt_clock *now, uint64_t *tsc);
uint64_t vpt_clock_tsc_hz(const struct vpt_caps *caps);
uint8_t vpt_clock_cbr(const struct vpt_vcpu *v);
void vpt_clock_set_cbr(struct vpt_vcpu *v, uint8_t cbr);
/* Do what changes by now; instructions until the next. */
void vpt_clock_look(struct vpt_vcpu *v);
uint64_t vpt_clock_next(const struct vpt_vcpu *v);
/* What an instruction that the engine stepped knows of time becomes what is told of it. */
void vpt_clock_stepped(struct vpt_vcpu *v, const struct vpt_insn *insn);
/* In a HLT so much of the host's time has passed. */
void vpt_clock_slept(struct vpt_vcpu *v, uint64_t ns);
/* From being stepped to full speed and back, with an engine that does not count. */
void vpt_clock_release(struct vpt_vcpu *v);
void vpt_clock_hold(struct vpt_vcpu *v);

#endif /* VMM_CORE_CLOCK_H */
