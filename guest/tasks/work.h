/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces of work that check their own result. Some payloads test them, others interrupt them, and
 * the mix consists of them. They restore the machine's state, and run at any CPL and with
 * interrupts.
 */
#ifndef GUEST_TASKS_WORK_H
#define GUEST_TASKS_WORK_H

#include "lib/rand.h"

/*
 * Do the work once; random numbers determine sizes and values. Returns true if the result is right.
 */
typedef bool work_fn(struct rng *rng);

/*
 * A payload that does this so many times, or as many as its first --arg says, traced,
 * with random numbers from --seed. `what` they are that must be right.
 */
void work_payload(work_fn *fn, uint64_t standard, const char *what);

/* Recursion, alone and mutual, at times far deeper than 64. */
work_fn work_recursion;
/* Indirect calls by retpoline, and other returns that were never called. */
work_fn work_retpoline;
/* Jumps out of deep calls. */
work_fn work_unwind;
/* Expressions compiled into a buffer that is written again and again. */
work_fn work_jit;
/* Quicksort. */
work_fn work_sort;
/* SHA-256 of known messages. */
work_fn work_sha256;
/* Carry chains, strings, divisions: whatever an interrupt could upset. */
work_fn work_digest;

/* The digest itself; the same `seed` gives the same. About 1000 instructions. */
uint64_t digest(uint64_t seed);

/*
 * Is this the address of digest()'s REP MOVSB? `frame`'s registers must then be those
 * of a copy in progress or not begun.
 */
struct trap_frame;
bool digest_in_rep(const struct trap_frame *frame, bool *consistent);

/* Vector code of all kinds there are; after simd_init(). */
work_fn work_simd;
/* The same, and says what is wrong. */
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
