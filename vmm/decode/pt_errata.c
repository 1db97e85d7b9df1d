// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the errata of a trace by the processor's signature in the file. */
#include "decode/pt_errata.h"

#include "trace/origin.h"
#include "vpt/rtit.h"

void decode_pt_errata(const struct trace_reader *reader, const struct trace_session *session,
		      struct dec_pt_config *config)
{
	struct trace_cpu cpu;
	unsigned int n;

	if (!session || !trace_origin_cpu(reader, &cpu) || cpu.vendor != TRACE_CPU_INTEL)
		return;
	config->errata = dec_errata_of(cpu.family, cpu.model);
	for (n = 0; config->errata && n < VPT_MAX_RANGES; n++) {
		unsigned int cfg =
			(unsigned int)(session->ctl >> (VPT_CTL_ADDR0_CFG_SHIFT + 4 * n)) & 15;

		if (cfg != VPT_ADDR_FILTER && cfg != VPT_ADDR_STOP)
			continue;
		config->range[config->nranges++] = (struct vptd_range){
			.first = session->addr[2 * n],
			.last = session->addr[2 * n + 1],
			.stops = cfg == VPT_ADDR_STOP,
		};
	}
}
