/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internals of hv*.c. */
#ifndef VMM_CORE_HV_EXIT_H
#define VMM_CORE_HV_EXIT_H

#include "core/hv.h"

/* Returns an exit between two instructions, at the vCPU's RIP. */
struct tracer_hv_exit core_hv_exit_here(const struct core_vcpu *v, enum tracer_hv_reason reason);

/* Leave the guest. Stops the VM if that fails. */
void core_hv_leave(struct core_vcpu *v, const struct tracer_hv_exit *e);

/* Note an exit if the instruction, which has retired, always exits (hv_exit.c). */
void core_hv_note_insn(struct core_vcpu *v, const struct core_insn *insn);

/* Apply TSC offsetting and scaling to what RDTSC returned, as the processor does (hv_time.c). */
void core_hv_scale_tsc(struct core_vcpu *v, const struct core_insn *insn);

/* Change the usage at an exit of the preemption timer (hv_trace.c). */
void core_hv_change_usage(struct core_vcpu *v, enum vpt_usage usage);

/* Insert the packets of MOV to CR3 into the guest's trace, which is off in root operation. */
void core_hv_insert_cr3(struct core_vcpu *v, const struct engine_report *r);

#endif /* VMM_CORE_HV_EXIT_H */
