// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM: the VM of the probe, in 64-bit mode from the start. */
#include "engine/kvm_tiny.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vpt/caps.h"

enum tiny_layout {
	TINY_GDT = 0x1000,
	TINY_TSS = 0x2000,
	TINY_IDT = 0x3000,
	TINY_PML4 = 0x4000,
	TINY_PDPT = 0x5000,
	TINY_PD = 0x6000,
};

#define MAX_CPUID 256
#define HLT	  0xf4

static void put64(struct engine_tiny *t, uint32_t at, uint64_t value)
{
	memcpy(t->ram + at, &value, sizeof(value));
}

static void fill(struct engine_tiny *t, const void *code, size_t len)
{
	unsigned int i;

	put64(t, TINY_GDT + 0x08, 0x00af9b000000ffffull); /* kernel code and data */
	put64(t, TINY_GDT + 0x10, 0x00cf93000000ffffull);
	put64(t, TINY_GDT + 0x28, 0x00cff3000000ffffull); /* user data and code */
	put64(t, TINY_GDT + 0x30, 0x00affb000000ffffull);
	put64(t, TINY_GDT + 0x40, 0x00008b0000000067ull | (uint64_t)TINY_TSS << 16);
	put64(t, TINY_TSS + 4, ENGINE_TINY_STACK); /* RSP0 */
	for (i = 0; i < 256; i++)
		put64(t, TINY_IDT + 16 * i,
		      (ENGINE_TINY_HANDLER & 0xffff) | 0x08u << 16 | 0xeeull << 40 |
			      (uint64_t)(ENGINE_TINY_HANDLER >> 16) << 48);
	put64(t, TINY_PML4, TINY_PDPT | 7);
	put64(t, TINY_PDPT, TINY_PD | 7);
	put64(t, TINY_PD, 0xe7);
	memcpy(t->ram + ENGINE_TINY_CODE, code, len);
	memset(t->ram + ENGINE_TINY_HANDLER, HLT, 16);
}

static void state(struct x86_sregs *s, unsigned int ring)
{
	struct x86_segment code = {
		.limit = ~0u, .selector = 0x08, .ar = X86_AR_CODE | X86_AR_L | X86_AR_G};
	struct x86_segment data = {
		.limit = ~0u, .selector = 0x10, .ar = X86_AR_DATA | X86_AR_DB | X86_AR_G};

	if (ring == 3) {
		code.selector = 0x33;
		data.selector = 0x2b;
		code.ar |= X86_AR_DPL;
		data.ar |= X86_AR_DPL;
	}
	s->cs = code;
	s->ds = s->es = s->fs = s->gs = s->ss = data;
	s->tr = (struct x86_segment){
		.base = TINY_TSS, .limit = 0x67, .selector = 0x40, .ar = X86_AR_TSS};
	s->gdt = (struct x86_table){TINY_GDT, 0x4f};
	s->idt = (struct x86_table){TINY_IDT, 0xfff};
	s->cr0 = 0x80050033;
	s->cr3 = TINY_PML4;
	s->cr4 = 0x620;
	s->efer = 0xd01;
}

/* Create a vCPU with the CPUID of the host and PT. */
static int make_vcpu(struct engine_tiny *t)
{
	struct engine_cpuid_entry *list = calloc(MAX_CPUID, sizeof(*list));
	struct engine_vcpu *vcpu;
	size_t count = MAX_CPUID, i;
	int error = list ? engine_kvm_supported_cpuid(t->vm, list, &count) : -ENOMEM;

	for (i = 0; !error && i < count; i++)
		if (list[i].leaf == 7 && !list[i].subleaf)
			list[i].ebx |= 1u << 25;
	if (!error)
		error = engine_kvm_vcpu_create(t->vm, 0, list, count, &vcpu);
	if (!error)
		t->v = engine_kvm_vcpu(vcpu);
	free(list);
	return error;
}

int engine_tiny_create(struct engine_tiny *t, const struct engine_probe *probe, unsigned int ring,
		       const void *code, size_t len)
{
	struct x86_sregs sregs;
	int error;

	memset(t, 0, sizeof(*t));
	t->ram = mmap(NULL, ENGINE_TINY_RAM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (t->ram == MAP_FAILED) {
		t->ram = NULL;
		return -ENOMEM;
	}
	error = engine_kvm_vm_create(probe, &t->vm);
	if (!error)
		error = engine_kvm_vm_map(t->vm, 0, 0, t->ram, ENGINE_TINY_RAM);
	if (!error)
		error = make_vcpu(t);
	if (error) {
		engine_tiny_destroy(t);
		return error;
	}
	fill(t, code, len);
	engine_kvm_get_sregs(&t->v->base, &sregs);
	state(&sregs, ring);
	engine_kvm_set_sregs(&t->v->base, &sregs);
	*t->v->base.regs = (struct x86_regs){
		.rip = ENGINE_TINY_CODE, .rsp = ENGINE_TINY_STACK - 0x1000, .rflags = 2};
	t->v->base.state |= ENGINE_REGS_DIRTY;
	return 0;
}

void engine_tiny_destroy(struct engine_tiny *t)
{
	if (t->v)
		engine_kvm_vcpu_destroy(&t->v->base);
	if (t->vm)
		engine_kvm_vm_destroy(t->vm);
	if (t->ram)
		munmap(t->ram, ENGINE_TINY_RAM);
	memset(t, 0, sizeof(*t));
}
