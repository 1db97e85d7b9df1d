/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the writer: shared by writer*.c only. */
#ifndef VMM_TRACE_WRITER_STATE_H
#define VMM_TRACE_WRITER_STATE_H

#include <sys/uio.h>

#include "vpt/atom_packet.h"
#include "trace/writer.h"

#define GATHER_TRACE	   65536u /* the most, see trace_writer_gather() */
#define TRACE_GATHER_LEAST 4096u
#define TRACE_GATHER_SHARE 256u
#define MAPPED_TRACE	   (1u << 20)
#define GATHER_ORACLE	   65536u
#define GATHER_STRETCH \
	(sizeof(struct trace_stretch) + 2u * 65536u) /* size of the longest
                      	                                               * stretch */
#define PSB_BYTES \
	16u /* length of PT's PSB,
                 	    					       * which is longer than
                 	    					       * RTIT's */
#define ATOM_PSB_BYTES	 VPT_ATOM_PSB_BYTES
#define ORACLE_PER_BLOCK (GATHER_ORACLE / sizeof(struct trace_oracle_record))
#define INDEX_MOST	 65536u
#define INDEX_GAP	 4096u /* distance of entries at first */
#define RUN_PER_BLOCK	 (GATHER_ORACLE / sizeof(uint32_t))
#define PLUS_BYTES	 96u /* an upper bound for the packets of a PSB+ behind its PSB */

/*
 * Reserves of a file's limit: for the buffers of one vCPU and for the last blocks. NEAR_BYTES is
 * the distance from the limit at which a trace must end. The caller can write so many bytes before
 * it notices.
 */
#define END_BYTES   (TRACE_GATHER_LEAST + 2 * GATHER_ORACLE + GATHER_STRETCH + (64u << 10))
#define NEAR_BYTES  (32ull << 20)
#define NEAR_FACTOR 8 /* for a small limit, the limit divided by this */

/* The place in the file where a part of a stream begins. */
struct trace_chunk_mark {
	uint64_t offset;
	uint64_t file_offset;
};

struct trace_stream {
	uint64_t bytes; /* bytes of trace, including buffered ones */

	struct trace_chunk chunk; /* head of the buffered bytes */
	size_t gathered;
	uint8_t *buf; /* GATHER_TRACE bytes */

	struct trace_oracle_record *records; /* ORACLE_PER_BLOCK records */
	size_t nrecords;
	uint32_t *words; /* RUN_PER_BLOCK words; NULL before the first */
	size_t nwords;	 /* nonzero only if nrecords is 0 */

	/*
	 * A PSB may span blocks as small as a byte: its first byte is in one of the last PSB_BYTES
	 * chunks.
	 */
	struct trace_chunk_mark mark[PSB_BYTES];
	unsigned int marks;
	unsigned int run; /* length of the sequence of PSB bytes that ends here */

	/*
	 * At most INDEX_MOST entries, because the guest controls the number of PSBs. At the limit,
	 * half of them are removed, and later ones are further apart.
	 */
	struct trace_psb_point *index;
	size_t nindex, index_room;
	size_t nresolved;   /* entries whose block has been written */
	uint64_t index_gap; /* least distance of two later entries, even */
	bool passed_over;   /* the last PSB is not in the index */

	/* The state of the next entry except PSB+: counter, space, epoch, and their flags. */
	struct trace_psb_point state;
	uint64_t session_offset; /* place where the latest session began */
	/* The collected bytes behind the PSB of the last entry. */
	struct {
		uint64_t at; /* position of the first one in the stream */
		uint32_t have;
		bool on;
		uint8_t bytes[PLUS_BYTES];
	} plus;

	uint64_t base;	   /* place where the stream begins, from a CUT block */
	uint64_t switched; /* offset of the last SWITCH entry */
	bool placed;	   /* a block with a place in the stream was written: no CUT block may
	            	    * follow */
};

struct trace_writer {
	int fd; /* -1 with a sink */
	struct trace_sink sink;
	int error; /* -errno, sticky */
	uint64_t file_bytes;
	unsigned int vcpus;
	bool rtit; /* TRACE_INFO_ATOM */

	uint8_t *stretches; /* GATHER_STRETCH bytes; NULL before the first stretch */
	size_t stretch_bytes;
	uint64_t nstretches; /* number of stretches */
	uint64_t contents;   /* number of PAGE and CHANGE blocks, and the id of the last one */
	uint64_t limit;	     /* limit of file_bytes */
	bool full;	     /* the file is near the limit */
	bool mute;	     /* the file gets no more bytes */

	struct trace_stream stream[];
};

/*
 * Return how many bytes are gathered before they are written, if @bytes have been written. Large
 * blocks take less time. A killed writer loses the gathered bytes, so they are a share of the trace.
 */
static inline size_t trace_writer_gather(uint64_t bytes)
{
	uint64_t share = bytes / TRACE_GATHER_SHARE;

	if (share < TRACE_GATHER_LEAST)
		return TRACE_GATHER_LEAST;
	return share < GATHER_TRACE ? (size_t)(share & ~(uint64_t)(TRACE_GATHER_LEAST - 1))
				    : GATHER_TRACE;
}

static inline size_t trace_pad8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* Write a block with its head and body. Returns 0 or -errno, which sticks. */
int trace_writer_block(struct trace_writer *w, enum trace_block_type type, unsigned int vcpu,
		       const void *head, size_t head_len, const void *body, size_t body_len);

/* writer_point.c: search @len bytes that begin at s->bytes. Returns 0 or -errno, which sticks. */
int trace_writer_find_psbs(struct trace_writer *w, struct trace_stream *s, const uint8_t *bytes,
			   size_t len);
/* Note that the buffered bytes are in the block at this place of the file. */
void trace_writer_resolve(struct trace_stream *s, uint64_t file_offset);
/* Note that a session, a space or an epoch begins at s->bytes. */
void trace_writer_point_session(struct trace_stream *s, const struct trace_session *start);
void trace_writer_point_space(struct trace_stream *s, uint64_t space);
void trace_writer_point_epoch(struct trace_stream *s, uint64_t epoch);
/* Write the POINT blocks. Returns the file offset of the first one, or 0 if there is none. */
uint64_t trace_writer_points(struct trace_writer *w);

/* Write bytes unchanged. Returns 0 or -errno, which sticks. */
int trace_writer_put(struct trace_writer *w, struct iovec *iov, int count);
/* Create a writer to a duplicate of a descriptor, or to none if it is -1, without writing to it. */
int trace_writer_new(int fd, unsigned int vcpus, struct trace_writer **writer);

#endif /* VMM_TRACE_WRITER_STATE_H */
