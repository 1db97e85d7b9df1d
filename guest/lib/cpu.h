/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions that C has no word for. */
#ifndef GUEST_LIB_CPU_H
#define GUEST_LIB_CPU_H

#include "vpt/base.h"

#define RFLAGS_TF (1u << 8)
#define RFLAGS_IF (1u << 9)
#define RFLAGS_DF (1u << 10)

static inline void outb(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline void outl(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint32_t inl(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline uint64_t read_cr2(void)
{
	uint64_t value;

	__asm__ volatile("mov %%cr2, %0" : "=r"(value));
	return value;
}

static inline uint64_t read_cr3(void)
{
	uint64_t value;

	__asm__ volatile("mov %%cr3, %0" : "=r"(value));
	return value;
}

static inline void write_cr3(uint64_t value)
{
	__asm__ volatile("mov %0, %%cr3" : : "r"(value) : "memory");
}

static inline uint64_t read_rflags(void)
{
	uint64_t value;

	__asm__ volatile("pushfq; popq %0" : "=r"(value));
	return value;
}

static inline void cli(void)
{
	__asm__ volatile("cli" : : : "memory");
}

static inline void sti(void)
{
	__asm__ volatile("sti" : : : "memory");
}

static inline uint64_t rdtsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}

struct cpuid_regs {
	uint32_t eax, ebx, ecx, edx;
};

/*
 * The image's only CPUID instruction: a host that cannot intercept CPUID can
 * still break on one address.
 */
struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf);

#endif /* GUEST_LIB_CPU_H */
