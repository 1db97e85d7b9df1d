/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Write .vpt and .vps files block by block, with correct checksums and arbitrary payloads. Tests
 * use these functions for files that vpt's own writer refuses to make.
 */
#ifndef TESTS_LIB_RAWFILE_H
#define TESTS_LIB_RAWFILE_H

#include <stdio.h>

#include "trace/format.h"

struct rawfile {
	FILE *out;
	uint64_t stream; /* bytes of vCPU 0's packets so far */
};

/* Begin a .vpt file of one vCPU with its header and INFO block. Any error ends the process. */
void rawfile_open(struct rawfile *f, const char *path);
/* Append a block whose payload is `head` followed by `body`. Either may be empty. */
void rawfile_block(struct rawfile *f, unsigned int type, const void *head, size_t nhead,
		   const void *body, size_t nbody);
/* Append packets to vCPU 0's stream, as one TRACE block. */
void rawfile_trace(struct rawfile *f, const void *packets, size_t len);
/* Append the END block and close the file. */
void rawfile_close(struct rawfile *f);

/*
 * Correct the checksums of a .vpt or .vps file in memory; both formats have the same block layout.
 * If a block's length reaches beyond the file, it is truncated and its padding is zeroed.
 */
void rawfile_mend(uint8_t *bytes, size_t len);

#endif /* TESTS_LIB_RAWFILE_H */
