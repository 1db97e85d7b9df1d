/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that a command writes. An output is written beside the file that it replaces. It takes
 * the file's name in trace_outfile_commit(), when it is complete and on disk. Until then the earlier
 * file is as it was.
 *
 * A path that leads to a device, a pipe or an open descriptor is written in place. The calls below
 * then do nothing to it but close.
 *
 * Files are made with mode 0600, whatever the umask allows: they hold the memory of guests.
 */
#ifndef VMM_TRACE_OUTFILE_H
#define VMM_TRACE_OUTFILE_H

#include <stddef.h>

#include "trace/place.h"

enum trace_outfile_kind {
	/*
	 * FILE.part, which can be read while it grows. It stays if the process is killed. It is
	 * locked, so that there is one writer.
	 */
	TRACE_OUTFILE_TRACE,
	/* Without a name before trace_outfile_commit(). Nothing stays behind. */
	TRACE_OUTFILE_WHOLE,
};

struct trace_outfile {
	int fd;	       /* to write to, owned by this struct */
	char *part;    /* path of the part file; NULL: there is none */
	char *earlier; /* new path of a part file that an earlier run left; NULL: none did */

	struct trace_place place;
	int dir;	/* descriptor of the directory; -1: written in place */
	char temp[300]; /* name in the directory; empty: no name yet */
};

/*
 * Begin to write @path. Returns 0, or -errno with one line in @why, without the path. -EBUSY:
 * another process is writing it; -EEXIST: a file that is not a part file has the part file's name.
 * trace_outfile_commit(), _keep() or _drop() ends it.
 */
int trace_outfile_open(struct trace_outfile *o, const char *path, enum trace_outfile_kind kind,
		       char *why, size_t size);

/*
 * Make the written bytes durable and give the file its name. Returns 0 or -errno. After an error a
 * part file still has the name o->part, and any other file is gone. Once the output has its name,
 * o->part is NULL. This is also so if only the directory could not be synchronised.
 */
int trace_outfile_commit(struct trace_outfile *o);
/* Close, and leave a part file under its name. */
void trace_outfile_keep(struct trace_outfile *o);
/* Close, and remove what was written. A part file of an earlier run gets its name back. */
void trace_outfile_drop(struct trace_outfile *o);
/* Release the strings, which are valid until then. Needed after each of the three. */
void trace_outfile_free(struct trace_outfile *o);

/*
 * The path of the part file that writing @path would make: of where @path leads. The caller
 * frees it. NULL: no memory, or @path is written in place.
 */
char *trace_outfile_part(const struct trace_place *place);

enum trace_outfile_writer { TRACE_OUTFILE_NO_WRITER, TRACE_OUTFILE_HAS_WRITER };
/* Does a process write to the open file @fd as a part file right now? */
enum trace_outfile_writer trace_outfile_writer(int fd);

#endif /* VMM_TRACE_OUTFILE_H */
