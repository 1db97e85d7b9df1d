/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The origin of a trace, and the processor that wrote it. */
#ifndef VMM_TRACE_ORIGIN_H
#define VMM_TRACE_ORIGIN_H

#include <stdbool.h>

#include "trace/reader.h"

/* Split CPUID.1:EAX of an Intel processor. All fields are 0 if @signature is 0. */
struct trace_cpu trace_cpu_of(uint32_t signature);

/*
 * Build CPUID.1:EAX from the display family and display model. Returns 0 if a number does not fit,
 * or if the family is 0.
 */
uint32_t trace_cpu_signature(uint64_t family, uint64_t model, uint64_t stepping);

/*
 * Return an ORIGIN block of this program. @cpu is the processor that writes the packets, or NULL if
 * a model writes them.
 */
struct trace_origin trace_origin_of(enum trace_origin_kind kind, const struct trace_cpu *cpu);

/*
 * Return the processor that wrote the packets. Returns false if none did, or if the file does not
 * name one. A file of 0.1 names the processor by its engine. A value from trace_reader_set_cpu()
 * overrides the file.
 */
bool trace_origin_cpu(const struct trace_reader *r, struct trace_cpu *cpu);

/* Return the name of a kind; "?" for an unknown kind. */
const char *trace_origin_text(uint32_t kind);

#endif /* VMM_TRACE_ORIGIN_H */
