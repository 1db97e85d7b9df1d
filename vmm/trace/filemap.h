/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file mapped to be read. Its bytes change with the file. Where the file ends earlier than it
 * did, or cannot be read, there are zeros, and it is remembered: nobody is sent SIGBUS.
 */
#ifndef VMM_TRACE_FILEMAP_H
#define VMM_TRACE_FILEMAP_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* It stays where it is while it is open. Zero: there is none. */
struct trace_filemap {
	const uint8_t *at;
	size_t bytes;
	size_t populated;	    /* bytes whose pages the kernel was asked for */
	volatile sig_atomic_t torn; /* some pages could not be read, and are zeros now */
	struct trace_filemap *next;
};

/*
 * Map @bytes of a file. Returns 0 or -errno: then the file can still be read. All maps are
 * opened and closed by one thread.
 */
int trace_filemap_open(struct trace_filemap *m, int fd, size_t bytes);
void trace_filemap_close(struct trace_filemap *m);

/* The @len bytes at @at, which the caller knows to be within the map. */
const uint8_t *trace_filemap_look(struct trace_filemap *m, size_t at, size_t len);

#endif /* VMM_TRACE_FILEMAP_H */
