// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUID of the machine and the model: caches, power, topology, and features that need no host. */
#include "core/cpuid_model.h"
#include "core/vm.h"

enum model_set {
	BDW = 1 << 0,
	SKL = 1 << 1,
	ICX = 1 << 2,
	SPR = 1 << 3,
	ATOM = 1 << 4,
	ALL = BDW | SKL | ICX | SPR | ATOM,
};

#define LEAF_FEATURES	1u
#define LEAF_CACHES	4u
#define LEAF_TOPOLOGY	0xbu
#define LEAF_TOPOLOGY_2 0x1fu
#define LINE		64u

struct row {
	unsigned int models; /* enum model_set */
	struct engine_cpuid_entry entry;
};

static const struct row rows[] = {
#define VPT_CPUID_ROW(models, leaf, subleaf, eax, ebx, ecx, edx) \
	{models, {leaf, subleaf, true, eax, ebx, ecx, edx}},
#define VPT_CPUID_CACHE(models, subleaf, type, level, ways, sets, edx) \
	{models,                                                       \
	 {LEAF_CACHES, subleaf, true, (type) | (level) << 5 | 1 << 8,  \
	  (LINE - 1) | ((ways)-1) << 22, (sets)-1, edx}},
#define VPT_CPUID_FEATURE(models, leaf, reg, bit)
#include "core/cpuid_leaves.def"
};

static const struct row features[] = {
#define VPT_CPUID_ROW(models, leaf, subleaf, eax, ebx, ecx, edx)
#define VPT_CPUID_CACHE(models, subleaf, type, level, ways, sets, edx)
#define VPT_CPUID_FEATURE(models, number, reg, bit) \
	{models, {.leaf = (number), .reg = 1u << (bit)}},
#include "core/cpuid_leaves.def"
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Return the set of one model. A signature without a row of its own has the leaves of SKL. */
static unsigned int model_of(const struct vpt_caps *caps)
{
	if (!caps->l14_0_ebx && !caps->l14_0_ecx)
		return ATOM;
	switch ((caps->signature >> 4 & 0xf) | (caps->signature >> 12 & 0xf0)) {
	case 0x3d:
		return BDW;
	case 0x6a:
		return ICX;
	case 0x8f:
		return SPR;
	default:
		return SKL;
	}
}

bool core_cpuid_model_has(uint32_t leaf)
{
	size_t i;

	for (i = 0; i < COUNT(rows); i++)
		if (rows[i].entry.leaf == leaf)
			return true;
	return false;
}

size_t core_cpuid_model_leaves(const struct vpt_caps *caps, struct engine_cpuid_entry *to,
			       size_t room)
{
	size_t i, n = 0;

	for (i = 0; i < COUNT(rows) && n < room; i++)
		if (rows[i].models & model_of(caps))
			to[n++] = rows[i].entry;
	return n;
}

uint32_t core_cpuid_model_last(const struct vpt_caps *caps)
{
	uint32_t last = 0;
	size_t i;

	for (i = 0; i < COUNT(rows); i++)
		if (rows[i].models & model_of(caps) && rows[i].entry.leaf > last)
			last = rows[i].entry.leaf;
	return last;
}

void core_cpuid_features(struct engine_cpuid_entry *entries, size_t count,
			 const struct vpt_caps *caps)
{
	size_t i, j;

	for (i = 0; i < COUNT(features); i++)
		for (j = 0; j < count; j++) {
			const struct engine_cpuid_entry *f = &features[i].entry;
			struct engine_cpuid_entry *e = &entries[j];

			if (!(features[i].models & model_of(caps)) || e->leaf != f->leaf ||
			    e->subleaf)
				continue;
			e->ebx |= f->ebx;
			e->ecx |= f->ecx;
			e->edx |= f->edx;
		}
}

/* Returns the number of bits of the ids of `cpus` processors. */
static unsigned int id_bits(unsigned int cpus)
{
	unsigned int bits = 0;

	while (1u << bits < cpus)
		bits++;
	return bits;
}

/* Each processor is a core with one thread, and all cores share the last cache. */
static void place_in_package(struct engine_cpuid_entry *e, unsigned int index, unsigned int cpus)
{
	const unsigned int bits = id_bits(cpus), level = e->eax >> 5 & 7;

	switch (e->leaf) {
	case LEAF_FEATURES:
		e->ebx = (e->ebx & 0xffff) | cpus << 16 | index << 24;
		e->edx |= cpus > 1 ? 1u << 28 : 0; /* HTT */
		break;
	case LEAF_CACHES:
		if (!(e->eax & 31))
			break;
		e->eax |= ((1u << bits) - 1) << 26;
		e->eax |= level == 3 ? ((1u << bits) - 1) << 14 : 0;
		break;
	case LEAF_TOPOLOGY:
	case LEAF_TOPOLOGY_2:
		e->edx = index;
		if (e->subleaf != 1)
			break;
		e->eax = bits;
		e->ebx = cpus;
		break;
	default:
		break;
	}
}

void core_cpuid_topology(struct engine_cpuid_entry *entries, size_t count, unsigned int index,
			 unsigned int cpus)
{
	size_t i;

	for (i = 0; i < count; i++)
		place_in_package(&entries[i], index, cpus);
}
