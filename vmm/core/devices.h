/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The devices and their time. */
#ifndef VMM_CORE_DEVICES_H
#define VMM_CORE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_vcpu;
struct core_vm;

/*
 * Advance the devices to the current time (devices.c). If vCPUs take turns, this is the local APIC
 * alone, because it is called wherever an engine returns. The guest must not see these places.
 */
void core_devices_advance(struct core_vcpu *v);
/*
 * If vCPUs take turns, advance the shared devices to a vCPU's time, before it or an input accesses
 * them. A vCPU that is behind another one sees the devices at the time of the last access or event.
 */
void core_devices_reach(struct core_vcpu *v);
/* Note the next event before an engine runs, so that it can stop earlier: core_devices_touched(). */
void core_devices_expect(struct core_vcpu *v);
/*
 * Returns the time until the next event of a device, or UINT64_MAX if there is none. The unit is
 * instructions if they are counted, else nanoseconds of the host.
 */
uint64_t core_devices_next(const struct core_vcpu *v);
/*
 * With several vCPUs the devices that all share have events of their own, and core_devices_next() is
 * that of the vCPU's local APIC. Times are the TSC's, without the changes by software.
 */
uint64_t core_devices_shared_next(const struct core_vm *vm);
void core_devices_shared_advance(struct core_vm *vm, uint64_t tsc);
/*
 * Return and set the devices' time in ns. Setting the time relates it to the clock of the current
 * engine. @host: core_now() at this time.
 */
uint64_t core_devices_time(const struct core_vcpu *v);
void core_devices_set_time(struct core_vcpu *v, uint64_t ns, uint64_t host);
/* Let @clocks core clocks pass without executing an instruction. */
void core_devices_idle(struct core_vcpu *v, uint64_t clocks);
/* Returns true if the next event is earlier than at this vCPU's last access. */
bool core_devices_is_earlier(const struct core_vcpu *v);
/* Call after each access to a device, since a running engine may have to stop earlier. */
void core_devices_touched(struct core_vcpu *v);
/*
 * Save or load the state and time of the devices between two runs. If instructions are counted, the
 * timer of abi/boot.h is included. Call core_devices_load() after the engine's load(). If it
 * returns false, nothing has changed.
 */
size_t core_devices_saved_bytes(const struct core_vm *vm);
bool core_devices_save(struct core_vm *vm, void *to, size_t room);
bool core_devices_load(struct core_vm *vm, const void *from, size_t bytes);

#endif /* VMM_CORE_DEVICES_H */
