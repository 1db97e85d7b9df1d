// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The devices of vmm/dev and their time. With an engine that counts it is the virtual
 * TSC's (engine/time.h), else the host's.
 */
#include "core/clock.h"
#include "core/devices.h"
#include "core/exec.h"
#include "core/irq.h"
#include "core/vcpu.h"
#include "dev/clock.h"

#include <string.h>

#define DEFAULT_EPOCH	1735689600 /* 2025-01-01 */
#define DEFAULT_APIC_HZ 24000000u  /* where CPUID tells of no crystal */

/* The TSC without what software did to it. */
static uint64_t cycles(const struct vpt_vcpu *v)
{
	return vpt_time_tsc(&v->ev->time, v->ev->retired);
}

/* The first cycle at which the devices' time is `ns` or more. */
static uint64_t cycle_at(const struct vpt_vcpu *v, uint64_t ns)
{
	unsigned __int128 at =
		(unsigned __int128)ns * vpt_clock_tsc_hz(&v->vm->caps) + VPT_NS_PER_SECOND - 1;

	at /= VPT_NS_PER_SECOND;
	return at < VPT_NEVER ? (uint64_t)at : VPT_NEVER;
}

static uint64_t now(const struct vpt_vcpu *v)
{
	uint64_t hz = vpt_clock_tsc_hz(&v->vm->caps);

	if (!vpt_vcpu_counts(v))
		return vpt_now() - v->irq.started;
	return (uint64_t)((unsigned __int128)cycles(v) * VPT_NS_PER_SECOND / hz);
}

static void serial_out(void *opaque, uint8_t byte)
{
	struct vpt_vm *vm = ((struct vpt_vcpu *)opaque)->vm;

	if (vm->hooks.console)
		vm->hooks.console(vm->hooks.opaque, (char)byte);
}

static int serial_in(void *opaque)
{
	struct vpt_vm *vm = ((struct vpt_vcpu *)opaque)->vm;

	return vm->hooks.input(vm->hooks.opaque);
}

/* A guest that restarts its machine has ended, as far as this machine goes. */
static void reset(void *opaque, enum vpt_reset kind)
{
	struct vpt_vcpu *v = opaque;

	v->ev->attention = true;
	vpt_vm_stop(v->vm, VPT_STOP_EXIT, "reset by %s",
		    kind == VPT_RESET_INIT ? "an INIT" : "the guest");
}

static uint64_t tsc_time(void *opaque, uint64_t tsc)
{
	const struct vpt_vcpu *v = opaque;
	uint64_t at, is = vpt_time_read(&v->ev->time, v->ev->retired);

	if (tsc <= is)
		return 0;
	at = cycles(v) + (tsc - is);
	return at < cycles(v) ? VPT_NEVER : vpt_clock_ns(at, vpt_clock_tsc_hz(&v->vm->caps));
}

static uint64_t get_cr8(void *opaque)
{
	return vpt_platform_cr8(&((struct vpt_vcpu *)opaque)->vm->platform);
}

static void set_cr8(void *opaque, uint64_t value)
{
	struct vpt_vcpu *v = opaque;

	vpt_platform_set_cr8(&v->vm->platform, (uint8_t)value);
	vpt_devices_touched(v);
}

static void bus_io(void *opaque, uint16_t port, uint8_t size, bool in, uint32_t count, void *data)
{
	vpt_bus_io(opaque, port, size, in, count, data);
}

static void bus_mmio(void *opaque, uint64_t gpa, uint32_t len, bool write, void *data)
{
	vpt_bus_mmio(opaque, gpa, len, write, data);
}

/* The VM has all it needs when it is first looked at. */
static void init(struct vpt_vcpu *v)
{
	const struct vpt_caps *caps = &v->vm->caps;
	const struct vpt_platform_config config = {
		.mem_bytes = v->vm->mem.bytes,
		.epoch = v->vm->epoch ? v->vm->epoch : DEFAULT_EPOCH,
		.apic_hz = caps->l15_ecx ? caps->l15_ecx : DEFAULT_APIC_HZ,
		.max_phy_addr = caps->max_phy_addr,
		/* KVM reports no access to x2APIC MSRs, and it has its own TSC. */
		.x2apic = v->engine->can & VPT_ENGINE_BUS && !v->vm->counted,
		.host =
			{
				.serial_out = serial_out,
				.serial_in = v->vm->hooks.input ? serial_in : NULL,
				.reset = reset,
				.tsc_time = v->engine->can & VPT_ENGINE_COUNTS && !v->vm->counted
						    ? tsc_time
						    : NULL,
				.opaque = v,
			},
	};

	vpt_platform_init(&v->vm->platform, &config);
	v->irq.started = vpt_now();
	v->irq.next = VPT_NEVER;
	v->ev->bus = (struct vpt_engine_bus){
		.io = bus_io,
		.mmio = bus_mmio,
		.get_cr8 = get_cr8,
		.set_cr8 = set_cr8,
		.xstate = vpt_vcpu_xstate(v),
		.opaque = v,
	};
}

void vpt_devices_advance(struct vpt_vcpu *v)
{
	if (vpt_unlikely(!v->irq.started))
		init(v);
	vpt_platform_advance(&v->vm->platform, now(v));
}

uint64_t vpt_devices_next(const struct vpt_vcpu *v)
{
	uint64_t next = vpt_platform_next(&v->vm->platform), at, is;
	bool counts = vpt_vcpu_counts(v);

	if (next == VPT_NEVER || !v->irq.started)
		return VPT_NEVER;
	at = counts ? vpt_time_reach(&v->ev->time, cycle_at(v, next)) : next;
	is = counts ? v->ev->retired : now(v);
	return at > is ? at - is : 0;
}

void vpt_devices_idle(struct vpt_vcpu *v, uint64_t clocks)
{
	vpt_time_idle(&v->ev->time, v->ev->retired, clocks);
	vpt_devices_advance(v);
}

void vpt_devices_touched(struct vpt_vcpu *v)
{
	uint64_t next = vpt_platform_next(&v->vm->platform);

	if (next != v->irq.next)
		v->pending &= ~VPT_VCPU_KICK_ARMED;
	if (next < v->irq.next || vpt_irq_pending(v) || v->vm->stop.kind)
		v->ev->attention = true;
	v->irq.next = next;
}

/* What a snapshot has of the devices, before vpt_platform_save()'s. */
struct saved {
	uint64_t timer_left; /* of abi/boot.h's timer, 0: not armed */
};

size_t vpt_devices_saved_bytes(void)
{
	return sizeof(struct saved) + vpt_platform_saved_bytes();
}

bool vpt_devices_save(struct vpt_vcpu *v, void *to, size_t room)
{
	struct saved saved = {0};

	if (room < sizeof(saved))
		return false;
	vpt_irq_advance(v);
	if (v->irq.pending & VPT_IRQ_TIMER_ARMED && vpt_vcpu_counts(v))
		saved.timer_left = v->irq.timer_at - v->ev->retired;
	memcpy(to, &saved, sizeof(saved));
	return vpt_platform_save(&v->vm->platform, (char *)to + sizeof(saved),
				 room - sizeof(saved));
}

bool vpt_devices_load(struct vpt_vcpu *v, const void *from, size_t bytes)
{
	struct vpt_platform *p = &v->vm->platform;
	struct saved saved;

	if (bytes != vpt_devices_saved_bytes())
		return false;
	vpt_devices_advance(v);
	memcpy(&saved, from, sizeof(saved));
	if (!vpt_platform_load(p, (const char *)from + sizeof(saved), bytes - sizeof(saved)))
		return false;
	vpt_put_bit(&v->irq.pending, VPT_IRQ_TIMER_ARMED, saved.timer_left);
	v->irq.timer_at = v->ev->retired + saved.timer_left;
	v->irq.started = vpt_now() - p->now;
	v->irq.next = vpt_platform_next(p);
	return true;
}
