// SPDX-License-Identifier: GPL-2.0-or-later
/* A machine that a test moves between KVM and the software CPU: its tables, its runs, its switches. */
#include "lib/twoengines.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/descriptor.h"
#include "core/irq.h"
#include "core/switch.h"
#include "engine/state.h"

#define PAGE_2M	     0x87ull
#define PAGE_CACHED  0x10ull /* PCD */
#define GATE	     0x8e00ull
#define TSS_LIMIT    0x67u
#define TSS_BUSY     11u
#define TSS_STEP     0x100u
#define LEAF_1_XSAVE (1u << 26)
#define LEAF_1_AVX   (1u << 28)
#define LEAF_7_AVX2  (1u << 5)
#define PATIENCE_NS  10000000000ull
#define WAIT_NS	     200000
#define CLEARED	     0x80u
#define SPELL_INSNS  10000u
#define SPELL_NS     200000u

static const struct engine_probe *probe_kvm(void)
{
	static struct engine_probe probe;
	static bool probed;

	if (!probed)
		engine_find("kvm")->probe(&probe, false);
	probed = true;
	return &probe;
}

const char *two_problem(void)
{
	return probe_kvm()->problem;
}

bool two_has_avx(void)
{
	return __builtin_cpu_supports("avx2");
}

uint64_t two_random(struct two *t)
{
	return engine_random_mix(t->seed += 0x9e3779b97f4a7c15ull);
}

void two_put(struct two *t, uint64_t at, uint64_t value)
{
	ck_assert(x86_mem_write(&t->vm.mem, at, &value, sizeof(value)));
}

uint64_t two_get(struct two *t, uint64_t at)
{
	uint64_t value;

	ck_assert(x86_mem_read(&t->vm.mem, at, &value, sizeof(value)));
	return value;
}

void two_code(struct two *t, uint64_t at, const char *start, const char *end)
{
	ck_assert(x86_mem_write(&t->vm.mem, at, start, (size_t)(end - start)));
}

void two_gate(struct two *t, uint8_t vector, uint64_t handler)
{
	const uint64_t at = TWO_IDT + vector * 16u;

	two_put(t, at,
		(handler & 0xffff) | TWO_CODE0 << 16 | GATE << 32 | (handler >> 16 & 0xffff) << 48);
	two_put(t, at + 8, handler >> 32);
}

static void make_tables(struct two *t)
{
	two_put(t, TWO_PML4, TWO_PDPT | 7);
	two_put(t, TWO_PDPT, TWO_PD | 7);
	two_put(t, TWO_PDPT + 3 * 8, TWO_PD_APIC | 7);
	two_put(t, TWO_PD, PAGE_2M);
	two_put(t, TWO_PD + 8, 0x200000 | PAGE_2M);
	two_put(t, TWO_PD_APIC + 503 * 8, 0xfee00000 | PAGE_CACHED | PAGE_2M);
	two_put(t, TWO_GDT + TWO_CODE0, 0x00af9b000000ffffull);
	two_put(t, TWO_GDT + TWO_DATA0, 0x00cf93000000ffffull);
	two_put(t, TWO_GDT + (TWO_CODE3 & ~3), 0x00affb000000ffffull);
	two_put(t, TWO_GDT + (TWO_DATA3 & ~3), 0x00cff3000000ffffull);
	two_put(t, TWO_GDT + TWO_TR,
		TSS_LIMIT | (uint64_t)TWO_TSS << 16 | (uint64_t)(0x80 | TSS_BUSY) << 40);
}

/* Enable what CPUID has of the XSAVE feature set. The tested KVM cannot execute XSETBV. */
static void enable_xstate(struct two *t, struct core_vcpu *v)
{
	const struct engine_cpuid_entry *leaf =
		core_cpuid_find(t->vm.cpuid, t->vm.cpuid_count, 0xd, 0);
	const size_t bytes = v->engine->save(v->ev, NULL, 0);
	struct engine_state *s = malloc(bytes);

	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(v->engine->save(v->ev, s, bytes), bytes);
	if (leaf)
		s->xcr0 = leaf->eax;
	ck_assert_int_eq(v->engine->load(v->ev, s, bytes), 0);
	free(s);
}

static void add_avx(struct engine_cpuid_entry *table, size_t count)
{
	struct engine_cpuid_entry *one, *seven;

	one = (struct engine_cpuid_entry *)core_cpuid_find(table, count, 1, 0);
	seven = (struct engine_cpuid_entry *)core_cpuid_find(table, count, 7, 0);
	ck_assert(one && seven);
	one->ecx |= LEAF_1_XSAVE | LEAF_1_AVX;
	seven->ebx |= LEAF_7_AVX2;
}

/*
 * Create the machine. CPUID has AVX where the processor has it, although the tested KVM lacks XSAVE
 * and AVX in leaf 1. That KVM executes ring 3 on the processor, and moves XCR0 and the registers.
 */
static void create(struct two *t, unsigned int cpus)
{
	struct engine_cpuid_entry table[CORE_CPUID_ROOM];
	struct core_vm_config config = {
		.engine = engine_find("kvm"),
		.traced = engine_find("soft"),
		.probe = probe_kvm(),
		.caps = vpt_caps_model("skl"),
		.owner = TRACE_OWNER_NONE,
		.mem_bytes = TWO_RAM,
		.cpus = cpus,
	};

	memset(t, 0, sizeof(*t));
	ck_assert_int_eq(core_vm_create(&t->vm, &config), 0);
	config.cpuid = table;
	config.cpuid_count = t->vm.cpuid_count;
	memcpy(table, t->vm.cpuid, config.cpuid_count * sizeof(*table));
	core_vm_destroy(&t->vm);
	if (two_has_avx())
		add_avx(table, config.cpuid_count);
	ck_assert_int_eq(core_vm_create(&t->vm, &config), 0);
	t->v = t->vm.vcpu;
}

void two_start(struct two *t, unsigned int cpu, uint64_t at)
{
	struct core_vcpu *v = t->vm.cpu[cpu];
	const uint64_t tss = TWO_TSS + (uint64_t)cpu * TSS_STEP;
	const uint64_t stack = TWO_STACK0 + (uint64_t)cpu * TWO_STACKS;

	two_put(t, tss + 4, stack);
	v->pending &= ~(uint32_t)CORE_VCPU_WAIT_SIPI;
	v->s.cs = core_flat_segment(TWO_CODE0, true, true, 0);
	v->s.ds = v->s.es = v->s.fs = v->s.gs = v->s.ss =
		core_flat_segment(TWO_DATA0, false, false, 0);
	v->s.tr = (struct x86_segment){
		.base = tss, .limit = TSS_LIMIT, .selector = TWO_TR, .ar = X86_AR_TSS};
	v->s.gdt.base = TWO_GDT;
	v->s.gdt.limit = TWO_GDT_BYTES - 1;
	v->s.idt.base = TWO_IDT;
	v->s.idt.limit = 0xfff;
	v->s.cr0 = X86_CR0_PE | X86_CR0_PG | X86_CR0_WP | X86_CR0_NE | X86_CR0_ET;
	v->s.cr3 = TWO_PML4;
	v->s.cr4 = X86_CR4_PAE | X86_CR4_OSFXSR | X86_CR4_OSXMMEXCPT | X86_CR4_OSXSAVE;
	v->s.efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE | X86_EFER_SCE;
	*v->regs = (struct x86_regs){.rip = at, .rsp = stack, .rflags = 2};
	core_vcpu_store(v);
	enable_xstate(t, v);
}

void two_create_cpus(struct two *t, unsigned int cpus)
{
	unsigned int i;

	ck_assert_uint_le(cpus, TWO_CPUS);
	create(t, cpus);
	make_tables(t);
	two_start(t, 0, TWO_CODE);
	for (i = 0; i < cpus; i++)
		core_irq_advance(t->vm.cpu[i]);
	core_loop_begin(t->v);
}

void two_create(struct two *t)
{
	two_create_cpus(t, 1);
}

void two_destroy(struct two *t)
{
	core_vm_destroy(&t->vm);
}

bool two_by_kvm(const struct two *t)
{
	return !(t->vm.engine->can & ENGINE_COUNTS);
}

void two_switch(struct two *t)
{
	const uint64_t until = core_now() + PATIENCE_NS;
	int error;

	while ((error = core_switch(&t->vm)) == -EAGAIN && core_now() < until) {
		if (two_by_kvm(t))
			core_loop_free(t->v);
		else
			nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
		t->waits++;
	}
	ck_assert_msg(!error, "switch %llu from %s at %#llx: %d",
		      (unsigned long long)t->vm.change.count, t->vm.engine->name,
		      (unsigned long long)t->v->regs->rip, error);
}

void two_to_kvm(struct two *t)
{
	if (!two_by_kvm(t))
		two_switch(t);
}

void two_to_soft(struct two *t)
{
	if (two_by_kvm(t))
		two_switch(t);
}

void two_count(struct two *t, uint64_t count)
{
	struct core_vcpu *v = t->v;
	const uint64_t until = v->ev->retired + count;

	ck_assert(!two_by_kvm(t));
	while (v->ev->retired < until && !t->vm.stop.kind) {
		v->pause_at = until;
		if (core_loop_exact(v, &t->loop))
			core_loop_poll(v);
	}
	v->pause_at = UINT64_MAX;
}

void two_free(struct two *t, uint64_t ns)
{
	struct core_vcpu *v = t->v;
	const uint64_t until = core_now() + ns;

	ck_assert(two_by_kvm(t));
	while (core_now() < until && !t->vm.stop.kind) {
		v->next_tick = until;
		v->pending &= ~(uint32_t)CORE_VCPU_KICK_ARMED;
		core_loop_free(v);
	}
}

static void run_a_part(struct two *t)
{
	if (two_by_kvm(t))
		two_free(t, SPELL_NS);
	else
		two_count(t, SPELL_INSNS);
}

void two_until(struct two *t, uint64_t at, uint64_t value)
{
	const uint64_t until = core_now() + PATIENCE_NS;

	while (two_get(t, at) != value && !t->vm.stop.kind) {
		ck_assert_msg(core_now() < until, "%s waits for %llu, has %llu at %#llx",
			      t->vm.engine->name, (unsigned long long)value,
			      (unsigned long long)two_get(t, at),
			      (unsigned long long)t->v->regs->rip);
		run_a_part(t);
	}
}

void two_to_end(struct two *t)
{
	const uint64_t until = core_now() + PATIENCE_NS;

	while (!t->vm.stop.kind) {
		ck_assert_msg(core_now() < until, "%s does not end at %#llx", t->vm.engine->name,
			      (unsigned long long)t->v->regs->rip);
		run_a_part(t);
	}
}

void two_restart(struct two *t, int row, uint64_t rflags)
{
	struct core_vcpu *v = t->v;
	uint64_t at;

	t->row = row;
	two_to_soft(t);
	memset(&t->vm.stop, 0, sizeof(t->vm.stop));
	for (at = TWO_DATA; at < TWO_DATA + CLEARED; at += sizeof(at))
		two_put(t, at, 0);
	v->s.cs = core_flat_segment(TWO_CODE0, true, true, 0);
	v->s.ss = core_flat_segment(TWO_DATA0, false, false, 0);
	*v->regs = (struct x86_regs){.rip = TWO_CODE, .rsp = TWO_STACK0, .rflags = rflags};
	v->shadowed = 0;
	v->pending &= ~(uint32_t)CORE_VCPU_HALTED;
	core_vcpu_store(v);
}

void two_finish(struct two *t)
{
	two_to_end(t);
	ck_assert_msg(t->vm.stop.kind == TRACE_STOP_EXIT && !t->vm.stop.exit_status,
		      "row %d, %s at %#llx: stop %d, %s", t->row, t->vm.engine->name,
		      (unsigned long long)t->v->regs->rip, t->vm.stop.kind, t->vm.stop.text);
}
