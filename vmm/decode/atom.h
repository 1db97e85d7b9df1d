/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decoder of Atom's RTIT, in the shape of libipt's (ipt.h): packets, code and what the
 * sessions tell make items.
 *
 * RTIT has no packet for the code size, for the address space where a trace sets in, and for
 * the end of a trace (ATOM-DISABLE). The first two come by what is selected in `code`; the end
 * by the SESSION block: the outcomes that were not sent, and how many instructions there were.
 *
 * After an ERROR the flow goes on where a packet tells the place and the state: FUP.PGE,
 * FUP.BuffOvf, and behind a PSB each TIP.
 */
#ifndef VMM_DECODE_ATOM_H
#define VMM_DECODE_ATOM_H

#include "atom_code.h"
#include "decoder.h"
#include "trace/reader.h"

struct vpt_atom_config {
	const uint8_t *begin; /* stays where it is */
	size_t len;
	uint64_t offset; /* of `begin` in the stream */
	const struct vpt_period *periods;
	size_t nperiods; /* those of this stretch */
	bool cut;	 /* that it ends too early is no error */
	bool guest;	 /* sessions end and change by WRMSRs that are traced */
	uint8_t errata;	 /* enum vpt_atom_erratum: those that the processor has */
	struct vpt_atom_code *code;
};

/*
 * NULL: memory. Items have the session, from 0 on for the first of these. An event that stands
 * for an instruction that retired, as INT n does, has 1 in `insns`. An OVERFLOW that a packet
 * tells of has 1 in `value`, or 2 if the decoder may have left out instructions behind it.
 */
struct vpt_decoder *vpt_atom_decoder_new(const struct vpt_atom_config *config);

/*
 * Have the instructions of the session all been counted? Not so after packets were lost. It is
 * the condition for what the file tells by that counter.
 */
bool vpt_atom_decoder_counts(const struct vpt_decoder *d);

/* They have been now: there were so many. */
void vpt_atom_decoder_count(struct vpt_decoder *d, uint64_t insns);
/* The number is not exact any more. */
void vpt_atom_decoder_doubt(struct vpt_decoder *d);

#endif /* VMM_DECODE_ATOM_H */
