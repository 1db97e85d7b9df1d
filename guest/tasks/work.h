/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces of work that check their own result. Some payloads test them, others interrupt them, and
 * kernelmix combines them. They restore the machine's state, run at any CPL, and tolerate
 * interrupts.
 */
#ifndef GUEST_TASKS_WORK_H
#define GUEST_TASKS_WORK_H

#include "lib/rand.h"

/*
 * Do the work once. Random numbers determine sizes and values. Returns true if the result is right.
 */
typedef bool work_fn(struct rng *rng);

/*
 * The body of a payload: do the work @standard times, or as often as the first --arg says, while
 * traced. The random numbers are from --seed. @what names the results in the report.
 */
void work_payload(work_fn *fn, uint64_t standard, const char *what);

/* Simple and mutual recursion, sometimes far deeper than 64 levels. */
work_fn work_recursion;
/* Indirect calls by retpoline, and other returns without a call. */
work_fn work_retpoline;
/* Jumps out of deep calls. */
work_fn work_unwind;
/* Expressions that are compiled into a buffer, which is overwritten repeatedly. */
work_fn work_jit;
/* Quicksort. */
work_fn work_sort;
/* SHA-256 of known messages. */
work_fn work_sha256;
/* Carry chains, strings and divisions, which a faulty interrupt would disturb. */
work_fn work_digest;

/* Returns the digest of @seed, which depends on nothing else. Takes about 1000 instructions. */
uint64_t digest(uint64_t seed);

/*
 * Returns true if @frame interrupts digest() at its REP MOVSB. *consistent is then true if the
 * registers are possible ones before or during the copy.
 */
struct trap_frame;
bool digest_in_rep(const struct trap_frame *frame, bool *consistent);

/* All kinds of vector code that the processor supports. Requires simd_init(). */
work_fn work_simd;
/*
 * Parts of the vector code with a wrong result, as bits. simd_wrong() does the same work and
 * returns them.
 */
enum simd_wrong {
	SIMD_WRONG_COPY = 1 << 0,
	SIMD_WRONG_DOT = 1 << 1,
	SIMD_WRONG_SEARCH = 1 << 2,
	SIMD_WRONG_SHUFFLE = 1 << 3,
	SIMD_WRONG_SHA = 1 << 4,
};
unsigned int simd_wrong(struct rng *rng);

void sha256(const void *data, size_t len, uint8_t hash[32]);
extern const uint32_t sha256_k[64];

#endif /* GUEST_TASKS_WORK_H */
