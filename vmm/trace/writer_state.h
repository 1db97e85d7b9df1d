/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the writer: shared by writer*.c and nothing else. */
#ifndef VMM_TRACE_WRITER_STATE_H
#define VMM_TRACE_WRITER_STATE_H

#include <sys/uio.h>

#include "vpt/atom_packet.h"
#include "trace/writer.h"

#define GATHER_TRACE	 4096u
#define MAPPED_TRACE	 (1u << 20)
#define GATHER_ORACLE	 65536u
#define GATHER_STRETCH	 (sizeof(struct trace_stretch) + 2u * 65536u) /* the longest */
#define PSB_BYTES	 16u					      /* of PT's, the longer one */
#define ATOM_PSB_BYTES	 VPT_ATOM_PSB_BYTES
#define ORACLE_PER_BLOCK (GATHER_ORACLE / sizeof(struct trace_oracle_record))
#define INDEX_MOST	 65536u
#define INDEX_GAP	 4096u /* the first one */
#define RUN_PER_BLOCK	 (GATHER_ORACLE / sizeof(uint32_t))
#define PLUS_BYTES	 96u /* more than the packets of a PSB+ behind its PSB */

/*
 * Of a file's limit: for what one vCPU gathers and for the last blocks. And how far before
 * the limit a trace is to end: so much can be put out until the caller finds out.
 */
#define END_BYTES   (GATHER_TRACE + 2 * GATHER_ORACLE + GATHER_STRETCH + (64u << 10))
#define NEAR_BYTES  (32ull << 20)
#define NEAR_FACTOR 8 /* of a small limit only this part */

/* Where in the file a stretch of a stream begins. */
struct trace_chunk_mark {
	uint64_t offset;
	uint64_t file_offset;
};

struct trace_stream {
	uint64_t bytes; /* of trace, gathered ones included */

	struct trace_chunk chunk; /* head of what is gathered */
	size_t gathered;
	uint8_t *buf; /* GATHER_TRACE bytes */

	struct trace_oracle_record *records; /* ORACLE_PER_BLOCK of them */
	size_t nrecords;
	uint32_t *words; /* RUN_PER_BLOCK of them, NULL: none came yet */
	size_t nwords;	 /* not both this and nrecords */

	/*
	 * A PSB may lie across blocks as small as a byte: its first byte is in
	 * one of the last PSB_BYTES chunks.
	 */
	struct trace_chunk_mark mark[PSB_BYTES];
	unsigned int marks;
	unsigned int run; /* length of the row of a PSB's bytes that ends here */

	/*
	 * At most INDEX_MOST entries, since it is the guest that sends PSBs: then half of
	 * them go, and the next ones are further apart.
	 */
	struct trace_psb_point *index;
	size_t nindex, index_room;
	size_t nresolved;   /* entries whose block has been written */
	uint64_t index_gap; /* least distance of two entries from now on, even */
	bool passed_over;   /* the PSB that was seen last is not in the index */

	/* The state of the next entry beside its PSB+: counter, space, epoch, and their flags. */
	struct trace_psb_point state;
	uint64_t session_offset; /* where the session began that is latest */
	/* The bytes behind the PSB of the last entry, until they are enough. */
	struct {
		uint64_t at; /* of the first one in the stream */
		uint32_t have;
		bool on;
		uint8_t bytes[PLUS_BYTES];
	} plus;

	uint64_t base;	   /* where the stream begins, from a CUT block */
	uint64_t switched; /* offset of the last SWITCH entry */
	bool placed;	   /* a block has a place in the stream: no CUT block may come */
};

struct trace_writer {
	int fd;
	int error; /* -errno, sticky */
	uint64_t file_bytes;
	unsigned int vcpus;
	bool rtit; /* TRACE_INFO_ATOM */

	uint8_t *stretches; /* GATHER_STRETCH bytes, NULL: none came yet */
	size_t stretch_bytes;
	uint64_t nstretches; /* that came */
	uint64_t contents;   /* PAGE blocks, which is the last one's id */
	uint64_t limit;	     /* of file_bytes */
	bool full;	     /* the limit is near */

	struct trace_stream stream[];
};

static inline size_t trace_pad8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* Write a block, with its head and body in a row. 0 or -errno, which sticks. */
int trace_writer_block(struct trace_writer *w, enum trace_block_type type, unsigned int vcpu,
		       const void *head, size_t head_len, const void *body, size_t body_len);

/* writer_point.c: look through @len bytes that begin at s->bytes. 0 or -errno, which sticks. */
int trace_writer_find_psbs(struct trace_writer *w, struct trace_stream *s, const uint8_t *bytes,
			   size_t len);
/* The gathered bytes are in the block at this place of the file. */
void trace_writer_resolve(struct trace_stream *s, uint64_t file_offset);
/* A session, a space or an epoch begins at s->bytes. */
void trace_writer_point_session(struct trace_stream *s, const struct trace_session *start);
void trace_writer_point_space(struct trace_stream *s, uint64_t space);
void trace_writer_point_epoch(struct trace_stream *s, uint64_t epoch);
/* Write the POINT blocks. Returns the file offset of the first one, 0: there is none. */
uint64_t trace_writer_points(struct trace_writer *w);

/* Write bytes as they are. 0 or -errno, which sticks. */
int trace_writer_put(struct trace_writer *w, struct iovec *iov, int count);
/* A writer to a duplicate of a descriptor; nothing is written yet. */
int trace_writer_new(int fd, unsigned int vcpus, struct trace_writer **writer);

#endif /* VMM_TRACE_WRITER_STATE_H */
