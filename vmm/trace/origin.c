// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a trace is from. */
#include "origin.h"

#include <stdio.h>
#include <string.h>

struct vpt_cpu vpt_cpu_of(uint32_t signature)
{
	uint32_t family = signature >> 8 & 15, model = signature >> 4 & 15;

	if (!signature)
		return (struct vpt_cpu){0};
	if (family == 6 || family == 15)
		model |= signature >> 12 & 0xf0;
	if (family == 15)
		family += signature >> 20 & 0xff;
	return (struct vpt_cpu){
		.vendor = VPT_CPU_INTEL,
		.family = (uint16_t)family,
		.model = (uint16_t)model,
		.stepping = signature & 15,
	};
}

uint32_t vpt_cpu_signature(uint64_t family, uint64_t model, uint64_t stepping)
{
	const uint64_t base = family < 0xf ? family : 0xf;

	if (!family || family > 0xf + 0xffu || model > 0xff || stepping > 0xf)
		return 0;
	return (uint32_t)(stepping | (model & 0xf) << 4 | base << 8 | (model >> 4) << 16 |
			  (family - base) << 20);
}

struct vpt_origin vpt_origin_of(enum vpt_origin_kind kind, const struct vpt_cpu *cpu)
{
	struct vpt_origin origin = {.kind = kind};

	if (cpu) {
		origin.flags = VPT_ORIGIN_HARDWARE;
		origin.cpu = *cpu;
	}
	snprintf(origin.program, sizeof(origin.program), "vpt %s", VPT_VERSION);
	return origin;
}

bool vpt_origin_cpu(const struct vpt_reader *r, struct vpt_cpu *cpu)
{
	const struct vpt_file_info *info = vpt_reader_info(r);
	const struct vpt_origin *origin = vpt_reader_origin(r);

	*cpu = (struct vpt_cpu){0};
	if (vpt_reader_cpu(r))
		*cpu = *vpt_reader_cpu(r);
	else if (origin && origin->flags & VPT_ORIGIN_HARDWARE)
		*cpu = origin->cpu;
	else if (!origin && (!strncmp(info->engine, "perf", sizeof(info->engine)) ||
			     !strncmp(info->engine, "kvm-pt", sizeof(info->engine))))
		*cpu = vpt_cpu_of(info->caps.signature);
	return cpu->vendor != VPT_CPU_UNKNOWN;
}

const char *vpt_origin_text(uint32_t kind)
{
	static const char *const texts[VPT_ORIGIN_KINDS] = {
		"unknown", "vpt run",		"vpt record",
		"QEMU",	   "an emulator's log", "perf.data",
		"LLDB",	   "bare packets",	"another program",
	};

	return kind < VPT_ORIGIN_KINDS ? texts[kind] : "?";
}
