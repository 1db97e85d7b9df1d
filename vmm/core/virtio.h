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

#include "dev/pci.h"
#include "virtio/virtio.h"

struct core_vcpu;
struct core_vm;
struct trace_reader_input;

/* The virtio devices of a VM and the replies that are left of a recording. */
struct core_virtio {
	struct virtio_bus bus;
	struct dev_pci pci;	/* device i of the bus is function i + 1 */
	struct core_vcpu *vcpu; /* the vCPU whose access is handled */
	bool replays;
	const struct trace_reader_input *next;
	size_t left;
};

/* Connect the bus to the VM. The caller then adds devices to it (virtio/virtio.h). */
void core_virtio_create(struct core_vm *vm);
/* Add a PCI function for each device, before the VM runs. Returns 0 or -ENOSPC. */
int core_virtio_plug(struct core_vm *vm);
/* Reset the devices and the PCI bus. */
void core_virtio_reset(struct core_vm *vm);
void core_virtio_destroy(struct core_vm *vm);
/* Take the replies of the folder from a recording. The array must stay until the guest stops. */
void core_virtio_replay(struct core_vm *vm, const struct trace_reader_input *inputs, size_t count);

/* Access a port of the PCI bus. Returns false if it has no such port. */
bool core_virtio_io(struct core_vm *vm, uint16_t port, uint8_t size, bool in, uint32_t *value);
/* Access a device or the configuration space. Returns false if neither has this address. */
bool core_virtio_mmio(struct core_vcpu *v, uint64_t gpa, uint32_t len, bool write, void *data);
/* Pass received bytes to the console. */
void core_virtio_receive(struct core_vm *vm, const uint8_t *bytes, size_t count);
/* Pass a frame to the network card. */
void core_virtio_frame(struct core_vm *vm, const uint8_t *bytes, size_t count);
/* Save and load the state of the devices and of the PCI bus, as core_devices_save() does. */
size_t core_virtio_saved_bytes(const struct core_vm *vm);
void core_virtio_save(const struct core_vm *vm, void *to);
bool core_virtio_load(struct core_vm *vm, const void *from, size_t bytes);
/* Set the time, and complete the requests that are due. */
void core_virtio_advance(struct core_vm *vm, uint64_t now);

#endif /* VMM_CORE_VIRTIO_H */
