/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Vector registers. The rest of guest/, including handlers, is compiled without them, so a function
 * of these targets may be interrupted like any other.
 */
#ifndef GUEST_LIB_SIMD_H
#define GUEST_LIB_SIMD_H

#include "vpt/base.h"

#define TARGET(what) __attribute__((target(what), __noinline__))

enum simd {
	SIMD_SSE2 = 1 << 0, /* always */
	SIMD_AVX = 1 << 1,  /* CPUID has it and XCR0 now enables it */
	SIMD_AVX2 = 1 << 2,
	SIMD_SHA = 1 << 3,
};

#define XCR0_X87 (1u << 0)
#define XCR0_SSE (1u << 1)
#define XCR0_AVX (1u << 2)

/* Set up CR0, CR4 and XCR0 for the available features. */
void simd_init(void);
extern unsigned int simd_have; /* bits of enum simd */

static inline uint64_t xgetbv(uint32_t index)
{
	uint32_t lo, hi;

	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(index));
	return (uint64_t)hi << 32 | lo;
}

static inline void xsetbv(uint32_t index, uint64_t value)
{
	__asm__ volatile("xsetbv"
			 :
			 : "c"(index), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
			 : "memory");
}

static inline uint32_t read_mxcsr(void)
{
	uint32_t value;

	__asm__ volatile("stmxcsr %0" : "=m"(value));
	return value;
}

static inline void write_mxcsr(uint32_t value)
{
	__asm__ volatile("ldmxcsr %0" : : "m"(value));
}

#endif /* GUEST_LIB_SIMD_H */
