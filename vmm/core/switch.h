/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine with one vCPU that changes its engine while the guest runs. A host's processor runs the
 * guest while nothing is traced, and the software CPU runs it while a trace is on.
 *
 * The state that moves is engine/state.h. RAM, the devices and the trace unit belong to the core,
 * and stay. The guest's TSC and the time of the devices continue. CPUID has the features that both
 * engines have.
 */
#ifndef VMM_CORE_SWITCH_H
#define VMM_CORE_SWITCH_H

#include "core/vm.h"

/* Returns true if the next instruction depends on nothing that only one of the engines knows. */
bool core_switch_is_plain(const struct core_vcpu *v);
/*
 * Let the time be virtual, as all engines can represent it, until the vCPU runs again. Returns the
 * devices' time in ns.
 */
uint64_t core_switch_hold(struct core_vcpu *v);

/*
 * Let the other engine run the guest from here, between two instructions. Returns 0 or -errno.
 * -EAGAIN: the current engine cannot stop here, or the guest's TSC would fall. Call the function
 * again when the engine has run. -ENOTSUP: the other engine cannot have this state of the guest.
 * After any error the current engine can resume.
 */
int core_switch(struct core_vm *vm);

/*
 * Change the engine if a trace is on and the current engine is `free`. Change back if the current
 * engine is `traced` and no trace has been on for some time. `traced` keeps a guest whose state
 * `free` cannot have. Stops the VM if the change fails.
 */
void core_switch_poll(struct core_vcpu *v);

#endif /* VMM_CORE_SWITCH_H */
