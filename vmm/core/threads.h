/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread for each vCPU of a host's processor (docs/adr/0027). One lock protects the machine with
 * its devices, hooks and trace. The thread of a vCPU holds the lock, except in the engine's run()
 * and while the vCPU waits.
 *
 * Without threads, core_threads_leave(), _enter(), _notify() and _urge() do nothing.
 */
#ifndef VMM_CORE_THREADS_H
#define VMM_CORE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;
struct core_vm;

/*
 * Run the vCPUs until the VM stops, then end the traces that are still running: core_vcpu_loop() of
 * each. Also returns when all vCPUs have stopped for a change of engine (switch.h). The caller's
 * thread runs the first vCPU. The engine must not have ENGINE_COUNTS. Returns 0, or -errno if a
 * thread could not be created; the VM is then stopped.
 */
int core_threads_loop(struct core_vm *vm);

/*
 * End a system call in which a vCPU's thread waits for the host, such as a write to a console that
 * nobody reads. A signal handler of the first vCPU's thread may call this function. SIGALRM must have
 * a handler without SA_RESTART.
 */
void core_threads_urge(const struct core_vm *vm);

/* Interrupt the other vCPUs that have an event, such as the end of the run. */
void core_threads_notify(struct core_vcpu *v);

/*
 * Call core_input_notify() with the lock. The caller is a thread of the VM's owner. Returns false if
 * the machine has no threads now.
 */
bool core_threads_input(struct core_vm *vm);

/* Release the lock for run(), and take it again. @want_irq is the argument of run(). */
void core_threads_leave(struct core_vcpu *v, bool want_irq);
void core_threads_enter(struct core_vcpu *v);

/* Returns true if the machine has a thread for each vCPU. */
bool core_threads_used(const struct core_vcpu *v);

/*
 * Let the vCPU wait without the lock for @ns, or until another vCPU has an event for it. The wait
 * may end early. Call it with threads only, like core_threads_park().
 */
void core_threads_wait(struct core_vcpu *v, uint64_t ns);
/*
 * Let the vCPU wait for another vCPU. The first vCPU's wait also ends at the next event of a shared
 * device. Stops the VM if all vCPUs wait so, and no device can wake one of them.
 */
void core_threads_park(struct core_vcpu *v);

#endif /* VMM_CORE_THREADS_H */
