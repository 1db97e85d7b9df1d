/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a vCPU after its VM has stopped. */
#ifndef VMM_CORE_POST_MORTEM_H
#define VMM_CORE_POST_MORTEM_H

struct core_vcpu;
struct trace_post_mortem;

/*
 * Collect the state of the vCPU after the VM has stopped (post_mortem.c). Reads guest memory
 * through the guest's page tables, and sets accessed bits there.
 */
void core_vcpu_post_mortem(struct core_vcpu *v, struct trace_post_mortem *pm);

#endif /* VMM_CORE_POST_MORTEM_H */
