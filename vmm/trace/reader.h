/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a .vpt file, whose content is not trusted. Every length is checked before use, and each
 * result is a copy, which does not change with the file. The oracle's records and words are read
 * one by one during a walk, and may differ from those that were checked. A bad block is omitted,
 * and reading resumes at the next good one; trace_reader_extent() returns all such places. Missing
 * trace is a hole in its stream, between a session that ends with TRACE_END_LOST and one that
 * begins behind the hole.
 *
 * All results belong to the reader and live as long as the reader.
 */
#ifndef VMM_TRACE_READER_H
#define VMM_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/code_source.h"
#include "trace/format.h"
#include "trace/post_mortem.h"

struct trace_reader;

/* A part of the file that cannot be read. */
struct trace_damage {
	uint64_t offset, bytes; /* 0 bytes: the file ends without an END block */
	const char *why;	/* static */
};

/* The readable part of one .vpt file. */
struct trace_extent {
	uint64_t file_bytes;
	uint64_t readable; /* bytes before the first damage */
	uint64_t lost;	   /* bytes in all damaged parts */
	const char *why;   /* the error at the first damage; NULL if there is none */
	bool cut;    /* the only damage is that the file ends early, as if its writer was killed */
	bool closed; /* the writer closed the file */
	size_t blocks;			   /* number of blocks in the file */
	size_t inside;			   /* blocks that were in PACKED blocks */
	size_t unknown;			   /* blocks of types that this reader does not know */
	const struct trace_damage *damage; /* damages in the order of the file */
	size_t damages;
};

/* A TriggerEn period. `end` is NULL if the file ends first. */
struct trace_period {
	const struct trace_session *start;
	const struct trace_session *end;
};

struct trace_elf_file {
	const struct trace_elf_image *image;
	const uint8_t *bytes;
	size_t len;
};

/* The contents of a CODE block, or of an entry of a MAP block. */
struct trace_code {
	const struct trace_code_page *page;
	const uint8_t *bytes; /* TRACE_CODE_BYTES */
	size_t content;	      /* index into trace_reader_contents(), from 1 on; 0 for a CODE
	               	       * block */
	uint64_t place; /* the bytes of the vCPU's stream before it in the file, only a hint */
};

enum trace_reader_how {
	TRACE_READER_PREFIX = 1 << 0, /* read nothing behind the first damage */
	/* The oracle's records can be most of the file. */
	TRACE_READER_NO_ORACLE = 1 << 1,    /* omit the oracle */
	TRACE_READER_COUNT_ORACLE = 1 << 2, /* check and count the oracle, without the data to
	                                     * walk it */
	/* The bytes of code pages may change with the file: read no byte twice. */
	TRACE_READER_CODE_IN_PLACE = 1 << 3,
	/*
	 * Read no TRACE blocks outside of PACKED blocks. Their bytes are 0 until
	 * trace_reader_load() reads them, but for the first bytes of sessions.
	 */
	TRACE_READER_LAZY = 1 << 4,
	/* Read pieces, which are refused otherwise, as only decoders of their shards may use them. */
	TRACE_READER_PIECE = 1 << 5,
	/*
	 * Check TRACE blocks without keeping them. Flows read the parts that they need, and drop what is
	 * behind. The bytes of trace_reader_stream() are 0 outside of these windows.
	 */
	TRACE_READER_WINDOW = 1 << 6,
};

/*
 * Open a file, or standard input for "-". Returns 0 and *reader, or -errno with one line about the
 * error in `why`. -EINVAL means that the content is wrong. The oracle is read only up to the first
 * damage. @how: enum trace_reader_how; trace_reader_open() passes 0.
 */
int trace_reader_open_as(const char *path, unsigned int how, struct trace_reader **reader,
			 char *why, size_t size);
int trace_reader_open(const char *path, struct trace_reader **reader, char *why, size_t size);
void trace_reader_close(struct trace_reader *r);

/*
 * Open a regular file that grows. The descriptor is duplicated. Returns 0, -EAGAIN if the file does
 * not have its first block yet, or -errno with one line in @why.
 */
int trace_reader_open_growing(int fd, unsigned int how, struct trace_reader **reader, char *why,
			      size_t size);
/*
 * Read the blocks that were appended. Results may move. Returns 0, -EBADMSG if the file is damaged,
 * or -errno. After an error the reader can only be closed.
 */
int trace_reader_more(struct trace_reader *r);
/*
 * Read the rest of a file that has stopped growing. The results are then those of a reader that
 * opened the whole file, if it is whole or cut. Returns 0 or -errno.
 */
int trace_reader_finish(struct trace_reader *r);
/* Open a regular file by its descriptor, like trace_reader_open_as(). */
int trace_reader_open_fd(int fd, unsigned int how, struct trace_reader **reader, char *why,
			 size_t size);
/*
 * Returns true if a later block can change what the blocks so far mean for any place in the streams.
 * Then nothing can be decoded before the file ends.
 */
bool trace_reader_is_open_ended(const struct trace_reader *r);

/* Called at each event while a vCPU's stream is decoded, with the offset in it. */
struct trace_watch {
	void (*progress)(void *context, unsigned int vcpu, uint64_t offset);
	void *context;
};

/* Set the watch for all decoders of @r; NULL removes it. @watch must outlive its use. */
void trace_reader_watch(struct trace_reader *r, const struct trace_watch *watch);
/* Call @r's watch from a decoder, if there is one. */
void trace_reader_progress(const struct trace_reader *r, unsigned int vcpu, uint64_t offset);

/*
 * Set the source of code that the file lacks; NULL for none. @source must outlive its use by any
 * decoder of @r.
 */
void trace_reader_set_source(struct trace_reader *r, const struct trace_code_source *source);
const struct trace_code_source *trace_reader_source(const struct trace_reader *r);

/*
 * Add a page of code to the file's. @bytes has TRACE_CODE_BYTES bytes and outlives the reader.
 * Lists that trace_reader_code() returned before become stale. Returns 0 or -ENOMEM.
 */
int trace_reader_add_code(struct trace_reader *r, unsigned int vcpu,
			  const struct trace_code_page *page, const uint8_t *bytes);

const struct trace_extent *trace_reader_extent(const struct trace_reader *r);
/*
 * Returns true if the file was truncated or became unreadable since it was opened. The oracle's
 * records, and code in place, may have been read as zeros.
 */
bool trace_reader_torn(const struct trace_reader *r);
/* Return the header's version: TRACE_FILE_OLD, TRACE_FILE_OLD_ATOM or TRACE_FILE_VERSION. */
unsigned int trace_reader_version(const struct trace_reader *r);
const struct trace_file_info *trace_reader_info(const struct trace_reader *r);
/* Return the END block, or NULL if the file was not closed. */
const struct trace_file_end *trace_reader_end(const struct trace_reader *r);
/* Return how the guest stopped, or NULL if the file has no STOP block, such as files of 0.1. */
const struct trace_post_mortem *trace_reader_stop(const struct trace_reader *r);

const struct trace_ram_range *trace_reader_ram(const struct trace_reader *r, size_t *count);
const struct trace_elf_file *trace_reader_elf(const struct trace_reader *r, size_t *count);

/* Return the contents of PAGE blocks, TRACE_CODE_BYTES each, in the order of the file. */
const uint8_t *const *trace_reader_contents(const struct trace_reader *r, size_t *count);

/* The following functions take a vCPU below info->vcpus. Results are in the order of the file. */
const struct trace_code *trace_reader_code(const struct trace_reader *r, unsigned int vcpu,
					   size_t *count);
const struct trace_period *trace_reader_sessions(const struct trace_reader *r, unsigned int vcpu,
						 size_t *count);
/* The result is sorted by counter. */
const struct trace_cr3_switch *trace_reader_cr3(const struct trace_reader *r, unsigned int vcpu,
						size_t *count);

/* Return the spaces of the whole file. If there are 0, CR3 identifies an address space. */
const struct trace_space *trace_reader_spaces(const struct trace_reader *r, size_t *count);
/* The result is in the order of the place in the stream. */
const struct trace_vmcs *trace_reader_vmcs(const struct trace_reader *r, unsigned int vcpu,
					   size_t *count);

/* Return the whole packet stream of a vCPU as one piece, never NULL. Missing bytes are 0. */
const uint8_t *trace_reader_stream(struct trace_reader *r, unsigned int vcpu, size_t *len);

uint64_t trace_reader_stream_bytes(const struct trace_reader *r, unsigned int vcpu);
/*
 * Read a part of a stream, if TRACE_READER_LAZY or a piece has left it out. Returns 0, -ENODATA if the
 * file does not have all bytes of the part, -EBADMSG if a block of it is damaged, or -errno.
 */
int trace_reader_load(struct trace_reader *r, unsigned int vcpu, uint64_t from, uint64_t to);
/*
 * Forget a part of a stream that trace_reader_load() has read, to free memory. Its bytes can be 0
 * until they are loaded again. Returns 0 or -errno, as trace_reader_load().
 */
int trace_reader_unload(struct trace_reader *r, unsigned int vcpu, uint64_t from, uint64_t to);
/*
 * reader_window.c: streams of TRACE_READER_WINDOW. For other readers these functions do nothing. Threads
 * may call them at the same time.
 *
 * A flow begins with trace_reader_window_begin(), which reads the begin of each session. If *@held is
 * true then, the flow calls trace_reader_window_end() in the end. It is false if another flow of the vCPU
 * reads in windows, and all of the stream is read. Then trace_reader_window() reads a part, and sets
 * *@loaded to the end of what is readable. Blocks before @to are forgotten by trace_reader_drop(). After
 * trace_reader_whole() all of the stream stays readable. The results are 0 or -errno. -EBADMSG means that
 * the file was changed meanwhile.
 */
bool trace_reader_has_window(const struct trace_reader *r, unsigned int vcpu);
int trace_reader_window_begin(struct trace_reader *r, unsigned int vcpu, bool *held);
void trace_reader_window_end(struct trace_reader *r, unsigned int vcpu);
int trace_reader_window(struct trace_reader *r, unsigned int vcpu, uint64_t from, uint64_t to,
			uint64_t *loaded);
void trace_reader_drop(struct trace_reader *r, unsigned int vcpu, uint64_t to);
int trace_reader_whole(struct trace_reader *r, unsigned int vcpu);
/* Set the bytes that a window reads at once, for tests. */
void trace_reader_set_window(struct trace_reader *r, uint64_t step);

/* Return the PIECE block and its vCPU, or NULL if the file is not a piece. */
const struct trace_piece *trace_reader_piece(const struct trace_reader *r, unsigned int *vcpu);
/*
 * Return the offset of the last TRACE block, or 0. A recorder writes the side-band for the bytes
 * before that block no later than that block.
 */
uint64_t trace_reader_settled(const struct trace_reader *r, unsigned int vcpu);
/* Return how many bytes of the stream are missing in the file. */
uint64_t trace_reader_stream_missing(const struct trace_reader *r, unsigned int vcpu);

/* Return the address of a byte of the stream in the guest's buffer; ~0 if there is none. */
uint64_t trace_reader_gpa(const struct trace_reader *r, unsigned int vcpu, uint64_t offset);

/*
 * Return the PSBs with the state at each, as the writer stored them. An old file has only their
 * places.
 *
 * The second function returns the last one that is not behind @offset and at whose place a PSB
 * begins, or NULL.
 */
const struct trace_psb_point *trace_reader_points(const struct trace_reader *r, unsigned int vcpu,
						  size_t *count);
const struct trace_psb_point *trace_reader_point_before(const struct trace_reader *r,
							unsigned int vcpu, uint64_t offset);

/*
 * Version 3 only. All places are relative to the part of the stream in this file. The part begins
 * at trace_reader_cut()->offset of the whole stream. Returns NULL if it begins at 0.
 */
const struct trace_cut *trace_reader_cut(const struct trace_reader *r, unsigned int vcpu);
/* Return the origin, or NULL if the file has none. */
const struct trace_origin *trace_reader_origin(const struct trace_reader *r);
/* Set the processor that wrote the packets, and override the file: see trace_origin_cpu(). */
void trace_reader_set_cpu(struct trace_reader *r, const struct trace_cpu *cpu);
/* Return the processor that trace_reader_set_cpu() set, or NULL. */
const struct trace_cpu *trace_reader_cpu(const struct trace_reader *r);
/* The result is in the order of the place in the stream. */
const struct trace_switch *trace_reader_switches(const struct trace_reader *r, unsigned int vcpu,
						 size_t *count);
/*
 * Return the places where a vCPU enters an epoch. trace_reader_code() includes code that is bound
 * to epochs.
 */
const struct trace_epoch *trace_reader_epochs(const struct trace_reader *r, unsigned int vcpu,
					      size_t *count);
/* Return the counts of vpt refine for a vCPU, or NULL if the file is as it was recorded. */
const struct trace_refined *trace_reader_refined(const struct trace_reader *r, unsigned int vcpu);

/* The recorded inputs of all vCPUs, in order. @bytes has @head->len bytes. */
struct trace_reader_input {
	unsigned int vcpu;
	const struct trace_recorded *head;
	const uint8_t *bytes;
};

const struct trace_reader_input *trace_reader_inputs(const struct trace_reader *r, size_t *count);

/* Return the options of the run, or NULL. *text has @len bytes, as the struct describes. */
const struct trace_run_options *trace_reader_options(const struct trace_reader *r,
						     const char **text);

/* A mark, in the order of the place in the stream. @text has @mark.len bytes and no NUL. */
struct trace_reader_mark {
	struct trace_user_mark mark;
	const char *text;
};

const struct trace_reader_mark *trace_reader_marks(const struct trace_reader *r, unsigned int vcpu,
						   size_t *count);

/* Return the tasks of a vCPU, in the order of the place in the stream. */
const struct trace_task *trace_reader_tasks(const struct trace_reader *r, unsigned int vcpu,
					    size_t *count);

/* Return the NAMED entries of all vCPUs, in the order of the file. The last one of a task is valid. */
const struct trace_task *trace_reader_names(const struct trace_reader *r, size_t *count);

/* A file outside the trace file. @name has @ref->name_len bytes without NUL. */
struct trace_reader_ref {
	unsigned int vcpu;
	const struct trace_file_ref *ref;
	const char *name;
};

const struct trace_reader_ref *trace_reader_refs(const struct trace_reader *r, size_t *count);

/* How execution would reach the next instruction. */
enum trace_came {
	TRACE_CAME_BY_BRANCH, /* by a branch or an event, or it is not known */
	TRACE_CAME_AFTER,     /* by falling through, if it is at `from` */
	TRACE_CAME_FROM,      /* by falling through, if it is next to the instruction at `from` */
};

/*
 * Walks the oracle's records of a vCPU, from ORACLE and RUN blocks. Zero-initialise; a copy can
 * walk ahead.
 */
struct trace_oracle_cursor {
	size_t block;
	size_t record; /* index of the record or word */

	const struct trace_stretch *stretch;
	unsigned int insn, insns; /* index of the next instruction of the stretch, and number of
	                           * retired ones */
	bool soft_int;		  /* the last of them was a taken INT n */
	uint64_t ip;		  /* address of the next instruction */
	enum trace_came came;
	uint64_t from;
	struct trace_oracle_record made;
};

/* Return the next record, NULL at the end. It is valid until the next call with this cursor. */
const struct trace_oracle_record *trace_reader_oracle(const struct trace_reader *r,
						      unsigned int vcpu,
						      struct trace_oracle_cursor *cursor);

/* The next piece of a block: records, or words and all stretches by id. */
struct trace_oracle_rest {
	const struct trace_oracle_record *record; /* NULL if the piece has words */
	const uint32_t *word;
	size_t n;				    /* number of records or words */
	const struct trace_stretch *const *stretch; /* entries are NULL for unused ids */
	size_t stretches;
};

/*
 * Return how many words at the start of @words, at most @n, equal @word. A REP has thousands of
 * iterations.
 */
size_t trace_words_same(const uint32_t *words, size_t n, uint32_t word);

/*
 * Get the rest of the cursor's block. Returns false if the cursor is within a stretch, or at the
 * end of the block.
 */
bool trace_reader_oracle_rest(const struct trace_reader *r, unsigned int vcpu,
			      const struct trace_oracle_cursor *cursor,
			      struct trace_oracle_rest *rest);
/* Advance a cursor over @n records, the last of which is an INSN at @ip. */
void trace_oracle_cursor_pass_records(struct trace_oracle_cursor *cursor, size_t n, uint64_t ip);
/*
 * Advance a cursor over @n words of the rest. @stretch is the last of them with a retired
 * instruction. The cursor's next instruction is number @insn of @stretch, at @ip. The first @insns
 * instructions of @stretch retire, and none of them is an INT n.
 */
void trace_oracle_cursor_pass(struct trace_oracle_cursor *cursor, size_t n,
			      const struct trace_stretch *stretch, unsigned int insn,
			      unsigned int insns, uint64_t ip);

uint64_t trace_reader_oracle_count(const struct trace_reader *r, unsigned int vcpu);

#endif /* VMM_TRACE_READER_H */
