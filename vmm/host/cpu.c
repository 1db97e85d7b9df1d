// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads PT's CPUID leaves of this processor. */
#include "host/cpu.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "host/perf.h"

#define CPU_MAX 65535ul

bool host_caps(const char *sysfs, struct vpt_caps *caps)
{
	unsigned int a = 0, b = 0, c = 0, d = 0;

	memset(caps, 0, sizeof(*caps));
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b >> 25 & 1))
		return false;
	__get_cpuid_count(0x14, 0, &caps->l14_0_eax, &caps->l14_0_ebx, &caps->l14_0_ecx, &d);
	if (caps->l14_0_eax)
		__get_cpuid_count(0x14, 1, &caps->l14_1_eax, &caps->l14_1_ebx, &c, &d);
	__get_cpuid(0x15, &caps->l15_eax, &caps->l15_ebx, &caps->l15_ecx, &d);
	__get_cpuid(1, &caps->signature, &b, &c, &d);
	caps->max_phy_addr = 36;
	caps->lin_addr = 48;
	if (__get_cpuid(0x80000008, &a, &b, &c, &d)) {
		caps->max_phy_addr = (uint8_t)a;
		caps->lin_addr = (uint8_t)(a >> 8);
	}
	caps->max_nonturbo = (uint8_t)host_perf_pt_number(sysfs, "max_nonturbo_ratio", 0);
	caps->vmx_pt = 1;
	return true;
}

uint64_t host_tsc_hz(const struct vpt_caps *caps)
{
	return caps->l15_eax ? (uint64_t)caps->l15_ecx * caps->l15_ebx / caps->l15_eax : 0;
}

unsigned int host_cpu_list(const char *text, unsigned int *cpus, unsigned int room)
{
	unsigned int n = 0;

	while (*text && *text != '\n') {
		unsigned long first, last;
		char *end;

		if (*text < '0' || *text > '9')
			return 0;
		first = last = strtoul(text, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return 0;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first || last > CPU_MAX || last - first >= room - n)
			return 0;
		for (; first <= last; first++)
			cpus[n++] = (unsigned int)first;
		text = end;
		if (*text == ',' && text[1] && text[1] != '\n')
			text++;
		else if (*text && *text != '\n')
			return 0;
	}
	return n;
}
