/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Count the changes of CR3 or of the VMX mode that a vCPU's packets report. */
#ifndef VMM_DECODE_PIPS_H
#define VMM_DECODE_PIPS_H

#include "trace/reader.h"

/*
 * Count the PIPs of vCPU @vcpu that are not in a PSB+. Each traced MOV to CR3, task switch, VM
 * entry and VM exit sends one (33.4.2.7). Bytes that form no packet are skipped up to the next PSB.
 * Returns 0, or -ENOMEM if the stream does not fit into memory.
 */
int decode_pips_count(struct trace_reader *reader, unsigned int vcpu, uint64_t *count);

#endif /* VMM_DECODE_PIPS_H */
