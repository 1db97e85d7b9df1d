// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SSE, AVX, SHA and x87 code, checked against plain C. The vector types are GCC's own, since a
 * freestanding program cannot use the headers.
 */
#include "lib/simd.h"

#include "lib/guest.h"
#include "lib/mem.h"
#include "work.h"

#define BYTES 512u
#define LEN   64u /* elements of the arrays, a multiple of 16 */

typedef float f4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float f8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double d2 __attribute__((vector_size(16), aligned(8), may_alias));
typedef int16_t s8 __attribute__((vector_size(16), aligned(2), may_alias));
typedef int32_t i4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t i8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef long long q2 __attribute__((vector_size(16), aligned(1), may_alias));
typedef long long q2a __attribute__((vector_size(16), may_alias));
typedef long long q4 __attribute__((vector_size(32), aligned(1), may_alias));
typedef char b16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef char b32 __attribute__((vector_size(32), aligned(1), may_alias));

/* Copies. */

typedef void copy_fn(uint8_t *to, const uint8_t *from, size_t n);

static void copy_rep_b(uint8_t *to, const uint8_t *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void copy_rep_q(uint8_t *to, const uint8_t *from, size_t n)
{
	size_t words = n / 8, rest = n % 8;

	__asm__ volatile("rep movsq; mov %3, %2; rep movsb"
			 : "+D"(to), "+S"(from), "+c"(words)
			 : "r"(rest)
			 : "memory");
}

static void copy_rest(uint8_t *to, const uint8_t *from, size_t n)
{
	while (n--)
		*to++ = *from++;
}

TARGET("sse2") static void copy_sse(uint8_t *to, const uint8_t *from, size_t n)
{
	for (; n >= 16; n -= 16, to += 16, from += 16)
		*(q2 *)to = *(const q2 *)from;
	copy_rest(to, from, n);
}

/* Copy to aligned addresses, without use of the cache. */
TARGET("sse2") static void copy_stream(uint8_t *to, const uint8_t *from, size_t n)
{
	size_t head = (0 - (uintptr_t)to) & 15;

	copy_rest(to, from, head);
	to += head;
	from += head;
	for (n -= head; n >= 16; n -= 16, to += 16, from += 16)
		__builtin_ia32_movntdq((q2a *)(void *)to, *(const q2 *)from);
	__builtin_ia32_sfence();
	copy_rest(to, from, n);
}

TARGET("avx") static void copy_avx(uint8_t *to, const uint8_t *from, size_t n)
{
	for (; n >= 32; n -= 32, to += 32, from += 32)
		*(q4 *)to = *(const q4 *)from;
	__builtin_ia32_vzeroupper();
	copy_rest(to, from, n);
}

static const struct {
	copy_fn *fn;
	unsigned int need;
} copies[] = {
	{copy_rep_b, 0},	  {copy_rep_q, 0},	{copy_sse, SIMD_SSE2},
	{copy_stream, SIMD_SSE2}, {copy_avx, SIMD_AVX},
};

static uint8_t from_bytes[BYTES + 64], to_bytes[BYTES + 128];

static bool copied(const uint8_t *to, const uint8_t *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (to[i] != from[i])
			return false;
	return to[-1] == 0xc5 && to[n] == 0xc5;
}

static noinline bool copy(struct rng *rng)
{
	uint32_t n = 32 + rng_below(rng, BYTES - 32);
	uint8_t *from = from_bytes + rng_below(rng, 64), *to = to_bytes + 1 + rng_below(rng, 64);
	unsigned int i = rng_below(rng, ARRAY_SIZE(copies));

	if (copies[i].need & ~simd_have)
		return true;
	memset(to_bytes, 0xc5, sizeof(to_bytes));
	copies[i].fn(to, from, n);
	return copied(to, from, n);
}

/* Dot products of small integers, which are exact in every format and order. */

static int32_t a_int[LEN], b_int[LEN];
static int16_t a_short[LEN], b_short[LEN];
static float a_float[LEN], b_float[LEN];
static double a_double[LEN], b_double[LEN];

TARGET("sse2") static void fill(struct rng *rng)
{
	unsigned int i;

	for (i = 0; i < LEN; i++) {
		a_int[i] = (int32_t)rng_below(rng, 200) - 100;
		b_int[i] = (int32_t)rng_below(rng, 200) - 100;
		a_short[i] = (int16_t)a_int[i];
		b_short[i] = (int16_t)b_int[i];
		a_float[i] = (float)a_int[i];
		b_float[i] = (float)b_int[i];
		a_double[i] = a_int[i];
		b_double[i] = b_int[i];
	}
}

static int32_t dot_plain(void)
{
	int32_t sum = 0;
	unsigned int i;

	for (i = 0; i < LEN; i++)
		sum += a_int[i] * b_int[i];
	return sum;
}

TARGET("sse2") static int32_t dot_float(void)
{
	f4 sum = {0};
	unsigned int i;

	for (i = 0; i < LEN; i += 4)
		sum += *(const f4 *)(a_float + i) * *(const f4 *)(b_float + i);
	return (int32_t)(sum[0] + sum[1] + sum[2] + sum[3]);
}

TARGET("sse2") static int32_t dot_double(void)
{
	d2 sum = {0};
	unsigned int i;

	for (i = 0; i < LEN; i += 2)
		sum += *(const d2 *)(a_double + i) * *(const d2 *)(b_double + i);
	return (int32_t)(sum[0] + sum[1]);
}

TARGET("sse2") static int32_t dot_scalar(void)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < LEN; i++)
		sum += a_float[i] * b_double[i];
	return (int32_t)sum;
}

TARGET("sse2") static int32_t dot_short(void)
{
	i4 sum = {0};
	unsigned int i;

	for (i = 0; i < LEN; i += 8)
		sum += (i4)__builtin_ia32_pmaddwd128(*(const s8 *)(a_short + i),
						     *(const s8 *)(b_short + i));
	return sum[0] + sum[1] + sum[2] + sum[3];
}

TARGET("avx") static int32_t dot_avx(void)
{
	f8 sum = {0};
	float s = 0;
	unsigned int i;

	for (i = 0; i < LEN; i += 8)
		sum += *(const f8 *)(a_float + i) * *(const f8 *)(b_float + i);
	for (i = 0; i < 8; i++)
		s += sum[i];
	return (int32_t)s;
}

TARGET("avx2") static int32_t dot_avx2(void)
{
	i8 sum = {0};
	int32_t s = 0;
	unsigned int i;

	for (i = 0; i < LEN; i += 8)
		sum += *(const i8 *)(a_int + i) * *(const i8 *)(b_int + i);
	for (i = 0; i < 8; i++)
		s += sum[i];
	return s;
}

static int32_t dot_x87(void)
{
	int32_t sum;
	unsigned int i;

	__asm__ volatile("fninit; fldz" : : : "memory");
	for (i = 0; i < LEN; i++)
		__asm__ volatile("fildl %0; fmull %1; faddp"
				 :
				 : "m"(a_int[i]), "m"(b_double[i])
				 : "memory");
	__asm__ volatile("fistpl %0" : "=m"(sum) : : "memory");
	return sum;
}

static const struct {
	int32_t (*fn)(void);
	unsigned int need;
} dots[] = {
	{dot_float, SIMD_SSE2}, {dot_double, SIMD_SSE2}, {dot_scalar, SIMD_SSE2},
	{dot_short, SIMD_SSE2}, {dot_avx, SIMD_AVX},	 {dot_avx2, SIMD_AVX2},
	{dot_x87, 0},
};

static noinline bool dot(struct rng *rng)
{
	unsigned int i;
	bool ok = true;

	fill(rng);
	for (i = 0; i < ARRAY_SIZE(dots); i++)
		if (!(dots[i].need & ~simd_have))
			ok &= dots[i].fn() == dot_plain();
	return ok;
}

/* Search for a byte: compare 16 or 32 bytes at a time, and branch on the mask. */

TARGET("sse2") static size_t search_sse(const uint8_t *at, uint8_t value)
{
	b16 want = (b16){0} + (char)value;
	size_t i = 0;
	int mask;

	while (!(mask = __builtin_ia32_pmovmskb128((b16)(*(const b16 *)(at + i) == want))))
		i += 16;
	return i + (size_t)__builtin_ctz((unsigned int)mask);
}

TARGET("avx2") static size_t search_avx2(const uint8_t *at, uint8_t value)
{
	b32 want = (b32){0} + (char)value;
	size_t i = 0;
	int mask;

	while (!(mask = __builtin_ia32_pmovmskb256((b32)(*(const b32 *)(at + i) == want))))
		i += 32;
	return i + (size_t)__builtin_ctz((unsigned int)mask);
}

static noinline bool search(struct rng *rng)
{
	uint32_t where = rng_below(rng, BYTES - 64);

	memset(to_bytes, 1, sizeof(to_bytes));
	to_bytes[where] = 0xee;
	return search_sse(to_bytes, 0xee) == where &&
	       (!(simd_have & SIMD_AVX2) || search_avx2(to_bytes, 0xee) == where);
}

/* Reverse the bytes of a vector, and permute its words. */

TARGET("avx2") static void reverse_avx2(uint8_t *v)
{
	static const b32 order = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
				  15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
	q4 all = (q4)__builtin_ia32_pshufb256(*(b32 *)v, order);

	*(q4 *)v = (q4)__builtin_ia32_permdi256(all, 0x4e);
}

static noinline bool shuffle(struct rng *rng)
{
	uint8_t v[32], was[32];
	bool ok = true;
	unsigned int i;

	if (!(simd_have & SIMD_AVX2))
		return true;
	for (i = 0; i < 32; i++)
		was[i] = v[i] = (uint8_t)rng_next(rng);
	reverse_avx2(v);
	for (i = 0; i < 32; i++)
		ok &= v[i] == was[31 - i];
	return ok;
}

/* SHA-256 of one block with the SHA instructions. */

TARGET("sha,sse4.1") static void sha_block(uint32_t state[8], const uint8_t *block)
{
	static const b16 big_endian = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12};
	/* The state as ABEF and CDGH, the layout of the instructions. */
	i4 abef = {(int)state[5], (int)state[4], (int)state[1], (int)state[0]};
	i4 cdgh = {(int)state[7], (int)state[6], (int)state[3], (int)state[2]};
	i4 abef0 = abef, cdgh0 = cdgh, w[4], k;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		i4 *this = &w[i & 3];

		if (i < 4) {
			*this = (i4)__builtin_ia32_pshufb128(*(const b16 *)(block + 16 * i),
							     big_endian);
		} else {
			i4 tail = {w[(i - 2) & 3][1], w[(i - 2) & 3][2], w[(i - 2) & 3][3],
				   w[(i - 1) & 3][0]};

			*this = (i4)__builtin_ia32_sha256msg1(*this, w[(i - 3) & 3]) + tail;
			*this = (i4)__builtin_ia32_sha256msg2(*this, w[(i - 1) & 3]);
		}
		k = *this + *(const i4 *)(sha256_k + 4 * i);
		cdgh = (i4)__builtin_ia32_sha256rnds2(cdgh, abef, k);
		k = (i4){k[2], k[3], 0, 0};
		abef = (i4)__builtin_ia32_sha256rnds2(abef, cdgh, k);
	}
	abef += abef0;
	cdgh += cdgh0;
	for (i = 0; i < 2; i++) {
		state[i] = (uint32_t)abef[3 - i];
		state[4 + i] = (uint32_t)abef[1 - i];
		state[2 + i] = (uint32_t)cdgh[3 - i];
		state[6 + i] = (uint32_t)cdgh[1 - i];
	}
}

static noinline bool sha(struct rng *rng)
{
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	uint8_t block[64] = {0}, want[32];
	uint32_t len = rng_below(rng, 56), i;
	bool ok = true;

	if (!(simd_have & SIMD_SHA))
		return true;
	for (i = 0; i < len; i++)
		block[i] = (uint8_t)rng_next(rng);
	sha256(block, len, want);
	block[len] = 0x80;
	block[62] = (uint8_t)(8 * len >> 8);
	block[63] = (uint8_t)(8 * len);
	sha_block(state, block);
	for (i = 0; i < 32; i++)
		ok &= want[i] == (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
	return ok;
}

unsigned int simd_wrong(struct rng *rng)
{
	unsigned int i;

	for (i = 0; i < sizeof(from_bytes); i++)
		from_bytes[i] = (uint8_t)(i * 31 + 7);
	return (copy(rng) ? 0 : SIMD_WRONG_COPY) | (dot(rng) ? 0 : SIMD_WRONG_DOT) |
	       (search(rng) ? 0 : SIMD_WRONG_SEARCH) | (shuffle(rng) ? 0 : SIMD_WRONG_SHUFFLE) |
	       (sha(rng) ? 0 : SIMD_WRONG_SHA);
}

bool work_simd(struct rng *rng)
{
	return !simd_wrong(rng);
}
