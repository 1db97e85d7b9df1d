/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The virtio devices of a VM. The trace file records each reply of the shared folder
 * (TRACE_RECORDED_FOLDER), and a replay takes the replies from there instead of a folder.
 */
#ifndef VMM_CORE_VIRTIO_H
#define VMM_CORE_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virtio/virtio.h"

struct core_vcpu;
struct core_vm;
struct trace_reader_input;

/* The virtio devices of a VM and the replies that are left of a recording. */
struct core_virtio {
	struct virtio_bus bus;
	struct core_vcpu *vcpu; /* the vCPU whose access is handled */
	bool replays;
	const struct trace_reader_input *next;
	size_t left;
};

/*
 * Add devices to a VM before it runs: a shared folder with the tag @share, unless that is NULL, and
 * a console. Returns 0 or -errno.
 */
int core_virtio_create(struct core_vm *vm, const char *share, bool console);
void core_virtio_destroy(struct core_vm *vm);
/* Take the replies of the folder from a recording. The array must stay until the guest stops. */
void core_virtio_replay(struct core_vm *vm, const struct trace_reader_input *inputs, size_t count);

/* Access a device. Returns false if there is none at this address. */
bool core_virtio_mmio(struct core_vcpu *v, uint64_t gpa, uint32_t len, bool write, void *data);
/* Pass received bytes to the console. */
void core_virtio_receive(struct core_vm *vm, const uint8_t *bytes, size_t count);
/* Set the interrupt lines after a change of the devices' state. */
void core_virtio_update(struct core_vm *vm);

#endif /* VMM_CORE_VIRTIO_H */
