/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The marks of a trace in the output of vpt info and vpt decode. */
#ifndef VMM_CLI_MARKS_H
#define VMM_CLI_MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct trace_reader;

/* Print up to @limit marks of a vCPU, one a line. */
void cli_marks_text(const struct trace_reader *r, unsigned int vcpu, uint64_t limit);
/* Print up to @limit marks as elements of a JSON array. @first: no comma precedes the first. */
void cli_marks_json(const struct trace_reader *r, unsigned int vcpu, uint64_t limit, bool *first);

#endif /* VMM_CLI_MARKS_H */
