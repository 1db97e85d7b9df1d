// SPDX-License-Identifier: GPL-2.0-or-later
/* The usages as seen in a trace of the host, which perf_event_open() starts. */
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctl.h"
#include "tests.h"
#include "vm.h"

enum { AUX_SIZE = 4 << 20 };

struct host_trace {
	int fd;
	struct perf_event_mmap_page *page;
	uint8_t *aux;
};

static unsigned int pt_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/intel_pt/type", "r");
	unsigned int type;

	if (!file || fscanf(file, "%u", &type) != 1)
		die("the PT driver");
	fclose(file);
	return type;
}

/* Start a trace of this processor, kernel and user. */
static void host_start(struct host_trace *trace)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = pt_type(),
				       .disabled = 1,
				       .config = VPT_CTL_MASK(BRANCH_EN) | 1 |
						 VPT_CTL_MASK(DIS_RETC)};

	trace->fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	if (trace->fd < 0)
		die("perf_event_open");
	trace->page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, trace->fd, 0);
	if (trace->page == MAP_FAILED)
		die("mmap of the event");
	trace->page->aux_offset = 3 * 4096;
	trace->page->aux_size = AUX_SIZE;
	trace->aux = mmap(NULL, AUX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, trace->fd,
			  (off_t)trace->page->aux_offset);
	if (trace->aux == MAP_FAILED)
		die("mmap of AUX");
	ioctl(trace->fd, PERF_EVENT_IOC_ENABLE, 0);
}

static void host_stop(struct host_trace *trace, struct trace_counts *counts)
{
	ioctl(trace->fd, PERF_EVENT_IOC_DISABLE, 0);
	count_packets(trace->aux, trace->page->aux_head, counts);
	printf("# host: %zu bytes, %u PGE, %u PGD, %u TNT bits, %u PIP (%u NR), %u VMCS, %u OVF, "
	       "%zu bad\n",
	       counts->bytes, counts->pge, counts->pgd, counts->tnt_bits, counts->pip,
	       counts->pip_nr, counts->vmcs, counts->ovf, counts->bad);
}

static void host_close(struct host_trace *trace)
{
	munmap(trace->aux, AUX_SIZE);
	munmap(trace->page, 3 * 4096);
	close(trace->fd);
}

/* Trace the host while it runs a guest for @rounds rounds. */
static void trace_host(struct vm *vm, uint32_t usage, uint32_t flags, uint64_t rounds,
		       struct trace_counts *counts)
{
	struct host_trace trace;

	if (!CHECK(!vm_usage(vm, usage, flags), "usage %u, flags %u", usage, flags))
		return;
	vm_start(vm, guest_exits, rounds);
	host_start(&trace);
	vm_run(vm);
	host_stop(&trace, counts);
	host_close(&trace);
	CHECK(!counts->bad && counts->bytes > 1000, "%zu bytes, %zu bad", counts->bytes,
	      counts->bad);
}

void test_host(void)
{
	static struct trace_counts counts;
	struct vm vm;

	vm_open(&vm, false);
	trace_host(&vm, KVM_X86_PT_SYSTEM, 0, 20, &counts);
	CHECK(counts.pip_nr >= 20, "system: %u PIPs of a guest", counts.pip_nr);
	CHECK(counts.vmcs && counts.last_vmcs == vm_sideband(&vm).vmcs,
	      "system: VMCS 0x%llx is not 0x%llx", (unsigned long long)counts.last_vmcs,
	      (unsigned long long)vm_sideband(&vm).vmcs);

	trace_host(&vm, KVM_X86_PT_SYSTEM,
		   KVM_X86_PT_CONCEAL_EXEC | KVM_X86_PT_CONCEAL_EXIT | KVM_X86_PT_CONCEAL_ENTRY, 20,
		   &counts);
	CHECK(!counts.pip_nr, "system, concealed: %u PIPs of a guest", counts.pip_nr);

	trace_host(&vm, KVM_X86_PT_HOST, 0, 20, &counts);
	CHECK(!counts.pip_nr, "host: %u PIPs of a guest", counts.pip_nr);
	CHECK(counts.pgd >= 40, "host: %u PGD for 40 exits", counts.pgd);

	trace_host(&vm, KVM_X86_PT_OFF, 0, 20, &counts);
	CHECK(!counts.pip_nr, "off: %u PIPs of a guest", counts.pip_nr);
	vm_close(&vm);
}

/* Trace host and guest, each to its own buffer. Neither trace may have packets of the other. */
void test_both(void)
{
	const struct kvm_x86_pt_status *status;
	static struct trace_counts counts;
	const uint8_t *bytes;
	struct vm vm;

	vm_open(&vm, false);
	CHECK(!vm_buffer(&vm, KVM_X86_PT_BUFFER_ALLOC, 1 << 20, 0, CTL_BRANCHES), "buffer");
	status = vm_map_status(&vm);
	bytes = vm_map_data(&vm, 1 << 20);
	if (!status || !bytes)
		die("mmap of the buffer");
	trace_host(&vm, KVM_X86_PT_GUEST, 0, 100, &counts);
	CHECK(!counts.pip_nr, "host: %u PIPs of a guest", counts.pip_nr);
	CHECK(counts.pgd >= 200, "host: %u PGD for 200 exits", counts.pgd);

	count_packets(bytes, status->head, &counts);
	printf("# guest: %zu bytes, %u PGE, %u PGD, %u TNT bits\n", counts.bytes, counts.pge,
	       counts.pgd, counts.tnt_bits);
	CHECK(counts.tnt_bits == 100 && !counts.bad, "guest: %u branches", counts.tnt_bits);
	CHECK(counts.pge == counts.pgd && counts.pge >= 201, "guest: %u PGE, %u PGD", counts.pge,
	      counts.pgd);
	vm_close(&vm);
}
