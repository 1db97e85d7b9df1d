/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a piece of a trace: a file with only what decoding a part of one vCPU's stream needs. */
#ifndef VMM_TRACE_PIECE_H
#define VMM_TRACE_PIECE_H

#include "trace/reader.h"

struct trace_piece_want {
	struct trace_piece piece; /* for the PIECE block; `bytes` is not used */
	unsigned int vcpu;
	uint64_t from, to;  /* the part of the reader's stream */
	const size_t *code; /* indices of trace_reader_code(), ascending */
	size_t ncode;
	bool images; /* include the ELF images, which have symbols */
};

/*
 * Write a piece to @fd, which is at its beginning. The caller has loaded the part of the stream. The
 * piece has the whole side-band of the vCPU that a decoder uses, and no stream of other vCPUs.
 * Returns 0 or -errno.
 */
int trace_piece_write(struct trace_reader *r, const struct trace_piece_want *want, int fd);

#endif /* VMM_TRACE_PIECE_H */
