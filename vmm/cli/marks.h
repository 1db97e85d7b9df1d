/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The marks of a trace in the output of vpt info and vpt decode. */
#ifndef VMM_CLI_MARKS_H
#define VMM_CLI_MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct trace_reader;

/* Marks of a vCPU: those before which at least @from and fewer than @until instructions ran. */
struct cli_marks {
	unsigned int vcpu;
	uint64_t from, until; /* 0 and UINT64_MAX select all */
	uint64_t limit;	      /* the maximum number to print */
};

/* Print the marks, one a line. */
void cli_marks_text(const struct trace_reader *r, const struct cli_marks *of);
/* Print the marks as elements of a JSON array. @first: no comma precedes the first. */
void cli_marks_json(const struct trace_reader *r, const struct cli_marks *of, bool *first);

#endif /* VMM_CLI_MARKS_H */
