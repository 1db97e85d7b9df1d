/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a file, copied by position. A copy does not change with the file. If the file is
 * truncated, it ends early.
 */
#ifndef VMM_TRACE_SOURCE_H
#define VMM_TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/filemap.h"

/* The limit for a pipe or a device, whose bytes have to stay in memory. */
#define TRACE_SOURCE_PIPE_MAX (1ull << 30)

struct trace_source {
	int fd;		/* descriptor of a regular file; -1 if @bytes has all bytes */
	uint64_t size;	/* size when it was opened */
	uint8_t *bytes; /* bytes of a pipe or a device */

	struct trace_filemap map; /* map of a file, after trace_source_map() */

	uint8_t *window; /* for a file without a map: bytes at @at that were read ahead */
	uint64_t at;
	size_t have;
};

/*
 * Open @path, or standard input for "-". If a pipe or a device does not begin with @magic, only
 * some of its bytes are read. Returns 0 or -errno: -EISDIR, -EFBIG if a pipe has more than
 * TRACE_SOURCE_PIPE_MAX. Call trace_source_close() also after an error.
 */
int trace_source_open(struct trace_source *s, const char *path, const void *magic, size_t len);
/*
 * Read the regular file of a descriptor, which is duplicated. The file may grow. trace_source_grow()
 * takes its new size. Both return 0 or -errno.
 */
int trace_source_open_fd(struct trace_source *s, int fd);
int trace_source_grow(struct trace_source *s);
void trace_source_close(struct trace_source *s);

/* Map the file for trace_source_bytes(). This may fail. @s must not move afterwards. */
void trace_source_map(struct trace_source *s);

/*
 * Return the @len bytes at @at in place, without a copy. They may change with the file at any time.
 * Returns NULL if the file ends first, or if there is no map.
 */
const uint8_t *trace_source_bytes(struct trace_source *s, uint64_t at, size_t len);

/* Returns true if the file has lost bytes since it was mapped. Lost bytes read as 0. */
bool trace_source_torn(const struct trace_source *s);

/* Copy @len bytes from @at on. Returns 0, -ENODATA if the file ends first, or -errno. */
int trace_source_read(struct trace_source *s, uint64_t at, void *to, size_t len);

/* Return the next position from @at on that is not in a hole of a sparse file, or the end. */
uint64_t trace_source_data(const struct trace_source *s, uint64_t at);

#endif /* VMM_TRACE_SOURCE_H */
