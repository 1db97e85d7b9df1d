// SPDX-License-Identifier: GPL-2.0-or-later
/* Probe the processor's PT, and KVM's support for it. */
#include <cpuid.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/kvm.h"
#include "engine/kvm_pt.h"
#include "engine/kvm_pt_abi.h"

#define MAX_CPUID	   256
#define BUS_HZ		   100000000ull
#define CPUID_7_EBX_PT	   (1u << 25)
#define CPUID_LEAF_SIZES   0x80000008u
#define DEFAULT_MAXPHYADDR 36

static void leaf(uint32_t number, uint32_t subleaf, struct vpt_cpuid_regs *r)
{
	memset(r, 0, sizeof(*r));
	(void)__get_cpuid_count(number, subleaf, &r->eax, &r->ebx, &r->ecx, &r->edx);
}

/*
 * Read the capabilities of the processor. The clock ratio at P1 is in an MSR that only the kernel
 * can read, so it is derived from the TSC frequency.
 */
static void read_caps(struct vpt_caps *caps)
{
	struct vpt_cpuid_regs r;

	memset(caps, 0, sizeof(*caps));
	leaf(0x14, 0, &r);
	caps->l14_0_eax = r.eax;
	caps->l14_0_ebx = r.ebx;
	caps->l14_0_ecx = r.ecx;
	leaf(0x14, 1, &r);
	caps->l14_1_eax = caps->l14_0_eax ? r.eax : 0;
	caps->l14_1_ebx = caps->l14_0_eax ? r.ebx : 0;
	leaf(0x15, 0, &r);
	caps->l15_eax = r.eax;
	caps->l15_ebx = r.ebx;
	caps->l15_ecx = r.ecx;
	if (r.eax && r.ebx && r.ecx)
		caps->max_nonturbo = (uint8_t)((uint64_t)r.ecx * r.ebx / r.eax / BUS_HZ);
	leaf(1, 0, &r);
	caps->signature = r.eax;
	leaf(CPUID_LEAF_SIZES, 0, &r);
	caps->max_phy_addr = r.eax ? (uint8_t)r.eax : DEFAULT_MAXPHYADDR;
	caps->lin_addr = r.eax >> 8 & 0xff ? (uint8_t)(r.eax >> 8) : 48;
	caps->vmx_pt = 1;
}

/* Get the capabilities that KVM can give to a guest. */
static bool read_guest_caps(int dev, struct vpt_caps *caps)
{
	struct kvm_cpuid2 *list =
		calloc(1, sizeof(*list) + MAX_CPUID * sizeof(struct kvm_cpuid_entry2));
	bool pt = false;
	uint32_t i;

	if (!list)
		return false;
	list->nent = MAX_CPUID;
	if (ioctl(dev, KVM_GET_SUPPORTED_CPUID, list))
		list->nent = 0;
	for (i = 0; i < list->nent; i++) {
		const struct kvm_cpuid_entry2 *e = &list->entries[i];

		if (e->function == 7 && !e->index) {
			pt = e->ebx & CPUID_7_EBX_PT;
		} else if (e->function == 0x14 && !e->index) {
			caps->l14_0_eax = e->eax;
			caps->l14_0_ebx = e->ebx;
			caps->l14_0_ecx = e->ecx;
		} else if (e->function == 0x14 && e->index == 1) {
			caps->l14_1_eax = e->eax;
			caps->l14_1_ebx = e->ebx;
		}
	}
	free(list);
	return pt;
}

static void probe_kvm(struct engine_probe *probe, int dev)
{
	int usages = ioctl(dev, KVM_CHECK_EXTENSION, KVM_CAP_X86_PT);

	read_caps(&probe->pt_host);
	probe->pt_guest = probe->pt_host;
	if (!read_guest_caps(dev, &probe->pt_guest))
		probe->no_pt_guest =
			"this KVM gives no PT to guests: load kvm-intel of the series in "
			"patches/linux, with pt_mode=1";
	if (usages <= 0 || !(usages & 1 << KVM_X86_PT_GUEST))
		probe->no_pt_host = "this KVM cannot trace a guest for its host: load kvm-intel of "
				    "the series in patches/linux";
}

void engine_kvm_pt_probe(struct engine_probe *probe, bool with_costs)
{
	struct engine_probe unused;
	int dev;

	(void)with_costs; /* this engine does not step */
	engine_kvm_probe_device(probe);
	probe->problem = engine_kvm_problem(probe);
	if (!probe->host_pt)
		probe->problem =
			"engine kvm-pt needs a processor with Intel PT, and this machine's "
			"CPUID has none: run it on one that has";
	if (probe->problem)
		return;
	/* Every KVM on such hardware has these features, and can trace all rings. */
	probe->cpuid_pt = probe->syscall = probe->soft_int = true;
	probe->step[0] = probe->step[1] = ENGINE_STEP_EXIT;
	dev = engine_kvm_open(&unused);
	if (dev < 0) {
		probe->problem = "/dev/kvm does not open a second time";
		return;
	}
	probe_kvm(probe, dev);
	probe->no_apic = engine_kvm_no_apic(probe, dev);
	close(dev);
}
