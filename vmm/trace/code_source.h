/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source of code beside the trace file, for pages that the file does not have. */
#ifndef VMM_TRACE_CODE_SOURCE_H
#define VMM_TRACE_CODE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

/* The address space, as given by a PIP and the VMCS packet before it. */
struct trace_source_key {
	uint64_t cr3;  /* bits 51:5; others are ignored */
	uint64_t vmcs; /* current VMCS pointer; TRACE_SPACE_ANY_VMCS if it is not known, or if
	                * there is none */
	bool non_root; /* PIP.NR */
};

/* Returned by space(): the source has no code of such a space. */
#define TRACE_SOURCE_NONE UINT64_MAX

struct trace_code_source {
	/*
	 * Return the number of an address space. Bits 51:5 of the number are CR3[51:5], and bits
	 * 4:0 are 0. Bits 63:52 are 0 outside VMX non-root operation. The same key has the same
	 * number.
	 */
	uint64_t (*space)(void *context, const struct trace_source_key *key);
	/* Return the number of the space for @ip if CR3 is not known, or TRACE_SOURCE_NONE. */
	uint64_t (*guess)(void *context, uint64_t ip);
	/*
	 * Return the page at @vaddr (4 KiB aligned) of a space, or NULL if there is no code. The
	 * 4096 bytes are constant as long as the source exists, at one address for each physical
	 * page.
	 */
	const uint8_t *(*page)(void *context, uint64_t space, uint64_t vaddr);
	void *context;
};

#endif /* VMM_TRACE_CODE_SOURCE_H */
