/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory with contents that a command creates. Like a file of trace/outfile.h it has a
 * temporary name until it is complete and on disk.
 */
#ifndef VMM_TRACE_OUTDIR_H
#define VMM_TRACE_OUTDIR_H

#include <stdio.h>

struct trace_outdir {
	char *path; /* absolute path with the final name */
	char *temp; /* absolute path with the temporary name */
};

/*
 * Begin to create @path, which must not exist. Returns 0 or -errno, -EEXIST if it exists.
 * trace_outdir_commit() or _drop() ends it, and trace_outdir_free() releases the strings.
 */
int trace_outdir_open(struct trace_outdir *d, const char *path);

/* Create a directory in it. @name has no component that is a link or "..". Returns 0 or -errno. */
int trace_outdir_mkdir(const struct trace_outdir *d, const char *name);
/* Create a file in it, which the caller closes. Returns NULL with errno on failure. */
FILE *trace_outdir_create(const struct trace_outdir *d, const char *name);

/*
 * Make the directory durable and give it its name. Returns 0 or -errno: -EEXIST if the name is in
 * use by now. After an error nothing of it is left, unless only the parent directory could not be
 * synchronised.
 */
int trace_outdir_commit(struct trace_outdir *d);
/* Remove the directory and everything in it. */
void trace_outdir_drop(struct trace_outdir *d);
void trace_outdir_free(struct trace_outdir *d);

#endif /* VMM_TRACE_OUTDIR_H */
