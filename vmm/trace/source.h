/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a file, copied out by their place. What was copied does not change with the
 * file, and a file that is made shorter is one that ends.
 */
#ifndef VMM_TRACE_SOURCE_H
#define VMM_TRACE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* The most that is read of a pipe or a device, which has to be kept in memory. */
#define VPT_SOURCE_PIPE_MAX (1ull << 30)

struct vpt_source {
	int fd;		/* of a regular file; -1: @bytes has it all */
	uint64_t size;	/* when it was opened */
	uint8_t *bytes; /* of a pipe or a device */

	uint8_t *window; /* bytes at @at that were read ahead */
	uint64_t at;
	size_t have;
};

/*
 * Open @path, or standard input for "-". Of a pipe or a device only some bytes are read if it
 * does not begin with @magic. Returns 0 or -errno: -EISDIR, -EFBIG if
 * there is more than VPT_SOURCE_PIPE_MAX in a pipe. vpt_source_close() also after an error.
 */
int vpt_source_open(struct vpt_source *s, const char *path, const void *magic, size_t len);
void vpt_source_close(struct vpt_source *s);

/* Copy @len bytes from @at on. Returns 0, -ENODATA if the file ends before, or -errno. */
int vpt_source_read(struct vpt_source *s, uint64_t at, void *to, size_t len);

/* The next place from @at on that is not in a hole of a sparse file, or the end. */
uint64_t vpt_source_data(const struct vpt_source *s, uint64_t at);

#endif /* VMM_TRACE_SOURCE_H */
