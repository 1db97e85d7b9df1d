/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compression with zstd, for PACKED blocks. */
#ifndef VMM_TRACE_ZSTD_H
#define VMM_TRACE_ZSTD_H

#include <stddef.h>

#define TRACE_ZSTD_LEVEL     3 /* the default level */
#define TRACE_ZSTD_LEVEL_MAX 19

/* Return the maximum size of the result of trace_zstd_pack() for @len bytes. */
size_t trace_zstd_bound(size_t len);

/*
 * Compress @len bytes at @from into one frame. @level is 1 to TRACE_ZSTD_LEVEL_MAX. Returns the
 * length of the frame, or 0 if there is no memory or the frame is longer than @room.
 */
size_t trace_zstd_pack(void *to, size_t room, const void *from, size_t len, int level);

/*
 * Decompress a frame of @len bytes into @to. Never writes more than @bytes bytes, even if the frame
 * claims more. Returns 0, -ENOMEM, or -EINVAL unless the frame holds exactly @bytes bytes.
 */
int trace_zstd_unpack(void *to, size_t bytes, const void *from, size_t len);

#endif /* VMM_TRACE_ZSTD_H */
