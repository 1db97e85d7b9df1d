/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that grows while it is read: a regular file, or a pipe, a socket or a device. The bytes of
 * the latter are copied to a file without a name, because a reader may need them again.
 */
#ifndef VMM_TRACE_GROWING_H
#define VMM_TRACE_GROWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_growing {
	int fd;	   /* the regular file, or the copy */
	int input; /* the pipe; -1 for a regular file */
	uint64_t bytes;
	bool ended;	 /* no bytes will follow */
	bool has_writer; /* a process has locked the regular file for writing (trace/outfile.h) */
	uint64_t since;	 /* when the file last grew, in nanoseconds */
};

/*
 * Open @path, or standard input for "-". A named pipe waits for a writer. Returns 0, or -errno with
 * one line in @why.
 */
int trace_growing_open(struct trace_growing *g, const char *path, char *why, size_t size);

/*
 * Wait up to @ms milliseconds for more bytes, and count them in @bytes. Sets @ended when a pipe is
 * closed, or when the writer of a regular file has released its lock. A file that no process had
 * locked ends when it has not grown for TRACE_GROWING_QUIET seconds. Returns 0 or -errno.
 */
#define TRACE_GROWING_QUIET 3u
int trace_growing_wait(struct trace_growing *g, unsigned int ms);
void trace_growing_close(struct trace_growing *g);

/*
 * Open a file without a name, which vanishes with its descriptor, in $TMPDIR or /tmp. Returns the
 * descriptor or -errno.
 */
int trace_growing_scratch(void);

#endif /* VMM_TRACE_GROWING_H */
