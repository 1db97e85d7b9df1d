// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The features of this processor for CPUID: those emulated in software, and host instructions that
 * stubs use if the host has them.
 */
#include <cpuid.h>
#include <errno.h>

#include "soft/state.h"
#include "vpt/xsave.h"

/* A supported leaf: the bits emulated here, and the bits that require the host's. */
struct leaf {
	uint32_t leaf, subleaf;
	bool by_subleaf;
	uint32_t ours[4], hosts[4]; /* EAX, EBX, ECX, EDX */
};

#define B(n) (1u << (n))

static const struct leaf leaves[] = {
	{.leaf = 0, .ours = {0xd}},
	/* CLFLUSH: 64 bytes. */
	{.leaf = 1,
	 .ours = {0, 8 << 8, B(13) | B(17) | B(22),
		  B(2) | B(3) | B(4) | B(5) | B(6) | B(7) | B(8) | B(11) | B(12) | B(13) | B(14) |
			  B(15) | B(16) | B(17) | B(19)},
	 .hosts = {0, 0,
		   B(0) | B(1) | B(9) | B(12) | B(19) | B(20) | B(23) | B(25) | B(26) | B(28) |
			   B(29),
		   B(0) | B(23) | B(24) | B(25) | B(26)}},
	{.leaf = 7,
	 .by_subleaf = true,
	 .ours = {0, B(0) | B(7) | B(9) | B(10) | B(20) | B(23) | B(24), B(2) | B(16) | B(22),
		  B(4)},
	 .hosts = {0,
		   B(3) | B(5) | B(8) | B(16) | B(17) | B(19) | B(21) | B(28) | B(29) | B(30) |
			   B(31),
		   B(1) | B(6) | B(8) | B(9) | B(10) | B(11) | B(12) | B(14), 0}},
	/*
	 * x87, SSE, AVX, AVX-512. The sizes are those of the host's layout, which is the same on
	 * all processors.
	 */
	{.leaf = 0xd, .by_subleaf = true, .hosts = {0xe7, ~0u, ~0u, 0}},
	/* XSAVES with PT's component. The core removes it unless this processor has PT. */
	{.leaf = 0xd,
	 .subleaf = 1,
	 .by_subleaf = true,
	 .ours = {B(3), 0, B(VPT_XSAVE_COMPONENT), 0},
	 .hosts = {B(0) | B(1) | B(2), 0, 0, 0}},
	{.leaf = 0xd, .subleaf = 2, .by_subleaf = true, .hosts = {~0u, ~0u, ~0u, 0}},
	{.leaf = 0xd, .subleaf = 5, .by_subleaf = true, .hosts = {~0u, ~0u, ~0u, 0}},
	{.leaf = 0xd, .subleaf = 6, .by_subleaf = true, .hosts = {~0u, ~0u, ~0u, 0}},
	{.leaf = 0xd, .subleaf = 7, .by_subleaf = true, .hosts = {~0u, ~0u, ~0u, 0}},
	{.leaf = 0xd,
	 .subleaf = VPT_XSAVE_COMPONENT,
	 .by_subleaf = true,
	 .ours = {VPT_XSAVE_BYTES, 0, 1 /* supervisor component */, 0}},
	{.leaf = 0x80000000, .ours = {0x80000008}},
	{.leaf = 0x80000001,
	 .ours = {0, 0, B(0) | B(8), B(11) | B(20) | B(26) | B(27) | B(29)},
	 .hosts = {0, 0, B(5), 0}},
	{.leaf = 0x80000007, .ours = {0, 0, 0, B(8)}},
	{.leaf = 0x80000008, .ours = {48 << 8 | 39}},
};

#define LEAVES (sizeof(leaves) / sizeof(leaves[0]))

/*
 * The highest leaves of this processor, cached because each CPUID causes an exit in a virtual
 * machine.
 */
struct limits {
	uint32_t basic, extended;
};

static void ask_host(const struct leaf *l, const struct limits *max, uint32_t *r)
{
	bool some = l->hosts[0] | l->hosts[1] | l->hosts[2] | l->hosts[3];

	if (some && l->leaf <= (l->leaf >> 31 ? max->extended : max->basic))
		__cpuid_count(l->leaf, l->subleaf, r[0], r[1], r[2], r[3]);
}

int soft_supported_cpuid(struct engine_vm *vm, struct engine_cpuid_entry *entries, size_t *count)
{
	const struct limits max = {__get_cpuid_max(0, NULL), __get_cpuid_max(1u << 31, NULL)};
	/* The parts of XSAVE that are emulated require the host's other parts. */
	bool has_xsave = false;
	size_t i, n = 0;

	(void)vm;
	if (*count < LEAVES)
		return -E2BIG;
	for (i = 0; i < LEAVES; i++) {
		const struct leaf *l = &leaves[i];
		uint32_t r[4] = {0};

		if (l->leaf == 0xd && !has_xsave)
			continue;
		ask_host(l, &max, r);
		if (l->leaf == 1)
			has_xsave = r[2] & bit_XSAVE;
		entries[n++] = (struct engine_cpuid_entry){
			.leaf = l->leaf,
			.subleaf = l->subleaf,
			.by_subleaf = l->by_subleaf,
			.eax = l->ours[0] | (l->hosts[0] & r[0]),
			.ebx = l->ours[1] | (l->hosts[1] & r[1]),
			.ecx = l->ours[2] | (l->hosts[2] & r[2]),
			.edx = l->ours[3] | (l->hosts[3] & r[3]),
		};
	}
	*count = n;
	return 0;
}
