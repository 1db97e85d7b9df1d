/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of the devices as scripts: what a driver does and what it is to see, with the
 * interrupts that come and when.
 */
#ifndef TESTS_LIB_DEVSCRIPT_H
#define TESTS_LIB_DEVSCRIPT_H

#include "dev/platform.h"

enum vpt_dev_op {
	VPT_DEV_OUT,   /* port `at`, value */
	VPT_DEV_IN,    /* must read as value */
	VPT_DEV_WRITE, /* 32 bits of memory at `at` */
	VPT_DEV_READ,
	VPT_DEV_WRMSR,
	VPT_DEV_RDMSR,
	VPT_DEV_WRMSR_GP, /* must be refused */
	VPT_DEV_RDMSR_GP,
	VPT_DEV_LINE, /* ISA line `at` */
	VPT_DEV_TIME, /* it is now `at` */
	VPT_DEV_NEXT, /* the next event must be at `at` */
	VPT_DEV_ACK,  /* vector `at` must be pending; take it */
	VPT_DEV_IDLE, /* nothing may be pending */
	VPT_DEV_NMI,  /* an NMI must be pending, if `at`; take it */
	VPT_DEV_PMI,  /* raise it */
	VPT_DEV_CR8,  /* write value */
	VPT_DEV_CR8_IS,
	VPT_DEV_TYPE,	/* byte `at` arrives at COM1 */
	VPT_DEV_PRINTS, /* what came out of COM1 since then must be byte `at`, or -1: none */
	VPT_DEV_RESETS, /* so many resets so far: system ones in `at`, INIT in value */
};

struct vpt_dev_step {
	enum vpt_dev_op op;
	uint64_t at, value;
};

struct vpt_dev_script {
	const char *name;
	const struct vpt_dev_step *steps;
	unsigned int count;
};

#define VPT_DEV_SCRIPT(name, array)                             \
	{                                                       \
		name, array, sizeof(array) / sizeof((array)[0]) \
	}

#define OUT(port, value)                 \
	{                                \
		VPT_DEV_OUT, port, value \
	}
#define IN(port, value)                 \
	{                               \
		VPT_DEV_IN, port, value \
	}
#define WRITE(gpa, value)                 \
	{                                 \
		VPT_DEV_WRITE, gpa, value \
	}
#define READ(gpa, value)                 \
	{                                \
		VPT_DEV_READ, gpa, value \
	}
#define WRMSR(msr, value)                 \
	{                                 \
		VPT_DEV_WRMSR, msr, value \
	}
#define RDMSR(msr, value)                 \
	{                                 \
		VPT_DEV_RDMSR, msr, value \
	}
#define WRMSR_GP(msr, value)                 \
	{                                    \
		VPT_DEV_WRMSR_GP, msr, value \
	}
#define RDMSR_GP(msr)                    \
	{                                \
		VPT_DEV_RDMSR_GP, msr, 0 \
	}
#define LINE(n, level)                 \
	{                              \
		VPT_DEV_LINE, n, level \
	}
#define TIME(ns)                    \
	{                           \
		VPT_DEV_TIME, ns, 0 \
	}
#define NEXT(ns)                    \
	{                           \
		VPT_DEV_NEXT, ns, 0 \
	}
#define NEVER                               \
	{                                   \
		VPT_DEV_NEXT, UINT64_MAX, 0 \
	}
#define ACK(vector)                    \
	{                              \
		VPT_DEV_ACK, vector, 0 \
	}
#define IDLE                       \
	{                          \
		VPT_DEV_IDLE, 0, 0 \
	}
#define NMI(there)                    \
	{                             \
		VPT_DEV_NMI, there, 0 \
	}
#define PMI                       \
	{                         \
		VPT_DEV_PMI, 0, 0 \
	}
#define CR8(value)                    \
	{                             \
		VPT_DEV_CR8, 0, value \
	}
#define CR8_IS(value)                    \
	{                                \
		VPT_DEV_CR8_IS, 0, value \
	}
#define TYPE(byte)                    \
	{                             \
		VPT_DEV_TYPE, byte, 0 \
	}
#define PRINTS(byte)                                \
	{                                           \
		VPT_DEV_PRINTS, (uint64_t)(byte), 0 \
	}
#define RESETS(systems, inits)                 \
	{                                      \
		VPT_DEV_RESETS, systems, inits \
	}

/* A machine of 64 MiB at 2025-01-01 00:00:00 with an APIC timer of 25 MHz and a TSC of
 * 2 GHz; play the script on it. */
void vpt_dev_play(const struct vpt_dev_script *script);

#endif /* TESTS_LIB_DEVSCRIPT_H */
