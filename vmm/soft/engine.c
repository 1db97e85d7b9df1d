// SPDX-License-Identifier: GPL-2.0-or-later
/* The software CPU's life, and the table of its operations. */
#include "soft/engine.h"

#include <errno.h>
#include <stdlib.h>

#include "soft/feature.h"
#include "soft/compile.h"
#include "soft/native.h"
#include "soft/state.h"
#include "soft/system.h"
#include "x86/insn.h"

static void probe(struct vpt_probe *probe, bool with_costs)
{
	(void)with_costs;
	*probe = (struct vpt_probe){
		.device = true,
		.msr_exits = true,
		.cpuid_pt = true,
		.sync_regs = true,
		.hardware = "none",
		.step = {VPT_STEP_EXIT, VPT_STEP_EXIT},
		.fault = VPT_FAULT_WAY_EVENT,
		.syscall = true,
		.soft_int = true,
	};
}

static int vm_create(const struct vpt_probe *found, struct vpt_engine_vm **out)
{
	struct vpt_soft_vm *vm = calloc(1, sizeof(*vm));

	(void)found;
	if (!vm)
		return -ENOMEM;
	vm->base.engine = &vpt_soft_engine;
	*out = &vm->base;
	return 0;
}

static void vm_destroy(struct vpt_engine_vm *vm)
{
	free(vm);
}

/* RAM is one piece that begins at 0 (x86/mem.h). */
static int vm_map(struct vpt_engine_vm *base, uint32_t slot, uint64_t gpa, void *host,
		  uint64_t bytes)
{
	struct vpt_soft_vm *vm = (struct vpt_soft_vm *)base;

	if (slot || gpa || vm->vcpu)
		return -EINVAL;
	vm->mem = (struct vpt_mem){.host = host, .bytes = bytes};
	return 0;
}

static void vm_wrote(struct vpt_engine_vm *base, uint64_t gpa, uint64_t bytes)
{
	struct vpt_soft_vm *vm = (struct vpt_soft_vm *)base;

	if (vm->vcpu && bytes)
		vpt_soft_wrote(vm->vcpu, NULL, gpa, bytes);
}

static int vm_trap_msrs(struct vpt_engine_vm *base, const struct vpt_msr_range *ranges,
			size_t count)
{
	struct vpt_soft_vm *vm = (struct vpt_soft_vm *)base;

	if (count > sizeof(vm->trapped) / sizeof(vm->trapped[0]))
		return -E2BIG;
	memcpy(vm->trapped, ranges, count * sizeof(*ranges));
	vm->trapped_count = count;
	return 0;
}

static void vcpu_destroy(struct vpt_engine_vcpu *ev)
{
	struct vpt_soft *c = vpt_soft(ev);
	unsigned int i;

	if (!c)
		return;
	c->vm->vcpu = NULL;
	vpt_soft_cache_destroy(c->cache);
	vpt_native_destroy(c->native);
	vpt_compiler_destroy(c->compiler);
	for (i = 0; i < 3; i++)
		free(c->decoder[i]);
	free(c->cpuid);
	free(c);
}

static int make_decoders(struct vpt_soft *c)
{
	static const unsigned int bits[3] = {16, 32, 64};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		c->decoder[i] = malloc(sizeof(ZydisDecoder));
		if (!c->decoder[i])
			return -ENOMEM;
		vpt_x86_decoder_init(c->decoder[i], bits[i]);
		vpt_soft_set_features(c, c->decoder[i]);
	}
	return 0;
}

static int copy_cpuid(struct vpt_soft *c, const struct vpt_cpuid_entry *cpuid, size_t count)
{
	const struct vpt_cpuid_entry *sizes = NULL;
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

/* Power-on (SDM vol. 3, table 10-1). */
static void reset(struct vpt_soft *c)
{
	const struct vpt_segment data = {.limit = 0xffff, .type = 3, .s = true, .present = true};

	c->s.ds = c->s.es = c->s.fs = c->s.gs = c->s.ss = c->s.cs = data;
	c->s.cs.type = 11;
	c->s.cs.selector = 0xf000;
	c->s.cs.base = 0xffff0000;
	c->s.ldt = (struct vpt_segment){.limit = 0xffff, .type = 2, .present = true};
	c->s.tr = (struct vpt_segment){.limit = 0xffff, .type = 11, .present = true};
	c->s.gdt.limit = c->s.idt.limit = 0xffff;
	c->s.cr0 = 0x60000010;
	c->regs.rip = 0xfff0;
	c->regs.rflags = VPT_FL_FIXED;
	c->dr[6] = 0xffff0ff0;
	c->dr[7] = 0x400;
	c->fpu.xcr0 = 1;
	c->fpu.mxcsr = 0x1f80;
	/* FCW and FTW of an FXSAVE image. */
	c->fpu.x87[0] = 0x40;
	c->msr.pat = 0x0007040600070406;
	c->gen = 1u << VPT_BLOCK_MODE_BITS;
	vpt_soft_flush_tlb(c);
	vpt_soft_set_rflags(c, c->regs.rflags);
	vpt_soft_derive(c);
}

static int vcpu_create(struct vpt_engine_vm *base, unsigned int index,
		       const struct vpt_cpuid_entry *cpuid, size_t count,
		       struct vpt_engine_vcpu **out)
{
	struct vpt_soft_vm *vm = (struct vpt_soft_vm *)base;
	struct vpt_soft *c;
	int error;

	if (index || vm->vcpu)
		return -ENOTSUP;
	c = aligned_alloc(64, (sizeof(*c) + 63) & ~(size_t)63);
	if (!c)
		return -ENOMEM;
	memset(c, 0, sizeof(*c));
	c->base.engine = &vpt_soft_engine;
	c->base.regs = &c->regs;
	c->base.budget = UINT64_MAX;
	c->vm = vm;
	vm->vcpu = c;
	c->cache = vpt_soft_cache_create(&vm->mem);
	errno = 0;
	c->native = vpt_native_create();
#ifdef VPT_SOFT_THREADED
	c->compiler = vpt_compiler_create();
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

static int get_msr(struct vpt_engine_vcpu *ev, uint32_t index, uint64_t *value)
{
	return vpt_soft_msr_read(vpt_soft(ev), index, value) ? 0 : -EINVAL;
}

static int set_msr(struct vpt_engine_vcpu *ev, uint32_t index, uint64_t value)
{
	if (!vpt_soft_msr_write(vpt_soft(ev), index, value))
		return -EINVAL;
	vpt_soft_derive(vpt_soft(ev));
	return 0;
}

/* Time is virtual: engine/time.h. */
static uint64_t tsc_hz(struct vpt_engine_vcpu *ev, uint64_t *offset)
{
	*offset = ev->time.offset;
	return 0;
}

/* Devices answer at once: only MSRs are left to be completed. */
static void complete(struct vpt_engine_vcpu *ev, struct vpt_exit *exit)
{
	if (exit->kind == VPT_EXIT_RDMSR || exit->kind == VPT_EXIT_WRMSR)
		vpt_soft_msr_complete(vpt_soft(ev), exit);
	else
		exit->kind = VPT_EXIT_NONE;
}

static int watch(struct vpt_engine_vcpu *ev, const uint64_t *ips, size_t count)
{
	(void)ev;
	(void)ips;
	return count ? -ENOTSUP : 0;
}

static int kick_after(struct vpt_engine_vcpu *ev, uint64_t ns)
{
	(void)ev;
	(void)ns;
	return 0;
}

/*
 * Blocks lead to each other by links, and nothing but a link that does not hold brings a
 * chain of them back. A generation that no link has makes that sure; where this changes
 * it in the middle of a change, that change does the same.
 */
static void interrupt(struct vpt_engine_vcpu *ev)
{
	struct vpt_soft *c = vpt_soft(ev);

	ev->attention = true;
	*(volatile uint64_t *)&c->gen ^= 1ull << 63;
}

const struct vpt_engine vpt_soft_engine = {
	.name = "soft",
	.can = VPT_ENGINE_COUNTS | VPT_ENGINE_REPORTS | VPT_ENGINE_MODES | VPT_ENGINE_DEBUG |
	       VPT_ENGINE_NEAR | VPT_ENGINE_BUS,
	.probe = probe,
	.vm_create = vm_create,
	.vm_destroy = vm_destroy,
	.vm_map = vm_map,
	.vm_wrote = vm_wrote,
	.vm_trap_msrs = vm_trap_msrs,
	.supported_cpuid = vpt_soft_supported_cpuid,
	.vcpu_create = vcpu_create,
	.vcpu_destroy = vcpu_destroy,
	.get_sregs = vpt_soft_get_sregs,
	.set_sregs = vpt_soft_set_sregs,
	.get_msr = get_msr,
	.set_msr = set_msr,
	.get_dr = vpt_soft_get_dr,
	.set_dr = vpt_soft_set_dr,
	.clock = vpt_soft_clock,
	.tsc_hz = tsc_hz,
	.run = vpt_soft_run,
	.step = vpt_soft_step,
	.complete = complete,
	.watch = watch,
	.kick_after = kick_after,
	.interrupt = interrupt,
	.save = vpt_soft_save,
	.load = vpt_soft_load,
};
