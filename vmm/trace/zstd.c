// SPDX-License-Identifier: GPL-2.0-or-later
/* The only user of libzstd: compresses and decompresses frames. */
#include "trace/zstd.h"

#include <errno.h>
#include <zstd.h>

size_t trace_zstd_bound(size_t len)
{
	return ZSTD_compressBound(len);
}

size_t trace_zstd_pack(void *to, size_t room, const void *from, size_t len, int level)
{
	size_t n = ZSTD_compress(to, room, from, len, level);

	return ZSTD_isError(n) ? 0 : n;
}

int trace_zstd_unpack(void *to, size_t bytes, const void *from, size_t len)
{
	ZSTD_DCtx *context;
	size_t n;

	/* The function below would accept several consecutive frames. */
	if (ZSTD_findFrameCompressedSize(from, len) != len)
		return -EINVAL;
	/*
	 * ZSTD_decompress() allocates a context too, but does not distinguish a lack of memory from
	 * a bad frame.
	 */
	context = ZSTD_createDCtx();
	if (!context)
		return -ENOMEM;
	n = ZSTD_decompressDCtx(context, to, bytes, from, len);
	ZSTD_freeDCtx(context);
	return n == bytes ? 0 : -EINVAL;
}
