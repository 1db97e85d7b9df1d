/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RDMSR and WRMSR, plain and in a form that survives #GP. */
#ifndef GUEST_LIB_MSR_H
#define GUEST_LIB_MSR_H

#include "fixup.h"

#define MSR_APIC_BASE	   0x1bu
#define MSR_SYSENTER_CS	   0x174u
#define MSR_SYSENTER_ESP   0x175u
#define MSR_SYSENTER_EIP   0x176u
#define MSR_EFER	   0xc0000080u
#define MSR_STAR	   0xc0000081u
#define MSR_LSTAR	   0xc0000082u
#define MSR_FMASK	   0xc0000084u
#define MSR_FS_BASE	   0xc0000100u
#define MSR_GS_BASE	   0xc0000101u
#define MSR_KERNEL_GS_BASE 0xc0000102u
#define MSR_TSC_AUX	   0xc0000103u

static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t lo, hi;

	__asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr) : "memory");
	return (uint64_t)hi << 32 | lo;
}

static inline void wrmsr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr"
			 :
			 : "a"((uint32_t)value), "d"((uint32_t)(value >> 32)), "c"(msr)
			 : "memory");
}

/* Returns true and *value, or false if the access raised #GP. */
static inline bool rdmsr_safe(uint32_t msr, uint64_t *value)
{
	uint32_t lo = 0, hi = 0;
	int fault = 1;

	__asm__ volatile("1: rdmsr\n"
			 "xorl %2, %2\n"
			 "2:\n" FIXUP(1b, 2b)
			 : "+a"(lo), "=d"(hi), "+r"(fault)
			 : "c"(msr)
			 : "memory");
	if (fault)
		return false;
	*value = (uint64_t)hi << 32 | lo;
	return true;
}

/* Returns true, or false if the access raised #GP. */
static inline bool wrmsr_safe(uint32_t msr, uint64_t value)
{
	int fault = 1;

	__asm__ volatile("1: wrmsr\n"
			 "xorl %0, %0\n"
			 "2:\n" FIXUP(1b, 2b)
			 : "+r"(fault)
			 : "a"((uint32_t)value), "d"((uint32_t)(value >> 32)), "c"(msr)
			 : "memory");
	return !fault;
}

#endif /* GUEST_LIB_MSR_H */
