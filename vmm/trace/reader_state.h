/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the reader: shared by reader*.c and nothing else. */
#ifndef VMM_TRACE_READER_STATE_H
#define VMM_TRACE_READER_STATE_H

#include "trace/blocks.h"
#include "trace/oracle_log.h"
#include "trace/vec.h"

struct trace_reader_chunk {
	uint64_t offset;
	uint64_t gpa;
	uint64_t len;
};

struct trace_reader_vcpu {
	struct {
		uint8_t *at;
		size_t n, room;
	} stream;
	struct {
		struct trace_reader_chunk *at;
		size_t n, room;
	} chunks;
	struct {
		struct trace_code *at;
		size_t n, room;
	} code;
	struct {
		struct trace_period *at;
		size_t n, room;
	} periods;
	struct {
		struct trace_cr3_switch *at;
		size_t n, room;
	} cr3;
	struct {
		struct trace_vmcs *at;
		size_t n, room;
	} vmcs;
	struct {
		struct trace_switch *at;
		size_t n, room;
	} switches;
	struct {
		struct trace_psb_point *at;
		size_t n, room;
	} points;
	struct {
		struct trace_epoch *at;
		size_t n, room;
	} epochs;
	struct {
		struct trace_reader_mark *at;
		size_t n, room;
	} marks;
	struct trace_cut cut; /* its `why` is 0: there is none */
	struct trace_oracle_log oracle;
	uint64_t missing; /* bytes of the stream */
	uint64_t insns;	  /* the highest counter so far */
	uint64_t behind;  /* that before the last damage */
};

/* A FRAME entry, whose `content` is a number as in struct trace_code, or a VIEW entry. */
struct trace_reader_frame {
	struct trace_frame frame;
	size_t order; /* in the file */
};

struct trace_reader_view {
	struct trace_view view;
	size_t order;
};

struct trace_reader {
	struct trace_blocks blocks; /* first: its callbacks get a pointer to it */
	unsigned int how;	    /* enum trace_reader_how */
	uint32_t version;	    /* of the file */
	uint16_t needed;	    /* a type that has to be known and is not; 0: none was met */
	const struct trace_watch *watch;
	const struct trace_code_source *source;
	uint64_t missing; /* bytes of trace that may be missing: 0 without damage */
	const struct trace_file_info *info;
	const struct trace_file_end *end;
	struct trace_post_mortem stop; /* its kind is TRACE_STOP_NONE: there is none */
	const struct trace_ram_range *ram;
	size_t nram;
	const struct trace_origin *origin;
	struct trace_cpu cpu; /* of trace_reader_set_cpu(), or its vendor is unknown */
	struct {
		struct trace_reader_input *at;
		size_t n, room;
	} inputs;
	struct {
		struct trace_reader_ref *at;
		size_t n, room;
	} refs;
	struct {
		struct trace_reader_frame *at;
		size_t n, room;
	} frames;
	struct {
		struct trace_reader_view *at;
		size_t n, room;
	} views;
	uint64_t resolved; /* entries of code that FRAME and VIEW blocks were tried for */
	struct {
		struct trace_elf_file *at;
		size_t n, room;
	} elf;
	struct {
		struct trace_space *at;
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
	struct trace_stretches stretches;
	struct trace_reader_vcpu *vcpu; /* info->vcpus of them */
};

/* Why a block cannot be taken for lack of memory: compared by its address. */
extern const char trace_reader_no_memory[];

static inline void trace_reader_saw(struct trace_reader_vcpu *v, uint64_t insns)
{
	if (insns > v->insns)
		v->insns = insns;
}

/*
 * Make a place in a vCPU's stream one in the part that the file has. Returns false if it is
 * before that part.
 */
static inline bool trace_reader_rebase(const struct trace_reader_vcpu *v, uint64_t *offset)
{
	if (*offset < v->cut.offset)
		return false;
	*offset -= v->cut.offset;
	return true;
}

/* The content with an id, from 1 on; 0: there is none. */
size_t trace_reader_find_content(const struct trace_reader *r, uint64_t id);

/*
 * Take the payload of a block of version 3. NULL, or what is wrong with it: then nothing of it
 * has been taken over. What is handed out as a pointer stays in the payload.
 */
const char *trace_reader_take_origin(struct trace_reader *r, const void *payload, size_t len);
const char *trace_reader_take_cut(struct trace_reader_vcpu *v, const void *payload, size_t len);
const char *trace_reader_take_switches(struct trace_reader_vcpu *v, const void *payload,
				       size_t len);
const char *trace_reader_take_points(struct trace_reader_vcpu *v, const void *payload, size_t len);
const char *trace_reader_take_index(struct trace_reader *r, const void *payload, size_t len);
const char *trace_reader_take_inputs(struct trace_reader *r, unsigned int vcpu, const void *payload,
				     size_t len);
const char *trace_reader_take_marks(struct trace_reader_vcpu *v, const void *payload, size_t len);
const char *trace_reader_take_ref(struct trace_reader *r, unsigned int vcpu, const void *payload,
				  size_t len);
const char *trace_reader_take_epoch(struct trace_reader_vcpu *v, const void *payload, size_t len);
const char *trace_reader_take_frames(struct trace_reader *r, const void *payload, size_t len);
const char *trace_reader_take_views(struct trace_reader *r, const void *payload, size_t len);
/* When all blocks are read: make code of FRAME and VIEW blocks. 0, -ENOMEM, or -E2BIG. */
int trace_reader_resolve(struct trace_reader *r);

/* reader_spaces.c: clear TRACE_SPACE_NO_CODE where there is code in spite of it. 0 or -ENOMEM. */
int trace_reader_spaces_resolve(struct trace_reader *r);

/*
 * reader_stream.c: take the payload of a TRACE or SESSION block. NULL, or what is wrong with it:
 * then nothing of it has been taken over.
 */
const char *trace_reader_trace(struct trace_reader *r, struct trace_reader_vcpu *v,
			       const void *payload, size_t len);
const char *trace_reader_session(struct trace_reader *r, struct trace_reader_vcpu *v,
				 const void *payload, size_t len);
/* Some of the file was left out, of any vCPU. */
void trace_reader_gap(struct trace_reader *r);

#endif /* VMM_TRACE_READER_STATE_H */
