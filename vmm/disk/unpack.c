// SPDX-License-Identifier: GPL-2.0-or-later
/* Decompresses clusters of qcow2 images. */
#include "disk/inside.h"

#include <errno.h>
#include <zlib.h>
#include <zstd.h>

/* A cluster is a raw deflate stream. */
static int unpack_zlib(void *to, size_t bytes, const void *from, size_t len)
{
	z_stream z = {
		.next_in = (Bytef *)from,
		.avail_in = (uInt)len,
		.next_out = to,
		.avail_out = (uInt)bytes,
	};
	int result;

	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return -ENOMEM;
	result = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (result == Z_MEM_ERROR)
		return -ENOMEM;
	return (result == Z_STREAM_END || result == Z_BUF_ERROR) && !z.avail_out ? 0 : -EIO;
}

/* A cluster is one or more frames. Each is decompressed at once, so no window is allocated. */
static int unpack_zstd(void *to, size_t bytes, const void *from, size_t len)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	const uint8_t *in = from;
	uint8_t *out = to;
	size_t used, made;
	int err = 0;

	if (!context)
		return -ENOMEM;
	while (bytes && !err) {
		used = ZSTD_findFrameCompressedSize(in, len);
		if (ZSTD_isError(used)) {
			err = -EIO;
			break;
		}
		made = ZSTD_decompressDCtx(context, out, bytes, in, used);
		if (ZSTD_isError(made)) {
			err = -EIO;
			break;
		}
		in += used;
		len -= used;
		out += made;
		bytes -= made;
	}
	ZSTD_freeDCtx(context);
	return err;
}

int disk_unpack(enum disk_packing packing, void *to, size_t bytes, const void *from, size_t len)
{
	return packing == DISK_ZSTD ? unpack_zstd(to, bytes, from, len)
				    : unpack_zlib(to, bytes, from, len);
}
