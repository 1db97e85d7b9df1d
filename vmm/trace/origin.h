/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a trace is from, and which processor wrote it. */
#ifndef VMM_TRACE_ORIGIN_H
#define VMM_TRACE_ORIGIN_H

#include <stdbool.h>

#include "trace/reader.h"

/* Take CPUID.1:EAX of a processor of Intel's apart. All fields are 0 if @signature is 0. */
struct trace_cpu trace_cpu_of(uint32_t signature);

/*
 * Make CPUID.1:EAX of the family and the model as they are displayed. Returns 0 if one of the
 * numbers has no room in it, or the family is 0.
 */
uint32_t trace_cpu_signature(uint64_t family, uint64_t model, uint64_t stepping);

/* An ORIGIN block of this program. @cpu: the processor that writes the packets, NULL: none does. */
struct trace_origin trace_origin_of(enum trace_origin_kind kind, const struct trace_cpu *cpu);

/*
 * The processor that wrote the packets. Returns false if none did, or if the file does not say
 * which one. A file of 0.1 says so by its engine. What trace_reader_set_cpu() was given counts more.
 */
bool trace_origin_cpu(const struct trace_reader *r, struct trace_cpu *cpu);

/* A kind in words; "?" for one that does not exist. */
const char *trace_origin_text(uint32_t kind);

#endif /* VMM_TRACE_ORIGIN_H */
