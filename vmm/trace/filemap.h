/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is mapped for reading. Its bytes change with the file. If the file shrinks or cannot
 * be read, the map has zeros, which are recorded, and no SIGBUS reaches the process.
 */
#ifndef VMM_TRACE_FILEMAP_H
#define VMM_TRACE_FILEMAP_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* The struct must not move while it is open. An all-zero struct has no map. */
struct trace_filemap {
	const uint8_t *at;
	size_t bytes;
	size_t populated;	    /* number of bytes whose pages were requested from the kernel */
	volatile sig_atomic_t torn; /* some pages could not be read and are zeros */
	struct trace_filemap *next;
};

/*
 * Map @bytes of a file. Returns 0 or -errno; the file can still be read after an error. One thread
 * opens and closes all maps.
 */
int trace_filemap_open(struct trace_filemap *m, int fd, size_t bytes);
void trace_filemap_close(struct trace_filemap *m);

/* Return the @len bytes at @at, which must be within the map. */
const uint8_t *trace_filemap_bytes(struct trace_filemap *m, size_t at, size_t len);

#endif /* VMM_TRACE_FILEMAP_H */
