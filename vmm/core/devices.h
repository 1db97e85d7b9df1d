/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The devices and their time. */
#ifndef VMM_CORE_DEVICES_H
#define VMM_CORE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_vcpu;

/* devices.c: bring them up to now. */
void core_devices_advance(struct core_vcpu *v);
/* Instructions until one of them does something, or ns of the host with engines that do
 * not count; UINT64_MAX: none will. */
uint64_t core_devices_next(const struct core_vcpu *v);
/* So many core clocks pass in which nothing is executed. */
void core_devices_idle(struct core_vcpu *v, uint64_t clocks);
/* After an access: an engine that runs may have to stop earlier. */
void core_devices_touched(struct core_vcpu *v);
/*
 * Save or load the state and time of the devices between two runs. With an engine that counts this
 * includes the timer of abi/boot.h. Call load() after the engine's own. If it returns false nothing
 * has changed.
 */
size_t core_devices_saved_bytes(void);
bool core_devices_save(struct core_vcpu *v, void *to, size_t room);
bool core_devices_load(struct core_vcpu *v, const void *from, size_t bytes);

#endif /* VMM_CORE_DEVICES_H */
