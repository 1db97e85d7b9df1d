/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that changes its engine while the guest runs. A host's processor runs the guest while
 * nothing is traced, and the software CPU runs it while a trace is on. All vCPUs change together. The
 * host's processor runs several vCPUs as threads, and the software CPU lets them take turns.
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
 * Let the time be virtual, as all engines can represent it, until the vCPUs run again. It is the same
 * for all of them. Returns the devices' time in ns.
 */
uint64_t core_switch_hold(struct core_vm *vm);
/*
 * Let the TSCs of several vCPUs of a host's processor continue together, after the load of a
 * snapshot. Call it before the devices are loaded. Returns 0 or the -errno of load().
 */
int core_switch_align(struct core_vm *vm);

/*
 * Let the other engine run the guest from here, between two instructions of each vCPU, while no
 * thread runs one. Returns 0 or -errno.
 * -EAGAIN: the current engine cannot stop here, or the guest's TSC would fall. Call the function
 * again when the engine has run. -ENOTSUP: the other engine cannot have this state of the guest.
 * After any error the current engine can resume.
 */
int core_switch(struct core_vm *vm);

/*
 * Returns true if a trace is on, or is asked for, and the current engine is `free`. Also returns true
 * if the current engine is `traced`, no trace has been on for some time, and core_switch_is_plain()
 * is true for each vCPU.
 */
bool core_switch_is_due(struct core_vm *vm);
/*
 * Change the engine, while no thread runs a vCPU. If the change must be later, the current engine
 * can resume. So `traced` keeps a guest whose state `free` cannot have. Stops the VM if the change
 * fails.
 */
void core_switch_change(struct core_vm *vm);
/*
 * Call in the loop of a vCPU between two instructions. With one vCPU the engine changes here if the
 * change is due. With several, core_switch_ask() is called.
 */
void core_switch_poll(struct core_vcpu *v);

/* Let all vCPUs leave their loops for a change. */
void core_switch_ask(struct core_vcpu *v);
/*
 * Returns true if a vCPU must leave its loop, and its state can be saved here. Without another engine
 * the state is for a snapshot, so core_switch_is_plain() must be true, too. If the vCPU cannot leave
 * here, it goes on for a short time.
 */
bool core_switch_leaves(struct core_vcpu *v);
/*
 * Returns true if all vCPUs must leave their loops before core_vm_hooks.asked is called. It is called
 * on the engine `traced`, if the machine has one.
 */
bool core_switch_stops(const struct core_vm *vm);

#endif /* VMM_CORE_SWITCH_H */
