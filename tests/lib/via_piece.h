/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes a part of a trace once more, from a piece that is cut for it. */
#ifndef TESTS_LIB_VIA_PIECE_H
#define TESTS_LIB_VIA_PIECE_H

#include "decode/shard_part.h"

/*
 * Cut a piece for @part, and decode the piece. @want is the result of the trace, and
 * @result is its file. Returns true if the file of the piece's result has the same bytes. Adds the size
 * of the piece to *bytes. A failure ends the process.
 */
bool via_piece(const struct decode_shard_part *part, const struct decode_partial *want, int result,
	       uint64_t *bytes);

#endif /* TESTS_LIB_VIA_PIECE_H */
