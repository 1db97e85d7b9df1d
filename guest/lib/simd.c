// SPDX-License-Identifier: GPL-2.0-or-later
/* Enables x87, SSE and AVX. */
#include "simd.h"

#include "cpu.h"

unsigned int simd_have;

void simd_init(void)
{
	simd_have = SIMD_SSE2;
	write_cr0((read_cr0() | CR0_MP) & ~(CR0_EM | CR0_TS));
	write_cr4(read_cr4() | CR4_OSFXSR | CR4_OSXMMEXCPT);
	if (cpu_has(CPU_SHA))
		simd_have |= SIMD_SHA;
	if (!cpu_has(CPU_XSAVE) || !cpu_has(CPU_AVX))
		return;
	write_cr4(read_cr4() | CR4_OSXSAVE);
	xsetbv(0, xgetbv(0) | XCR0_X87 | XCR0_SSE | XCR0_AVX);
	simd_have |= SIMD_AVX;
	if (cpu_has(CPU_AVX2))
		simd_have |= SIMD_AVX2;
}
