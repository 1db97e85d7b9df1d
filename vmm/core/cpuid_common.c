// SPDX-License-Identifier: GPL-2.0-or-later
/* The CPUID table that two engines support, and whether an engine supports a given table. */
#include "core/vm.h"

#include <string.h>

#define LEGACY_AREA 576u /* bytes of the legacy region and the header of an XSAVE area */

/* The registers of a leaf that are sets of features, which are combined bit by bit. */
enum part { EAX = 1, EBX = 2, ECX = 4, EDX = 8, ALL = 15 };

static unsigned int feature_registers(const struct engine_cpuid_entry *e)
{
	switch (e->leaf) {
	case 1:
	case 0x80000001:
		return ECX | EDX;
	case 7:
		return e->subleaf ? ALL : EBX | ECX | EDX;
	case 0xd:
		return e->subleaf < 2 ? EAX | EDX | (e->subleaf ? ECX : 0) : 0;
	case 6:
	case 0x80000007:
		return ALL;
	case 0x80000008:
		return EBX;
	default:
		return 0;
	}
}

/* Returns true if EAX of the leaf is the highest leaf or subleaf. */
static bool says_last(const struct engine_cpuid_entry *e)
{
	return e->leaf == 0 || e->leaf == 0x80000000 || (e->leaf == 7 && !e->subleaf);
}

static void combine(struct engine_cpuid_entry *a, const struct engine_cpuid_entry *b)
{
	unsigned int parts = feature_registers(a);

	if (says_last(a) && b->eax < a->eax)
		a->eax = b->eax;
	if (parts & EAX)
		a->eax &= b->eax;
	if (parts & EBX)
		a->ebx &= b->ebx;
	if (parts & ECX)
		a->ecx &= b->ecx;
	if (parts & EDX)
		a->edx &= b->edx;
}

static struct engine_cpuid_entry *find(struct engine_cpuid_entry *entries, size_t count,
				       uint32_t leaf, uint32_t subleaf)
{
	return (struct engine_cpuid_entry *)core_cpuid_find(entries, count, leaf, subleaf);
}

/* Compute the size of an XSAVE area in the standard format, from the components' subleaves. */
static void xsave_sizes(struct engine_cpuid_entry *entries, size_t count)
{
	struct engine_cpuid_entry *area = find(entries, count, 0xd, 0);
	uint32_t size = LEGACY_AREA, i;

	if (!area)
		return;
	for (i = 2; i < 32; i++) {
		const struct engine_cpuid_entry *e = find(entries, count, 0xd, i);

		if (area->eax >> i & 1 && e && e->eax + e->ebx > size)
			size = e->eax + e->ebx;
	}
	area->ebx = area->ecx = size;
}

void core_cpuid_common(struct engine_cpuid_entry *a, size_t *a_count,
		       const struct engine_cpuid_entry *b, size_t b_count)
{
	size_t n = 0, i;

	for (i = 0; i < *a_count; i++) {
		const struct engine_cpuid_entry *other =
			core_cpuid_find(b, b_count, a[i].leaf, a[i].subleaf);

		if (!other)
			continue;
		a[n] = a[i];
		combine(&a[n++], other);
	}
	*a_count = n;
	xsave_sizes(a, n);
}

enum { REGISTERS = 4 };

/* The registers of a leaf that are sizes of the enabled components, which CPUID computes. */
static unsigned int size_registers(const struct engine_cpuid_entry *e)
{
	if (e->leaf != 0xd || e->subleaf > 1)
		return 0;
	return e->subleaf ? EBX : EBX | ECX;
}

static bool gives(const struct engine_cpuid_entry *mine, const struct engine_cpuid_entry *theirs,
		  struct core_cpuid_gap *gap)
{
	static const char *const names[REGISTERS] = {"EAX", "EBX", "ECX", "EDX"};
	const uint32_t is[REGISTERS] = {mine->eax, mine->ebx, mine->ecx, mine->edx};
	const uint32_t wanted[REGISTERS] = {theirs->eax, theirs->ebx, theirs->ecx, theirs->edx};
	const unsigned int features = feature_registers(mine), sizes = size_registers(mine);
	unsigned int i;

	for (i = 0; i < REGISTERS; i++) {
		const unsigned int part = 1u << i;
		bool ok = is[i] == wanted[i] || sizes & part;

		if (features & part)
			ok = !(wanted[i] & ~is[i]);
		else if (part == EAX && says_last(mine))
			ok = wanted[i] <= is[i];
		if (ok)
			continue;
		*gap = (struct core_cpuid_gap){true,	 mine->leaf, mine->subleaf,
					       names[i], is[i],	     wanted[i]};
		return false;
	}
	return true;
}

bool core_cpuid_gives(const struct engine_cpuid_entry *mine, size_t count,
		      const struct engine_cpuid_entry *theirs, size_t theirs_count,
		      struct core_cpuid_gap *gap)
{
	size_t i;

	for (i = 0; i < theirs_count; i++) {
		const struct engine_cpuid_entry *e = &theirs[i];
		const struct engine_cpuid_entry *m =
			core_cpuid_find(mine, count, e->leaf, e->subleaf);

		if (!m || m->subleaf != e->subleaf || m->by_subleaf != e->by_subleaf) {
			*gap = (struct core_cpuid_gap){
				.found = true, .leaf = e->leaf, .subleaf = e->subleaf};
			return false;
		}
		if (!gives(m, e, gap))
			return false;
	}
	return true;
}
