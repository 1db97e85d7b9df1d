// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare the TSC packets of a guest with the results of its RDTSC. The guest's TSC differs
 * from the host's. The comparison is exact, because an instruction takes one tick of the host's
 * TSC in the test bed. RDTSC is the first instruction after a VM entry, which sends a TSC
 * packet.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "machine.h"
#include "testbed.h"
#include "traces.h"
#include "vpt/packet.h"
#include "vpt/tsc.h"

#define MSR_TSC 0x10
#define ROUNDS	200
/* Ticks of the host's TSC from the packet of a VM entry to the end of the RDTSC after it. */
#define TICKS	  1
#define PACKETS	  4096
#define TSC_BITS  56
#define KVM_DEBUG "/sys/kernel/debug/kvm/"

struct packets {
	uint64_t tsc[PACKETS];
	unsigned int count;
};

static void find_packets(struct packets *packets, const uint8_t *bytes, size_t size)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = 0;

	packets->count = 0;
	while (at < size) {
		if (vpt_packet_read(&parser, bytes + at, size - at, &packet) != VPT_OK)
			fail("byte 0x%zx of the trace is no packet", at);
		at += packet.size;
		if (packet.kind != VPT_PKT_TSC)
			continue;
		if (packets->count == PACKETS)
			fail("more TSC packets than the test takes");
		packets->tsc[packets->count++] = packet.value;
	}
}

/* Read a value of the only vCPU from KVM's debugfs. */
static uint64_t kvm_says(const char *what)
{
	struct dirent *entry;
	char path[400];
	uint64_t value;
	DIR *dir = opendir(KVM_DEBUG);
	FILE *file = NULL;

	if (!dir)
		fail("there is no " KVM_DEBUG);
	while (!file && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), KVM_DEBUG "%s/vcpu0/%s", entry->d_name, what);
		file = fopen(path, "r");
	}
	closedir(dir);
	if (!file || fscanf(file, "%lli", (long long *)&value) != 1)
		fail("KVM does not tell %s", what);
	fclose(file);
	return value;
}

/* Return the packet of the VM entry before the RDTSC @note: the last packet not above @note. */
static uint64_t packet_before(const struct packets *packets, uint64_t note)
{
	unsigned int i = 0;

	while (i < packets->count && packets->tsc[i] <= (note & VPT_MASK64(TSC_BITS - 1, 0)))
		i++;
	if (!i)
		fail("no TSC packet comes before 0x%llx", (unsigned long long)note);
	return packets->tsc[i - 1];
}

/*
 * Returns true if RDTSC can return @note TICKS after @packet, for a host TSC that @packet can
 * stand for.
 */
static bool follows(const struct vpt_tsc *tsc, uint64_t note, uint64_t packet)
{
	uint64_t about, first, last;

	if (vpt_tsc_host(tsc, note, &about, &last) != VPT_OK ||
	    vpt_tsc_host_packet(tsc, packet, about, &first, &last) != VPT_OK)
		return false;
	return vpt_tsc_guest(tsc, first + TICKS) <= note &&
	       vpt_tsc_guest(tsc, last + TICKS) >= note;
}

static void check(const struct machine *machine, const struct vpt_tsc *tsc)
{
	static struct packets packets;
	const uint64_t *notes = (const uint64_t *)(const void *)(machine->vm.memory + TRACES_TIMES);

	find_packets(&packets, machine->vm.memory + VM_OUTPUT, machine_trace_size(machine));
	if (packets.count < ROUNDS)
		fail("%u TSC packets for %d VM entries", packets.count, ROUNDS);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint64_t packet = packet_before(&packets, notes[i]);

		if (!follows(tsc, notes[i], packet))
			fail("RDTSC 0x%llx follows packet 0x%llx", (unsigned long long)notes[i],
			     (unsigned long long)packet);
	}
	printf("tsc: %d of %u packets are the guest's TSC\n", ROUNDS, packets.count);
}

static void run(uint64_t value, unsigned int khz_percent)
{
	struct machine machine;
	struct vpt_tsc tsc;
	int khz;

	machine_open(&machine, VM_PT, PLAN_TSC | PLAN_BRANCHES, ROUNDS);
	khz = ioctl(machine.vm.vcpu, KVM_GET_TSC_KHZ, 0);
	if (khz <= 0 || ioctl(machine.vm.vcpu, KVM_SET_TSC_KHZ, (long)khz * khz_percent / 100))
		fail("KVM_SET_TSC_KHZ");
	machine_begin(&machine, MSR_TSC, value);
	machine_trace(&machine, CTL_BRANCHES | VPT_CTL_MASK(TSC_EN));
	bed_command(BED_ORACLE_ON, 0);
	machine_run(&machine);
	bed_command(BED_ORACLE_OFF, 0);
	tsc.offset = kvm_says("tsc-offset");
	tsc.multiplier = kvm_says("tsc-scaling-ratio");
	/* Print the same text as `vpt info` for the log. */
	printf("tsc: TSC offset 0x%llx, multiplier 0x%llx\n", (unsigned long long)tsc.offset,
	       (unsigned long long)tsc.multiplier);
	if (khz_percent != 100 && tsc.multiplier == VPT_TSC_ONE)
		fail("the TSC is not scaled");
	check(&machine, &tsc);
	bed_export("guest.pt", machine.vm.memory + VM_OUTPUT, machine_trace_size(&machine));
	machine_close(&machine);
}

void tsc_offset(void)
{
	run(0x123456789abc, 100);
}

void tsc_scaled(void)
{
	run(0x42, 37);
}
