// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUID of the model: the host's features, reported as by an Intel processor of that signature.
 * Features are removed if this VM has no device for them, or if stepping breaks them
 * (transactions).
 */
#include "core/vm.h"

#include <string.h>

#include "core/cpuid_model.h"
#include "core/perfmon.h"
#include "vpt/xsave.h"

#define BIT(n)		   (1u << (n))
#define BUS_MHZ		   100u
#define LEAF_VENDOR	   0u
#define LEAF_FEATURES	   1u
#define LEAF_MONITOR	   5u
#define LEAF_EXTENDED	   7u
#define LEAF_PERFMON	   0xau
#define LEAF_XSAVE	   0xdu
#define LEAF_PT		   0x14u
#define LEAF_TSC	   0x15u
#define LEAF_FREQUENCY	   0x16u
#define LEAF_HYPERVISOR	   0x40000000u
#define LEAF_MAX_AMD	   0x80000000u
#define LEAF_AMD_FEATURES  0x80000001u
#define LEAF_INVARIANT_TSC 0x80000007u
#define LEAF_SIZES	   0x80000008u

const struct engine_cpuid_entry *core_cpuid_find(const struct engine_cpuid_entry *entries,
						 size_t count, uint32_t leaf, uint32_t subleaf)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (entries[i].leaf == leaf &&
		    (!entries[i].by_subleaf || entries[i].subleaf == subleaf))
			return &entries[i];
	return NULL;
}

/*
 * Returns true for leaves of hypervisors, leaves of AMD only, and leaves that core_cpuid_shape()
 * adds.
 */
static bool dropped(uint32_t leaf)
{
	if (leaf >= LEAF_HYPERVISOR && leaf < LEAF_MAX_AMD)
		return true;
	return leaf > LEAF_SIZES || (leaf >= LEAF_PT && leaf <= LEAF_FREQUENCY) ||
	       leaf == LEAF_PERFMON || leaf == 0x80000005 || core_cpuid_model_has(leaf);
}

/*
 * Returns true if the model reports the ratio of its crystal clock. Other models have neither leaf
 * 15H nor 16H.
 */
static bool has_crystal(const struct vpt_caps *caps)
{
	return caps->l15_ebx;
}

/* Returns false for processors that do not enumerate their trace in CPUID. [ATOM-NO-CPUID] */
static bool has_pt_leaves(const struct vpt_caps *caps)
{
	return caps->l14_0_ebx || caps->l14_0_ecx;
}

/* Returns the highest basic leaf that the model can have. */
static uint32_t highest(const struct vpt_caps *caps)
{
	if (!has_pt_leaves(caps))
		return LEAF_XSAVE;
	return has_crystal(caps) ? LEAF_HYPERVISOR - 1 : LEAF_PT;
}

static void vendor(struct engine_cpuid_entry *e, const struct vpt_caps *caps)
{
	if (highest(caps) <= LEAF_PT)
		e->eax = highest(caps);
	else if (e->eax < LEAF_FREQUENCY)
		e->eax = LEAF_FREQUENCY;
	if (e->eax < core_cpuid_model_last(caps))
		e->eax = core_cpuid_model_last(caps);
	memcpy(&e->ebx, "Genu", 4);
	memcpy(&e->edx, "ineI", 4);
	memcpy(&e->ecx, "ntel", 4);
}

static void features(struct engine_cpuid_entry *e, const struct vpt_caps *caps)
{
	e->eax = caps->signature;
	/* One processor, initial APIC ID 0. */
	e->ebx = (e->ebx & 0xff00) | 1u << 16;
	/* DTES64, MONITOR, VMX, SMX, x2APIC, TSC deadline, OSXSAVE (follows CR4), hypervisor. */
	e->ecx &= ~(BIT(2) | BIT(3) | BIT(5) | BIT(6) | BIT(21) | BIT(24) | BIT(27) | BIT(31));
	/* PERF_CAPABILITIES */
	e->ecx |= BIT(15);
	/* APIC, DS, HTT */
	e->edx &= ~(BIT(9) | BIT(21) | BIT(28));
}

/*
 * Clear HLE and RTM, because a stepped transaction always aborts. own() sets the bit of PT if the
 * guest has PT.
 */
static void extended(struct engine_cpuid_entry *e, const struct vpt_caps *caps)
{
	e->ebx &= ~(BIT(4) | BIT(11) | BIT(25));
	/* Five levels of page tables. */
	if (caps->lin_addr < 57)
		e->ecx &= ~BIT(16);
}

/*
 * The features of Intel processors in these leaves: LAHF, LZCNT, PREFETCHW; SYSCALL, NX, 1G,
 * RDTSCP, LM.
 */
static void amd_features(struct engine_cpuid_entry *e)
{
	e->eax = e->ebx = 0;
	e->ecx &= BIT(0) | BIT(5) | BIT(8);
	e->edx &= BIT(11) | BIT(20) | BIT(26) | BIT(27) | BIT(29);
}

static void sizes(struct engine_cpuid_entry *e, const struct vpt_caps *caps)
{
	e->eax = caps->max_phy_addr | (uint32_t)caps->lin_addr << 8;
	e->ebx = e->ecx = e->edx = 0;
}

static void shape_one(struct engine_cpuid_entry *e, const struct vpt_caps *caps)
{
	switch (e->leaf) {
	case LEAF_VENDOR:
		vendor(e, caps);
		break;
	case LEAF_FEATURES:
		features(e, caps);
		break;
	case LEAF_EXTENDED:
		if (!e->subleaf)
			extended(e, caps);
		break;
	case LEAF_MAX_AMD:
		e->eax = LEAF_SIZES;
		e->ebx = e->ecx = e->edx = 0;
		break;
	case LEAF_AMD_FEATURES:
		amd_features(e);
		break;
	case LEAF_INVARIANT_TSC:
		e->eax = e->ebx = e->ecx = 0;
		break;
	case LEAF_SIZES:
		sizes(e, caps);
		break;
	default:
		break;
	}
}

static void own(struct engine_cpuid_entry *e, const struct vpt_caps *caps, bool pt_present)
{
	struct vpt_cpuid_regs regs = {e->eax, e->ebx, e->ecx, e->edx};

	if (!vpt_caps_cpuid(caps, pt_present, e->leaf, e->subleaf, &regs))
		return;
	e->eax = regs.eax;
	e->ebx = regs.ebx;
	e->ecx = regs.ecx;
	e->edx = regs.edx;
}

/*
 * Base, maximum and bus frequency in MHz. The maximum is unknown, so the base frequency stands for
 * it.
 */
static void frequency(struct engine_cpuid_entry *e, const struct vpt_caps *caps)
{
	e->eax = e->ebx = caps->max_nonturbo * BUS_MHZ;
	e->ecx = BUS_MHZ;
}

void core_cpuid_shape(struct engine_cpuid_entry *entries, size_t *count,
		      const struct vpt_caps *caps, bool pt_present)
{
	static const struct engine_cpuid_entry added[] = {
		{.leaf = LEAF_PERFMON},
		{.leaf = LEAF_PT, .subleaf = 0, .by_subleaf = true},
		{.leaf = LEAF_PT, .subleaf = 1, .by_subleaf = true},
		{.leaf = LEAF_TSC},
		{.leaf = LEAF_FREQUENCY},
	};
	size_t n = 0, i;

	for (i = 0; i < *count; i++) {
		if (dropped(entries[i].leaf))
			continue;
		if (entries[i].leaf > highest(caps) && entries[i].leaf < LEAF_HYPERVISOR)
			continue;
		entries[n] = entries[i];
		shape_one(&entries[n], caps);
		own(&entries[n++], caps, pt_present);
	}
	for (i = 0; i < sizeof(added) / sizeof(added[0]) && n < CORE_CPUID_ROOM; i++) {
		if (added[i].leaf > highest(caps))
			break;
		entries[n] = added[i];
		if (added[i].leaf == LEAF_PERFMON)
			core_perfmon_cpuid(caps, &entries[n]);
		if (added[i].leaf == LEAF_FREQUENCY)
			frequency(&entries[n], caps);
		own(&entries[n++], caps, pt_present);
	}
	n += core_cpuid_model_leaves(caps, &entries[n], CORE_CPUID_ROOM - n);
	*count = n;
}

/* Model numbers of CPUID.1:EAX, for family 6. */
#define MODEL_BDW 0x3du
#define MODEL_SPR 0x8fu

static uint32_t model_of(const struct vpt_caps *caps)
{
	return (caps->signature >> 4 & 0xf) | (caps->signature >> 12 & 0xf0);
}

/* Set the leaf of MONITOR and MWAIT: lines of 64 bytes and C-states up to C6. */
static void monitor_leaf(struct engine_cpuid_entry *entries, size_t *count)
{
	struct engine_cpuid_entry *e;
	size_t i;

	for (i = 0; i < *count && entries[i].leaf != LEAF_MONITOR; i++)
		;
	if (i == CORE_CPUID_ROOM)
		return;
	e = &entries[i];
	*count += i == *count;
	/* Masked interrupts can be break events. C1 has two sub-states, C6 has one. */
	*e = (struct engine_cpuid_entry){
		.leaf = LEAF_MONITOR, .eax = 64, .ebx = 64, .ecx = 3, .edx = 0x1020};
}

void core_cpuid_waits(struct engine_cpuid_entry *entries, size_t *count,
		      const struct vpt_caps *caps)
{
	size_t i;

	if (model_of(caps) == MODEL_BDW)
		return;
	for (i = 0; i < *count; i++) {
		if (entries[i].leaf == LEAF_FEATURES)
			entries[i].ecx |= BIT(3);
		if (entries[i].leaf == LEAF_EXTENDED && !entries[i].subleaf &&
		    model_of(caps) == MODEL_SPR)
			entries[i].ecx |= BIT(5);
	}
	monitor_leaf(entries, count);
}

void core_cpuid_xstate(struct engine_cpuid_entry *entries, size_t *count,
		       const struct vpt_caps *caps, bool pt)
{
	bool exists = vpt_xsave_bytes(caps);
	size_t n = 0, i;

	for (i = 0; i < *count; i++) {
		struct engine_cpuid_entry e = entries[i];

		if (e.leaf == LEAF_XSAVE && e.subleaf == VPT_XSAVE_COMPONENT && !(exists && pt))
			continue;
		if (e.leaf == LEAF_XSAVE && e.subleaf == 1 && !exists)
			e.eax &= ~BIT(3);
		if (e.leaf == LEAF_XSAVE && e.subleaf == 1 && !(exists && pt))
			e.ecx &= ~BIT(VPT_XSAVE_COMPONENT);
		entries[n++] = e;
	}
	*count = n;
}

void core_cpuid_platform(struct engine_cpuid_entry *entries, size_t count, bool exact)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (entries[i].leaf != LEAF_FEATURES)
			continue;
		entries[i].edx |= BIT(9);
		/* KVM handles the x2APIC's MSRs and the TSC itself. */
		if (exact)
			entries[i].ecx |= BIT(21) | BIT(24);
	}
}
