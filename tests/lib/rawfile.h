/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes .vpt and .vps files block by block, with good checksums and any payload at all.
 * For files that vpt's own writer refuses to make.
 */
#ifndef TESTS_LIB_RAWFILE_H
#define TESTS_LIB_RAWFILE_H

#include <stdio.h>

#include "trace/format.h"

struct rawfile {
	FILE *out;
	uint64_t stream; /* bytes of vCPU 0's packets so far */
};

/* Begin a .vpt file of one vCPU: header and INFO block. Ends the process on any error. */
void rawfile_open(struct rawfile *f, const char *path);
/* Append a block whose payload is `head` and then `body`; either may have no bytes. */
void rawfile_block(struct rawfile *f, unsigned int type, const void *head, size_t nhead,
		   const void *body, size_t nbody);
/* Append packets to vCPU 0's stream, as one TRACE block. */
void rawfile_trace(struct rawfile *f, const void *packets, size_t len);
/* Append the END block and close the file. */
void rawfile_close(struct rawfile *f);

/*
 * Mend the checksums of a .vpt file in memory, or of a .vps file: both have blocks of one
 * shape. A block's length that reaches beyond the file is cut, its padding zeroed.
 */
void rawfile_mend(uint8_t *bytes, size_t len);

#endif /* TESTS_LIB_RAWFILE_H */
