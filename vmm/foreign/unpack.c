// SPDX-License-Identifier: GPL-2.0-or-later
/* Decompresses the output of perf record -z: one zstd stream for all records of a file. */
#include "foreign/unpack.h"

#include <stdlib.h>
#include <zstd.h>

/* 8 MiB, the maximum of perf's levels. A frame may request more. */
#define WINDOW_LOG_MAX 23

struct foreign_unpack {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	bool more; /* the last call filled its whole buffer */
};

struct foreign_unpack *foreign_unpack_new(void)
{
	struct foreign_unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->stream = ZSTD_createDStream();
	if (!u->stream ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(u->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
		foreign_unpack_free(u);
		return NULL;
	}
	return u;
}

void foreign_unpack_free(struct foreign_unpack *u)
{
	if (u)
		ZSTD_freeDStream(u->stream);
	free(u);
}

void foreign_unpack_give(struct foreign_unpack *u, const uint8_t *bytes, size_t len)
{
	u->in = (ZSTD_inBuffer){bytes, len, 0};
	u->more = false;
}

size_t foreign_unpack_next(struct foreign_unpack *u, uint8_t *to, size_t room)
{
	ZSTD_outBuffer out = {to, room, 0};

	while (out.pos < room && (u->in.pos < u->in.size || u->more)) {
		size_t in = u->in.pos, before = out.pos;

		if (ZSTD_isError(ZSTD_decompressStream(u->stream, &out, &u->in)))
			return SIZE_MAX;
		u->more = out.pos == room;
		if (u->in.pos == in && out.pos == before)
			break;
	}
	return out.pos;
}
