/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of the devices as scripts: what a driver does and what it is to see, with the
 * interrupts that come and when.
 */
#ifndef TESTS_LIB_DEVSCRIPT_H
#define TESTS_LIB_DEVSCRIPT_H

#include "dev/platform.h"

enum test_dev_op {
	TEST_DEV_OUT,	/* port `at`, value */
	TEST_DEV_IN,	/* must read as value */
	TEST_DEV_WRITE, /* 32 bits of memory at `at` */
	TEST_DEV_READ,
	TEST_DEV_WRMSR,
	TEST_DEV_RDMSR,
	TEST_DEV_WRMSR_GP, /* must be refused */
	TEST_DEV_RDMSR_GP,
	TEST_DEV_LINE, /* ISA line `at` */
	TEST_DEV_TIME, /* it is now `at` */
	TEST_DEV_NEXT, /* the next event must be at `at` */
	TEST_DEV_ACK,  /* vector `at` must be pending; take it */
	TEST_DEV_IDLE, /* nothing may be pending */
	TEST_DEV_NMI,  /* an NMI must be pending, if `at`; take it */
	TEST_DEV_PMI,  /* raise it */
	TEST_DEV_CR8,  /* write value */
	TEST_DEV_CR8_IS,
	TEST_DEV_TYPE,	 /* byte `at` arrives at COM1 */
	TEST_DEV_PRINTS, /* what came out of COM1 since then must be byte `at`, or -1: none */
	TEST_DEV_RESETS, /* so many resets so far: system ones in `at`, INIT in value */
};

struct test_dev_step {
	enum test_dev_op op;
	uint64_t at, value;
};

struct test_dev_script {
	const char *name;
	const struct test_dev_step *steps;
	unsigned int count;
};

#define TEST_DEV_SCRIPT(name, array)                            \
	{                                                       \
		name, array, sizeof(array) / sizeof((array)[0]) \
	}

#define OUT(port, value)                  \
	{                                 \
		TEST_DEV_OUT, port, value \
	}
#define IN(port, value)                  \
	{                                \
		TEST_DEV_IN, port, value \
	}
#define WRITE(gpa, value)                  \
	{                                  \
		TEST_DEV_WRITE, gpa, value \
	}
#define READ(gpa, value)                  \
	{                                 \
		TEST_DEV_READ, gpa, value \
	}
#define WRMSR(msr, value)                  \
	{                                  \
		TEST_DEV_WRMSR, msr, value \
	}
#define RDMSR(msr, value)                  \
	{                                  \
		TEST_DEV_RDMSR, msr, value \
	}
#define WRMSR_GP(msr, value)                  \
	{                                     \
		TEST_DEV_WRMSR_GP, msr, value \
	}
#define RDMSR_GP(msr)                     \
	{                                 \
		TEST_DEV_RDMSR_GP, msr, 0 \
	}
#define LINE(n, level)                  \
	{                               \
		TEST_DEV_LINE, n, level \
	}
#define TIME(ns)                     \
	{                            \
		TEST_DEV_TIME, ns, 0 \
	}
#define NEXT(ns)                     \
	{                            \
		TEST_DEV_NEXT, ns, 0 \
	}
#define NEVER                                \
	{                                    \
		TEST_DEV_NEXT, UINT64_MAX, 0 \
	}
#define ACK(vector)                     \
	{                               \
		TEST_DEV_ACK, vector, 0 \
	}
#define IDLE                        \
	{                           \
		TEST_DEV_IDLE, 0, 0 \
	}
#define NMI(there)                     \
	{                              \
		TEST_DEV_NMI, there, 0 \
	}
#define PMI                        \
	{                          \
		TEST_DEV_PMI, 0, 0 \
	}
#define CR8(value)                     \
	{                              \
		TEST_DEV_CR8, 0, value \
	}
#define CR8_IS(value)                     \
	{                                 \
		TEST_DEV_CR8_IS, 0, value \
	}
#define TYPE(byte)                     \
	{                              \
		TEST_DEV_TYPE, byte, 0 \
	}
#define PRINTS(byte)                                 \
	{                                            \
		TEST_DEV_PRINTS, (uint64_t)(byte), 0 \
	}
#define RESETS(systems, inits)                  \
	{                                       \
		TEST_DEV_RESETS, systems, inits \
	}

/* A machine of 64 MiB at 2025-01-01 00:00:00 with an APIC timer of 25 MHz and a TSC of
 * 2 GHz; play the script on it. */
void test_dev_play(const struct test_dev_script *script);

#endif /* TESTS_LIB_DEVSCRIPT_H */
