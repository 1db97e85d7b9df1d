// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cpu.h"

#include <stdio.h>

#include "cli/cli.h"
#include "trace/origin.h"

int vpt_cli_cpu_take(const char *verb, const char *arg, uint32_t *signature)
{
	unsigned int family, model, stepping = 0;
	char end;
	int n = sscanf(arg, "%u/%u/%u%c", &family, &model, &stepping, &end);

	if (n == 2 && sscanf(arg, "%u/%u%c", &family, &model, &end) != 2)
		n = 0;
	if ((n != 2 && n != 3) || !family || family > 0xf + 0xffu || model > 0xff || stepping > 0xf)
		return vpt_fail(VPT_EXIT_USAGE,
				"%s: --cpu=%s: not FAMILY/MODEL or FAMILY/MODEL/STEPPING", verb,
				arg);
	*signature = stepping | (model & 0xf) << 4 | (family < 0xf ? family : 0xf) << 8 |
		     (model >> 4) << 16 | (family < 0xf ? 0 : family - 0xf) << 20;
	return VPT_EXIT_OK;
}

void vpt_cli_cpu_use(struct vpt_reader *reader, uint32_t signature)
{
	const struct vpt_cpu cpu = vpt_cpu_of(signature);

	if (signature)
		vpt_reader_set_cpu(reader, &cpu);
}
