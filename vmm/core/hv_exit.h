/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internals of hv*.c. */
#ifndef VMM_CORE_HV_EXIT_H
#define VMM_CORE_HV_EXIT_H

#include "core/hv.h"

/* Returns an exit between two instructions, at the vCPU's RIP. */
struct vpt_hv_exit vpt_hv_exit_here(const struct vpt_vcpu *v, enum vpt_hv_reason reason);

/* Leave the guest. Stops the VM if that fails. */
void vpt_hv_leave(struct vpt_vcpu *v, const struct vpt_hv_exit *e);

/* Note an exit if the instruction, which has retired, always exits (hv_exit.c). */
void vpt_hv_note_insn(struct vpt_vcpu *v, const struct vpt_insn *insn);

/* Apply TSC offsetting and scaling to what RDTSC returned, as the processor does (hv_time.c). */
void vpt_hv_scale_tsc(struct vpt_vcpu *v, const struct vpt_insn *insn);

/* Change the usage at an exit of the preemption timer (hv_trace.c). */
void vpt_hv_change_usage(struct vpt_vcpu *v, enum vpt_usage usage);

/* Insert what MOV to CR3 would have sent in the guest's trace, which is off in root operation. */
void vpt_hv_insert_cr3(struct vpt_vcpu *v, const struct vpt_retired *insn);

#endif /* VMM_CORE_HV_EXIT_H */
