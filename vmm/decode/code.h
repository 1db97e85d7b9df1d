/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that one vCPU ran: pages by address space, each in the version of the current position.
 * Pages that are not in the file come from the reader's source of code, if it has one.
 */
#ifndef VMM_DECODE_CODE_H
#define VMM_DECODE_CODE_H

#include "trace/reader.h"

struct decode_code_store;

#define DECODE_CR3_UNKNOWN UINT64_MAX

/* Open the store. The reader must outlive it. Returns 0 or -errno. */
int decode_code_open(const struct trace_reader *reader, unsigned int vcpu,
		     struct decode_code_store **store);
void decode_code_close(struct decode_code_store *store);

/*
 * Follow a file that grows. Call decode_code_grow() once, before any other use. It returns 0 or
 * -ENOMEM. decode_code_more() adds the code that the reader has read since. @at is the position up
 * to which the caller has used the code. Returns 0, -ENOMEM, or -ESTALE if an earlier answer of the
 * store would have been another one. After an error the store can only be closed.
 */
int decode_code_grow(struct decode_code_store *store, const struct trace_reader *reader,
		     unsigned int vcpu);
int decode_code_more(struct decode_code_store *store, const struct trace_reader *reader,
		     unsigned int vcpu, uint64_t at);

/* Note that the instruction at @ip could not be read, so that a page for it would come too late. */
void decode_code_missed(const struct decode_code_store *store, uint64_t space, uint64_t ip);

/*
 * Positions are those of CODE and MAP blocks: values of the instruction counter, or offsets in the
 * stream if decode_code_by_offset() returns true.
 */
bool decode_code_by_offset(const struct decode_code_store *store);

/* Return the position at which a page next changes, or UINT64_MAX. */
uint64_t decode_code_next_change(const struct decode_code_store *store);

/* Return the position of the first change behind a position, or UINT64_MAX. */
uint64_t decode_code_change_behind(const struct decode_code_store *store, uint64_t at);

/*
 * Return the number of changes in the whole trace, and a change. Changes are in the order of their
 * positions. @place is a hint: see struct trace_code.
 */
struct decode_code_version {
	uint64_t from, place;
};

size_t decode_code_changes(const struct decode_code_store *store);
struct decode_code_version decode_code_change_at(const struct decode_code_store *store, size_t i);

/* Return the position of the last change that was applied, or 0. */
uint64_t decode_code_last_change(const struct decode_code_store *store);

/* Apply the versions up to position @to. If positions are offsets, also take back those behind it. */
void decode_code_advance(struct decode_code_store *store, uint64_t to);

/*
 * Do the same, and list the replaced pages in each space that has such a page.
 * Call decode_code_changed() until it returns false.
 */
struct decode_code_changes {
	size_t next, end; /* the range of versions */
	size_t sharer;	  /* the next of the spaces that share the page of a version */
	bool told;	  /* the version was listed for its own space */
};

struct decode_code_change {
	uint64_t space, vaddr;
	const uint8_t *bytes; /* the new content, TRACE_CODE_BYTES bytes */
};

struct decode_code_changes decode_code_advance_told(struct decode_code_store *store, uint64_t to);
bool decode_code_changed(const struct decode_code_store *store, struct decode_code_changes *changes,
			 struct decode_code_change *change);

/* Return the current TRACE_CODE_BYTES bytes of the page at @vaddr, or NULL if there is no code. */
const uint8_t *decode_code_page(const struct decode_code_store *store, uint64_t space,
				uint64_t vaddr);

/*
 * Returns the first page that was passed to this function and has the content of @bytes. A CODE
 * block belongs to one space, so a kernel's code is in the file once for each process.
 */
const uint8_t *decode_code_same(struct decode_code_store *store, const uint8_t *bytes);

/*
 * Return the address space that a CR3 selects, or DECODE_CR3_UNKNOWN if no code is known for it.
 * PIPs have CR3[51:5]. Pages are known by CR3[63:12] unless paging is PAE.
 */
uint64_t decode_code_space(const struct decode_code_store *store, uint64_t cr3);

/*
 * Return the address space of a PIP. @id is the result of decode_spaces_resolve(), or the CR3 of
 * the PIP. If the file has no code for it, the reader's source of code is asked with @key. Returns
 * DECODE_CR3_UNKNOWN if neither has code.
 */
uint64_t decode_code_space_by(const struct decode_code_store *store, uint64_t id,
			      const struct trace_source_key *key);

/*
 * Returns true if the flow leaves out execution in spaces without code. In that case the file has
 * no code at all. The source has only some spaces, such as those of a guest in a trace of its host.
 */
bool decode_code_leaves_out(const struct decode_code_store *store);

/*
 * Find the address space without a PIP: the only space that has code at `ip`. Returns
 * DECODE_CR3_UNKNOWN if there is none or more than one.
 */
uint64_t decode_code_guess(const struct decode_code_store *store, uint64_t ip);

/*
 * code_used.c: note in @uses what the store returns from now on. Several stores of a vCPU can have
 * the same @uses. @uses must outlive the store.
 */
struct decode_code_uses;
struct decode_code_uses *decode_code_uses_new(void);
void decode_code_uses_free(struct decode_code_uses *uses);
void decode_code_note_uses(struct decode_code_store *store, struct decode_code_uses *uses);

/* Return how many changes were applied, in the order of decode_code_change_at(). */
size_t decode_code_applied(const struct decode_code_store *store);

/*
 * List the entries of trace_reader_code() that a store needs for the answers in @uses. The answers
 * were given between @first and @last applied changes. Changes in this range and the nearest ones on
 * both sides are listed, too, because their positions matter. *list is from malloc(), ascending.
 * Returns 0 or -ENOMEM.
 */
int decode_code_list_used(const struct decode_code_store *store, const struct trace_reader *reader,
			  unsigned int vcpu, const struct decode_code_uses *uses, size_t first,
			  size_t last, size_t **list, size_t *n);

/* Select the space that decode_code_fetch() reads. */
void decode_code_select(struct decode_code_store *store, uint64_t space);
/* Copy code of the selected space, see decode_code_read(). */
size_t decode_code_fetch(struct decode_code_store *store, uint64_t ip, uint8_t *bytes, size_t len);

/* Copy the current code. Returns the number of available bytes, at most `len`. */
size_t decode_code_read(const struct decode_code_store *store, uint64_t space, uint64_t ip,
			uint8_t *bytes, size_t len);

#endif /* VMM_DECODE_CODE_H */
