/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a file, copied out by their place. What was copied does not change with the
 * file, and a file that is made shorter is one that ends.
 */
#ifndef VMM_TRACE_SOURCE_H
#define VMM_TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/filemap.h"

/* The most that is read of a pipe or a device, which has to be kept in memory. */
#define TRACE_SOURCE_PIPE_MAX (1ull << 30)

struct trace_source {
	int fd;		/* of a regular file; -1: @bytes has it all */
	uint64_t size;	/* when it was opened */
	uint8_t *bytes; /* of a pipe or a device */

	struct trace_filemap map; /* of a file, if trace_source_map() made it */

	uint8_t *window; /* of a file without a map: bytes at @at that were read ahead */
	uint64_t at;
	size_t have;
};

/*
 * Open @path, or standard input for "-". Of a pipe or a device only some bytes are read if it
 * does not begin with @magic. Returns 0 or -errno: -EISDIR, -EFBIG if
 * there is more than TRACE_SOURCE_PIPE_MAX in a pipe. trace_source_close() also after an error.
 */
int trace_source_open(struct trace_source *s, const char *path, const void *magic, size_t len);
void trace_source_close(struct trace_source *s);

/* Map the file, so that trace_source_look() shows it. It may fail. @s stays where it is. */
void trace_source_map(struct trace_source *s);

/*
 * The @len bytes at @at where they are, without a copy: they may change with the file at any
 * time. NULL: the file ends before, or there is no map.
 */
const uint8_t *trace_source_look(struct trace_source *s, uint64_t at, size_t len);

/* Has the file lost bytes since it was mapped? What was shown in their place is 0. */
bool trace_source_torn(const struct trace_source *s);

/* Copy @len bytes from @at on. Returns 0, -ENODATA if the file ends before, or -errno. */
int trace_source_read(struct trace_source *s, uint64_t at, void *to, size_t len);

/* The next place from @at on that is not in a hole of a sparse file, or the end. */
uint64_t trace_source_data(const struct trace_source *s, uint64_t at);

#endif /* VMM_TRACE_SOURCE_H */
