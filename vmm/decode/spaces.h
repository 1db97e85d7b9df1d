/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces of a trace that spans a host and its guests, and the one that a PIP means.
 *
 * libipt knows an address space by the CR3 in a PIP. filter.h replaces that CR3 by an id that is
 * unique in the file. This file finds the space of an id.
 */
#ifndef VMM_DECODE_SPACES_H
#define VMM_DECODE_SPACES_H

#include "decode/code.h"
#include "trace/reader.h"

struct decode_spaces;

/*
 * 0 or -errno. *spaces is NULL where the file has no SPACE blocks: then a CR3 is what it
 * says. `code` is used now only, the reader must outlive the spaces.
 */
int decode_spaces_open(const struct trace_reader *reader, const struct decode_code_store *code,
		       struct decode_spaces **spaces);
void decode_spaces_close(struct decode_spaces *spaces);

/* The state at a PIP. */
struct decode_space_key {
	uint64_t cr3;
	uint64_t vmcs; /* current pointer, TRACE_SPACE_ANY_VMCS: not known, or none */
	bool non_root; /* PIP.NR */
};

/*
 * Returns the id of a space. Guests whose VMX operation is concealed have PIPs like a host's
 * (33.5.1). Such a PIP means a guest if there is code of one for it, and none of a host. A PIP
 * without a SPACE block gets a space of its own, without code.
 */
uint64_t decode_spaces_resolve(struct decode_spaces *spaces, const struct decode_space_key *key);

/* Returns the space of an id, or NULL. The space is valid as long as `spaces`. */
const struct trace_space *decode_spaces_find(const struct decode_spaces *spaces, uint64_t id);

/* Returns true if no SPACE block describes the space. */
bool decode_spaces_learned(const struct decode_spaces *spaces, const struct trace_space *space);

/* In flags, and in no file: it is neither a host's nor a guest's, for nobody tells. */
#define DECODE_SPACE_ALONE (1u << 31)

/*
 * Returns true if both describe one address space. Equal ids are not enough: each flow
 * numbers the spaces that it learns from the top.
 */
bool decode_space_is(const struct trace_space *a, const struct trace_space *b);

/* For people: "host: bash, pid 12", "VM 0 vCPU 1: cr3 0x1000"; "cr3 0x1000" if ALONE, after "guest: " if NON_ROOT. */
void decode_space_format(const struct trace_space *space, char *text, size_t size);

#endif /* VMM_DECODE_SPACES_H */
