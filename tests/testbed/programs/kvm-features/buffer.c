// SPDX-License-Identifier: GPL-2.0-or-later
/* Traces of the guest alone, which the host gets in the buffer of the vCPU. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ctl.h"
#include "testbed.h"
#include "tests.h"
#include "vm.h"

enum { ROUNDS = 1000 };

/* Return the current size of the trace, which may not have wrapped. */
static size_t traced(const struct kvm_x86_pt_status *status)
{
	CHECK(status->version == 1 && !(status->sequence & 1), "version %u, sequence %u",
	      status->version, status->sequence);
	CHECK(!status->wraps, "wrapped %llu times", (unsigned long long)status->wraps);
	return status->head;
}

static const uint8_t *open_traced(struct vm *vm, size_t size, uint32_t flags, uint64_t ctl,
				  const struct kvm_x86_pt_status **status)
{
	const uint8_t *bytes;

	vm_open(vm, false);
	if (vm_usage(vm, KVM_X86_PT_GUEST, 0) ||
	    vm_buffer(vm, KVM_X86_PT_BUFFER_ALLOC, size, flags, ctl))
		die("a buffer of the vCPU");
	*status = vm_map_status(vm);
	bytes = vm_map_data(vm, size);
	if (!*status || !bytes)
		die("mmap of the buffer");
	CHECK((*status)->size == size && !(*status)->head, "size %llu, head %llu",
	      (unsigned long long)(*status)->size, (unsigned long long)(*status)->head);
	return bytes;
}

static void print_counts(const struct trace_counts *counts)
{
	printf("# %zu bytes: %u PSB, %u PGE, %u PGD, %u TIP, %u FUP, %u TNT bits, %u PIP (%u NR), "
	       "%u VMCS, %u TSC, %u OVF, %zu bad\n",
	       counts->bytes, counts->psb, counts->pge, counts->pgd, counts->tip, counts->fup,
	       counts->tnt_bits, counts->pip, counts->pip_nr, counts->vmcs, counts->tsc,
	       counts->ovf, counts->bad);
}

/* Check that a trace has the whole guest and nothing else. KVM uses VM controls or MSR areas. */
void test_guest(void)
{
	const struct kvm_x86_pt_status *status;
	struct kvm_x86_pt_sideband before, after;
	struct trace_counts counts;
	struct vm_exits exits;
	const uint8_t *bytes;
	unsigned int entries;
	struct vm vm;

	bytes = open_traced(&vm, 1 << 20, 0, CTL_BRANCHES, &status);
	vm_start(&vm, guest_flow, ROUNDS);
	vm_run(&vm);
	count_packets(bytes, traced(status), &counts);
	print_counts(&counts);
	/* Each round has two conditional branches, a call and its return. VM exits may add TIPs. */
	CHECK(counts.tnt_bits == 2 * ROUNDS, "%u branches", counts.tnt_bits);
	CHECK(counts.tip >= 2 * ROUNDS, "%u indirect transfers", counts.tip);
	CHECK(!counts.bad && !counts.ovf, "%zu bad", counts.bad);
	CHECK(counts.pge == counts.pgd && counts.pge > 0, "%u PGE, %u PGD", counts.pge, counts.pgd);

	CHECK(!vm_buffer(&vm, KVM_X86_PT_BUFFER_RESTART, 0, 0, 0), "restart");
	CHECK(!status->head, "head %llu after the restart", (unsigned long long)status->head);
	vm_start(&vm, guest_exits, 100);
	before = vm_sideband(&vm);
	exits = vm_run(&vm);
	after = vm_sideband(&vm);
	entries = (unsigned int)(after.entries - before.entries);
	count_packets(bytes, traced(status), &counts);
	print_counts(&counts);
	CHECK(exits.io == 100, "%u OUTs", exits.io);
	CHECK(counts.tnt_bits == 100, "%u branches", counts.tnt_bits);
	CHECK(entries >= 201, "%u entries", entries);
	CHECK(after.exits - before.exits == entries, "%llu exits, %u entries",
	      (unsigned long long)(after.exits - before.exits), entries);
	CHECK(counts.pge == entries && counts.pgd == entries, "%u PGE, %u PGD of %u entries",
	      counts.pge, counts.pgd, entries);
	vm_close(&vm);
}

/* Trace the same code with the oracle's log of retired instructions. The scenario compares. */
void test_oracle(void)
{
	const struct kvm_x86_pt_status *status;
	const uint8_t *bytes;
	struct vm vm;

	if (bed_open())
		die("the test bed's port");
	bytes = open_traced(&vm, 1 << 20, 0, CTL_TIMED, &status);
	bed_command(BED_ORACLE_ON, 0);
	vm_start(&vm, guest_flow, ROUNDS);
	vm_run(&vm);
	vm_start(&vm, guest_exits, 100);
	vm_run(&vm);
	bed_command(BED_ORACLE_OFF, 0);
	CHECK(traced(status) > 0, "nothing traced");
	bed_export("buffer", bytes, traced(status));
	vm_close(&vm);
}

void test_stop(void)
{
	const struct kvm_x86_pt_status *status;
	struct trace_counts counts;
	const uint8_t *bytes;
	size_t size = 3 * 4096; /* two regions of different size */
	struct vm vm;

	bytes = open_traced(&vm, size, KVM_X86_PT_BUFFER_STOP, CTL_BRANCHES, &status);
	vm_start(&vm, guest_flow, 20000);
	vm_run(&vm);
	CHECK(status->rtit_status & VPT_STATUS_MASK(STOPPED), "status 0x%llx",
	      (unsigned long long)status->rtit_status);
	CHECK(status->head == size && !status->wraps, "head %llu",
	      (unsigned long long)status->head);
	count_packets(bytes, size, &counts);
	print_counts(&counts);
	CHECK(!counts.bad && counts.tnt_bits > 1000, "%u branches, %zu bad", counts.tnt_bits,
	      counts.bad);

	CHECK(!vm_buffer(&vm, KVM_X86_PT_BUFFER_RESTART, 0, 0, 0), "restart");
	vm_start(&vm, guest_flow, 100);
	vm_run(&vm);
	count_packets(bytes, traced(status), &counts);
	CHECK(counts.tnt_bits == 200, "%u branches after the restart", counts.tnt_bits);
	vm_close(&vm);
}

/* Fill the buffer several times, with an exit to user space at each half. */
void test_wrap(void)
{
	const struct kvm_x86_pt_status *status;
	struct vm_exits exits;
	uint64_t total;
	struct vm vm;
	const size_t size = 8 * 4096;

	open_traced(&vm, size, KVM_X86_PT_BUFFER_NOTIFY, CTL_BRANCHES, &status);
	vm_start(&vm, guest_flow, 40000);
	exits = vm_run(&vm);
	total = status->wraps * size + status->head;
	printf("# %llu wraps, head %llu, %u notifications, %llu PMIs\n",
	       (unsigned long long)status->wraps, (unsigned long long)status->head, exits.pt,
	       (unsigned long long)vm_sideband(&vm).pmis);
	CHECK(status->wraps > 2, "%llu wraps", (unsigned long long)status->wraps);
	CHECK(exits.pt == total / (size / 2), "%u notifications in %llu bytes", exits.pt,
	      (unsigned long long)total);
	CHECK(!exits.other, "other exits");
	vm_close(&vm);
}

static void refuse(struct vm *vm, struct kvm_x86_pt_buffer *want, int error, const char *what)
{
	int r = vm_buffer(vm, want->op, want->size, want->flags, want->ctl);

	CHECK(r == -error, "%s: %d", what, r);
}

/* Requests that KVM must refuse. */
void test_hostile(void)
{
	struct kvm_x86_pt_buffer good = {
		.op = KVM_X86_PT_BUFFER_ALLOC, .size = 8192, .ctl = CTL_BRANCHES};
	struct kvm_x86_pt_buffer bad;
	const uint8_t *bytes;
	uint8_t *behind;
	struct vm vm;

	vm_open(&vm, false);
#define REFUSED(field, value, error)                         \
	do {                                                 \
		bad = good;                                  \
		bad.field = (value);                         \
		refuse(&vm, &bad, error, #field " " #value); \
	} while (0)
	REFUSED(op, 3, EINVAL);
	REFUSED(size, 0, EINVAL);
	REFUSED(size, 4097, EINVAL);
	REFUSED(size, KVM_X86_PT_BUFFER_MAX + 4096, EINVAL);
	REFUSED(flags, 4, EINVAL);
	REFUSED(ctl, CTL_BRANCHES | 1, EINVAL);
	REFUSED(ctl, CTL_BRANCHES | VPT_CTL_MASK(TOPA), EINVAL);
	REFUSED(ctl, CTL_BRANCHES | VPT_CTL_MASK(FABRIC_EN), EINVAL);
	REFUSED(ctl, CTL_BRANCHES | 1ull << 63, EINVAL);
	REFUSED(op, KVM_X86_PT_BUFFER_RESTART, ENOENT);

	/* Without a buffer there are no pages. */
	bytes = vm_map_data(&vm, 8192);
	CHECK(bytes && madvise((void *)(uintptr_t)bytes, 4096, 22 /* MADV_POPULATE_READ */),
	      "a page of no buffer");

	/* A page that is mapped outlives its buffer. */
	CHECK(!vm_usage(&vm, KVM_X86_PT_GUEST, 0) &&
		      !vm_buffer(&vm, good.op, good.size, 0, good.ctl),
	      "a buffer");
	vm_start(&vm, guest_flow, 10);
	vm_run(&vm);
	CHECK(bytes[0] == 0x02 && bytes[1] == 0x82, "no PSB");
	CHECK(!vm_buffer(&vm, KVM_X86_PT_BUFFER_FREE, 0, 0, 0), "free");
	CHECK(bytes[0] == 0x02, "the page is gone");
	vm_start(&vm, guest_flow, 10);
	vm_run(&vm);

	/* There is no page behind a buffer. */
	behind = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, vm.vcpu,
		      (off_t)(KVM_X86_PT_DATA_PAGE + 2) * 4096);
	CHECK(behind == MAP_FAILED || madvise(behind, 4096, 22), "a page behind the buffer");
	vm_close(&vm);
}
