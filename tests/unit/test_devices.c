// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The devices as the core has them: their time by counted instructions, what is next,
 * HLT, the ports of abi/boot.h beside them, MSRs, where a PMI goes. The engine is a
 * counter.
 */
#include "lib/suite.h"

#include <stdlib.h>
#include <string.h>

#include "core/devices.h"
#include "core/irq.h"
#include "core/msr.h"
#include "core/vcpu.h"
#include "vpt/abi/boot.h"

#define NEVER UINT64_MAX
/* skl: a crystal of 24 MHz, 142 cycles of the TSC to one of it. */
#define RATIO 142u

static struct engine engine;
static struct engine_vcpu ev;
static struct x86_regs regs;
static struct core_vm vm;
static struct core_vcpu v;
static char printed[16];
static unsigned int printed_count;

static uint64_t tsc(void)
{
	return engine_time_read(&ev.time, ev.retired);
}

static void console(void *opaque, char c)
{
	(void)opaque;
	printed[printed_count++ % sizeof(printed)] = c;
}

static int get_msr(struct engine_vcpu *vcpu, uint32_t index, uint64_t *value)
{
	(void)vcpu;
	(void)index;
	*value = 0;
	return 0;
}

static void setup(void)
{
	memset(&vm, 0, sizeof(vm));
	memset(&v, 0, sizeof(v));
	tracer_unit_choose(&v.tracer, TRACER_SYSTEM_PT);
	memset(&ev, 0, sizeof(ev));
	engine = (struct engine){
		.name = "test", .can = ENGINE_COUNTS | ENGINE_BUS, .get_msr = get_msr};
	vm.engine = &engine;
	vm.vcpu = vm.cpu[0] = &v;
	vm.cpus = 1;
	vm.caps = *vpt_caps_model("skl");
	/* x2APIC and the TSC deadline. */
	vm.cpuid[0] = (struct engine_cpuid_entry){.leaf = 1, .ecx = 1u << 21 | 1u << 24};
	vm.cpuid_count = 1;
	vm.mem.bytes = 64 << 20;
	vm.hooks.console = console;
	v.vm = &vm;
	v.engine = &engine;
	v.ev = &ev;
	v.regs = &regs;
	v.way |= CORE_WAY_UNTRACED;
	ev.time.offset = 1000;
	printed_count = 0;
	core_irq_advance(&v);
}

static void out(uint16_t port, uint8_t size, uint32_t value)
{
	core_bus_io(&v, port, size, false, 1, &value);
}

static uint32_t in(uint16_t port, uint8_t size)
{
	uint32_t value = 0;

	core_bus_io(&v, port, size, true, 1, &value);
	return value;
}

static void apic(uint32_t reg, uint32_t value)
{
	core_bus_mmio(&v, 0xfee00000 + reg, 4, true, &value);
}

/* `n` instructions later. */
static void run(uint64_t n)
{
	ev.retired += n;
	core_irq_advance(&v);
}

static void start_apic_timer(uint32_t lvt, uint32_t count)
{
	apic(0xf0, 0x1ff);
	apic(0x3e0, 0xb);
	apic(0x320, lvt);
	apic(0x380, count);
}

START_TEST(boot_timer_counts_instructions)
{
	ev.retired = 500;
	out(VPT_PORT_TIMER, 4, 0x61u << 24 | 7);
	ck_assert(ev.state & ENGINE_ATTENTION);
	/* The OUT itself and seven more. */
	ck_assert_uint_eq(core_irq_next(&v), 8);
	run(7);
	ck_assert(!core_irq_pending(&v));
	ck_assert_uint_eq(core_irq_next(&v), 1);
	run(1);
	ck_assert(core_irq_pending(&v));
	ck_assert_uint_eq(core_irq_next(&v), NEVER);
	out(VPT_PORT_TIMER, 4, 0);
	ck_assert(!core_irq_pending(&v));
	ck_assert_uint_eq(core_irq_next(&v), NEVER);
}
END_TEST

START_TEST(apic_timer_to_the_instruction)
{
	uint64_t next;

	start_apic_timer(0x40, 10);
	ck_assert(ev.state & ENGINE_ATTENTION);
	/* 416.7 ns, which is 417. */
	next = core_irq_next(&v);
	ck_assert_uint_eq(next, 10 * RATIO + 2);
	run(next - 1);
	ck_assert(!core_irq_pending(&v));
	ck_assert_uint_eq(core_irq_next(&v), 1);
	run(1);
	ck_assert(core_irq_pending(&v));
	ck_assert_uint_eq(dev_platform_ack(&vm.platform, 0), 0x40);
}
END_TEST

/* Ticks of 24 MHz are no whole number of ns: nothing may add up. */
START_TEST(no_drift)
{
	unsigned int i;

	start_apic_timer(0x20040, 7);
	for (i = 1; i <= 10000; i++) {
		run(core_irq_next(&v));
		ck_assert_uint_eq(dev_platform_ack(&vm.platform, 0), 0x40);
		dev_lapic_eoi(&vm.platform.lapic[0]);
		ck_assert_uint_eq((ev.retired + RATIO / 2) / RATIO, 7 * i);
	}
}
END_TEST

START_TEST(deadlines_are_exact)
{
	uint64_t value, at, n;

	ev.retired = 12345;
	start_apic_timer(0x40040, 0);
	for (n = 1; n < 300; n++) {
		at = tsc() + n;
		ck_assert_int_eq(core_msr_write(&v, X86_MSR_TSC_DEADLINE, at, NULL),
				 VPT_FAULT_NONE);
		ck_assert_int_eq(core_msr_read(&v, X86_MSR_TSC_DEADLINE, &value), VPT_FAULT_NONE);
		ck_assert_uint_eq(value, at);
		run(core_irq_next(&v));
		ck_assert(core_irq_pending(&v));
		/* Never early; late by what a nanosecond holds at most. */
		ck_assert_uint_ge(tsc(), at);
		ck_assert_uint_le(tsc(), at + 4);
		dev_platform_ack(&vm.platform, 0);
		dev_lapic_eoi(&vm.platform.lapic[0]);
	}
	ck_assert_int_eq(core_msr_write(&v, X86_MSR_TSC_DEADLINE, NEVER, NULL), VPT_FAULT_NONE);
	ck_assert(!core_irq_pending(&v));
	ck_assert_int_eq(core_msr_write(&v, X86_MSR_TSC_DEADLINE, 1, NULL), VPT_FAULT_NONE);
	ck_assert(core_irq_pending(&v));
}
END_TEST

/* Time goes on in HLT, and with it the TSC, but no instruction. */
START_TEST(halt_lets_time_pass)
{
	uint64_t before;

	ev.retired = 100 * RATIO;
	start_apic_timer(0x40, 1000);
	before = tsc();
	core_irq_skip_to_next(&v);
	ck_assert_uint_eq(ev.retired, 100 * RATIO);
	/* It began within a tick. */
	ck_assert_uint_gt(tsc() - before, 999 * RATIO);
	ck_assert_uint_lt(tsc() - before, 1000 * RATIO + 4);
	ck_assert(core_irq_pending(&v));
	dev_platform_ack(&vm.platform, 0);
	dev_lapic_eoi(&vm.platform.lapic[0]);
	ck_assert_uint_eq(core_irq_next(&v), NEVER);
	core_irq_skip_to_next(&v);
	ck_assert(!core_irq_pending(&v));
	/* Whichever comes first: the other one stays. */
	apic(0x380, 10);
	out(VPT_PORT_TIMER, 4, 0x61u << 24 | 99);
	core_irq_skip_to_next(&v);
	ck_assert(v.irq.pending & CORE_IRQ_TIMER_DUE && !dev_platform_pending(&vm.platform, 0));
	ck_assert_uint_gt(core_irq_next(&v), 9 * RATIO - 100);
	ck_assert_uint_lt(core_irq_next(&v), 10 * RATIO + 4 - 100);
	out(VPT_PORT_TIMER, 4, 0x61u << 24 | 0xffffff);
	core_irq_skip_to_next(&v);
	ck_assert(!(v.irq.pending & CORE_IRQ_TIMER_DUE) && dev_platform_pending(&vm.platform, 0));
	ck_assert_uint_eq(core_irq_next(&v), 0x1000000);
}
END_TEST

START_TEST(an_access_may_bring_the_next_event_nearer)
{
	start_apic_timer(0x40, 1000);
	ev.state &= ~(uint32_t)ENGINE_ATTENTION;
	ck_assert_uint_eq(in(0x71, 1), 0);
	ck_assert(!(ev.state & ENGINE_ATTENTION));
	apic(0x380, 2000);
	ck_assert(!(ev.state & ENGINE_ATTENTION));
	apic(0x380, 10);
	ck_assert(ev.state & ENGINE_ATTENTION);
	/* An interrupt there and then, and one that CR8 lets through. */
	ev.state &= ~(uint32_t)ENGINE_ATTENTION;
	ev.bus.set_cr8(ev.bus.opaque, 5);
	apic(0x300, 0x40041);
	ck_assert(!(ev.state & ENGINE_ATTENTION));
	ck_assert_uint_eq(ev.bus.get_cr8(ev.bus.opaque), 5);
	ev.bus.set_cr8(ev.bus.opaque, 3);
	ck_assert(ev.state & ENGINE_ATTENTION && core_irq_pending(&v));
}
END_TEST

START_TEST(pmi_goes_to_the_port_or_to_lvtpc)
{
	start_apic_timer(0x10000, 0);
	apic(0x340, 0x50);
	out(VPT_PORT_PMI, 4, 0x70);
	core_irq_pmi(&v);
	ck_assert(v.irq.pending & CORE_IRQ_PMI_DUE && !dev_platform_pending(&vm.platform, 0));
	ck_assert_uint_eq(in(VPT_PORT_PMI, 4), 1);
	ck_assert_uint_eq(in(VPT_PORT_PMI, 4), 0);
	v.irq.pending &= ~CORE_IRQ_PMI_DUE;
	out(VPT_PORT_PMI, 4, 0);
	core_irq_pmi(&v);
	ck_assert(!(v.irq.pending & CORE_IRQ_PMI_DUE));
	ck_assert_uint_eq(dev_platform_ack(&vm.platform, 0), 0x50);
	ck_assert_uint_eq(in(VPT_PORT_PMI, 4), 1);
	/* As NMI, which waits for no RFLAGS.IF but for the end of the last one. */
	apic(0xb0, 0);
	apic(0x340, 0x400);
	v.shadowed |= CORE_VCPU_NMI_BLOCKED;
	core_irq_pmi(&v);
	ck_assert(!core_irq_pending(&v));
	v.shadowed &= ~CORE_VCPU_NMI_BLOCKED;
	ck_assert(core_irq_pending(&v));
	ck_assert_uint_eq(core_irq_next(&v), 1);
}
END_TEST

START_TEST(ports)
{
	out(VPT_PORT_CONSOLE, 1, 'a');
	out(0x3f8, 1, 'b');
	ck_assert_uint_eq(printed_count, 2);
	ck_assert(printed[0] == 'a' && printed[1] == 'b');
	ck_assert_uint_eq(in(VPT_PORT_CONSOLE, 1), VPT_PORT_CONSOLE);
	ck_assert_uint_eq(in(0x80, 1), 0xff);
	ck_assert_uint_eq(in(0x2f8, 2), 0xffff);
	ck_assert_uint_eq(in(0x3fd, 1), 0x60);
	out(0xcf9, 1, 0x06);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_EXIT);
	ck_assert(ev.state & ENGINE_ATTENTION);
	ck_assert_str_eq(vm.stop.text, "reset by the guest");
}
END_TEST

START_TEST(nothing_beyond_ram)
{
	uint8_t data[8] = {0};

	core_bus_mmio(&v, 0xd0000000, 8, false, data);
	ck_assert_uint_eq(data[0] & data[7], 0xff);
	core_bus_mmio(&v, 0xd0000000, 8, true, data);
}
END_TEST

START_TEST(msr_ranges)
{
	struct engine_report insn = {0};
	const struct engine_msr_range *ranges;
	size_t count, i;
	uint64_t value;

	core_msr_ranges(&ranges, &count);
	for (i = 0; i < count; i++) {
		bool traps = ranges[i].read && ranges[i].write;

		ck_assert_int_eq(ranges[i].read, ranges[i].write);
		ck_assert_int_eq(core_msr_traps(ranges[i].first), traps);
		ck_assert_int_eq(core_msr_traps(ranges[i].first + ranges[i].count - 1), traps);
	}
	/* No row: neither the engine nor the VMM has such an MSR. */
	ck_assert(core_msr_traps(0x34) && core_msr_traps(0xc0000085) && core_msr_traps(~0u));
	ck_assert_int_eq(core_msr_read(&v, 0x34, &value), VPT_FAULT_GP);
	ck_assert_int_eq(core_msr_write(&v, 0x34, 0, &insn), VPT_FAULT_GP);
	/* Linux's intel_idle accesses these without a test of CPUID. */
	for (i = 0; i < 2; i++) {
		static const uint32_t idle[] = {X86_MSR_PKG_CST_CONFIG, X86_MSR_POWER_CTL};

		ck_assert_int_eq(core_msr_write(&v, idle[i], 2, &insn), VPT_FAULT_NONE);
		ck_assert_int_eq(core_msr_read(&v, idle[i], &value), VPT_FAULT_NONE);
		ck_assert_uint_eq(value, 0);
	}
	ck_assert(!core_msr_traps(X86_MSR_EFER) && !core_msr_traps(X86_MSR_TSC));
	ck_assert(core_msr_traps(0x1b) && core_msr_traps(0x6e0) && core_msr_traps(0x83f));
	ck_assert(core_msr_traps(X86_MSR_IA32_PLATFORM_INFO) && core_msr_traps(VPT_MSR_FIRST));
}
END_TEST

START_TEST(snapshots)
{
	size_t size = core_devices_saved_bytes(&vm);
	uint8_t *bytes = malloc(size);
	struct engine_time time;
	uint64_t left;

	start_apic_timer(0x40, 10);
	core_irq_skip_to_next(&v);
	apic(0x380, 10);
	out(VPT_PORT_TIMER, 4, 0x61u << 24 | 600);
	run(100);
	left = core_irq_next(&v);
	time = ev.time;
	ck_assert(!core_devices_save(&vm, bytes, size - 1));
	ck_assert(core_devices_save(&vm, bytes, size));
	setup();
	ev.retired = 100;
	ev.time = time;
	ck_assert(!core_devices_load(&vm, bytes, size - 1));
	ck_assert(core_devices_load(&vm, bytes, size));
	ck_assert_uint_gt(time.idle, 0);
	ck_assert_uint_eq(core_irq_next(&v), left);
	run(501);
	ck_assert(v.irq.pending & CORE_IRQ_TIMER_DUE);
	free(bytes);
}
END_TEST

START_TEST(texts_of_marks)
{
	const uint32_t too_long = CORE_MARK_TEXT + 1;
	size_t size, i;
	uint8_t *bytes, *text;

	for (i = 0; i < 2 * CORE_MARK_TEXT; i++)
		out(VPT_PORT_MARK + i % VPT_PORT_MARKS, 1, '#');
	ck_assert_uint_eq(v.marks.len, CORE_MARK_TEXT);
	out(VPT_PORT_MARK, 2, 'a' << 8);
	ck_assert_uint_eq(v.marks.len, 1);
	ck_assert_uint_eq(v.marks.count, 1);
	out(VPT_PORT_MARK, 2, '\\' | '|' << 8);
	size = core_devices_saved_bytes(&vm);
	bytes = malloc(size);
	ck_assert(core_devices_save(&vm, bytes, size));
	setup();
	ck_assert_uint_eq(v.marks.len, 0);
	ck_assert(core_devices_load(&vm, bytes, size));
	ck_assert_uint_eq(v.marks.len, 3);
	ck_assert_mem_eq(v.marks.text, "a\\|", 3);
	/* A text that claims more than its array has is refused. */
	text = memmem(bytes, size, "a\\|", 3);
	ck_assert_ptr_nonnull(text);
	memcpy(text - sizeof(too_long), &too_long, sizeof(too_long));
	ck_assert(!core_devices_load(&vm, bytes, size));
	free(bytes);
}
END_TEST

TEST_SUITE("devices", setup, NULL)
{
	TEST_ADD(tcase, boot_timer_counts_instructions, apic_timer_to_the_instruction, no_drift,
		 deadlines_are_exact, halt_lets_time_pass,
		 an_access_may_bring_the_next_event_nearer, pmi_goes_to_the_port_or_to_lvtpc, ports,
		 nothing_beyond_ram, msr_ranges, snapshots, texts_of_marks);
}
