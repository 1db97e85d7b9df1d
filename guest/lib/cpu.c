// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads CPUID and the features that it enumerates. */
#include "cpu.h"

#include "guest.h"

noinline struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_regs r;

	__asm__ volatile("cpuid"
			 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

bool cpu_has(enum cpu_feature feature)
{
	uint32_t at = (uint32_t)feature, leaf = (at & 0x80000000u) | (at >> 8 & 0xff);
	struct cpuid_regs r;

	if (cpuid(at & 0x80000000u, 0).eax < leaf)
		return false;
	r = cpuid(leaf, 0);
	return (const uint32_t[]){r.eax, r.ebx, r.ecx, r.edx}[at >> 5 & 3] >> (at & 31) & 1;
}
