/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a vCPU after its VM has stopped. */
#ifndef VMM_CORE_POST_MORTEM_H
#define VMM_CORE_POST_MORTEM_H

struct core_vcpu;
struct trace_post_mortem;

/*
 * post_mortem.c: the vCPU as the guest left it, once the VM has stopped. Reads guest memory
 * by the guest's page tables, and sets accessed bits there.
 */
void core_vcpu_post_mortem(struct core_vcpu *v, struct trace_post_mortem *pm);

#endif /* VMM_CORE_POST_MORTEM_H */
