/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a .vpt file. Its content is not trusted. Every length is checked before it is used, and
 * each result is a copy, which does not change with the file. The oracle's records and words are
 * read one by one as they are walked, and may differ from those that were checked. A bad block is
 * left out, and reading resumes at the next good one; trace_reader_extent() has all such places.
 * Missing trace is a hole in its stream, between a session that ends with TRACE_END_LOST and one that
 * begins behind it.
 *
 * All results belong to the reader and live as long as it does.
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
	uint64_t lost;	   /* bytes of all damage */
	const char *why;   /* what is wrong with the first, NULL: nothing is */
	bool cut;    /* the only damage is that the file ends early, as if its writer was killed */
	bool closed; /* the writer closed the file */
	size_t blocks;			   /* as they stand in the file */
	size_t inside;			   /* blocks that were in PACKED blocks */
	size_t unknown;			   /* blocks of types that this reader does not know */
	const struct trace_damage *damage; /* in the order of the file */
	size_t damages;
};

/* A TriggerEn period. `end` is NULL when the file ends before it does. */
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
	size_t content;	      /* which of trace_reader_contents(), from 1 on; 0: a CODE block */
};

enum trace_reader_how {
	TRACE_READER_PREFIX = 1 << 0, /* read nothing behind the first damage */
	/* The records of what ran can be most of the file. */
	TRACE_READER_NO_ORACLE = 1 << 1,    /* leave it out */
	TRACE_READER_COUNT_ORACLE = 1 << 2, /* check and count it: there is nothing to walk */
	/* The bytes of pages of code may change with the file: no byte may be read twice. */
	TRACE_READER_CODE_IN_PLACE = 1 << 3,
};

/*
 * Open a file, or standard input for "-". Returns 0 and *reader, or -errno with one line in `why`
 * that says what is wrong; -EINVAL is for the content. The oracle is read up to the first damage
 * only. @how: enum trace_reader_how; trace_reader_open() has 0.
 */
int trace_reader_open_as(const char *path, unsigned int how, struct trace_reader **reader,
			 char *why, size_t size);
int trace_reader_open(const char *path, struct trace_reader **reader, char *why, size_t size);
void trace_reader_close(struct trace_reader *r);

/* Called at each event while a vCPU's stream is decoded, with the offset in it. */
struct trace_watch {
	void (*progress)(void *context, unsigned int vcpu, uint64_t offset);
	void *context;
};

/* Set who is called, of all decoders of @r; NULL: nobody. @watch outlives its use. */
void trace_reader_watch(struct trace_reader *r, const struct trace_watch *watch);
/* For decoders: tell @r's watch, if there is one. */
void trace_reader_progress(const struct trace_reader *r, unsigned int vcpu, uint64_t offset);

/*
 * Set where decoders find code that the file does not have; NULL: nowhere. @source outlives its
 * use by any decoder of @r.
 */
void trace_reader_set_source(struct trace_reader *r, const struct trace_code_source *source);
const struct trace_code_source *trace_reader_source(const struct trace_reader *r);

/*
 * Add a page of code as if the file had it; @bytes, TRACE_CODE_BYTES of them, outlive the reader.
 * Lists that trace_reader_code() returned before are stale. 0 or -ENOMEM.
 */
int trace_reader_add_code(struct trace_reader *r, unsigned int vcpu,
			  const struct trace_code_page *page, const uint8_t *bytes);

const struct trace_extent *trace_reader_extent(const struct trace_reader *r);
/*
 * Was the file made shorter, or is it not readable, since it was opened? Records of what ran,
 * and code in place, can have been zeros.
 */
bool trace_reader_torn(const struct trace_reader *r);
/* The header's version: TRACE_FILE_OLD, TRACE_FILE_OLD_ATOM or TRACE_FILE_VERSION. */
unsigned int trace_reader_version(const struct trace_reader *r);
const struct trace_file_info *trace_reader_info(const struct trace_reader *r);
/* NULL if the file was not closed. */
const struct trace_file_end *trace_reader_end(const struct trace_reader *r);
/* How the guest stopped. NULL: the file has no STOP block, as those of 0.1. */
const struct trace_post_mortem *trace_reader_stop(const struct trace_reader *r);

const struct trace_ram_range *trace_reader_ram(const struct trace_reader *r, size_t *count);
const struct trace_elf_file *trace_reader_elf(const struct trace_reader *r, size_t *count);

/* The contents of PAGE blocks, TRACE_CODE_BYTES each, in the order of the file. */
const uint8_t *const *trace_reader_contents(const struct trace_reader *r, size_t *count);

/* These take a vCPU below info->vcpus. Order is that of the file. */
const struct trace_code *trace_reader_code(const struct trace_reader *r, unsigned int vcpu,
					   size_t *count);
const struct trace_period *trace_reader_sessions(const struct trace_reader *r, unsigned int vcpu,
						 size_t *count);
/* Sorted by their counter. */
const struct trace_cr3_switch *trace_reader_cr3(const struct trace_reader *r, unsigned int vcpu,
						size_t *count);

/* Of the whole file; 0: an address space is what a CR3 says. */
const struct trace_space *trace_reader_spaces(const struct trace_reader *r, size_t *count);
/* In the order of their place in the stream. */
const struct trace_vmcs *trace_reader_vmcs(const struct trace_reader *r, unsigned int vcpu,
					   size_t *count);

/* The whole packet stream of a vCPU as one piece. What is missing is 0. Never NULL. */
const uint8_t *trace_reader_stream(struct trace_reader *r, unsigned int vcpu, size_t *len);

uint64_t trace_reader_stream_bytes(const struct trace_reader *r, unsigned int vcpu);
/* How many of them are missing in the file. */
uint64_t trace_reader_stream_missing(const struct trace_reader *r, unsigned int vcpu);

/* Of a byte in the stream: where the guest's buffer held it, ~0: nowhere. */
uint64_t trace_reader_gpa(const struct trace_reader *r, unsigned int vcpu, uint64_t offset);

/*
 * PSBs and the state at each, as the writer left them. An old file has the places alone. The
 * last one that is not behind @offset, and at whose place a PSB begins; NULL: there is none.
 */
const struct trace_psb_point *trace_reader_points(const struct trace_reader *r, unsigned int vcpu,
						  size_t *count);
const struct trace_psb_point *trace_reader_point_before(const struct trace_reader *r,
							unsigned int vcpu, uint64_t offset);

/*
 * From version 3 on. All places are relative to the part of the stream that the file has: the
 * part begins at trace_reader_cut()->offset of the whole stream. NULL: it begins at 0.
 */
const struct trace_cut *trace_reader_cut(const struct trace_reader *r, unsigned int vcpu);
/* NULL: the file does not say. */
const struct trace_origin *trace_reader_origin(const struct trace_reader *r);
/* This processor wrote the packets, whatever the file says of it: see trace_origin_cpu(). */
void trace_reader_set_cpu(struct trace_reader *r, const struct trace_cpu *cpu);
const struct trace_cpu *trace_reader_cpu(const struct trace_reader *r); /* NULL: it was not set */
/* In the order of their place in the stream. */
const struct trace_switch *trace_reader_switches(const struct trace_reader *r, unsigned int vcpu,
						 size_t *count);
/* Where a vCPU enters which epoch. Code that is bound to epochs is in trace_reader_code() too. */
const struct trace_epoch *trace_reader_epochs(const struct trace_reader *r, unsigned int vcpu,
					      size_t *count);

/* The recorded inputs of all vCPUs, in their order. @bytes are @head->len. */
struct trace_reader_input {
	unsigned int vcpu;
	const struct trace_recorded *head;
	const uint8_t *bytes;
};

const struct trace_reader_input *trace_reader_inputs(const struct trace_reader *r, size_t *count);

/* In the order of their place in the stream. @text has @mark.len bytes and no NUL. */
struct trace_reader_mark {
	struct trace_user_mark mark;
	const char *text;
};

const struct trace_reader_mark *trace_reader_marks(const struct trace_reader *r, unsigned int vcpu,
						   size_t *count);

/* Files outside. @name has @ref->name_len bytes, none of which is NUL. */
struct trace_reader_ref {
	unsigned int vcpu;
	const struct trace_file_ref *ref;
	const char *name;
};

const struct trace_reader_ref *trace_reader_refs(const struct trace_reader *r, size_t *count);

/* How an instruction that comes next would be come to. */
enum trace_came {
	TRACE_CAME_BY_BRANCH, /* or by an event, or it is not known */
	TRACE_CAME_AFTER,     /* if it is at `from`: by falling through */
	TRACE_CAME_FROM,      /* by falling through if it is next to the one at `from` */
};

/*
 * Walks the oracle's records of a vCPU, of ORACLE and of RUN blocks. Zero-initialise;
 * copy it to look ahead.
 */
struct trace_oracle_cursor {
	size_t block;
	size_t record; /* or word of it */

	const struct trace_stretch *stretch;
	unsigned int insn, insns; /* of the stretch: the next, and how many retired */
	bool soft_int;		  /* the last of them was a taken INT n */
	uint64_t ip;		  /* of the next */
	enum trace_came came;
	uint64_t from;
	struct trace_oracle_record made;
};

/* The next record, NULL at the end. It lasts until the next call with this cursor. */
const struct trace_oracle_record *trace_reader_oracle(const struct trace_reader *r,
						      unsigned int vcpu,
						      struct trace_oracle_cursor *cursor);

/* The next piece of a block: records, or words and all stretches by their id. */
struct trace_oracle_rest {
	const struct trace_oracle_record *record; /* NULL: words */
	const uint32_t *word;
	size_t n;				    /* of records or words */
	const struct trace_stretch *const *stretch; /* NULL: there is none with this id */
	size_t stretches;
};

/* How many of @n words are @word before another one comes: a REP has thousands of iterations. */
size_t trace_words_same(const uint32_t *words, size_t n, uint32_t word);

/* Returns false if a cursor is within a stretch, or at the end of a block. */
bool trace_reader_oracle_rest(const struct trace_reader *r, unsigned int vcpu,
			      const struct trace_oracle_cursor *cursor,
			      struct trace_oracle_rest *rest);
/* Move a cursor over @n records, the last of which is an INSN at @ip. */
void trace_oracle_cursor_pass_records(struct trace_oracle_cursor *cursor, size_t n, uint64_t ip);
/*
 * Move a cursor over @n of these words and into @stretch, the last of them that has an instruction that
 * retired. Its next instruction is number @insn, at @ip, and the first @insns of it retire. None of
 * them is an INT n.
 */
void trace_oracle_cursor_pass(struct trace_oracle_cursor *cursor, size_t n,
			      const struct trace_stretch *stretch, unsigned int insn,
			      unsigned int insns, uint64_t ip);

uint64_t trace_reader_oracle_count(const struct trace_reader *r, unsigned int vcpu);

#endif /* VMM_TRACE_READER_H */
