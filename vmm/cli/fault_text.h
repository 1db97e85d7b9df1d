/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptions of exceptions and their error codes (SDM vol. 3, 6.13 and 6.15). */
#ifndef VMM_CLI_FAULT_TEXT_H
#define VMM_CLI_FAULT_TEXT_H

#include <stddef.h>

#include "trace/format.h"

enum { CLI_VECTOR_DF = 8, CLI_VECTOR_PF = 14 };

/* Return "#PF", "NMI", "interrupt" and so on. */
const char *cli_fault_name(const struct trace_guest_fault *fault);

/*
 * Append a text such as "#PF page fault, error code 2H (write, supervisor mode, page not present),
 * CR2 0x1000". @stop has the IDT that the processor used.
 */
void cli_fault_text(const struct trace_guest_fault *fault, const struct trace_guest_stop *stop,
		    char *text, size_t size);

#endif /* VMM_CLI_FAULT_TEXT_H */
