/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option --cpu=FAMILY/MODEL[/STEPPING]: whose errata a trace has. */
#ifndef VMM_CLI_CPU_H
#define VMM_CLI_CPU_H

#include <stdint.h>

#include "cli/option.h"
#include "trace/reader.h"

/* Make CPUID.1:EAX, a uint32_t, of what was given. */
cli_option_take cli_cpu_take;

#define CLI_OPTION_CPU(...)                                                                     \
	{                                                                                       \
		0, "cpu", "=FAMILY/MODEL[/STEPPING]", "the processor, for its errata; decimal", \
			cli_cpu_take, __VA_ARGS__                                               \
	}

/* That processor wrote the packets, whatever the file says. Nothing is changed if @signature is 0. */
void cli_cpu_use(struct trace_reader *reader, uint32_t signature);

#endif /* VMM_CLI_CPU_H */
