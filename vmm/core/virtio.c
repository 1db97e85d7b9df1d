// SPDX-License-Identifier: GPL-2.0-or-later
/* Connects virtio devices to the machine, and records or replays the shared folder. */
#include "core/virtio.h"
#include "core/input.h"
#include "core/vcpu.h"
#include "dev/platform_ports.h"
#include "trace/reader.h"

#include <errno.h>
#include <string.h>

/* The identity of virtio devices (virtio 1.2, 4.1.2). */
#define VENDOR	     0x1af4
#define FIRST_DEVICE 0x1040
#define SUBSYSTEM    0x1100

static void wrote(void *opaque, uint64_t gpa, uint64_t bytes)
{
	struct core_vm *vm = opaque;

	if (vm->engine->vm_wrote)
		vm->engine->vm_wrote(vm->machine, gpa, bytes);
}

static void console(void *opaque, const uint8_t *bytes, size_t count)
{
	struct core_vm *vm = opaque;
	size_t i;

	for (i = 0; vm->hooks.console && i < count; i++)
		vm->hooks.console(vm->hooks.opaque, (char)bytes[i]);
}

static void skip_others(struct core_virtio *virtio)
{
	while (virtio->left && virtio->next->head->kind != TRACE_RECORDED_FOLDER) {
		virtio->next++;
		virtio->left--;
	}
}

/* Take the reply of the recording to a request that the guest makes now. */
static size_t replay(struct core_vm *vm, uint8_t *reply, size_t room)
{
	struct core_virtio *virtio = &vm->virtio;
	const struct trace_reader_input *input = virtio->next;

	if (!virtio->left || input->vcpu != virtio->vcpu->index ||
	    !core_input_is_now(virtio->vcpu, input) || input->head->len > room) {
		core_input_diverge(virtio->vcpu);
		return 0;
	}
	memcpy(reply, input->bytes, input->head->len);
	virtio->next++;
	virtio->left--;
	skip_others(virtio);
	return input->head->len;
}

static size_t share(void *opaque, const uint8_t *request, size_t bytes, uint8_t *reply, size_t room)
{
	struct core_vm *vm = opaque;
	size_t used = 0;

	if (vm->virtio.replays)
		used = replay(vm, reply, room);
	else if (vm->hooks.share)
		used = vm->hooks.share(vm->hooks.opaque, request, bytes, reply, room);
	core_input_record(vm->virtio.vcpu, TRACE_RECORDED_FOLDER, reply, used);
	return used;
}

static void frame(void *opaque, const uint8_t *bytes, size_t count)
{
	const struct core_vm *vm = opaque;

	if (vm->hooks.transmit)
		vm->hooks.transmit(vm->hooks.opaque, bytes, count);
}

static int disk(void *opaque, unsigned int number, enum virtio_disk_access access, uint64_t offset,
		void *data, size_t bytes)
{
	const struct core_vm *vm = opaque;

	if (!vm->hooks.disk)
		return -EIO;
	return vm->hooks.disk(vm->hooks.opaque, number, access, offset, data, bytes);
}

static void send_message(void *opaque, const struct dev_apic_message *message)
{
	struct core_vm *vm = opaque;

	(void)dev_platform_message(&vm->platform, message);
	dev_platform_update(&vm->platform);
}

void core_virtio_create(struct core_vm *vm)
{
	vm->virtio.bus.host = (struct virtio_host){
		.memory = {.mem = &vm->mem, .wrote = wrote, .opaque = vm},
		.console = console,
		.frame = frame,
		.share = share,
		.disk = disk,
		.opaque = vm,
	};
	vm->virtio.pci.message = send_message;
	vm->virtio.pci.opaque = vm;
}

int core_virtio_plug(struct core_vm *vm)
{
	unsigned int i;

	for (i = 0; i < vm->virtio.bus.count; i++) {
		const enum virtio_kind kind = vm->virtio.bus.device[i].kind;
		const struct dev_pci_config config = {
			.vendor = VENDOR,
			.device = (uint16_t)(FIRST_DEVICE + kind),
			.subsystem = SUBSYSTEM,
			.class_code = virtio_class_code(kind),
			.bar_bytes = VIRTIO_PCI_BAR,
			.msix_at = VIRTIO_PCI_MSIX,
			.vectors = VIRTIO_VECTORS,
		};
		struct dev_pci_function *f = dev_pci_add(&vm->virtio.pci, &config);

		if (!f)
			return -ENOSPC;
		virtio_pci_capabilities(f->config, DEV_PCI_NEXT);
	}
	return 0;
}

void core_virtio_reset(struct core_vm *vm)
{
	virtio_reset(&vm->virtio.bus);
	dev_pci_reset(&vm->virtio.pci);
}

void core_virtio_destroy(struct core_vm *vm)
{
	virtio_free(&vm->virtio.bus);
}

void core_virtio_replay(struct core_vm *vm, const struct trace_reader_input *inputs, size_t count)
{
	vm->virtio.replays = true;
	vm->virtio.next = inputs;
	vm->virtio.left = count;
	skip_others(&vm->virtio);
}

/* Send the interrupts that a device has raised. */
static void send_raised(struct core_vm *vm, unsigned int device)
{
	uint16_t vector;

	while (virtio_take_vector(&vm->virtio.bus, device, &vector))
		dev_pci_raise(&vm->virtio.pci, &vm->virtio.pci.function[device + 1], vector);
}

static void send_all(struct core_vm *vm)
{
	unsigned int i;

	for (i = 0; i < vm->virtio.bus.count; i++)
		send_raised(vm, i);
}

bool core_virtio_io(struct core_vm *vm, uint16_t port, uint8_t size, bool in, uint32_t *value)
{
	return dev_pci_io(&vm->virtio.pci, port, size, in, value);
}

bool core_virtio_mmio(struct core_vcpu *v, uint64_t gpa, uint32_t len, bool write, void *data)
{
	struct core_vm *vm = v->vm;
	struct dev_pci *pci = &vm->virtio.pci;
	uint32_t offset;
	unsigned int n;

	if (dev_pci_ecam(pci, gpa, len, write, data))
		return true;
	n = dev_pci_at(pci, gpa, &offset);
	if (!n)
		return false;
	vm->virtio.vcpu = v;
	if (dev_pci_msix(pci, &pci->function[n], offset, len, write, data))
		return true;
	vm->virtio.bus.now = vm->platform.now;
	virtio_pci(&vm->virtio.bus, n - 1, offset, len, write, data);
	send_raised(vm, n - 1);
	return true;
}

void core_virtio_receive(struct core_vm *vm, const uint8_t *bytes, size_t count)
{
	virtio_console_receive(&vm->virtio.bus, bytes, count);
	send_all(vm);
}

void core_virtio_frame(struct core_vm *vm, const uint8_t *bytes, size_t count)
{
	virtio_net_receive(&vm->virtio.bus, bytes, count);
	send_all(vm);
}

void core_virtio_advance(struct core_vm *vm, uint64_t now)
{
	if (virtio_next(&vm->virtio.bus) > now)
		return;
	virtio_advance(&vm->virtio.bus, now);
	send_all(vm);
}

size_t core_virtio_saved_bytes(const struct core_vm *vm)
{
	const struct core_virtio *virtio = &vm->virtio;

	return virtio->pci.count
		       ? virtio_saved_bytes(&virtio->bus) + dev_pci_saved_bytes(&virtio->pci)
		       : 0;
}

void core_virtio_save(const struct core_vm *vm, void *to)
{
	const struct core_virtio *virtio = &vm->virtio;

	if (!virtio->pci.count)
		return;
	virtio_save(&virtio->bus, to);
	dev_pci_save(&virtio->pci, (char *)to + virtio_saved_bytes(&virtio->bus));
}

bool core_virtio_load(struct core_vm *vm, const void *from, size_t bytes)
{
	struct core_virtio *virtio = &vm->virtio;
	size_t head;

	if (bytes != core_virtio_saved_bytes(vm))
		return false;
	if (!bytes)
		return true;
	head = virtio_saved_bytes(&virtio->bus);
	return virtio_load(&virtio->bus, from, head) &&
	       dev_pci_load(&virtio->pci, (const char *)from + head, bytes - head);
}
