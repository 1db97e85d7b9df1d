// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes the origin of a trace. */
#include "trace/origin.h"

#include <stdio.h>
#include <string.h>

struct trace_cpu trace_cpu_of(uint32_t signature)
{
	uint32_t family = signature >> 8 & 15, model = signature >> 4 & 15;

	if (!signature)
		return (struct trace_cpu){0};
	if (family == 6 || family == 15)
		model |= signature >> 12 & 0xf0;
	if (family == 15)
		family += signature >> 20 & 0xff;
	return (struct trace_cpu){
		.vendor = TRACE_CPU_INTEL,
		.family = (uint16_t)family,
		.model = (uint16_t)model,
		.stepping = signature & 15,
	};
}

uint32_t trace_cpu_signature(uint64_t family, uint64_t model, uint64_t stepping)
{
	const uint64_t base = family < 0xf ? family : 0xf;

	if (!family || family > 0xf + 0xffu || model > 0xff || stepping > 0xf)
		return 0;
	return (uint32_t)(stepping | (model & 0xf) << 4 | base << 8 | (model >> 4) << 16 |
			  (family - base) << 20);
}

struct trace_origin trace_origin_of(enum trace_origin_kind kind, const struct trace_cpu *cpu)
{
	struct trace_origin origin = {.kind = kind};

	if (cpu) {
		origin.flags = TRACE_ORIGIN_HARDWARE;
		origin.cpu = *cpu;
	}
	snprintf(origin.program, sizeof(origin.program), "vpt %s", VPT_VERSION);
	return origin;
}

bool trace_origin_cpu(const struct trace_reader *r, struct trace_cpu *cpu)
{
	const struct trace_file_info *info = trace_reader_info(r);
	const struct trace_origin *origin = trace_reader_origin(r);

	*cpu = (struct trace_cpu){0};
	if (trace_reader_cpu(r))
		*cpu = *trace_reader_cpu(r);
	else if (origin && origin->flags & TRACE_ORIGIN_HARDWARE)
		*cpu = origin->cpu;
	else if (!origin && (!strncmp(info->engine, "perf", sizeof(info->engine)) ||
			     !strncmp(info->engine, "kvm-pt", sizeof(info->engine))))
		*cpu = trace_cpu_of(info->caps.signature);
	return cpu->vendor != TRACE_CPU_UNKNOWN;
}

const char *trace_origin_text(uint32_t kind)
{
	static const char *const texts[TRACE_ORIGIN_KINDS] = {
		"unknown", "vpt run",		"vpt record",
		"QEMU",	   "an emulator's log", "perf.data",
		"LLDB",	   "bare packets",	"another program",
	};

	return kind < TRACE_ORIGIN_KINDS ? texts[kind] : "?";
}
