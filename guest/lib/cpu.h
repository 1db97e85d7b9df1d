/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions for instructions without a C equivalent. */
#ifndef GUEST_LIB_CPU_H
#define GUEST_LIB_CPU_H

#include "vpt/base.h"

#define RFLAGS_TF (1u << 8)
#define RFLAGS_IF (1u << 9)
#define RFLAGS_DF (1u << 10)
#define RFLAGS_RF (1u << 16)
#define RFLAGS_AC (1u << 18)

#define CR0_MP (1ull << 1)
#define CR0_EM (1ull << 2)
#define CR0_TS (1ull << 3)
#define CR0_WP (1ull << 16)

#define CR4_OSFXSR     (1ull << 9)
#define CR4_OSXMMEXCPT (1ull << 10)
#define CR4_FSGSBASE   (1ull << 16)
#define CR4_PCIDE      (1ull << 17)
#define CR4_OSXSAVE    (1ull << 18)
#define CR4_SMEP       (1ull << 20)
#define CR4_SMAP       (1ull << 21)

static inline void outb(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint8_t inb(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
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

/* read_REG() and write_REG() of a control or debug register. */
#define CPU_REGISTER(reg)                                                          \
	static inline uint64_t read_##reg(void)                                    \
	{                                                                          \
		uint64_t value;                                                    \
                                                                                   \
		__asm__ volatile("mov %%" #reg ", %0" : "=r"(value) : : "memory"); \
		return value;                                                      \
	}                                                                          \
	static inline void write_##reg(uint64_t value)                             \
	{                                                                          \
		__asm__ volatile("mov %0, %%" #reg : : "r"(value) : "memory");     \
	}

CPU_REGISTER(cr0)
CPU_REGISTER(cr2)
CPU_REGISTER(cr3)
CPU_REGISTER(cr4)
CPU_REGISTER(cr8)
CPU_REGISTER(dr0)
CPU_REGISTER(dr1)
CPU_REGISTER(dr2)
CPU_REGISTER(dr3)
CPU_REGISTER(dr6)
CPU_REGISTER(dr7)

#undef CPU_REGISTER

/* INVLPG also serializes, which code written through another address needs. */
static inline void invlpg(uint64_t vaddr)
{
	__asm__ volatile("invlpg (%0)" : : "r"(vaddr) : "memory");
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

/* Enable interrupts and wait for one. STI's shadow excludes an interrupt between the two. */
static inline void sti_hlt(void)
{
	__asm__ volatile("sti; hlt" : : : "memory");
}

struct cpuid_regs {
	uint32_t eax, ebx, ecx, edx;
};

/*
 * The image's only CPUID instruction: a host that cannot intercept CPUID can
 * still break on one address.
 */
struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf);

/* The position of a feature in CPUID: subleaf 0 of `leaf`, register 0 (EAX) to 3, bit. */
#define CPU_FEATURE(leaf, reg, bit) \
	((int)((leaf)&0x80000000u) | ((leaf)&0xff) << 8 | (reg) << 5 | (bit))

enum cpu_feature {
	CPU_APIC = CPU_FEATURE(1, 3, 9),
	CPU_SEP = CPU_FEATURE(1, 3, 11),
	CPU_SSE2 = CPU_FEATURE(1, 3, 26),
	CPU_MONITOR = CPU_FEATURE(1, 2, 3),
	CPU_PCID = CPU_FEATURE(1, 2, 17),
	CPU_X2APIC = CPU_FEATURE(1, 2, 21),
	CPU_TSC_DEADLINE = CPU_FEATURE(1, 2, 24),
	CPU_XSAVE = CPU_FEATURE(1, 2, 26),
	CPU_OSXSAVE = CPU_FEATURE(1, 2, 27),
	CPU_AVX = CPU_FEATURE(1, 2, 28),
	CPU_FSGSBASE = CPU_FEATURE(7, 1, 0),
	CPU_AVX2 = CPU_FEATURE(7, 1, 5),
	CPU_SMEP = CPU_FEATURE(7, 1, 7),
	CPU_SMAP = CPU_FEATURE(7, 1, 20),
	CPU_SHA = CPU_FEATURE(7, 1, 29),
	CPU_WAITPKG = CPU_FEATURE(7, 2, 5),
	CPU_GIB_PAGES = CPU_FEATURE(0x80000001u, 3, 26),
	CPU_RDTSCP = CPU_FEATURE(0x80000001u, 3, 27),
};

bool cpu_has(enum cpu_feature feature);

#endif /* GUEST_LIB_CPU_H */
