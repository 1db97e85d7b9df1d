// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the values that the registers of performance monitoring version 2 hold and refuse,
 * through /dev/cpu/0/msr. Linux does not use counter 3 by itself. The machine has only CPU 0.
 *
 * usage: pmu-msr     The exit status is 0 if no check failed.
 */
#include <cpuid.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PMC3		0xc4
#define PERFEVTSEL3	0x189
#define FIXED_CTR2	0x30b
#define FIXED_CTR_CTRL	0x38d
#define GLOBAL_STATUS	0x38e
#define GLOBAL_CTRL	0x38f
#define GLOBAL_OVF_CTRL 0x390

#define SEL_INSTRUCTIONS 0xc0
#define SEL_USR		 (1 << 16)
#define SEL_OS		 (1 << 17)
#define SEL_ANY		 (1 << 21)
#define SEL_ENABLE	 (1 << 22)

static int dev;
static int failed;

static void check(const char *name, uint64_t want, uint64_t got)
{
	printf("%s %s: %#llx", want == got ? "ok" : "FAIL", name, (unsigned long long)got);
	if (want != got) {
		printf(", not %#llx", (unsigned long long)want);
		failed = 1;
	}
	printf("\n");
}

static uint64_t rd(uint32_t msr)
{
	uint64_t value;

	if (pread(dev, &value, sizeof(value), msr) != sizeof(value)) {
		printf("FAIL RDMSR %#x\n", msr);
		failed = 1;
		return 0;
	}
	return value;
}

static int wr(uint32_t msr, uint64_t value)
{
	return pwrite(dev, &value, sizeof(value), msr) == sizeof(value);
}

static void check_write(const char *name, uint32_t msr, uint64_t value, uint64_t want)
{
	if (!wr(msr, value)) {
		printf("FAIL WRMSR %s: #GP\n", name);
		failed = 1;
		return;
	}
	check(name, want, rd(msr));
}

static void check_fault(const char *name, uint32_t msr, uint64_t value)
{
	if (wr(msr, value)) {
		printf("FAIL %s: no #GP\n", name);
		failed = 1;
	} else {
		printf("ok %s: #GP\n", name);
	}
}

static int has_pt(void)
{
	uint32_t a, b, c, d;

	__cpuid_count(7, 0, a, b, c, d);
	return b >> 25 & 1;
}

static void check_cpuid(void)
{
	uint32_t a, b, c, d;

	__cpuid_count(0xa, 0, a, b, c, d);
	check("version", 2, a & 0xff);
	check("counters", 4, a >> 8 & 0xff);
	check("width", 48, a >> 16 & 0xff);
	check("length of the event mask", 7, a >> 24);
	check("events that are missing", 3 << 3, b);
	check("fixed counters", 3, d & 0x1f);
	check("their width", 48, d >> 5 & 0xff);
}

static void check_values(void)
{
	uint64_t global = rd(GLOBAL_CTRL), fixed = rd(FIXED_CTR_CTRL);

	check_write("PMC3 is sign-extended", PMC3, 0x80000000, 0xffff80000000);
	check_write("PMC3 takes 32 bits", PMC3, 0x1200000001, 1);
	check_write("FIXED_CTR2 takes 48", FIXED_CTR2, 0x7fffffffffff, 0x7fffffffffff);
	check_fault("bit 48 of FIXED_CTR2", FIXED_CTR2, 1ull << 48);
	check_write("PERFEVTSEL3", PERFEVTSEL3, 0xff9fffff, 0xff9fffff);
	check_fault("AnyThread of PERFEVTSEL3", PERFEVTSEL3, SEL_ANY);
	check_fault("bit 32 of PERFEVTSEL3", PERFEVTSEL3, 1ull << 32);
	check_write("PERFEVTSEL3 again", PERFEVTSEL3, 0, 0);
	check_fault("AnyThread of FIXED_CTR_CTRL", FIXED_CTR_CTRL, fixed | 1 << 2);
	check_fault("a fourth field of FIXED_CTR_CTRL", FIXED_CTR_CTRL, fixed | 1 << 12);
	check_fault("a fifth counter in GLOBAL_CTRL", GLOBAL_CTRL, global | 1 << 4);
	check_fault("a fourth fixed one", GLOBAL_CTRL, global | 1ull << 35);
	check("GLOBAL_CTRL as it was", global, rd(GLOBAL_CTRL));
	check_fault("GLOBAL_STATUS is read-only", GLOBAL_STATUS, 0);
	check_fault("a fifth counter in GLOBAL_OVF_CTRL", GLOBAL_OVF_CTRL, 1 << 4);
	check("GLOBAL_OVF_CTRL[55] is there with PT", has_pt(), wr(GLOBAL_OVF_CTRL, 1ull << 55));
}

/* An overflow without an interrupt sets a bit, and the counter continues from 0. */
static void check_overflow(void)
{
	uint64_t global = rd(GLOBAL_CTRL);

	wr(PMC3, (uint32_t)-1000);
	wr(PERFEVTSEL3, SEL_INSTRUCTIONS | SEL_OS | SEL_USR | SEL_ENABLE);
	wr(GLOBAL_CTRL, global | 1 << 3);
	check("overflow is seen", 1 << 3, rd(GLOBAL_STATUS) & 1 << 3);
	check("PMC3 has wrapped", 0, rd(PMC3) >> 40);
	wr(GLOBAL_OVF_CTRL, 1 << 3);
	check("overflow is acknowledged", 0, rd(GLOBAL_STATUS) & 1 << 3);
	wr(GLOBAL_CTRL, global);
	wr(PERFEVTSEL3, 0);
	check("a counter that is off stands", rd(PMC3), rd(PMC3));
}

int main(void)
{
	dev = open("/dev/cpu/0/msr", O_RDWR);
	if (dev < 0) {
		perror("/dev/cpu/0/msr");
		return 1;
	}
	check_cpuid();
	check_values();
	check_overflow();
	return failed;
}
