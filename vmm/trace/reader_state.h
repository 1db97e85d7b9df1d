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
	struct {
		struct vpt_switch *at;
		size_t n, room;
	} switches;
	struct {
		struct vpt_psb_point *at;
		size_t n, room;
	} points;
	struct {
		struct vpt_epoch *at;
		size_t n, room;
	} epochs;
	struct {
		struct vpt_reader_mark *at;
		size_t n, room;
	} marks;
	struct vpt_cut cut; /* its `why` is 0: there is none */
	struct vpt_oracle_log oracle;
	uint64_t missing; /* bytes of the stream */
	uint64_t insns;	  /* the highest counter so far */
	uint64_t behind;  /* that before the last damage */
};

/* A FRAME entry, whose `content` is a number as in struct vpt_code, or a VIEW entry. */
struct vpt_reader_frame {
	struct vpt_frame frame;
	size_t order; /* in the file */
};

struct vpt_reader_view {
	struct vpt_view view;
	size_t order;
};

struct vpt_reader {
	struct vpt_blocks blocks; /* first: its callbacks get a pointer to it */
	unsigned int how;	  /* enum vpt_reader_how */
	uint32_t version;	  /* of the file */
	uint16_t needed;	  /* a type that has to be known and is not; 0: none was met */
	const struct vpt_watch *watch;
	const struct vpt_code_source *source;
	uint64_t missing; /* bytes of trace that may be missing: 0 without damage */
	const struct vpt_file_info *info;
	const struct vpt_file_end *end;
	struct vpt_post_mortem stop; /* its kind is VPT_STOP_NONE: there is none */
	const struct vpt_ram_range *ram;
	size_t nram;
	const struct vpt_origin *origin;
	struct vpt_cpu cpu; /* of vpt_reader_set_cpu(), or its vendor is unknown */
	struct {
		struct vpt_reader_input *at;
		size_t n, room;
	} inputs;
	struct {
		struct vpt_reader_ref *at;
		size_t n, room;
	} refs;
	struct {
		struct vpt_reader_frame *at;
		size_t n, room;
	} frames;
	struct {
		struct vpt_reader_view *at;
		size_t n, room;
	} views;
	uint64_t resolved; /* entries of code that FRAME and VIEW blocks were tried for */
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
 * Make a place in a vCPU's stream one in the part that the file has. Returns false if it is
 * before that part.
 */
static inline bool vpt_reader_rebase(const struct vpt_reader_vcpu *v, uint64_t *offset)
{
	if (*offset < v->cut.offset)
		return false;
	*offset -= v->cut.offset;
	return true;
}

/* The content with an id, from 1 on; 0: there is none. */
size_t vpt_reader_find_content(const struct vpt_reader *r, uint64_t id);

/*
 * Take the payload of a block of version 3. NULL, or what is wrong with it: then nothing of it
 * has been taken over. What is handed out as a pointer stays in the payload.
 */
const char *vpt_reader_take_origin(struct vpt_reader *r, const void *payload, size_t len);
const char *vpt_reader_take_cut(struct vpt_reader_vcpu *v, const void *payload, size_t len);
const char *vpt_reader_take_switches(struct vpt_reader_vcpu *v, const void *payload, size_t len);
const char *vpt_reader_take_points(struct vpt_reader_vcpu *v, const void *payload, size_t len);
const char *vpt_reader_take_index(struct vpt_reader *r, const void *payload, size_t len);
const char *vpt_reader_take_inputs(struct vpt_reader *r, unsigned int vcpu, const void *payload,
				   size_t len);
const char *vpt_reader_take_marks(struct vpt_reader_vcpu *v, const void *payload, size_t len);
const char *vpt_reader_take_ref(struct vpt_reader *r, unsigned int vcpu, const void *payload,
				size_t len);
const char *vpt_reader_take_epoch(struct vpt_reader_vcpu *v, const void *payload, size_t len);
const char *vpt_reader_take_frames(struct vpt_reader *r, const void *payload, size_t len);
const char *vpt_reader_take_views(struct vpt_reader *r, const void *payload, size_t len);
/* When all blocks are read: make code of FRAME and VIEW blocks. 0, -ENOMEM, or -E2BIG. */
int vpt_reader_resolve(struct vpt_reader *r);

/* reader_spaces.c: clear VPT_SPACE_NO_CODE where there is code in spite of it. 0 or -ENOMEM. */
int vpt_reader_spaces_resolve(struct vpt_reader *r);

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
