/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The option --cpu=FAMILY/MODEL[/STEPPING], which selects the processor whose errata apply to a
 * trace.
 */
#ifndef VMM_CLI_CPU_H
#define VMM_CLI_CPU_H

#include <stdint.h>

#include "cli/option.h"
#include "trace/reader.h"

/* Store CPUID.1:EAX, a uint32_t, for the given value. */
cli_option_take cli_cpu_take;

#define CLI_OPTION_CPU(...)                                                                       \
	{                                                                                         \
		0, "cpu", "=FAMILY/MODEL[/STEPPING]", "the processor in decimal, for its errata", \
			cli_cpu_take, __VA_ARGS__                                                 \
	}

/*
 * Record that the processor with @signature wrote the packets, and override the file. Does nothing
 * if @signature is 0.
 */
void cli_cpu_use(struct trace_reader *reader, uint32_t signature);

#endif /* VMM_CLI_CPU_H */
