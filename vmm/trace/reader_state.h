/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the reader: shared by reader*.c and nothing else. */
#ifndef VMM_TRACE_READER_STATE_H
#define VMM_TRACE_READER_STATE_H

#include "blocks.h"
#include "oracle_log.h"
#include "vec.h"

struct vpt_reader_chunk {
	uint64_t offset;
	uint64_t gpa;
	uint64_t len;
};

struct vpt_reader_vcpu {
	struct {
		uint8_t *at;
		size_t n, room;
	} stream;
	struct {
		struct vpt_reader_chunk *at;
		size_t n, room;
	} chunks;
	struct {
		struct vpt_code *at;
		size_t n, room;
	} code;
	struct {
		struct vpt_period *at;
		size_t n, room;
	} periods;
	struct {
		struct vpt_cr3_switch *at;
		size_t n, room;
	} cr3;
	struct {
		struct vpt_vmcs *at;
		size_t n, room;
	} vmcs;
	struct vpt_oracle_log oracle;
	uint64_t missing; /* bytes of the stream */
	uint64_t insns;	  /* the highest counter so far */
	uint64_t behind;  /* that before the last damage */
};

struct vpt_reader {
	struct vpt_blocks blocks; /* first: its callbacks get a pointer to it */
	unsigned int how;	  /* enum vpt_reader_how */
	const struct vpt_watch *watch;
	const struct vpt_code_source *source;
	uint64_t missing; /* bytes of trace that may be missing: 0 without damage */
	const struct vpt_file_info *info;
	const struct vpt_file_end *end;
	struct vpt_post_mortem stop; /* its kind is VPT_STOP_NONE: there is none */
	const struct vpt_ram_range *ram;
	size_t nram;
	const struct vpt_index_entry *index;
	size_t nindex;
	struct {
		struct vpt_elf_file *at;
		size_t n, room;
	} elf;
	struct {
		struct vpt_space *at;
		size_t n, room;
	} spaces;
	struct {
		const uint8_t **at;
		size_t n, room;
	} contents;
	struct {
		uint64_t *at; /* of the contents; they rise */
		size_t n, room;
	} ids;
	struct vpt_stretches stretches;
	struct vpt_reader_vcpu *vcpu; /* info->vcpus of them */
};

/* Why a block cannot be taken for lack of memory: compared by its address. */
extern const char vpt_reader_no_memory[];

static inline void vpt_reader_saw(struct vpt_reader_vcpu *v, uint64_t insns)
{
	if (insns > v->insns)
		v->insns = insns;
}

/*
 * reader_stream.c: take the payload of a TRACE or SESSION block. NULL, or what is wrong with it:
 * then nothing of it has been taken over.
 */
const char *vpt_reader_trace(struct vpt_reader *r, struct vpt_reader_vcpu *v, const void *payload,
			     size_t len);
const char *vpt_reader_session(struct vpt_reader *r, struct vpt_reader_vcpu *v, const void *payload,
			       size_t len);
/* Some of the file was left out, of any vCPU. */
void vpt_reader_gap(struct vpt_reader *r);

#endif /* VMM_TRACE_READER_STATE_H */
