/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decode many short traces of Intel PT of the same code into a fuzzer's map of edges. Decoded code
 * stays from one trace to the next.
 *
 * A trace begins with a PSB, and its instruction counter with 0. Its code is that of the trace before
 * it, as far as decode_edges_page() does not change it.
 */
#ifndef VMM_DECODE_PT_EDGES_H
#define VMM_DECODE_PT_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a map, as vptd_counts_bitmap() fills it. */
#define DECODE_EDGES_MAP 65536u

struct decode_edges;

/* The registers of the trace unit that decoding depends on. */
struct decode_edges_config {
	uint64_t ctl;	    /* IA32_RTIT_CTL */
	uint64_t cr3_match; /* IA32_RTIT_CR3_MATCH */
	uint64_t cr3;	    /* the address space at the begin of each trace */
};

/* The result of a trace. */
struct decode_edges_sum {
	uint64_t insns;	 /* decoded instructions */
	uint64_t bytes;	 /* bytes of packets */
	uint32_t errors; /* places that cannot be decoded: edges are missing */
	uint64_t error_ip;
	const char *error; /* the reason of the first error, or NULL */
};

/* Returns NULL if there is no memory. */
struct decode_edges *decode_edges_new(const struct decode_edges_config *config);
void decode_edges_free(struct decode_edges *d);

/*
 * Returns true if the guest has changed its code so often that the decoder needs much memory. The
 * caller then makes a new one.
 */
bool decode_edges_is_full(const struct decode_edges *d);

/*
 * Map the page @gpa of RAM, with these 4096 bytes, at @vaddr in the space of @cr3. This holds once
 * @insns instructions of the trace have run. Numbers ascend within a trace. Returns 0 or -ENOMEM.
 */
int decode_edges_page(struct decode_edges *d, uint64_t insns, uint64_t cr3, uint64_t vaddr,
		      uint64_t gpa, const uint8_t *bytes);
/* Append bytes of packets to the trace. Returns 0 or -ENOMEM. */
int decode_edges_bytes(struct decode_edges *d, const void *bytes, size_t len);

/*
 * Decode the trace, add its edges to @map, and begin the next one. A byte of @map saturates at 255.
 * Returns 0 or -ENOMEM, after which edges may be missing.
 */
int decode_edges_end(struct decode_edges *d, uint8_t *map, struct decode_edges_sum *sum);

#endif /* VMM_DECODE_PT_EDGES_H */
