/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find by decoding where code changed, in a file whose code has offsets in the stream.
 *
 * The recorder found a change of a page at a read of the trace, but the change was made at some time
 * before. Until the read some sites of the page have changed already, and others have not. Pieces of
 * the stream that begin at a PSB are decoded in their order. A piece with an error is decoded again
 * with one of the sites changed that were executed before the error, the latest first. The result is a
 * set of versions of pages, at offsets.
 */
#ifndef VMM_DECODE_REFINE_H
#define VMM_DECODE_REFINE_H

#include "trace/repack.h"

struct decode_refined {
	struct trace_repack_more more; /* for trace_repack() */
	uint64_t pieces, trials;
	uint64_t errors; /* the places that cannot be decoded with the new versions */
	bool limited;	 /* a limit ended the search in some piece */
	void *private;
};

/*
 * Search a vCPU of an unrefined file. The reader must outlive @out, and has the stream in memory.
 * Returns 0, -ENOTSUP if the code of the file has no offsets, or -errno.
 */
int decode_refine(struct trace_reader *reader, unsigned int vcpu, struct decode_refined *out);
void decode_refined_free(struct decode_refined *out);

#endif /* VMM_DECODE_REFINE_H */
