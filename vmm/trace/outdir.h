/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory that a command makes, with what is in it. Like a file of trace/outfile.h it is
 * made under another name, and has its own once it is complete and on disk.
 */
#ifndef VMM_TRACE_OUTDIR_H
#define VMM_TRACE_OUTDIR_H

#include <stdio.h>

struct trace_outdir {
	char *path; /* absolute, by its final name */
	char *temp; /* absolute, by the name that it has until then */
};

/*
 * Begin to make @path, which must not exist. Returns 0 or -errno, -EEXIST if it does.
 * trace_outdir_commit() or _drop() ends it, and trace_outdir_free() releases the strings.
 */
int trace_outdir_open(struct trace_outdir *d, const char *path);

/* Make a directory in it. @name has no component that is a link or "..". 0 or -errno. */
int trace_outdir_mkdir(const struct trace_outdir *d, const char *name);
/* Make a file in it, for the caller to close. NULL with errno. */
FILE *trace_outdir_create(const struct trace_outdir *d, const char *name);

/*
 * Make all of it durable and give it its name. Returns 0 or -errno: -EEXIST if something has
 * that name by now. After an error nothing of it is left, unless only the directory above it
 * could not be synchronised.
 */
int trace_outdir_commit(struct trace_outdir *d);
/* Remove it, with all that is in it. */
void trace_outdir_drop(struct trace_outdir *d);
void trace_outdir_free(struct trace_outdir *d);

#endif /* VMM_TRACE_OUTDIR_H */
