/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the reader: shared by reader*.c only. */
#ifndef VMM_TRACE_READER_STATE_H
#define VMM_TRACE_READER_STATE_H

#include <pthread.h>

#include "trace/blocks.h"
#include "trace/oracle_log.h"
#include "trace/vec.h"

struct trace_reader_chunk {
	uint64_t offset;
	uint64_t gpa;
	uint64_t len;
	uint64_t file; /* position of its block, if it was skipped; otherwise 0 */
	bool loaded;   /* the bytes are in the stream */
};

/* The place of an input: struct trace_recorded. */
struct trace_reader_place {
	uint64_t retired, tsc;
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
	struct {
		struct trace_task *at;
		size_t n, room;
	} tasks;
	struct trace_reader_place last_input;
	struct trace_cut cut;	      /* `why` is 0 if there is no cut */
	struct trace_refined refined; /* valid if is_refined */
	bool is_refined;
	struct trace_oracle_log oracle;
	size_t kept;	   /* of a window: no block before this one is in memory */
	bool held;	   /* a flow reads in windows */
	bool whole_wanted; /* the stream is no longer read in windows */
	uint64_t whole;	   /* of a piece: bytes of the stream, with those that it omits */
	uint64_t missing;  /* missing bytes of the stream */
	uint64_t insns;	   /* the highest counter so far */
	uint64_t behind;   /* the highest counter before the last damage */
};

/* A FRAME entry, whose `content` is a number as in struct trace_code, or a VIEW entry. */
struct trace_reader_frame {
	struct trace_frame frame;
	size_t order; /* position in the file */
};

struct trace_reader_view {
	struct trace_view view;
	size_t order;
};

/* TRACE blocks are skipped when a file is opened. */
#define TRACE_READER_SKIPS (TRACE_READER_LAZY | TRACE_READER_WINDOW)

struct trace_reader {
	struct trace_blocks blocks;  /* must be the first member, because callbacks receive a
	                             * pointer to it */
	unsigned int how;	     /* enum trace_reader_how */
	pthread_mutex_t window_lock; /* protects what reader_window.c loads and drops */
	uint64_t window_step;	     /* bytes; 0: the default */
	bool sparse;		     /* streams are maps, whose omitted bytes take no memory */
	uint32_t version;	     /* version of the file */
	uint16_t needed;	     /* an unknown type with TRACE_BLOCK_NEEDED; 0 if there was
	                	     * none */
	const struct trace_watch *watch;
	const struct trace_code_source *source;
	uint64_t missing; /* bytes of trace that may be missing; 0 without damage */
	const struct trace_file_info *info;
	const struct trace_file_end *end;
	struct trace_post_mortem stop; /* the kind is TRACE_STOP_NONE if there is none */
	const struct trace_ram_range *ram;
	size_t nram;
	const struct trace_origin *origin;
	const struct trace_run_options *options; /* or NULL */
	const struct trace_piece *piece;	 /* or NULL */
	unsigned int piece_vcpu;
	bool is_piece;	      /* the file is a piece, and the caller does not read pieces */
	struct trace_cpu cpu; /* from trace_reader_set_cpu(); the vendor is unknown if it was not
	                       * set */
	struct {
		struct trace_reader_input *at;
		size_t n, room;
	} inputs;
	struct {
		struct trace_reader_ref *at;
		size_t n, room;
	} refs;
	struct {
		struct trace_task *at; /* NAMED entries of all vCPUs, in the order of the file */
		size_t n, room;
	} names;
	struct {
		struct trace_reader_frame *at;
		size_t n, room;
	} frames;
	struct {
		struct trace_reader_view *at;
		size_t n, room;
	} views;
	uint64_t resolved; /* number of code entries that FRAME and VIEW blocks were tried for */
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
		uint64_t *at; /* ids of the contents, ascending */
		size_t n, room;
	} ids;
	uint64_t changes; /* number of contents of CHANGE blocks */
	struct trace_stretches stretches;
	struct trace_reader_vcpu *vcpu; /* info->vcpus entries */
};

/* The reason for a block that fails for lack of memory; compared by its address. */
extern const char trace_reader_no_memory[];

static inline void trace_reader_saw(struct trace_reader_vcpu *v, uint64_t insns)
{
	if (insns > v->insns)
		v->insns = insns;
}

/*
 * Convert a place in a vCPU's stream to a place in the file's part. Returns false if it is before
 * the part.
 */
static inline bool trace_reader_rebase(const struct trace_reader_vcpu *v, uint64_t *offset)
{
	if (*offset < v->cut.offset)
		return false;
	*offset -= v->cut.offset;
	return true;
}

/* Return the number of the content with an id, from 1 on, or 0. */
size_t trace_reader_find_content(const struct trace_reader *r, uint64_t id);

/*
 * Take the payload of a block of version 3. Returns NULL, or the error in it; then nothing of it
 * was taken. Returned pointers point into the payload.
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
const char *trace_reader_take_tasks(struct trace_reader *r, unsigned int vcpu, const void *payload,
				    size_t len);
const char *trace_reader_take_ref(struct trace_reader *r, unsigned int vcpu, const void *payload,
				  size_t len);
const char *trace_reader_take_options(struct trace_reader *r, const void *payload, size_t len);
const char *trace_reader_take_epoch(struct trace_reader_vcpu *v, const void *payload, size_t len);
const char *trace_reader_take_refined(struct trace_reader *r, unsigned int vcpu,
				      const void *payload, size_t len);
const char *trace_reader_take_frames(struct trace_reader *r, const void *payload, size_t len);
const char *trace_reader_take_views(struct trace_reader *r, const void *payload, size_t len);
/*
 * Turn FRAME and VIEW blocks into code, after all blocks were read. Returns 0, -ENOMEM, or -E2BIG.
 */
int trace_reader_resolve(struct trace_reader *r);

/* reader_spaces.c: clear TRACE_SPACE_NO_CODE of spaces that have code. Returns 0 or -ENOMEM. */
int trace_reader_spaces_resolve(struct trace_reader *r);

/*
 * reader_stream.c: take the payload of a TRACE or SESSION block. Returns NULL, or the error in it;
 * then nothing of it was taken.
 */
const char *trace_reader_trace(struct trace_reader *r, struct trace_reader_vcpu *v,
			       const void *payload, size_t len);
const char *trace_reader_session(struct trace_reader *r, struct trace_reader_vcpu *v,
				 const void *payload, size_t len);
/* Make room for @more bytes at the end of the stream. Returns false if there is no memory. */
bool trace_reader_stream_room(const struct trace_reader *r, struct trace_reader_vcpu *v,
			      uint64_t more);

/*
 * reader_piece.c: take a PIECE block. Returns NULL, or the error in it; then nothing of it was taken.
 */
const char *trace_reader_take_piece(struct trace_reader *r, unsigned int vcpu, const void *payload,
				    size_t len);
/* Grow a stream that is a map to at least @bytes. Returns false if there is no memory. */
bool trace_reader_map_stream(struct trace_reader_vcpu *v, uint64_t bytes);
/* Give the pages back that are within a part of a stream that is a map. */
void trace_reader_drop_pages(const struct trace_reader_vcpu *v, uint64_t from, uint64_t to);
/* Read the bytes of a block that was skipped. Returns 0, -EBADMSG if it is damaged, or -errno. */
int trace_reader_load_chunk(struct trace_reader *r, struct trace_reader_vcpu *v,
			    struct trace_reader_chunk *c);
/* Load the first bytes of a stream and of each session. Returns 0 or -errno. */
int trace_reader_load_sessions(struct trace_reader *r, unsigned int vcpu);
/* Free a stream. */
void trace_reader_free_stream(const struct trace_reader *r, struct trace_reader_vcpu *v);
/*
 * Complete the streams after all blocks were read: load the first bytes of sessions, and the end of a
 * piece. Returns 0 or -errno.
 */
int trace_reader_end_streams(struct trace_reader *r);

/* Note that a part of the file was omitted, for all vCPUs. */
void trace_reader_gap(struct trace_reader *r);

#endif /* VMM_TRACE_READER_STATE_H */
