// SPDX-License-Identifier: GPL-2.0-or-later
/* Creation and end of a virtual machine. */
#include "core/vm.h"
#include "core/cpuid_model.h"
#include "core/devices.h"
#include "core/msr.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/vcpu.h"
#include "engine/apic.h"

/* Get the leaves of the other engine that may run the guest. */
static int others_leaves(const struct core_vm_config *config, struct engine_cpuid_entry *entries,
			 size_t *count)
{
	const struct engine *other = config->traced ? config->traced : config->also;
	struct engine_vm *machine;
	int error = other->vm_create(config->traced ? config->probe : config->also_probe, &machine);

	if (error)
		return error;
	error = other->supported_cpuid(machine, entries, count);
	other->vm_destroy(machine);
	return error;
}

/*
 * Get the leaves of the engine. If another engine may run the guest, these are the leaves that both
 * have. They do not depend on which of the two begins: values that are no features are the host's.
 */
static int supported(struct core_vm *vm, const struct core_vm_config *config, size_t *count)
{
	struct engine_cpuid_entry other[CORE_CPUID_ROOM];
	size_t others = CORE_CPUID_ROOM;
	int error = vm->engine->supported_cpuid(vm->machine, vm->cpuid, count);

	if (!error && vm->common)
		error = others_leaves(config, other, &others);
	if (error || !vm->common)
		return error;
	if (!(vm->engine->can & ENGINE_BUS)) {
		core_cpuid_common(vm->cpuid, count, other, others);
		return 0;
	}
	core_cpuid_common(other, &others, vm->cpuid, *count);
	memcpy(vm->cpuid, other, others * sizeof(*other));
	*count = others;
	return 0;
}

static int make_cpuid(struct core_vm *vm, const struct core_vm_config *config)
{
	const bool has_pt = vm->owner == TRACE_OWNER_GUEST && vm->system == TRACER_SYSTEM_PT;
	const bool near = vm->engine->can & ENGINE_NEAR && !vm->counted && !vm->common;
	size_t count = CORE_CPUID_ROOM;
	int error = 0;

	if (config->cpuid && config->cpuid_count > count)
		return -E2BIG;
	if (config->cpuid) {
		count = config->cpuid_count;
		memcpy(vm->cpuid, config->cpuid, count * sizeof(*config->cpuid));
	} else {
		error = supported(vm, config, &count);
	}
	if (error)
		return error;
	vm->cpuid_count = count;
	core_cpuid_shape(vm->cpuid, &vm->cpuid_count, &vm->guest_caps, has_pt);
	/* With VM entries and exits, PT's registers are switched by MSR, not by XSAVES. */
	core_cpuid_xstate(vm->cpuid, &vm->cpuid_count, &vm->guest_caps, has_pt && !vm->vmx);
	if (!config->cpuid)
		core_cpuid_platform(vm->cpuid, vm->cpuid_count,
				    (vm->engine->can & ENGINE_BUS && !vm->common) || vm->apic.host);
	if (!config->cpuid && near)
		core_cpuid_features(vm->cpuid, vm->cpuid_count, &vm->caps);
	/* Lockstep has no waiting instructions, and a traced hypervisor would intercept them. */
	if (!config->cpuid && near && !vm->vmx)
		core_cpuid_waits(vm->cpuid, &vm->cpuid_count, &vm->caps);
	return 0;
}

/* Replace CPUID by that of a snapshot, which may have fewer features. */
static int take_saved(struct core_vm *vm, const struct core_vm_config *config)
{
	core_cpuid_topology(vm->cpuid, vm->cpuid_count, 0, config->cpus ? config->cpus : 1);
	if (config->saved_count > CORE_CPUID_ROOM)
		return -E2BIG;
	if (!core_cpuid_gives(vm->cpuid, vm->cpuid_count, config->saved, config->saved_count,
			      config->gap))
		return -ENOTSUP;
	memcpy(vm->cpuid, config->saved, config->saved_count * sizeof(*config->saved));
	vm->cpuid_count = config->saved_count;
	return 0;
}

/* Map both parts of RAM. */
static int map_ram(struct core_vm *vm, const struct engine *engine, struct engine_vm *machine)
{
	const uint64_t low = x86_mem_low(&vm->mem), high = vm->mem.bytes - low;
	int error = engine->vm_map(machine, 0, 0, vm->mem.host, low);

	if (error || !high)
		return error;
	return engine->vm_map(machine, 1, X86_MEM_HIGH, vm->mem.host + low, high);
}

void core_vm_wrote_all(struct core_vm *vm)
{
	const uint64_t low = x86_mem_low(&vm->mem);

	vm->engine->vm_wrote(vm->machine, 0, low);
	vm->engine->vm_wrote(vm->machine, X86_MEM_HIGH, vm->mem.bytes - low);
}

static int make_machine(struct core_vm *vm, const struct engine *engine, struct engine_vm **machine)
{
	const struct engine_msr_range *ranges;
	size_t count;
	int error = engine->vm_create(&vm->probe, machine);

	if (error)
		return error;
	core_msr_ranges(&ranges, &count);
	error = map_ram(vm, engine, *machine);
	if (!error && engine->pt)
		error = engine->pt->owner(*machine, vm->owner == TRACE_OWNER_GUEST);
	if (!error && vm->apic.host)
		error = vm->apic.host->create(*machine, DEV_IOAPIC_PINS);
	if (!error)
		error = engine->vm_trap_msrs(*machine, ranges, count);
	if (error) {
		engine->vm_destroy(*machine);
		*machine = NULL;
	}
	return error;
}

static int make_vcpus(struct core_vm *vm, unsigned int count)
{
	int error = 0;

	for (; !error && vm->cpus < count; vm->cpus++) {
		core_cpuid_topology(vm->cpuid, vm->cpuid_count, vm->cpus, count);
		error = core_vcpu_create(vm, vm->cpus, &vm->cpu[vm->cpus]);
	}
	/* vm->cpuid is that of the first. */
	core_cpuid_topology(vm->cpuid, vm->cpuid_count, 0, count);
	return error;
}

/* Create what the other engine needs, because the process may not do so once the guest runs. */
static int make_other(struct core_vm *vm)
{
	struct core_vm_switch *change = &vm->change;
	unsigned int i;
	int error;

	if (!change->traced)
		return 0;
	change->other = change->traced;
	error = make_machine(vm, change->other, &change->machine);
	for (i = 0; !error && i < vm->cpus; i++) {
		core_cpuid_topology(vm->cpuid, vm->cpuid_count, i, vm->cpus);
		error = core_vcpu_make(vm->cpu[i], change->other, change->machine, &change->ev[i]);
	}
	core_cpuid_topology(vm->cpuid, vm->cpuid_count, 0, vm->cpus);
	return error;
}

int core_vm_create(struct core_vm *vm, const struct core_vm_config *config)
{
	int error;

	memset(vm, 0, sizeof(*vm));
	vm->engine = config->engine;
	vm->probe = *config->probe;
	vm->caps = *config->caps;
	vm->guest_caps = config->guest_caps ? *config->guest_caps : vm->caps;
	vm->system = config->system;
	vm->owner = config->owner;
	vm->hooks = config->hooks;
	vm->epoch = config->epoch;
	vm->counted = config->counted;
	vm->vmx = config->vmx;
	vm->apic.host = config->host_apic ? vm->engine->apic : NULL;
	vm->change.free = config->engine;
	vm->change.traced = config->traced;
	vm->common = config->traced || config->also;
	error = x86_mem_create(&vm->mem, config->mem_bytes);
	if (!error)
		error = make_machine(vm, vm->engine, &vm->machine);
	if (!error)
		error = make_cpuid(vm, config);
	if (!error && config->saved)
		error = take_saved(vm, config);
	if (!error)
		error = make_vcpus(vm, config->cpus ? config->cpus : 1);
	if (!error)
		error = make_other(vm);
	vm->vcpu = vm->current = vm->cpu[0];
	vm->pause_at = UINT64_MAX;
	if (error)
		core_vm_destroy(vm);
	return error;
}

void core_vm_destroy(struct core_vm *vm)
{
	unsigned int i;

	for (i = 0; i < DEV_PLATFORM_CPUS; i++) {
		core_vcpu_destroy(vm->cpu[i]);
		if (vm->change.ev[i])
			vm->change.other->vcpu_destroy(vm->change.ev[i]);
	}
	if (vm->change.machine)
		vm->change.other->vm_destroy(vm->change.machine);
	if (vm->machine)
		vm->engine->vm_destroy(vm->machine);
	core_virtio_destroy(vm);
	x86_mem_destroy(&vm->mem);
	memset(vm->cpu, 0, sizeof(vm->cpu));
	vm->vcpu = vm->current = NULL;
	vm->cpus = 0;
	vm->machine = NULL;
	memset(&vm->change, 0, sizeof(vm->change));
}

uint64_t core_vm_retired(const struct core_vm *vm)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < vm->cpus; i++)
		sum += vm->cpu[i]->ev->retired;
	return sum;
}

uint64_t core_vm_interpreted(const struct core_vm *vm)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < vm->cpus; i++)
		sum += vm->cpu[i]->ev->interpreted;
	return sum;
}

void core_vm_ask(struct core_vm *vm)
{
	vm->asked = true;
	vm->current->ev->state |= ENGINE_ATTENTION;
}

void core_vm_alarm(struct core_vm *vm, uint64_t ns)
{
	vm->alarm = ns;
	/* With threads, the first vCPU looks before it runs. */
	if (vm->current->irq.started && !vm->threads)
		core_devices_touched(vm->current);
}

void core_vm_pause(struct core_vm *vm, uint64_t retired)
{
	if (retired < vm->pause_at)
		vm->pause_at = retired;
	core_vcpu_pause(vm->current);
}

void core_vm_stop(struct core_vm *vm, enum trace_stop_kind kind, const char *fmt, ...)
{
	va_list args;

	if (vm->stop.kind)
		return;
	vm->stop.kind = kind;
	va_start(args, fmt);
	vsnprintf(vm->stop.text, sizeof(vm->stop.text), fmt, args);
	va_end(args);
}
