// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The devices of vmm/dev and their time. If instructions are counted, the time is the virtual TSC's
 * (engine/time.h). Otherwise it is the host's.
 */
#include "core/clock.h"
#include "core/devices.h"
#include "core/exec.h"
#include "core/irq.h"
#include "core/vcpu.h"
#include "dev/clock.h"

#include <string.h>

#define DEFAULT_EPOCH	1735689600 /* 2025-01-01 */
#define DEFAULT_APIC_HZ 24000000u  /* if CPUID has no crystal clock */

/* Bits of CPUID.1:ECX. */
#define X2APIC	     21u
#define TSC_DEADLINE 24u

/* Returns the devices' time in ticks of the virtual TSC. */
static uint64_t cycles(const struct core_vcpu *v)
{
	return engine_time_tsc(&v->ev->time, v->ev->retired) + (uint64_t)v->irq.ahead;
}

/* The first cycle at which the devices' time is `ns` or more. */
static uint64_t cycle_at(const struct core_vcpu *v, uint64_t ns)
{
	unsigned __int128 at =
		(unsigned __int128)ns * core_clock_tsc_hz(&v->vm->caps) + DEV_NS_PER_SECOND - 1;

	at /= DEV_NS_PER_SECOND;
	return at < DEV_NEVER ? (uint64_t)at : DEV_NEVER;
}

/* The first virtual TSC at which the devices' time is `ns` or more. */
static uint64_t tsc_at(const struct core_vcpu *v, uint64_t ns)
{
	const uint64_t at = cycle_at(v, ns);

	if (at == DEV_NEVER || !v->irq.ahead)
		return at;
	return v->irq.ahead > 0 && at < (uint64_t)v->irq.ahead ? 0 : at - (uint64_t)v->irq.ahead;
}

/* The devices' time at a cycle. */
static uint64_t ns_at(const struct core_vcpu *v, uint64_t cycle)
{
	const uint64_t hz = core_clock_tsc_hz(&v->vm->caps);

	return (uint64_t)((unsigned __int128)cycle * DEV_NS_PER_SECOND / hz);
}

static uint64_t now(const struct core_vcpu *v)
{
	if (!core_vcpu_counts(v))
		return core_now() - v->irq.started;
	return ns_at(v, cycles(v));
}

static void serial_out(void *opaque, uint8_t byte)
{
	struct core_vm *vm = opaque;

	if (vm->hooks.console)
		vm->hooks.console(vm->hooks.opaque, (char)byte);
}

/* A reset ends the run, or restarts the machine (reboot.h). */
static void reset(void *opaque, enum dev_reset kind)
{
	static const char *const text[] = {
		[DEV_RESET_SYSTEM] = "reset by the guest",
		[DEV_RESET_INIT] = "reset by an INIT",
		[DEV_RESET_OFF] = "powered off",
	};
	struct core_vm *vm = opaque;

	if (!vm->stop.kind && kind == DEV_RESET_SYSTEM)
		vm->stop.flags = CORE_STOP_RESET;
	core_vm_stop(vm, TRACE_STOP_EXIT, "%s", text[kind]);
}

static uint64_t tsc_time(void *opaque, unsigned int cpu, uint64_t tsc)
{
	const struct core_vcpu *v = ((struct core_vm *)opaque)->cpu[cpu];
	uint64_t at, is = engine_time_read(&v->ev->time, v->ev->retired);

	if (tsc <= is)
		return 0;
	at = cycles(v) + (tsc - is);
	return at < cycles(v) ? DEV_NEVER : dev_clock_ns(at, core_clock_tsc_hz(&v->vm->caps));
}

static uint64_t get_cr8(void *opaque)
{
	const struct core_vcpu *v = opaque;

	return dev_platform_cr8(&v->vm->platform, v->index);
}

static void set_cr8(void *opaque, uint64_t value)
{
	struct core_vcpu *v = opaque;

	dev_platform_set_cr8(&v->vm->platform, v->index, (uint8_t)value);
	core_devices_touched(v);
}

static void bus_io(void *opaque, uint16_t port, uint8_t size, bool in, uint32_t count, void *data)
{
	core_bus_io(opaque, port, size, in, count, data);
}

static void bus_mmio(void *opaque, uint64_t gpa, uint32_t len, bool write, void *data)
{
	core_bus_mmio(opaque, gpa, len, write, data);
}

/* Returns true if CPUID.1:ECX has the feature. */
static bool has_cpuid(const struct core_vm *vm, unsigned int bit)
{
	const struct engine_cpuid_entry *e = core_cpuid_find(vm->cpuid, vm->cpuid_count, 1, 0);

	return e && e->ecx >> bit & 1;
}

static void init(struct core_vcpu *v)
{
	const struct vpt_caps *caps = &v->vm->caps;
	struct dev_platform_config config = {
		.mem_bytes = v->vm->mem.bytes,
		.epoch = v->vm->epoch ? v->vm->epoch : DEFAULT_EPOCH,
		.apic_hz = caps->l15_ecx ? caps->l15_ecx : DEFAULT_APIC_HZ,
		.max_phy_addr = caps->max_phy_addr,
		.cpus = v->vm->cpus,
		.x2apic = has_cpuid(v->vm, X2APIC),
		.host =
			{
				.serial_out = serial_out,
				.reset = reset,
				.tsc_time = has_cpuid(v->vm, TSC_DEADLINE) ? tsc_time : NULL,
				.opaque = v->vm,
			},
	};
	unsigned int i;

	core_apic_connect(v->vm, &config.host);
	dev_platform_init(&v->vm->platform, &config);
	core_virtio_reset(v->vm);
	/* A reset drops the texts that have no end yet. */
	for (i = 0; i < v->vm->cpus; i++)
		v->vm->cpu[i]->marks.len = 0;
}

/*
 * Called when the devices are first advanced, because the VM is complete by then. The first vCPU is
 * the first to do so.
 */
static void start(struct core_vcpu *v)
{
	if (!v->index)
		init(v);
	v->irq.started = core_now();
	v->irq.next = DEV_NEVER;
	v->ev->bus = (struct engine_bus){
		.io = bus_io,
		.mmio = bus_mmio,
		.get_cr8 = get_cr8,
		.set_cr8 = set_cr8,
		.xstate = core_vcpu_xstate(v),
		.opaque = v,
	};
}

/* Returns true if the shared devices act at their own times (turns.c). */
static bool takes_turns(const struct core_vm *vm)
{
	return vm->cpus > 1 && !vm->threads;
}

/* Call the hook of core_vm_alarm() if it is due. */
static void ring(struct core_vm *vm, uint64_t ns)
{
	if (vpt_likely(!vm->alarm) || ns < vm->alarm)
		return;
	vm->alarm = 0;
	vm->hooks.alarm(vm->hooks.opaque);
}

/* The next event of a virtio device, or the alarm. */
static uint64_t next_other(const struct core_vm *vm)
{
	const uint64_t disk = virtio_next(&vm->virtio.bus);

	return vm->alarm && vm->alarm < disk ? vm->alarm : disk;
}

void core_devices_advance(struct core_vcpu *v)
{
	uint64_t ns;

	if (vpt_unlikely(!v->irq.started))
		start(v);
	ns = now(v);
	if (takes_turns(v->vm)) {
		dev_platform_advance_local(&v->vm->platform, v->index, ns);
		return;
	}
	dev_platform_advance(&v->vm->platform, v->index, ns);
	core_virtio_advance(v->vm, ns);
	ring(v->vm, ns);
}

void core_devices_reach(struct core_vcpu *v)
{
	const uint64_t ns = now(v);

	if (!takes_turns(v->vm))
		return;
	dev_platform_advance_shared(&v->vm->platform, ns);
	core_virtio_advance(v->vm, ns);
}

/*
 * The time of the next event of the processor's local APIC or of a shared device. With threads, the
 * first vCPU has the shared devices.
 */
static uint64_t next_event(const struct core_vcpu *v)
{
	const struct dev_platform *p = &v->vm->platform;
	const uint64_t other = next_other(v->vm);
	uint64_t next;

	if (v->vm->threads && v->index)
		return dev_lapic_next(&p->lapic[v->index]);
	next = dev_platform_next(p, v->index);
	return next < other ? next : other;
}

void core_devices_expect(struct core_vcpu *v)
{
	v->irq.next = next_event(v);
}

uint64_t core_devices_next(const struct core_vcpu *v)
{
	const struct dev_platform *p = &v->vm->platform;
	/* Turns have an actor of their own for the shared devices. */
	uint64_t next = takes_turns(v->vm) ? dev_lapic_next(&p->lapic[v->index]) : next_event(v);
	bool counts = core_vcpu_counts(v);
	uint64_t at, is;

	if (next == DEV_NEVER || !v->irq.started)
		return DEV_NEVER;
	at = counts ? engine_time_reach(&v->ev->time, tsc_at(v, next)) : next;
	is = counts ? v->ev->retired : now(v);
	return at > is ? at - is : 0;
}

uint64_t core_devices_shared_next(const struct core_vm *vm)
{
	const uint64_t other = next_other(vm);
	uint64_t next = dev_platform_next_shared(&vm->platform);

	if (other < next)
		next = other;
	return next == DEV_NEVER ? DEV_NEVER : tsc_at(vm->vcpu, next);
}

void core_devices_shared_advance(struct core_vm *vm, uint64_t tsc)
{
	const uint64_t ns = ns_at(vm->vcpu, tsc + (uint64_t)vm->vcpu->irq.ahead);

	dev_platform_advance_shared(&vm->platform, ns);
	core_virtio_advance(vm, ns);
	ring(vm, ns);
}

uint64_t core_devices_time(const struct core_vcpu *v)
{
	return now(v);
}

void core_devices_set_time(struct core_vcpu *v, uint64_t ns, uint64_t host)
{
	v->irq.started = host - ns;
	v->irq.ahead = 0;
	if (core_vcpu_counts(v))
		v->irq.ahead = (int64_t)(cycle_at(v, ns) - cycles(v));
	v->irq.next = next_event(v);
}

void core_devices_idle(struct core_vcpu *v, uint64_t clocks)
{
	core_perfmon_advance(v);
	engine_time_idle(&v->ev->time, v->ev->retired, clocks);
	core_perfmon_skip(v);
	core_devices_advance(v);
}

bool core_devices_is_earlier(const struct core_vcpu *v)
{
	return next_event(v) < v->irq.next;
}

void core_devices_touched(struct core_vcpu *v)
{
	uint64_t next = next_event(v);

	if (next != v->irq.next)
		v->pending &= ~CORE_VCPU_KICK_ARMED;
	if (v->vm->cpus > 1 && dev_platform_take_sent(&v->vm->platform)) {
		v->pending |= CORE_VCPU_YIELDS;
		v->ev->state |= ENGINE_ATTENTION;
	}
	/* An event of the shared devices within this turn ends it. */
	if (takes_turns(v->vm) && core_devices_shared_next(v->vm) < v->turn_end)
		v->pending |= CORE_VCPU_YIELDS;
	if (next < v->irq.next || core_irq_pending(v) || v->vm->stop.kind)
		v->ev->state |= ENGINE_ATTENTION;
	v->irq.next = next;
}

/* The part of a snapshot before that of dev_platform_save(). */
struct saved_cpu {
	/* the instructions until the timer of abi/boot.h fires, 0: not armed */
	uint64_t timer_left;
	/* TSC ticks that the devices are ahead of the TSC without the changes by software */
	int64_t ahead;
	struct core_marks marks;
};

struct saved {
	uint64_t input; /* bytes of input that the guest has received */
	struct saved_cpu cpu[];
};

static size_t head_bytes(const struct core_vm *vm)
{
	return sizeof(struct saved) + vm->cpus * sizeof(struct saved_cpu);
}

size_t core_devices_saved_bytes(const struct core_vm *vm)
{
	return head_bytes(vm) + dev_platform_saved_bytes(&vm->platform) +
	       core_virtio_saved_bytes(vm);
}

static uint64_t timer_left(const struct core_vcpu *v)
{
	return core_vcpu_counts(v) ? v->irq.timer_at - v->ev->retired : v->irq.timer_left;
}

/* If instructions are not counted, the time is held, and the devices are at the platform's time. */
static int64_t ahead_of(const struct core_vcpu *v)
{
	const uint64_t tsc = engine_time_tsc(&v->ev->time, v->ev->retired);

	if (core_vcpu_counts(v))
		return v->irq.ahead;
	return (int64_t)(cycle_at(v, v->vm->platform.now) - tsc);
}

bool core_devices_save(struct core_vm *vm, void *to, size_t room)
{
	const size_t head = head_bytes(vm);
	struct saved *saved = to;
	unsigned int i;

	if (room < core_devices_saved_bytes(vm))
		return false;
	memset(to, 0, head);
	saved->input = vm->vcpu->input.bytes;
	for (i = 0; i < vm->cpus; i++) {
		struct core_vcpu *v = vm->cpu[i];

		/* The host's clock goes on, and the engine's state may be saved already. */
		if (core_vcpu_counts(v))
			core_irq_advance(v);
		if (v->irq.pending & CORE_IRQ_TIMER_ARMED)
			saved->cpu[i].timer_left = timer_left(v);
		saved->cpu[i].ahead = ahead_of(v);
		saved->cpu[i].marks.count = v->marks.count;
		saved->cpu[i].marks.len = v->marks.len;
		memcpy(saved->cpu[i].marks.text, v->marks.text, v->marks.len);
	}
	core_virtio_save(vm, (char *)to + head + dev_platform_saved_bytes(&vm->platform));
	return dev_platform_save(&vm->platform, (char *)to + head, room - head);
}

/* The devices' time of a host's processor. In turns each processor has a time of its own. */
static uint64_t latest(const struct dev_platform *p, unsigned int cpus)
{
	uint64_t ns = p->now;
	unsigned int i;

	for (i = 0; i < cpus; i++)
		ns = p->lapic[i].now > ns ? p->lapic[i].now : ns;
	return ns;
}

static void load_cpu(struct core_vcpu *v, const struct saved_cpu *saved, uint64_t host)
{
	core_put_bit(&v->irq.pending, CORE_IRQ_TIMER_ARMED, saved->timer_left);
	v->irq.timer_at = v->ev->retired + saved->timer_left;
	v->irq.timer_left = (uint32_t)saved->timer_left;
	v->irq.ahead = core_vcpu_counts(v) ? saved->ahead : 0;
	v->marks = saved->marks;
	v->irq.started = host - latest(&v->vm->platform, v->vm->cpus);
	v->irq.next = next_event(v);
}

/* Returns false for a state that no machine has. The vCPUs change their engine together. */
static bool is_possible(const struct core_vm *vm, const struct saved *saved)
{
	unsigned int i;

	for (i = 0; i < vm->cpus; i++)
		if (saved->cpu[i].marks.len > CORE_MARK_TEXT ||
		    saved->cpu[i].timer_left > CORE_IRQ_TIMER_MOST ||
		    saved->cpu[i].ahead != saved->cpu[0].ahead)
			return false;
	return true;
}

bool core_devices_load(struct core_vm *vm, const void *from, size_t bytes)
{
	const size_t head = head_bytes(vm);
	const struct saved *saved = from;
	const uint64_t host = core_now();
	unsigned int i;
	size_t platform;

	for (i = 0; i < vm->cpus; i++)
		core_devices_advance(vm->cpu[i]);
	platform = dev_platform_saved_bytes(&vm->platform);
	if (bytes != core_devices_saved_bytes(vm) || !is_possible(vm, saved) ||
	    !core_virtio_load(vm, (const char *)from + head + platform, bytes - head - platform) ||
	    !dev_platform_load(&vm->platform, (const char *)from + head, platform))
		return false;
	for (i = 0; i < vm->cpus; i++)
		load_cpu(vm->cpu[i], &saved->cpu[i], host);
	vm->vcpu->input.bytes = saved->input;
	return true;
}
