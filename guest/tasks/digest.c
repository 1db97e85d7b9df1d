// SPDX-License-Identifier: GPL-2.0-or-later
/* Work that computes digests, also with a REP that can be interrupted. */
#include "work.h"

#include "lib/guest.h"
#include "lib/idt.h"

#define BYTES 96u

static uint8_t source[BYTES], copy[BYTES];
extern const uint8_t digest_rep[];

bool digest_in_rep(const struct trap_frame *frame, bool *consistent)
{
	if (frame->rip != (uintptr_t)digest_rep)
		return false;
	*consistent = frame->rdi + frame->rcx == (uintptr_t)copy + BYTES &&
		      frame->rsi + frame->rcx == (uintptr_t)source + BYTES;
	return true;
}

/* noclone, because the label below must be unique. */
static noinline __attribute__((noclone)) void copy_bytes(void)
{
	uint8_t *to = copy;
	const uint8_t *from = source;
	uint64_t n = BYTES;

	__asm__ volatile(".globl digest_rep\n"
			 "digest_rep: rep movsb"
			 : "+D"(to), "+S"(from), "+c"(n)
			 :
			 : "memory");
}

/* Add four words to four words. The carry stays in the flags across the loop's branch. */
static noinline uint64_t carry_chain(uint64_t *a, const uint64_t *b)
{
	uint64_t n = 4, at = 0, word;

	__asm__ volatile("clc\n"
			 "1: mov (%[b],%[at],8), %[word]\n"
			 "adc %[word], (%[a],%[at],8)\n"
			 "lea 1(%[at]), %[at]\n"
			 "dec %[n]\n"
			 "jnz 1b\n"
			 "sbb %[word], %[word]\n"
			 : [at] "+r"(at), [n] "+r"(n), [word] "=&r"(word)
			 : [a] "r"(a), [b] "r"(b)
			 : "memory", "cc");
	return word;
}

static noinline uint64_t find(uint8_t value)
{
	const uint8_t *at = copy;
	uint64_t left = BYTES;

	__asm__ volatile("repne scasb" : "+D"(at), "+c"(left) : "a"(value) : "memory", "cc");
	return left;
}

static noinline uint64_t divide(uint64_t high, uint64_t low, uint64_t by)
{
	uint64_t rest = high % by;

	__asm__ volatile("divq %2" : "+a"(low), "+d"(rest) : "r"(by) : "cc");
	return low ^ rest;
}

uint64_t digest(uint64_t seed)
{
	uint64_t a[4] = {seed, ~seed, seed << 13, seed >> 7}, b[4], sum = seed;
	unsigned int i;

	for (i = 0; i < 4; i++)
		b[i] = a[i] * 0x9e3779b97f4a7c15ull + i;
	for (i = 0; i < BYTES; i++)
		source[i] = (uint8_t)(seed >> (i & 31)) ^ (uint8_t)(i * 37);
	copy_bytes();
	for (i = 0; i < 8; i++) {
		sum = (sum << 7 | sum >> 57) ^ carry_chain(a, b) ^ a[i & 3];
		sum += find((uint8_t)(sum >> 20)) + copy[i * 11];
		sum ^= divide(sum, a[i & 3], (b[i & 3] >> 3) | 1);
	}
	return sum;
}

bool work_digest(struct rng *rng)
{
	uint64_t seed = rng_next(rng);

	return digest(seed) == digest(seed);
}
