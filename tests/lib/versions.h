/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps the code of a trace file into a code store of vmm/libdecode, with all versions of each page.
 */
#ifndef TESTS_LIB_VERSIONS_H
#define TESTS_LIB_VERSIONS_H

#include "libdecode/code.h"
#include "trace/reader.h"

struct version {
	uint64_t cr3, vaddr, insns, key;
	size_t order;
	const uint8_t *bytes;
};

struct versions {
	struct dec_code *code;
	struct version *all, *later; /* sorted by page; later versions, sorted by counter */
	size_t nall, nlater, next;
};

/* Map the first version of each page of vCPU 0. @reader and @code must outlive @v. */
void versions_open(struct versions *v, const struct trace_reader *reader, struct dec_code *code);
void versions_close(struct versions *v);

/* Map the versions up to this counter. Returns the counter of the next version, or UINT64_MAX. */
uint64_t versions_advance(struct versions *v, uint64_t insns);

#define NO_SPACE UINT64_MAX

/*
 * versions_space() returns the address space of a CR3. PIPs carry CR3[51:5], but pages are
 * identified by 63:12 unless paging is PAE. versions_guess() returns the only space with code at
 * @ip. Both return NO_SPACE if there is none.
 */
uint64_t versions_space(const struct versions *v, uint64_t cr3);
uint64_t versions_guess(const struct versions *v, uint64_t ip);

#endif /* TESTS_LIB_VERSIONS_H */
