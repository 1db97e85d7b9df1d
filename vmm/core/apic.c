// SPDX-License-Identifier: GPL-2.0-or-later
/* Connect the devices to the host's local APICs. */
#include "core/apic.h"
#include "core/irq.h"
#include "core/vcpu.h"
#include "engine/apic.h"

#include <string.h>

static struct engine_apic_message convert(const struct dev_apic_message *m)
{
	return (struct engine_apic_message){
		.dest = (uint8_t)m->dest,
		.vector = m->vector,
		.mode = m->mode,
		.logical = m->logical,
		.level = m->level,
	};
}

static bool send(void *opaque, const struct dev_apic_message *message)
{
	const struct core_vm *vm = opaque;
	const struct engine_apic_message m = convert(message);

	return vm->apic.host->send(vm->machine, &m);
}

/* KVM waits for all vCPUs when its table changes, so only changes of level-triggered pins count. */
static void redirected(void *opaque)
{
	struct core_vm *vm = opaque;
	struct core_apic *a = &vm->apic;
	struct dev_apic_message level[DEV_IOAPIC_PINS];
	struct engine_apic_message m[DEV_IOAPIC_PINS];
	const size_t levels = dev_ioapic_levels(&vm->platform.ioapic, level);
	size_t i;
	int error;

	if (levels == a->levels && !memcmp(level, a->level, levels * sizeof(*level)))
		return;
	a->levels = levels;
	memcpy(a->level, level, levels * sizeof(*level));
	for (i = 0; i < levels; i++)
		m[i] = convert(&level[i]);
	error = a->host->set_levels(vm->machine, m, levels);
	if (!error)
		return;
	vm->stop.error = -error;
	core_vm_stop(vm, TRACE_STOP_HOST, "KVM refuses the pins of the I/O APIC");
}

void core_apic_connect(struct core_vm *vm, struct dev_platform_host *host)
{
	if (!vm->apic.host)
		return;
	host->send = send;
	host->redirected = redirected;
}

bool core_apic_inject(struct core_vcpu *v)
{
	const struct engine_apic *host = v->vm->apic.host;

	if (!core_irq_pending(v) || !host->takes_extint(v->ev))
		return false;
	host->extint(v->ev, core_irq_take(v));
	return true;
}

void core_apic_halt(struct core_vcpu *v)
{
	core_wait_end(v, VPT_WAKE_INTERRUPT);
	if (v->vm->apic.host->halt(v->ev))
		core_vm_stop(v->vm, TRACE_STOP_HOST, "KVM cannot halt a vCPU");
}

void core_apic_check(struct core_vcpu *v)
{
	if (v->vm->cpus == 1 && v->vm->apic.host->sleeps(v->ev))
		core_vm_stop(v->vm, TRACE_STOP_HALTED, "at %#llx with interrupts off",
			     (unsigned long long)v->regs->rip);
}
