/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of logs: sessions, streams, address spaces. */
#ifndef VMM_IMPORT_INDEX_H
#define VMM_IMPORT_INDEX_H

#include "import/import.h"

/* A VMCS as it was loaded last. */
struct import_vmcs {
	struct trace_vmcs vmcs;
	uint64_t *written; /* by stream: the `generation` that its last block is of */
	uint64_t generation;
};

/* All zero is empty. */
struct import_index {
	struct {
		struct import_session *at;
		size_t n, room;
	} sessions;
	struct {
		struct import_stream *at;
		size_t n, room;
	} streams;
	struct {
		struct trace_space *at;
		size_t n, room;
	} spaces;
	size_t *slots; /* by what tells a space: index + 1 */
	size_t nslots;
	struct {
		struct import_vmcs *at;
		size_t n, room;
	} vmcs;
	uint64_t stray;
};

/* Go through a log, number `number`, which is at its first record. 0 or -errno. */
int import_index_log(struct import_index *index, struct import_log *log, size_t number);
/* Then, once: which sessions are wanted, and in which stream; and ids for spaces. */
int import_index_finish(struct import_index *index, const struct import_config *config);
void import_index_free(struct import_index *index);

/* The space that a CONTEXT record leads to, NULL: memory. */
struct trace_space *import_index_space(struct import_index *index,
				       const struct import_log_record *r);

/* The VMCS of a VMX record, with what that says. NULL: memory. */
struct import_vmcs *import_index_vmcs(struct import_index *index,
				      const struct import_log_record *r);

#endif /* VMM_IMPORT_INDEX_H */
