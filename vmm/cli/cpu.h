/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option --cpu=FAMILY/MODEL[/STEPPING]: whose errata a trace has. */
#ifndef VMM_CLI_CPU_H
#define VMM_CLI_CPU_H

#include <stdint.h>

#include "trace/reader.h"

#define VPT_CLI_CPU_HELP \
	"      --cpu=FAMILY/MODEL[/STEPPING]  the processor, for its errata; decimal\n"

/* Make CPUID.1:EAX of what was given. VPT_EXIT_OK, or VPT_EXIT_USAGE after one line. */
int vpt_cli_cpu_take(const char *verb, const char *arg, uint32_t *signature);

/* That processor wrote the packets, whatever the file says. Nothing is changed if @signature is 0. */
void vpt_cli_cpu_use(struct vpt_reader *reader, uint32_t signature);

#endif /* VMM_CLI_CPU_H */
