/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The second time through a log: what the index wants of it, written to a file. */
#ifndef VMM_IMPORT_REPLAY_H
#define VMM_IMPORT_REPLAY_H

#include "import/index.h"
#include "trace/writer.h"

/*
 * `no_code` is added to: instructions whose code no record told of. 0 or -errno.
 * Streams of a log are those of its number only.
 */
int import_replay(struct import_index *index, const struct import_log *log, size_t number, bool lip,
		  struct trace_writer *writer, uint64_t *no_code);

#endif /* VMM_IMPORT_REPLAY_H */
