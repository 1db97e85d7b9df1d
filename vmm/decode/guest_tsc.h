/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TSC packets of a guest have its TSC (33.8.3.3). Where the file tells how that is made (VMCS
 * blocks), they get the host's, so that there is one time from end to end.
 */
#ifndef VMM_DECODE_GUEST_TSC_H
#define VMM_DECODE_GUEST_TSC_H

#include "decode/segment.h"
#include "decode/spaces.h"

struct decode_guest_tsc_input {
	const struct decode_segment *segment;
	const uint8_t *stream;
	struct decode_spaces *spaces;
	const struct trace_vmcs *vmcs; /* of the stream */
	size_t nvmcs;
};

/*
 * Copy the packets of a segment, with the host's TSCs in place of those of guests. The copy has the
 * size of the segment, and the caller frees *bytes. Sets *bytes to NULL if no packet changes.
 * Returns 0 or -ENOMEM.
 */
int decode_guest_tsc(const struct decode_guest_tsc_input *input, uint8_t **bytes);

#endif /* VMM_DECODE_GUEST_TSC_H */
