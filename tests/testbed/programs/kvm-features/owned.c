// SPDX-License-Identifier: GPL-2.0-or-later
/* A guest that has PT of its own, and packets that KVM inserts into the guest's trace. */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "ctl.h"
#include "tests.h"
#include "vm.h"

enum { ROUNDS = 50, SIZE = 0x10000 };

/* Run guest_owned. Returns the size of its trace. */
static size_t trace_itself(struct vm *vm, uint32_t flags)
{
	struct kvm_regs regs;

	vm_open(vm, true);
	if (vm_usage(vm, KVM_X86_PT_OWNED, flags))
		die("owned");
	memset(vm->memory + VM_OUTPUT, 0, SIZE);
	vm_start(vm, guest_owned, VM_OUTPUT);
	vm_regs(vm, &regs);
	regs.rsi = SIZE - 1;
	regs.rdx = CTL_BRANCHES;
	regs.rcx = ROUNDS;
	if (ioctl(vm->vcpu, KVM_SET_REGS, &regs) < 0)
		die("KVM_SET_REGS");
	CHECK(!vm_run(vm).other, "unexpected exits");
	vm_regs(vm, &regs);
	return regs.rax >> 32;
}

static void check_pips(const struct trace_counts *counts)
{
	CHECK(counts->pip >= 2 * ROUNDS, "%u PIPs", counts->pip);
	CHECK(!counts->pip_nr, "%u PIPs have NR set", counts->pip_nr);
}

/*
 * Count the loads of CR3 by the changes of its value. PIPs of PSB+ and of VM entries repeat a
 * value.
 */
static unsigned int changes(const struct trace_counts *counts)
{
	unsigned int n = 0;

	for (unsigned int i = 1; i < counts->pip; i++)
		n += counts->pips[i] != counts->pips[i - 1];
	return n;
}

static void show(const char *what, const struct trace_counts *counts)
{
	printf("# %s: %zu bytes, %u PGE, %u PGD, %u TNT bits, %u PIP, %u changes, %zu bad\n", what,
	       counts->bytes, counts->pge, counts->pgd, counts->tnt_bits, counts->pip,
	       changes(counts), counts->bad);
}

/* Compare MOV to CR3 as hardware traces it with the packets of KVM, which intercepts it. */
void test_owned(void)
{
	struct trace_counts plain, trapped;
	struct kvm_x86_pt_sideband sideband;
	struct vm vm;
	size_t size;

	size = trace_itself(&vm, 0);
	count_packets(vm.memory + VM_OUTPUT, size, &plain);
	show("hardware", &plain);
	sideband = vm_sideband(&vm);
	CHECK(!sideband.inserted, "%llu insertions", (unsigned long long)sideband.inserted);
	CHECK(plain.tnt_bits == ROUNDS && !plain.bad, "%u branches", plain.tnt_bits);
	check_pips(&plain);
	CHECK(changes(&plain) == 2 * ROUNDS, "%u CR3s", changes(&plain));
	vm_close(&vm);

	size = trace_itself(&vm, KVM_X86_PT_TRAP_CR3);
	count_packets(vm.memory + VM_OUTPUT, size, &trapped);
	show("trapped", &trapped);
	sideband = vm_sideband(&vm);
	CHECK(sideband.inserted == 2 * ROUNDS && !sideband.lost, "%llu insertions, %llu lost",
	      (unsigned long long)sideband.inserted, (unsigned long long)sideband.lost);
	CHECK(trapped.tnt_bits == ROUNDS && !trapped.bad, "%u branches, %zu bad", trapped.tnt_bits,
	      trapped.bad);
	CHECK(trapped.pge > plain.pge, "%u, %u PGE: it was not trapped", trapped.pge, plain.pge);
	check_pips(&trapped);
	CHECK(changes(&trapped) == 2 * ROUNDS, "%u CR3s", changes(&trapped));
	CHECK(!trapped.vmcs, "VMCS packets in a guest's trace");
	vm_close(&vm);
}

static void start_traced_by_host(struct vm *vm, const uint8_t *entry, uint64_t rounds)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entries[4];
	} msrs = {.head.nmsrs = 4,
		  .entries = {
			  {.index = VPT_MSR_OUTPUT_BASE, .data = VM_OUTPUT},
			  {.index = VPT_MSR_OUTPUT_MASK_PTRS, .data = SIZE - 1},
			  {.index = VPT_MSR_STATUS},
			  {.index = VPT_MSR_CTL, .data = CTL_BRANCHES | VPT_CTL_MASK(TRACE_EN)},
		  }};
	struct kvm_regs regs;

	vm_start(vm, entry, VM_HOLE);
	vm_regs(vm, &regs);
	regs.rcx = rounds;
	if (ioctl(vm->vcpu, KVM_SET_REGS, &regs) < 0)
		die("KVM_SET_REGS");
	if (ioctl(vm->vcpu, KVM_SET_MSRS, &msrs) != 4)
		die("KVM_SET_MSRS");
}

static size_t output_size(struct vm *vm)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entries[1];
	} msrs = {.head.nmsrs = 1, .entries = {{.index = VPT_MSR_OUTPUT_MASK_PTRS}}};

	if (ioctl(vm->vcpu, KVM_GET_MSRS, &msrs) != 1)
		die("KVM_GET_MSRS");
	return msrs.entries[0].data >> 32;
}

/* Run guest_mmio with a trace. Each TIP.PGE must belong to a VM entry or to an insertion. */
static void trace_mmio(uint32_t flags, struct trace_counts *counts)
{
	struct kvm_x86_pt_sideband before, after;
	struct vm_exits exits;
	uint64_t entries, inserted;
	struct vm vm;

	vm_open(&vm, true);
	CHECK(!vm_usage(&vm, KVM_X86_PT_OWNED, flags), "owned");
	memset(vm.memory + VM_OUTPUT, 0, SIZE);
	/*
	 * The first run maps the output. A VM entry that ends before its first instruction,
	 * because a page is not mapped, is not in the trace.
	 */
	start_traced_by_host(&vm, guest_mmio, 1);
	vm_run(&vm);
	start_traced_by_host(&vm, guest_mmio, ROUNDS);
	before = vm_sideband(&vm);
	exits = vm_run(&vm);
	after = vm_sideband(&vm);
	entries = after.entries - before.entries;
	inserted = after.inserted - before.inserted;
	count_packets(vm.memory + VM_OUTPUT, output_size(&vm), counts);
	show(flags ? "inserted" : "not inserted", counts);

	CHECK(exits.mmio == 2 * ROUNDS && !exits.other, "%u MMIO exits", exits.mmio);
	CHECK(counts->tnt_bits == ROUNDS && !counts->bad, "%u branches, %zu bad", counts->tnt_bits,
	      counts->bad);
	CHECK(counts->pge == counts->pgd && counts->pge == entries + inserted,
	      "%u PGE, %u PGD, %llu entries, %llu insertions", counts->pge, counts->pgd,
	      (unsigned long long)entries, (unsigned long long)inserted);
	CHECK(!after.lost, "%llu lost", (unsigned long long)after.lost);
	/* KVM also emulates HLT. */
	CHECK(inserted == (flags ? 2 * ROUNDS + 1 : 0), "%llu insertions",
	      (unsigned long long)inserted);
	vm_close(&vm);
}

/* KVM emulates the instructions that access MMIO. */
void test_emulated(void)
{
	static struct trace_counts counts;

	trace_mmio(0, &counts);
	trace_mmio(KVM_X86_PT_INSERT, &counts);
}
