/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Convert a guest's TSC packets to the host's TSC. TSC packets of a guest have its own TSC
 * (33.8.3.3). VMCS blocks of the file have its offset and multiplier. The conversion gives the
 * whole trace one time.
 */
#ifndef VMM_DECODE_GUEST_TSC_H
#define VMM_DECODE_GUEST_TSC_H

#include "decode/segment.h"
#include "decode/spaces.h"

struct decode_guest_tsc_input {
	const struct decode_segment *segment;
	uint64_t from, to; /* the part of the segment; @from is its begin or a PSB */
	const uint8_t *stream;
	struct decode_spaces *spaces;
	const struct trace_vmcs *vmcs; /* the VMCS blocks of the stream */
	size_t nvmcs;
};

/*
 * Copy the packets of a part of a segment, with the host's TSC in place of the guests'. The copy has the size
 * of the segment, of which only the part is set, and the caller frees *bytes. Sets *bytes to NULL if no packet changes. Returns 0
 * or -ENOMEM.
 */
int decode_guest_tsc(const struct decode_guest_tsc_input *input, uint8_t **bytes);

#endif /* VMM_DECODE_GUEST_TSC_H */
