/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of logs: sessions, streams, address spaces. */
#ifndef VMM_IMPORT_INDEX_H
#define VMM_IMPORT_INDEX_H

#include "import.h"

/* A VMCS as it was loaded last. */
struct vpt_import_vmcs {
	struct vpt_vmcs vmcs;
	uint64_t *written; /* by stream: the `generation` that its last block is of */
	uint64_t generation;
};

/* All zero is empty. */
struct vpt_import_index {
	struct {
		struct vpt_import_session *at;
		size_t n, room;
	} sessions;
	struct {
		struct vpt_import_stream *at;
		size_t n, room;
	} streams;
	struct {
		struct vpt_space *at;
		size_t n, room;
	} spaces;
	size_t *slots; /* by what tells a space: index + 1 */
	size_t nslots;
	struct {
		struct vpt_import_vmcs *at;
		size_t n, room;
	} vmcs;
	uint64_t stray;
};

/* Go through a log, number `number`, which is at its first record. 0 or -errno. */
int vpt_index_log(struct vpt_import_index *index, struct vpt_log *log, size_t number);
/* Then, once: which sessions are wanted, and in which stream; and ids for spaces. */
int vpt_index_finish(struct vpt_import_index *index, const struct vpt_import_config *config);
void vpt_index_free(struct vpt_import_index *index);

/* The space that a CONTEXT record leads to, NULL: memory. */
struct vpt_space *vpt_index_space(struct vpt_import_index *index, const struct vpt_log_record *r);

/* The VMCS of a VMX record, with what that says. NULL: memory. */
struct vpt_import_vmcs *vpt_index_vmcs(struct vpt_import_index *index,
				       const struct vpt_log_record *r);

#endif /* VMM_IMPORT_INDEX_H */
