/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output files of a command. An output is written beside the file that it replaces. It receives
 * the file's name in trace_outfile_commit(), when it is complete and on disk. Until then the
 * earlier file is unchanged.
 *
 * A path to a device, a pipe or an open descriptor is written in place. The calls below then only
 * close it.
 *
 * Files have mode 0600 with any umask, because they hold the memory of guests.
 */
#ifndef VMM_TRACE_OUTFILE_H
#define VMM_TRACE_OUTFILE_H

#include <stddef.h>

#include "trace/place.h"

enum trace_outfile_kind {
	/*
	 * FILE.part, which can be read while it grows. It remains if the process is killed. A lock
	 * ensures that there is one writer.
	 */
	TRACE_OUTFILE_TRACE,
	/* A file without a name before trace_outfile_commit(). A killed process leaves nothing. */
	TRACE_OUTFILE_WHOLE,
};

struct trace_outfile {
	int fd;	       /* descriptor for writing, owned by this struct */
	char *part;    /* path of the part file; NULL if there is none */
	char *earlier; /* new path of an earlier run's part file; NULL if there was none */

	struct trace_place place;
	int dir;	/* descriptor of the directory; -1: written in place */
	char temp[300]; /* name in the directory; empty: no name yet */
};

/*
 * Begin to write @path. Returns 0, or -errno with one line in @why, without the path. -EBUSY:
 * another process is writing the file. -EEXIST: another file has the part
 * file's name. End it with
 * trace_outfile_commit(), _keep() or _drop().
 */
int trace_outfile_open(struct trace_outfile *o, const char *path, enum trace_outfile_kind kind,
		       char *why, size_t size);

/*
 * Make the written bytes durable and give the file its name. Returns 0 or -errno. After an error a
 * part file still has the name o->part, and any other file is gone. Once the output has its name,
 * o->part is NULL. This also holds if only the directory could not be synchronised.
 */
int trace_outfile_commit(struct trace_outfile *o);
/* Close, and leave a part file under its name. */
void trace_outfile_keep(struct trace_outfile *o);
/* Close, and remove the written file. A part file of an earlier run receives its name again. */
void trace_outfile_drop(struct trace_outfile *o);
/* Release the strings, which are valid until then. Call this after each of the three functions. */
void trace_outfile_free(struct trace_outfile *o);

/*
 * Return the path of the part file that writing to the resolved @place would create. The caller
 * frees it. Returns NULL if there is no memory, or if the output is written in place.
 */
char *trace_outfile_part(const struct trace_place *place);

enum trace_outfile_writer { TRACE_OUTFILE_NO_WRITER, TRACE_OUTFILE_HAS_WRITER };
/* Return whether a process is writing to the open file @fd as a part file. */
enum trace_outfile_writer trace_outfile_writer(int fd);

#endif /* VMM_TRACE_OUTFILE_H */
