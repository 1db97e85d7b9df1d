/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that one vCPU ran: pages by address space, each in the version that
 * counts at the point that has been reached. Pages that the file does not have come from the
 * reader's source of code, if it has one.
 */
#ifndef VMM_DECODE_CODE_H
#define VMM_DECODE_CODE_H

#include "trace/reader.h"

struct decode_code_store;

#define DECODE_CR3_UNKNOWN UINT64_MAX

/* 0 or -errno. The reader outlives the store. */
int decode_code_open(const struct trace_reader *reader, unsigned int vcpu,
		     struct decode_code_store **store);
void decode_code_close(struct decode_code_store *store);

/* The counter at which a page next changes, UINT64_MAX: never again. */
uint64_t decode_code_next_change(const struct decode_code_store *store);

/* Let the versions up to `insns` take effect. */
void decode_code_advance(struct decode_code_store *store, uint64_t insns);

/*
 * Let the versions up to @insns count, and list the pages that they replace, in each space that has
 * such a page. Call decode_code_changed() until it returns false.
 */
struct decode_code_changes {
	size_t next, end; /* versions */
	size_t sharer;	  /* of the spaces that share the page of a version */
	bool told;	  /* the version was listed for its own space */
};

struct decode_code_change {
	uint64_t space, vaddr;
	const uint8_t *bytes; /* the new content, TRACE_CODE_BYTES bytes */
};

struct decode_code_changes decode_code_advance_told(struct decode_code_store *store,
						    uint64_t insns);
bool decode_code_changed(const struct decode_code_store *store, struct decode_code_changes *changes,
			 struct decode_code_change *change);

/* The page at @vaddr, TRACE_CODE_BYTES bytes as they are now; NULL: there is no code. */
const uint8_t *decode_code_page(const struct decode_code_store *store, uint64_t space,
				uint64_t vaddr);

/*
 * Returns the first page that was given to this function and has the content of @bytes. A CODE
 * block is of one space, so a kernel's code is in the file once for each process.
 */
const uint8_t *decode_code_same(struct decode_code_store *store, const uint8_t *bytes);

/*
 * The address space that a CR3 names. PIPs carry CR3[51:5], and pages are known
 * by 63:12 unless paging is PAE. DECODE_CR3_UNKNOWN: no code is known for it.
 */
uint64_t decode_code_space(const struct decode_code_store *store, uint64_t cr3);

/*
 * The address space of a PIP: @id is what decode_spaces_resolve() returned, or its CR3. If the file
 * has no code for it, the reader's source of code decides by @key whether it has some. Returns
 * DECODE_CR3_UNKNOWN if nobody has.
 */
uint64_t decode_code_space_by(const struct decode_code_store *store, uint64_t id,
			      const struct trace_source_key *key);

/*
 * Returns true if the flow leaves out execution in spaces without code. The file has no code at all
 * then. The source has only some spaces, such as those of a guest in a trace of its host.
 */
bool decode_code_leaves_out(const struct decode_code_store *store);

/*
 * The address space, without a PIP to tell: the only one that has code at `ip`.
 * DECODE_CR3_UNKNOWN if there is none or more than one.
 */
uint64_t decode_code_guess(const struct decode_code_store *store, uint64_t ip);

/* Select the space that decode_code_fetch() reads. */
void decode_code_select(struct decode_code_store *store, uint64_t space);
/* Copy code of the selected space, see decode_code_read(). */
size_t decode_code_fetch(struct decode_code_store *store, uint64_t ip, uint8_t *bytes, size_t len);

/* Copy code as it is now. Returns the bytes there are, up to `len`. */
size_t decode_code_read(const struct decode_code_store *store, uint64_t space, uint64_t ip,
			uint8_t *bytes, size_t len);

#endif /* VMM_DECODE_CODE_H */
