// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accesses to ports and to memory that is not RAM. Ports are those of abi/boot.h and of the
 * devices.
 */
#include "core/devices.h"
#include "core/hv.h"
#include "core/irq.h"
#include "core/mark.h"
#include "vpt/abi/boot.h"

#include <string.h>

static void write_console(struct core_vcpu *v, uint32_t value)
{
	if (v->vm->hooks.console)
		v->vm->hooks.console(v->vm->hooks.opaque, (char)value);
}

static uint32_t read_console(struct core_vcpu *v)
{
	(void)v;
	return VPT_PORT_CONSOLE;
}

static void write_exit(struct core_vcpu *v, uint32_t value)
{
	if (!v->vm->stop.kind)
		v->vm->stop.exit_status = value;
	core_vm_stop(v->vm, TRACE_STOP_EXIT, "status %u", value);
}

static void write_pmi(struct core_vcpu *v, uint32_t value)
{
	v->irq.pmi_vector = (uint8_t)value;
}

/* Returns whether a PMI was raised since the last read. */
static uint32_t read_pmi(struct core_vcpu *v)
{
	bool raised = v->irq.pending & CORE_IRQ_PMI_RAISED;

	v->irq.pending &= ~CORE_IRQ_PMI_RAISED;
	return raised;
}

/*
 * The ports of abi/boot.h. All other ports, and directions that are NULL here, belong to devices.
 */
static const struct port_row {
	uint16_t port;
	uint32_t (*read)(struct core_vcpu *v);
	void (*write)(struct core_vcpu *v, uint32_t value);
} rows[] = {
	{VPT_PORT_CONSOLE, read_console, write_console},
	{VPT_PORT_EXIT, NULL, write_exit},
	{VPT_PORT_TIMER, NULL, core_irq_set_timer},
	{VPT_PORT_PMI, read_pmi, write_pmi},
};

static const struct port_row *find(uint16_t port)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].port == port)
			return &rows[i];
	return NULL;
}

/* Write the bytes of one access to the text of a mark. */
static void write_mark(struct core_vcpu *v, uint8_t size, uint32_t value)
{
	for (; size; size--, value >>= 8)
		core_mark_write(v, (uint8_t)value);
}

static void out(struct core_vcpu *v, uint16_t port, uint8_t size, uint32_t value)
{
	const struct port_row *row = find(port);

	if (port >= VPT_PORT_MARK && port < VPT_PORT_MARK + VPT_PORT_MARKS)
		write_mark(v, size, value);
	else if (row && row->write)
		row->write(v, value);
	else if (!core_virtio_io(v->vm, port, size, false, &value))
		dev_platform_io(&v->vm->platform, port, size, false, &value);
}

static uint32_t in(struct core_vcpu *v, uint16_t port, uint8_t size)
{
	const struct port_row *row = find(port);
	uint32_t value = ~0u;

	if (row && row->read)
		return row->read(v);
	if (core_virtio_io(v->vm, port, size, true, &value))
		return value;
	dev_platform_io(&v->vm->platform, port, size, true, &value);
	return value;
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
	core_devices_reach(v);
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
	core_devices_reach(v);
	if (!core_virtio_mmio(v, gpa, len, write, data) &&
	    !dev_platform_mmio(&v->vm->platform, v->index, gpa, len, write, data) && !write)
		memset(data, 0xff, len);
	core_devices_touched(v);
}
