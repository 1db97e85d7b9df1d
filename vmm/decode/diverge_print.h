/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of a divergence: what two traces, or two engines, have in common and where they part. */
#ifndef VMM_DECODE_DIVERGE_PRINT_H
#define VMM_DECODE_DIVERGE_PRINT_H

#include "decode/diverge.h"
#include "decode/listing.h"

/*
 * Print the number of equal instructions, then the common items, those of A after "-" and those of B
 * after "+", a line each. A line names the space where it changes. @side are the listings of A and
 * of B, with their symbols and disassemblers. The output is that of A.
 */
void decode_diverge_print(const struct decode_divergence *d, unsigned int vcpu,
			  struct decode_listing *const side[2]);

/* Print one JSON object, with the first item of each side if they differ. */
void decode_diverge_json(const struct decode_divergence *d, unsigned int vcpu,
			 struct decode_listing *const side[2]);

#endif /* VMM_DECODE_DIVERGE_PRINT_H */
