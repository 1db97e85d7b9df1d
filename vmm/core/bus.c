// SPDX-License-Identifier: GPL-2.0-or-later
/* Accesses to ports (abi/boot.h, and those of the devices) and beyond RAM. */
#include "core/devices.h"
#include "core/hv.h"
#include "core/irq.h"
#include "vpt/abi/boot.h"

#include <string.h>

static void console(struct core_vm *vm, uint8_t c)
{
	if (vm->hooks.console)
		vm->hooks.console(vm->hooks.opaque, (char)c);
}

static void out(struct core_vcpu *v, uint16_t port, uint8_t size, uint32_t value)
{
	switch (port) {
	case VPT_PORT_CONSOLE:
		console(v->vm, (uint8_t)value);
		break;
	case VPT_PORT_EXIT:
		if (!v->vm->stop.kind)
			v->vm->stop.exit_status = value;
		core_vm_stop(v->vm, TRACE_STOP_EXIT, "status %u", value);
		break;
	case VPT_PORT_TIMER:
		core_irq_set_timer(v, value);
		break;
	case VPT_PORT_PMI:
		v->irq.pmi_vector = (uint8_t)value;
		break;
	default:
		dev_platform_io(&v->vm->platform, port, size, false, &value);
		break;
	}
}

static uint32_t in(struct core_vcpu *v, uint16_t port, uint8_t size)
{
	bool raised = v->irq.pending & CORE_IRQ_PMI_RAISED;
	uint32_t value = ~0u;

	switch (port) {
	case VPT_PORT_CONSOLE:
		return VPT_PORT_CONSOLE;
	case VPT_PORT_PMI:
		v->irq.pending &= ~CORE_IRQ_PMI_RAISED;
		return raised;
	default:
		dev_platform_io(&v->vm->platform, port, size, true, &value);
		return value;
	}
}

void core_bus_io(struct core_vcpu *v, uint16_t port, uint8_t size, bool is_in, uint32_t count,
		 void *data)
{
	uint8_t *at = data;
	uint32_t i;

	if (size > sizeof(uint32_t))
		return;
	if (v->hv)
		core_hv_note_io(v, port, size, is_in, count);
	core_irq_advance(v);
	for (i = 0; i < count; i++, at += size) {
		uint32_t value = 0;

		if (is_in) {
			value = in(v, port, size);
			memcpy(at, &value, size);
		} else {
			memcpy(&value, at, size);
			out(v, port, size, value);
		}
	}
	core_devices_touched(v);
}

void core_bus_mmio(struct core_vcpu *v, uint64_t gpa, uint32_t len, bool write, void *data)
{
	if (v->hv)
		core_hv_note_mmio(v, len, write);
	core_irq_advance(v);
	if (!dev_platform_mmio(&v->vm->platform, gpa, len, write, data) && !write)
		memset(data, 0xff, len);
	core_devices_touched(v);
}
