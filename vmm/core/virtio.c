// SPDX-License-Identifier: GPL-2.0-or-later
/* Connects virtio devices to the machine, and records or replays the shared folder. */
#include "core/virtio.h"
#include "core/input.h"
#include "core/vcpu.h"
#include "trace/reader.h"

#include <string.h>

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

int core_virtio_create(struct core_vm *vm, const char *tag, bool has_console)
{
	vm->virtio.bus.host = (struct virtio_host){
		.memory = {.mem = &vm->mem, .wrote = wrote, .opaque = vm},
		.console = console,
		.share = share,
		.opaque = vm,
	};
	if (has_console)
		virtio_add_console(&vm->virtio.bus);
	return tag ? virtio_add_share(&vm->virtio.bus, tag) : 0;
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

void core_virtio_update(struct core_vm *vm)
{
	unsigned int i;

	for (i = 0; i < vm->virtio.bus.count; i++)
		dev_platform_line(&vm->platform, VIRTIO_LINE + i, virtio_irq(&vm->virtio.bus, i));
}

bool core_virtio_mmio(struct core_vcpu *v, uint64_t gpa, uint32_t len, bool write, void *data)
{
	v->vm->virtio.vcpu = v;
	if (!virtio_mmio(&v->vm->virtio.bus, gpa, len, write, data))
		return false;
	core_virtio_update(v->vm);
	return true;
}

void core_virtio_receive(struct core_vm *vm, const uint8_t *bytes, size_t count)
{
	virtio_console_receive(&vm->virtio.bus, bytes, count);
	core_virtio_update(vm);
}
