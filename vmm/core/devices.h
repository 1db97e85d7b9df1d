/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The devices and their time. */
#ifndef VMM_CORE_DEVICES_H
#define VMM_CORE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vpt_vcpu;

/* devices.c: bring them up to now. */
void vpt_devices_advance(struct vpt_vcpu *v);
/* Instructions until one of them does something, or ns of the host with engines that do
 * not count; UINT64_MAX: none will. */
uint64_t vpt_devices_next(const struct vpt_vcpu *v);
/* So many core clocks pass in which nothing is executed. */
void vpt_devices_idle(struct vpt_vcpu *v, uint64_t clocks);
/* After an access: an engine that runs may have to stop earlier. */
void vpt_devices_touched(struct vpt_vcpu *v);
/* Their state and time, and the timer of abi/boot.h with an engine that counts, between
 * two runs. load() comes after the engine's own, and changes nothing if it is false. */
size_t vpt_devices_saved_bytes(void);
bool vpt_devices_save(struct vpt_vcpu *v, void *to, size_t room);
bool vpt_devices_load(struct vpt_vcpu *v, const void *from, size_t bytes);

#endif /* VMM_CORE_DEVICES_H */
