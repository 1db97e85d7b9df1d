// SPDX-License-Identifier: GPL-2.0-or-later
/* Ports (abi/boot.h) and what lies beyond RAM. */
#include "core/vcpu.h"
#include "vpt/abi/boot.h"

#include <string.h>

static void console(struct vpt_vm *vm, uint8_t c)
{
	if (vm->hooks.console)
		vm->hooks.console(vm->hooks.opaque, (char)c);
}

static void out(struct vpt_vcpu *v, uint16_t port, uint32_t value)
{
	switch (port) {
	case VPT_PORT_CONSOLE:
		console(v->vm, (uint8_t)value);
		break;
	case VPT_PORT_EXIT:
		if (!v->vm->stop.kind)
			v->vm->stop.exit_status = value;
		vpt_vm_stop(v->vm, VPT_STOP_EXIT, "status %u", value);
		break;
	case VPT_PORT_TIMER:
		vpt_irq_set_timer(v, value);
		break;
	case VPT_PORT_PMI:
		v->irq.pmi_vector = (uint8_t)value;
		break;
	default:
		break;
	}
}

static uint32_t in(struct vpt_vcpu *v, uint16_t port)
{
	bool raised = v->irq.pmi_raised;

	switch (port) {
	case VPT_PORT_CONSOLE:
		return VPT_PORT_CONSOLE;
	case VPT_PORT_PMI:
		v->irq.pmi_raised = false;
		return raised;
	default:
		return ~0u;
	}
}

void vpt_bus_io(struct vpt_vcpu *v, uint16_t port, uint8_t size, bool is_in, uint32_t count,
		void *data)
{
	uint8_t *at = data;
	uint32_t i;

	if (size > sizeof(uint32_t))
		return;
	for (i = 0; i < count; i++, at += size) {
		uint32_t value = 0;

		if (is_in) {
			value = in(v, port);
			memcpy(at, &value, size);
		} else {
			memcpy(&value, at, size);
			out(v, port, value);
		}
	}
}

void vpt_bus_mmio(struct vpt_vcpu *v, uint64_t gpa, uint32_t len, bool write, void *data)
{
	(void)v;
	(void)gpa;
	if (!write && len <= 8)
		memset(data, 0xff, len);
}
