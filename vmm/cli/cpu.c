// SPDX-License-Identifier: GPL-2.0-or-later
/* The option --cpu, which selects the processor whose errata apply to a trace. */
#include "cli/cpu.h"

#include <stdio.h>

#include "trace/origin.h"

int cli_cpu_take(const struct cli_given *g)
{
	unsigned int family, model, stepping = 0;
	uint32_t *signature = g->field;
	char end;
	int n = sscanf(g->value, "%u/%u/%u%c", &family, &model, &stepping, &end);

	if (n == 2 && sscanf(g->value, "%u/%u%c", &family, &model, &end) != 2)
		n = 0;
	*signature = n == 2 || n == 3 ? trace_cpu_signature(family, model, stepping) : 0;
	if (!*signature)
		return cli_option_wrong(g, "not FAMILY/MODEL or FAMILY/MODEL/STEPPING");
	return CLI_EXIT_OK;
}

void cli_cpu_use(struct trace_reader *reader, uint32_t signature)
{
	const struct trace_cpu cpu = trace_cpu_of(signature);

	if (signature)
		trace_reader_set_cpu(reader, &cpu);
}
