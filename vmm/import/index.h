/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of logs: sessions, streams, address spaces. */
#ifndef VMM_IMPORT_INDEX_H
#define VMM_IMPORT_INDEX_H

#include "import/import.h"

/* The last loaded state of a VMCS. */
struct import_vmcs {
	struct trace_vmcs vmcs;
	uint64_t *written; /* by stream: the `generation` of its last block */
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
	size_t *slots; /* hash slots for spaces: index + 1 */
	size_t nslots;
	struct {
		struct import_vmcs *at;
		size_t n, room;
	} vmcs;
	uint64_t stray;
};

/* Index log number `number`, which is at its first record. Returns 0 or -errno. */
int import_index_log(struct import_index *index, struct import_log *log, size_t number);
/* Then call this once, to select sessions, assign streams and number spaces. */
int import_index_finish(struct import_index *index, const struct import_config *config);
void import_index_free(struct import_index *index);

/* Return the space of a CONTEXT record, or NULL if there is no memory. */
struct trace_space *import_index_space(struct import_index *index,
				       const struct import_log_record *r);

/* Return the VMCS of a VMX record, updated from the record. NULL if there is no memory. */
struct import_vmcs *import_index_vmcs(struct import_index *index,
				      const struct import_log_record *r);

#endif /* VMM_IMPORT_INDEX_H */
