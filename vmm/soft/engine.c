// SPDX-License-Identifier: GPL-2.0-or-later
/* Create, reset and destroy the software CPU, and define the table of its operations. */
#include "soft/engine.h"

#include <errno.h>
#include <stdlib.h>

#include "soft/feature.h"
#include "soft/compile.h"
#include "soft/native.h"
#include "soft/state.h"
#include "soft/tlb.h"
#include "soft/system.h"
#include "x86/insn.h"

static void probe(struct engine_probe *probe, bool with_costs)
{
	(void)with_costs;
	*probe = (struct engine_probe){
		.device = true,
		.msr_exits = true,
		.cpuid_pt = true,
		.sync_regs = true,
		.hardware = "none",
		.step = {ENGINE_STEP_EXIT, ENGINE_STEP_EXIT},
		.fault = ENGINE_FAULT_WAY_EVENT,
		.syscall = true,
		.soft_int = true,
	};
}

static int vm_create(const struct engine_probe *found, struct engine_vm **out)
{
	struct soft_vm *vm = calloc(1, sizeof(*vm));

	(void)found;
	if (!vm)
		return -ENOMEM;
	vm->base.engine = &soft_engine;
	*out = &vm->base;
	return 0;
}

static void vm_destroy(struct engine_vm *base)
{
	struct soft_vm *vm = (struct soft_vm *)base;

	free(vm->coded);
	free(vm);
}

/* The parts of RAM (x86/mem.h) come in their order, and are one piece in the host. */
static int vm_map(struct engine_vm *base, uint32_t slot, uint64_t gpa, void *host, uint64_t bytes)
{
	struct soft_vm *vm = (struct soft_vm *)base;
	const uint64_t before = slot ? vm->mem.bytes : 0;
	uint8_t *coded;

	if (slot > 1 || gpa != x86_mem_gpa(before) || vm->vcpus ||
	    (slot && (before != X86_MEM_HOLE || host != vm->mem.host + before)))
		return -EINVAL;
	coded = calloc((before + bytes) / X86_PAGE_SIZE + 1, sizeof(*coded));
	if (!coded)
		return -ENOMEM;
	free(vm->coded);
	vm->coded = coded;
	vm->mem = (struct x86_mem){.host = slot ? vm->mem.host : host, .bytes = before + bytes};
	return 0;
}

static void vm_wrote(struct engine_vm *base, uint64_t gpa, uint64_t bytes)
{
	struct soft_vm *vm = (struct soft_vm *)base;

	if (vm->vcpus && bytes)
		soft_wrote(vm->vcpu[0], NULL, gpa, bytes);
}

static int vm_forget(struct engine_vm *base)
{
	const struct soft_vm *vm = (struct soft_vm *)base;
	const uint64_t low = x86_mem_low(&vm->mem);

	vm_wrote(base, 0, low);
	vm_wrote(base, X86_MEM_HIGH, vm->mem.bytes - low);
	return 0;
}

static int vm_trap_msrs(struct engine_vm *base, const struct engine_msr_range *ranges, size_t count)
{
	struct soft_vm *vm = (struct soft_vm *)base;

	size_t i;

	vm->trapped_count = 0;
	for (i = 0; i < count; i++) {
		if (!ranges[i].read && !ranges[i].write)
			continue;
		if (vm->trapped_count == sizeof(vm->trapped) / sizeof(vm->trapped[0]))
			return -E2BIG;
		vm->trapped[vm->trapped_count++] = ranges[i];
	}
	return 0;
}

static void vcpu_destroy(struct engine_vcpu *ev)
{
	struct soft *c = soft(ev);
	unsigned int i;

	if (!c)
		return;
	c->vm->vcpu[c->index] = NULL;
	c->vm->vcpus--;
	soft_cache_destroy(c->cache);
	soft_native_destroy(c->native);
	soft_compiler_destroy(c->compiler);
	for (i = 0; i < 3; i++)
		free(c->decoder[i]);
	free(c->cpuid);
	free(c);
}

static int make_decoders(struct soft *c)
{
	static const unsigned int bits[3] = {16, 32, 64};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		c->decoder[i] = malloc(sizeof(ZydisDecoder));
		if (!c->decoder[i])
			return -ENOMEM;
		x86_decoder_init(c->decoder[i], bits[i]);
		soft_set_features(c, c->decoder[i]);
	}
	return 0;
}

static int copy_cpuid(struct soft *c, const struct engine_cpuid_entry *cpuid, size_t count)
{
	const struct engine_cpuid_entry *sizes = NULL;
	size_t i;

	c->cpuid = calloc(count ? count : 1, sizeof(*cpuid));
	if (!c->cpuid)
		return -ENOMEM;
	memcpy(c->cpuid, cpuid, count * sizeof(*cpuid));
	c->cpuid_count = count;
	for (i = 0; i < count; i++)
		if (cpuid[i].leaf == 0x80000008)
			sizes = &cpuid[i];
	c->paging.max_phy_addr = sizes ? (uint8_t)sizes->eax : 36;
	return 0;
}

/* Set the state after power-on (SDM vol. 3, table 10-1). */
static void reset(struct soft *c)
{
	const struct x86_segment data = {.limit = 0xffff, .ar = X86_AR_DATA};

	c->s.ds = c->s.es = c->s.fs = c->s.gs = c->s.ss = c->s.cs = data;
	c->s.cs.ar = X86_AR_CODE;
	c->s.cs.selector = 0xf000;
	c->s.cs.base = 0xffff0000;
	c->s.ldt = (struct x86_segment){.limit = 0xffff, .ar = X86_AR_P | 2};
	c->s.tr = (struct x86_segment){.limit = 0xffff, .ar = X86_AR_TSS};
	c->s.gdt.limit = c->s.idt.limit = 0xffff;
	c->s.cr0 = 0x60000010;
	c->regs.rip = 0xfff0;
	c->regs.rflags = X86_FL_FIXED;
	c->dr[6] = 0xffff0ff0;
	c->dr[7] = 0x400;
	c->fpu.xcr0 = 1;
	c->fpu.mxcsr = 0x1f80;
	/* FCW and FTW of an FXSAVE image. */
	c->fpu.x87[0] = 0x40;
	c->msr.pat = 0x0007040600070406;
	/* Fast strings are on; there are neither BTS nor PEBS. */
	c->msr.misc_enable = 1u << 0 | 1u << 11 | 1u << 12;
	soft_flush_tlb(c);
	soft_set_rflags(c, c->regs.rflags);
	soft_derive(c);
}

static int vcpu_create(struct engine_vm *base, unsigned int index,
		       const struct engine_cpuid_entry *cpuid, size_t count,
		       struct engine_vcpu **out)
{
	struct soft_vm *vm = (struct soft_vm *)base;
	struct soft *c;
	int error;

	if (index != vm->vcpus || index == SOFT_VCPUS)
		return -ENOTSUP;
	c = aligned_alloc(64, (sizeof(*c) + 63) & ~(size_t)63);
	if (!c)
		return -ENOMEM;
	memset(c, 0, offsetof(struct soft, tlbs));
	c->base.engine = &soft_engine;
	c->base.regs = &c->regs;
	c->base.budget = UINT64_MAX;
	c->base.tsc_limit = UINT64_MAX;
	c->vm = vm;
	c->index = index;
	vm->vcpu[vm->vcpus++] = c;
	c->cache = soft_cache_create(&vm->mem, index);
	errno = 0;
	c->native = soft_native_create();
#ifndef SOFT_MICRO_OPS
	c->compiler = soft_compiler_create(index);
#endif
	if (!c->cache || !c->native)
		error = c->cache && errno == EFBIG ? -EFBIG : -ENOMEM;
	else
		error = copy_cpuid(c, cpuid, count);
	if (!error)
		error = make_decoders(c);
	if (error) {
		vcpu_destroy(&c->base);
		return error;
	}
	reset(c);
	*out = &c->base;
	return 0;
}

static int get_msr(struct engine_vcpu *ev, uint32_t index, uint64_t *value)
{
	return soft_msr_read(soft(ev), index, value) ? 0 : -EINVAL;
}

static int set_msr(struct engine_vcpu *ev, uint32_t index, uint64_t value)
{
	if (!soft_msr_write(soft(ev), index, value))
		return -EINVAL;
	soft_derive(soft(ev));
	return 0;
}

/* Time is virtual: engine/time.h. */
static uint64_t tsc_hz(struct engine_vcpu *ev, uint64_t *offset)
{
	*offset = ev->time.offset;
	return 0;
}

/* Complete an exit. Devices respond at once, so only MSRs remain. */
static void complete(struct engine_vcpu *ev, struct engine_exit *exit)
{
	if (exit->kind == ENGINE_EXIT_RDMSR || exit->kind == ENGINE_EXIT_WRMSR)
		soft_msr_complete(soft(ev), exit);
	else
		exit->kind = ENGINE_EXIT_NONE;
}

static int watch(struct engine_vcpu *ev, const uint64_t *ips, size_t count)
{
	struct soft *c = soft(ev);

	if (count > SOFT_WATCHES)
		return -E2BIG;
	if (count)
		memcpy(c->watch, ips, count * sizeof(*ips));
	c->watches = (unsigned int)count;
	/* Blocks have a micro-operation before each watched instruction. */
	return vm_forget(&c->vm->base);
}

/* Replace the memory for host code, which processes share after fork(). */
static int vm_forked(struct engine_vm *base)
{
	struct soft_vm *vm = (struct soft_vm *)base;
	unsigned int i;
	int error = 0;

	for (i = 0; i < vm->vcpus && !error; i++) {
		struct soft *c = vm->vcpu[i];

		error = soft_native_own(c->native);
		if (!error && c->compiler)
			error = soft_compiler_own(c->compiler);
		soft_drop_blocks(c);
	}
	return error;
}

static int kick_after(struct engine_vcpu *ev, uint64_t ns)
{
	(void)ev;
	(void)ns;
	return 0;
}

/*
 * Blocks follow links to each other, and only a stale link ends a chain. Set a generation that no
 * link has. If this interrupts a change of the generation, that change also unlinks.
 */
static void interrupt(struct engine_vcpu *ev)
{
	struct soft *c = soft(ev);

	c->interrupted = true;
	*(volatile uint64_t *)&c->gen ^= 1ull << 63;
}

/*
 * A stale link makes run() report the block behind it. But only a new block is passed to stretch(), and a
 * log needs that.
 */
static void report_again(struct engine_vcpu *ev)
{
	const struct engine_observer *o = ev->observer;

	if (o && o->wants & ENGINE_WANTS_LOG)
		soft_drop_blocks(soft(ev));
	else
		soft_unlink(soft(ev));
}

const struct engine soft_engine = {
	.name = "soft",
	.can = ENGINE_COUNTS | ENGINE_REPORTS | ENGINE_MODES | ENGINE_DEBUG | ENGINE_NEAR |
	       ENGINE_BUS,
	.probe = probe,
	.vm_create = vm_create,
	.vm_destroy = vm_destroy,
	.vm_map = vm_map,
	.vm_wrote = vm_wrote,
	.vm_forget = vm_forget,
	.vm_trap_msrs = vm_trap_msrs,
	.supported_cpuid = soft_supported_cpuid,
	.vcpu_create = vcpu_create,
	.vcpu_destroy = vcpu_destroy,
	.get_sregs = soft_get_sregs,
	.set_sregs = soft_set_sregs,
	.get_msr = get_msr,
	.set_msr = set_msr,
	.get_dr = soft_get_dr,
	.set_dr = soft_set_dr,
	.clock = soft_clock,
	.tsc_hz = tsc_hz,
	.run = soft_run,
	.step = soft_step,
	.complete = complete,
	.watch = watch,
	.watch_data = soft_watch_data,
	.vm_forked = vm_forked,
	.kick_after = kick_after,
	.interrupt = interrupt,
	.report_again = report_again,
	.save = soft_save,
	.load = soft_load,
};
