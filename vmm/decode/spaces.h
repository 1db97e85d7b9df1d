/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address spaces of a trace that spans a host and its guests, and the space of a PIP.
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
 * Open the spaces of a file. *spaces is NULL if the file has no SPACE blocks. In that case a CR3
 * identifies a space. `code` is only used during the call. The reader must outlive the spaces.
 * Returns 0 or -errno.
 */
int decode_spaces_open(const struct trace_reader *reader, const struct decode_code_store *code,
		       struct decode_spaces **spaces);
void decode_spaces_close(struct decode_spaces *spaces);

/* The state at a PIP. */
struct decode_space_key {
	uint64_t cr3;
	uint64_t vmcs; /* the current VMCS pointer; TRACE_SPACE_ANY_VMCS if none or not known */
	bool non_root; /* PIP.NR */
};

/*
 * Returns the id of a space. Guests whose VMX operation is concealed have PIPs like a host's
 * (33.5.1). Such a PIP selects a guest if the file has code of a guest for it, and none of a host.
 * A PIP without a SPACE block gets a space of its own, without code.
 */
uint64_t decode_spaces_resolve(struct decode_spaces *spaces, const struct decode_space_key *key);

/* Returns the space of an id, or NULL. The space is valid as long as `spaces`. */
const struct trace_space *decode_spaces_find(const struct decode_spaces *spaces, uint64_t id);

/* Returns true if no SPACE block describes the space. */
bool decode_spaces_learned(const struct decode_spaces *spaces, const struct trace_space *space);

/* Returns the number of spaces that no SPACE block describes. @spaces may be NULL. */
size_t decode_spaces_count_learned(const struct decode_spaces *spaces);

/*
 * A bit of flags that no file has: the space is neither a host's nor a guest's, because the trace
 * does not identify its side.
 */
#define DECODE_SPACE_ALONE (1u << 31)
/* A flag of a space that is a task (decode/tasks.h). Its `vcpu` is the number of the thread. */
#define DECODE_SPACE_TASK (1u << 30)

/*
 * Returns true if both describe one address space. Equal ids are not enough: each flow
 * numbers the spaces that it learns from the top.
 */
bool decode_space_is(const struct trace_space *a, const struct trace_space *b);

/*
 * Format a space for people: "host: bash, pid 12" or "VM 0 vCPU 1: cr3 0x1000". With ALONE the text
 * is "cr3 0x1000", after "guest: " with NON_ROOT, or "bash, pid 12" if the space has a name.
 */
void decode_space_format(const struct trace_space *space, char *text, size_t size);

#endif /* VMM_DECODE_SPACES_H */
