/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The second pass over a log, which writes the selected sessions to a file. */
#ifndef VMM_IMPORT_REPLAY_H
#define VMM_IMPORT_REPLAY_H

#include "import/index.h"
#include "trace/writer.h"

/*
 * Adds to `no_code` the number of instructions without a code record. Returns 0 or -errno. Streams
 * of a log have its number.
 */
int import_replay(struct import_index *index, const struct import_log *log, size_t number, bool lip,
		  struct trace_writer *writer, uint64_t *no_code);

#endif /* VMM_IMPORT_REPLAY_H */
